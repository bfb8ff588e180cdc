# frozen_string_literal: true

module Pipeloader
  # The plain part of an object whose rest isn't: the leaves that are columns of its record, associations that have a Plan,
  # and those whose records are read ahead. Everything else is graphql-ruby's.
  class PartialPlan
    NONE = [].freeze
    private_constant :NONE

    attr_reader :model

    # @param fields [Hash{String => Selection::Part, Selection::Opaque}] by key in the response
    # @param wraps [Boolean] whether nobody sees that an object is made of a record
    # @param planless [Boolean] whether there is no Plan of all of it
    def initialize(model, fields, wraps:, planless:)
      @model = model
      @wraps = wraps
      @planless = planless
      @plain_model = PlainModel.of(model) if record?
      parts, others = fields.partition { |_, field| field.is_a?(Selection::Part) && !field.rows_only }.map(&:to_h)
      @calls = others.transform_values(&:call).compact
      @columns = parts.transform_values(&:columns)
      @asking = parts.select { |_, part| part.asks }
      entries = parts.to_h { |key, part| [key, part.entry.call(key, part.columns)] }
      @formulas = [*entries.each_value, *@calls.each_value].flat_map(&:formulas).freeze
      @captured = parts.each_value.filter_map(&:captured).freeze
      @links, @leaves = entries.partition { |_, entry| entry.respond_to?(:lookup) }.map(&:to_h)
    end

    # @return [Array<Class>] as Plan's
    def databases
      return NONE unless record?

      @databases ||= [@model, *@links.each_value.flat_map(&:databases)].uniq(&:connection_specification_name)
    end

    # As Plan's.
    def bytes
      2_000 + ((@columns.size + @calls.size) * 400) + (@links.size * 1_000)
    end

    def empty? = @columns.empty? && @calls.empty?

    def wraps? = @wraps
    def planless? = @planless

    # True if it has associations.
    def links? = @links.any?

    # @return [Link, Preload, nil]
    def link(key) = @links[key]

    # @return [ResolverCall, nil]
    def resolver_call(key) = @calls[key]

    # True if a field is a leaf that its object's record tells, or such an association.
    def plain?(key) = @columns.key?(key)

    # True if a plain field asks the context, into which a field before it may have put something.
    def asks?(key) = @asking.key?(key)

    # True if a plain field's value may depend on what code before it has set: a time is in the zone of who first asks its record,
    # and nobody knows what a type of the application's asks.
    def stateful?(key)
      @stateful ||= record? ? @columns.select { |_, columns| columns.any? { |it| stateful_column?(it) } } : {}
      @stateful.key?(key)
    end

    # True if all models are as they were, as Plan#current?, and all methods, with what is around them.
    def current?
      return false if @formulas.any?(&:over?) || @captured.any?(&:over?)

      !record? || (@plain_model.current? && (@links.empty? || @links.each_value.all?(&:current?)))
    end

    # True if it's of records, and not of other things.
    def record? = @model < ActiveRecord::Base

    # True if its attributes tell what +record+ answers.
    def takes?(record) = record? ? @plain_model.family.include?(record) : ReturnedValue.just?(record, @model)

    # As ActiveRecord: what is loaded, or isn't saved, isn't read.
    def linked?(link, record)
      !link.leads_back? && record.persisted? && !ReturnedValue.strict?(record) && ReturnedValue.unread?(record, link.name) &&
        link.for?(record)
    end

    # @return [Object] the record's own key, by which the association's records are found; raises DoesNotFit where it isn't known
    def key(link, record) = link.lookup.owners_key.from { |column| Coercion.attribute(record, column) }

    # @param keys [Array<String>] in the order of the response
    # @return [Array<Array>] each with its Plan::Leaf, or the like, and the columns of that; nil for what is no leaf
    def leaves(keys) = keys.map { |key| [key, @leaves[key], @columns[key]] }

    # Writes what the columns tell, in the order of the response, and nil where graphql-ruby has yet to come.
    #
    # @param leaves [Array] of what the response has, as from #leaves
    # @param hash [Hash] empty as yet
    # @return [Array<String>] the leaves that couldn't be written
    def write(record, leaves, hash, context)
      left = nil
      leaves.each do |key, leaf, columns|
        hash[key] = leaf && leaf.of_record(record, columns, context)
      rescue DoesNotFit
        hash[key] = nil
        (left ||= []) << key
      end
      left || NONE
    end

    # A resolver that came before may have changed the record.
    #
    # @return [Boolean] false if graphql-ruby is to do it
    def write_again(key, record, result, context)
      result.set_leaf(key, @leaves[key].of_record(record, @columns[key], context)) unless result.graphql_dead
      true
    rescue DoesNotFit
      false
    end

    private

    def stateful_column?(name) = !Cast.stateless?(@model.attribute_types.fetch(name.to_s))
  end
end
