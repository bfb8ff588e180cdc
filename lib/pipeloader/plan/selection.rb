# frozen_string_literal: true

module Pipeloader
  # The fields that are selected at one place of a document, of objects that stand for records of one model or are things of one
  # class. They decide what is done with the objects: where all are plain, rows become the response by a Plan; else a PartialPlan
  # does the plain ones, and graphql-ruby the others.
  class Selection
    # A field that can be done without graphql-ruby, under any key of the response.
    #
    # columns: those that it reads of its object's row. entry: makes the plan's entry of a key and the rows' columns. reason: why
    # graphql-ruby does the field once the records that it brings are read; nil if it is plain. rows_only: whether only a Plan can
    # do it, as where something below it asks the context. asks: whether it does so itself. permit: Permit, where one is asked.
    # lookups: of the associations that it follows. captured: Captured, on which its resolver method depends
    Part = Struct.new(:columns, :entry, :reason, :rows_only, :asks, :permit, :lookups, :captured) do
      def call = nil

      def following(lookups)
        self.lookups = lookups
        self
      end

      # Beside opaque fields graphql-ruby asks the Permit, object by object.
      #
      # @param plain [PlainField]
      # @return [Part] the same as the part of that field
      def of(plain)
        return self if plain.permit.nil? && plain.captured.nil?

        part = dup
        part.rows_only, part.permit = true, plain.permit if plain.permit
        part.captured = plain.captured
        part
      end

      def asking(contexts)
        self.asks = contexts.any?
        self
      end
    end

    # A field that graphql-ruby does. call: ResolverCall, if it does no more than call one method. picks: whether its method takes
    # something by its place
    Opaque = Struct.new(:reason, :call, :picks)

    # Of an object type whose objects have to pass its `authorized?`.
    #
    # columns: those that this reads. entry: makes the Admission of the rows' columns
    Guarded = Struct.new(:columns, :entry)

    # @return [Hash{String => Part, Opaque}] by key, in the order of the response
    attr_reader :fields

    # @return [Guarded, nil]
    attr_reader :guarded

    # @return [String, nil] why there is no Plan
    attr_reader :reason

    attr_reader :model

    alias inspect to_s

    # @param wraps [Boolean] whether nobody sees that an object is made of a record
    #: (Operation, Class, Hash[String, (Part | Opaque)], String?, ?wraps: bool, ?guarded: Guarded?) -> void
    def initialize(operation, model, fields, reason, wraps: false, guarded: nil)
      @operation = operation
      @model = model
      @fields = fields
      @reason = reason
      @wraps = wraps
      @guarded = guarded
      @plain_model = PlainModel.of(model) if record?
      @plan = @partial = nil
    end

    # True if it is of records, and not of other things.
    def record? = @model < ActiveRecord::Base

    # True if all models are as they were. A PartialPlan asks its own.
    def current?
      known = @partial || @plain_model
      (known.nil? || known.current?) && (@plan.nil? || @plan.current?)
    end

    # @return [Plan, nil] nil if any field isn't plain
    def plan = @plan ||= (keep(make_plan) unless @reason)

    # @param columns [Array<String>] that somebody else asks for
    # @return [Plan] for rows that have these, too
    def with(columns) = keep(written_from(projection(columns)))

    # @return [PartialPlan] of the plain fields
    def partial = @partial ||= keep(make_partial)

    # True if #partial was ever asked for.
    def partial? = !@partial.nil?

    # @return [Array<String>] that a plan reads for what it writes
    def columns = [@guarded, *@fields.each_value].compact.flat_map(&:columns)

    # @param projection [Projection, nil] of which the rows are
    # @return [Plan]
    def written_from(projection)
      entries = @fields.map { |key, part| part.entry.call(key, projection&.columns) }
      admission = @guarded&.entry&.call(projection.columns)
      Plan.new(projection, entries, admission: admission, permits: @fields.each_value.filter_map(&:permit),
                                    captured: @fields.each_value.filter_map(&:captured))
    end

    private

    # Things are their own rows.
    def make_plan
      written_from(record? ? projection : nil)
    end

    def projection(others = []) = Projection.of(@model, [*@plain_model.keys, *columns, *others].uniq)

    def make_partial = PartialPlan.new(@model, @fields, wraps: @wraps, planless: !@reason.nil?)

    def keep(made)
      @operation.grow(made.bytes)
      made
    end

    # Of the members of a union or an interface.
    class OfFamily < Selection
      # @param types [Hash{Class => Class, nil}] of the records' classes, the object type of each; nil where it isn't known
      # @param selections [Hash{Class => Selection}] of these
      # @param came [Hash] as FamilyPlan's
      def initialize(operation, model, types, selections, came)
        super(operation, model, {}, nil)
        @types = types
        @came = came
        @plain, opaque = selections.partition { |_, selection| selection.reason.nil? }.map(&:to_h)
        strange = types.keys.select { |it| types[it].nil? || (it.equal?(model) && opaque.key?(it)) }
        @strangers = strange.flat_map { |it| names(it).to_a }
        own = opaque.delete(model) unless (met = @strangers.any? { |name| came.key?(name) })
        @reason = opaque.each_value.first&.reason || (own&.reason || UNKNOWN if met || @plain.empty?)
      end

      # A model that has heirs may have no records itself. If one comes of which something is opaque, there is no plan any more.
      UNKNOWN = "`resolve_type` doesn't say of which type one of its records is"
      private_constant :UNKNOWN

      private

      def make_plan
        projection = projection(@plain.each_value.flat_map(&:columns))
        plain_models = @types.keys.to_h { |member| [member, PlainModel.of(member)] }
        FamilyPlan.new(projection, @plain.keys.map { |it| branch(it, projection) }, plain_models, @strangers, @came)
      end

      def branch(member, projection)
        names = names(member)&.to_h { |name| [name, true] }
        FamilyPlan::Branch.new(names, @types.fetch(member), @plain.fetch(member).written_from(projection))
      end

      def names(member) = @plain_model.family.names(member)
    end

    # Of a Relay connection's fields, of which at least the nodes are plain.
    class OfConnection < Selection
      # @param entries [Hash{String => Edges, Nodes, Info, Total, Plan::Constant, String}] by key; a String says why graphql-ruby
      #   does it
      # @param nodes [Plan]
      # @param brings [Array<GraphQL::Schema::Field>] as ConnectionPlan's, and +permits+ and +captured+
      def initialize(operation, model, entries, nodes, brings, permits, captured)
        fields = entries.transform_values { |it| it.is_a?(String) ? Opaque.new(it) : Part.new([], it) }
        super(operation, model, fields, entries.each_value.grep(String).first)
        @nodes = nodes
        @brings = brings
        @permits = permits
        @captured = captured
      end

      private

      def make_plan = ConnectionPlan.new(@nodes, @fields.each_value.map(&:entry), @brings, permits: @permits, captured: @captured)

      # The name of its type is graphql-ruby's, too, and so is a number, beside fields that may ask for the same.
      def make_partial
        left, done = @fields.partition { |_, field| field.is_a?(Opaque) || LEFT.include?(field.entry.class) }.map(&:to_h)
        reasons = @reason ? left.transform_values(&:reason) : {}
        ConnectionPlan.new(@nodes, done.each_value.map(&:entry), @brings, reasons, permits: @permits, captured: @captured)
      end

      LEFT = [Plan::Constant, ConnectionPlan::Total, ConnectionPlan::Computed].freeze
      private_constant :LEFT
    end
  end
end
