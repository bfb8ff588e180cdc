# frozen_string_literal: true

module Pipeloader
  # How records of one model are written to the response where all that is selected of them is proved plain: from rows of the
  # needed columns straight into Hashes, past ActiveRecord's objects and graphql-ruby's work for each field.
  #
  #     { posts { title author { name } } }
  #     plan.projection      # => id, title, author_id of Post
  #     plan.links           # => author, with a plan for { name } of User
  class Plan
    # The value of __typename.
    Constant = Struct.new(:key, :value) do
      def build(*) = value
      def of_edges(content, _context) = Array.new(content.rows.size, value)
      def of_record(*) = value
      def formulas = NONE
    end

    # A column's value.
    Leaf = Struct.new(:key, :index, :coercion) do
      def build(row, frame, context)
        frame.coerced? ? coercion.of_attribute(row[index], context) : coercion.call(row[index], context)
      end

      # @param columns [Array<String>] one
      def of_record(record, columns, context)
        value = Coercion.attribute(record, columns.first)
        coercion.as_it_is?(value) ? value : coercion.of_attribute(value, context)
      end

      def formulas = coercion.formulas
    end

    # A value that a Formula makes of what readers tell, its Reach::Readings.
    Computed = Struct.new(:key, :formula, :readings, :given, :coercion) do
      def build(row, frame, context) = of_attributes(readings.of(row, frame), context)

      def of_record(record, columns, context)
        check(context)
        of_attributes(readings.of_record(record, columns), context)
      end

      def formulas = [formula, *readings.formulas, *coercion.formulas]
      def contexts = @contexts ||= readings.contexts_of(formula)
      def asks? = contexts.any?
      def check(context) = ContextAnswer.verify_all(contexts, context)

      private

      # given: FieldArguments, if it has any
      def of_attributes(attributes, context)
        arguments = given ? given.of(context) : NO_ARGUMENTS
        coercion.of_attribute(formula.call(attributes, context, arguments), context)
      end
    end

    NONE = [].freeze
    NO_ARGUMENTS = {}.freeze
    # In which part of its executions it may not fit what comes.
    BEARABLE = 1r / 3
    private_constant :NONE, :NO_ARGUMENTS, :BEARABLE

    # @return [Projection] columns of the rows, in their order
    attr_reader :projection

    # @return [Array<Link, PolymorphicLink>] associations that are selected, each once
    attr_reader :links

    # @return [Array<Constant, Leaf, Computed, Calculation, Link>]
    attr_reader :entries

    # @return [Admission, nil] that each of its rows has to pass
    attr_reader :admission

    alias inspect to_s

    # @param entries [Array<Constant, Leaf, Computed, Calculation, Link>] in the order of the response
    # @param reaches [Array<Reach>] that something else of its rows has
    # @param admission [Admission, nil]
    # @param permits [Array<Permit>] of its fields
    # @param captured [Array<Captured>] of its fields
    def initialize(projection, entries, reaches: NONE, admission: nil, permits: NONE, captured: NONE)
      @projection = projection
      @entries = entries.freeze
      @admission = admission
      @permits = permits
      @captured = captured
      computed = entries.grep(Computed)
      @formulas = entries.flat_map(&:formulas).uniq.freeze
      @reaches = [*reaches, *computed.flat_map { |entry| entry.readings.links }, *admission&.links].freeze
      @links = number(linking).freeze
      @models = projection ? { model => PlainModel.of(model) } : {}
      @family = @models.each_value.first&.family
      @type = projection&.columns&.index(@family.column)
      @callbacks = @models.each_value.first.callbacks if projection&.columns&.any? # else it's a number that is read
      @links.each { |link| @models.update(link.models) }
      @asking = [*permits, *admission, *entries].select { |it| it.respond_to?(:asks?) && it.asks? }.freeze
    end

    # @return [History] of its executions as a root's
    def history = @history ||= History.new(BEARABLE)

    # @return [Trips] of these
    def trips = @trips ||= Trips.new

    # True if it asks the context for anything.
    def asks? = @asking.any?(&:asks?)

    # @raise [DoesNotFit] where that would be code of the application's
    def check(context) = @asking.each { |entry| entry.check(context) }

    # True if all models are as they were.
    def current? = @models.each_value.all?(&:current?) && spoilable.none?(&:spoiled?)

    # @return [Array<Plan, PolymorphicLink>] those, of itself and what is below, that rows may turn out not to be for
    def spoilable = @spoilable ||= [*(self if spoilable?), *@links.flat_map(&:spoilable)].uniq(&:__id__).freeze

    # True if it has met rows that it isn't for, of which there will be more; or if one of its methods is another by now, or
    # what is around it.
    def spoiled? = @admission&.over? || [@permits, @formulas, @captured].any? { |all| all.any?(&:over?) }

    # Rows have come, for itself and what is below.
    def come(context)
      @admission&.come(context)
      @links.each { |link| link.come(context) }
    end

    def model = @projection.model

    # @return [Array<Class>] of its models, one for each database
    def databases = @databases ||= @models.keys.uniq(&:connection_specification_name)

    # @return [Hash{Class => PlainModel}] as the plan knows them
    attr_reader :models

    # @return [Family] of which its rows' records would be
    attr_reader :family

    # @param rows [Array<Array>]
    # @raise [DoesNotFit] unless they are all of the family
    def verify(rows) = (family.verify(rows, @type) if @type)

    # @param rows [Array<Array>] as they came from the database
    # @raise [DoesNotFit] if callbacks of the model would do anything to one of their records
    def verify_untouched(rows) = @callbacks&.verify(rows, @projection.columns)

    # True if its rows are written as a connection's.
    def connection? = false

    # @return [Asker, nil] of its rows, where that isn't the field that it is a plan for
    def asker = nil

    # @return [Array<GraphQL::Schema::Field>] that bring objects, between the rows and what they are of
    def fields = NONE

    # Bytes that it keeps, without the plans below, in Ruby 3.1: as measured of one with thousands of entries.
    def bytes = 2_000 + (@entries.size * 400) + (@links.size * 1_000) + (@reaches.size * 2_000)

    # @return [Array<Link, PolymorphicLink>] associations as often as they are selected
    def linking
      links = @entries.select { |entry| Link === entry || PolymorphicLink === entry }
      links + links.grep(PageLink).flat_map(&:calculations) + @reaches
    end

    # How many values it has, with all that is below.
    def size = @size ||= @entries.size + linking.sum { |link| link.size - 1 }

    # It is about to be used for a query: for the second one it is made into code.
    #
    # @param coerced [Boolean] whether its own rows are records'; what is below are rows from the database
    def use(context, coerced: false)
      return @links.each { |link| link.use(context) } if coerced
      return if @builder

      query = context.__id__
      @first_query ||= query
      compile unless @first_query == query
    end

    # Makes it into code; false if that would be too much.
    def compile = @builder.nil? && @builder = Compiler.of(self) || false

    # @param rows [Array<Array>] of one owner
    # @return [Array<Hash>, Hash] as #build
    def list(rows, frame, context)
      return @builder.list(rows, frame, context) if @builder && !frame.coerced?

      rows.map { |row| build(row, frame, context) }
    end

    # @param row [Array] values of the projection's columns
    # @param frame [Frame] where the row is from
    # @return [Hash] as graphql-ruby would have it in the response
    def build(row, frame, context)
      return @builder.build(row, frame, context) if @builder && !frame.coerced?

      @admission&.admit(row, frame, context)
      hash = {}
      @entries.each { |entry| hash[entry.key] = entry.build(row, frame, context) }
      hash
    end

    private

    def spoilable? = !@admission.nil? || [@permits, @formulas, @captured].any?(&:any?)

    # Those of one place are read once, and written under several keys.
    #
    # @return [Array<Link, PolymorphicLink>] the first of each place
    def number(links)
      places = {}
      count = -1
      links.select do |link|
        first = places[link.place] ||= link
        link.at = first.equal?(link) ? count += 1 : first.at
        first.equal?(link)
      end
    end
  end
end
