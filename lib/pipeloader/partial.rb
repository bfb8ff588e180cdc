# frozen_string_literal: true

module Pipeloader
  # What of an object is plain, where the rest isn't: the leaves that are columns of its record, associations that have a Plan,
  # and those whose records are read ahead. Everything else is graphql-ruby's.
  class Partial
    # @return [Hash{String => String, nil}] why fields aren't plain, by key in the response
    attr_reader :reasons

    # @param entries [Array(Array<String>, (Plan::Leaf | Plan::Computed | Link | Preload))] each with the columns that it reads of
    #   the record
    def initialize(model, entries, reasons)
      @model = model
      @types = model.attribute_types
      @reasons = reasons
      @columns = entries.to_h { |columns, entry| [entry.key, columns] }
      links, leaves = entries.map(&:last).partition { |entry| entry.respond_to?(:lookup) }
      @links, @leaves = [links, leaves].map { |some| some.to_h { |entry| [entry.key, entry] } }
    end

    # @return [Array<Class>] as Plan's
    def databases = @databases ||= [@model, *@links.each_value.flat_map(&:databases)].uniq(&:connection_specification_name)

    def empty? = @columns.empty?

    # Whether all models are as they were, as Plan#current?.
    def current? = @model.attribute_types.equal?(@types) && @links.all? { |_, link| link.current? }

    # Whether its attributes tell what +record+ answers.
    def takes?(record) = record.singleton_methods.empty?

    # @return [Hash{String => Link, Preload}] the associations that are to be read
    def links(record) = @links.empty? ? @links : @links.select { |_, link| linked?(link, record) }

    # As ActiveRecord: what is loaded, or isn't saved, isn't read.
    def linked?(link, record)
      !link.leads_back? && record.persisted? && !record.strict_loading? && !record.association_cached?(link.name) &&
        record.has_attribute?(@columns[link.key].first) && link.for?(record)
    end

    # @return [Object] the record's own key, by which the association's records are found
    def key(link, record) = Coercion.attribute(record, @columns[link.key].first)

    # What the columns tell, in the order of the response; nil where graphql-ruby has yet to come.
    #
    # @return [Hash{String => Array}] the attributes that were written, by key in the response
    def write(record, result, context)
      written = {}
      result.ordered_result_keys.each { |key| result.set_leaf(key, leaf(key, record, context, written)) }
      written
    end

    # A resolver that came before may have changed the record. Yields if graphql-ruby is to do it.
    def write_again(key, written, record, result, context)
      return if as_it_was?(record, @columns[key], written[key])

      value = leaf(key, record, context, written = {})
      written.empty? ? yield : result.set_leaf(key, value)
    end

    private

    # (What isn't frozen may have been changed in its place.)
    def as_it_was?(record, columns, attributes)
      columns.zip(attributes).all? { |column, was| was.frozen? && record._read_attribute(column).equal?(was) }
    end

    def leaf(key, record, context, written)
      leaf = @leaves[key]
      return unless leaf && (columns = @columns[key]).all? { |column| record.has_attribute?(column) }

      attributes = columns.map { |column| Coercion.attribute(record, column) }
      leaf.of_attributes(attributes, context).tap { written[key] = attributes }
    rescue Unfit
      nil
    end
  end
end
