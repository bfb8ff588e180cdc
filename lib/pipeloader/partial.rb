# frozen_string_literal: true

module Pipeloader
  # What of an object is plain, where the rest isn't: the leaves that are columns of its record, associations that have a Plan,
  # and those whose records are read ahead. Everything else is graphql-ruby's.
  class Partial
    # @return [Hash{String => String, nil}] why fields aren't plain, by key in the response
    attr_reader :reasons

    # @param entries [Array(String, (Plan::Leaf | Link | Preload))] each with the column that it reads of the record
    def initialize(model, entries, reasons)
      @model = model
      @types = model.attribute_types
      @reasons = reasons
      @columns = entries.to_h { |column, entry| [entry.key, column] }
      leaves, links = entries.map(&:last).partition { |entry| entry.is_a?(Plan::Leaf) }
      @leaves = leaves.to_h { |leaf| [leaf.key, leaf.coercion] }
      @links = links.to_h { |link| [link.key, link] }
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
        record.has_attribute?(@columns[link.key]) && link.for?(record)
    end

    # @return [Object] the record's own key, by which the association's records are found
    def key(link, record) = Coercion.attribute(record, @columns[link.key])

    # What the columns tell, in the order of the response; nil where graphql-ruby has yet to come.
    #
    # @return [Hash{String => Object}] the attributes that were written, by key in the response
    def write(record, result, context)
      written = {}
      result.ordered_result_keys.each { |key| result.set_leaf(key, leaf(key, record, context, written)) }
      written
    end

    # A resolver that came before may have changed the record. Yields if graphql-ruby is to do it.
    def write_again(key, written, record, result, context)
      return if record._read_attribute(@columns[key]).equal?(written[key])

      value = leaf(key, record, context, written = {})
      written.empty? ? yield : result.set_leaf(key, value)
    end

    private

    def leaf(key, record, context, written)
      coercion = @leaves[key]
      return unless coercion && record.has_attribute?(@columns[key])

      attribute = Coercion.attribute(record, @columns[key])
      coercion.of_attribute(attribute, context).tap { written[key] = attribute }
    rescue Unfit
      nil
    end
  end
end
