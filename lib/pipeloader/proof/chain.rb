# frozen_string_literal: true

module Pipeloader
  # The calls of a resolver method that only asks its record: it calls something of it, then something of what that returns, and
  # so on, with literals and with its own arguments.
  #
  #     def hits(limit: 3) = object.comments.where(hidden: false).limit(limit)
  class Chain
    # safe: of `&.`: nil, with all behind it, where a record that is passed isn't there. A relation always is
    Call = Struct.new(:name, :arguments, :keywords, :safe) do
      def alone? = arguments.empty? && keywords.empty?
      def with(given) = Call.new(name, *values.drop(1).map { |value| Chain.frozen(value, given) })
      def on(receiver) = receiver.public_send(name, *arguments.map { |it| Scope === it ? it.relation : it }, **keywords)
    end

    # What is asked of a model, to be merged: `Comment.published.where(score: 1)`.
    Scope = Struct.new(:model, :calls) do
      def relation = calls.inject(model) { |it, call| call.on(it) }
      def with(given) = Scope.new(model, calls.map { |call| call.with(given) })
    end

    # Stands for an argument of the resolver method's, or for a ContextValue.
    Parameter = Struct.new(:name)

    # Stands for what the record says, in the conditions of what is asked of a model: `Comment.where(post_id: object.id)`.
    class OfOwner < ActiveRecord::StatementCache::Substitute
      # @param also [Class] of what is wanted besides
      # @return [Array<OfOwner>] those in a +value+, in the order in which the record is asked
      def self.all(value, also = self)
        case value
        when OfOwner, also then [value]
        when Scope then all(value.calls.map(&:to_a), also)
        when Array, Hash then value.to_a.flat_map { |it| all(it, also) }
        else []
        end
      end

      # @return [Symbol, nil] what is asked of the record; nil for itself
      attr_reader :reader

      #: (Symbol?) -> void
      def initialize(reader)
        super()
        @reader = reader
      end
    end

    # Calls that take conditions.
    CONDITIONS = %i[where rewhere not find_by exists?].freeze
    # {call that counts an association's records, or calculates something of them => how many arguments it may have}
    CALCULATIONS = { count: 0..1, size: 0..0, exists?: 0..1, any?: 0..0, empty?: 0..0, none?: 0..0,
                     sum: 1..1, average: 1..1, maximum: 1..1, minimum: 1..1 }.freeze
    # Calls that list a value of each record.
    LISTS = %i[pluck ids].freeze
    QUESTIONS = (CALCULATIONS.keys + LISTS).freeze
    # {call that asks for one record => how many arguments it may have}
    SINGLE = { first: 0..0, take: 0..0, last: 0..0, find_by: 0..1, find: 1..1 }.freeze
    # Those that take it of what is in memory.
    PICKING = %i[first take last].freeze
    # And those that a chain may not end with.
    PLACES = %i[second third fourth fifth forty_two second_to_last third_to_last].freeze
    # Ends what lists records themselves, of which blocks ask something: `items.sum { |item| item.price }`.
    EACH = Call.new(:each, [].freeze, {}.freeze).freeze
    private_constant :CONDITIONS

    # Nothing but what it calls of the record.
    #
    #: (Symbol) -> Chain
    def self.of(reader) = new([Call.new(reader, [], {})], {})

    # What asks something of each of the records that +calls+ lead to, or of the one.
    #
    # @param paths [Array<Array<Symbol>>] as #paths
    def self.of_records(calls, paths)
      chain = new(calls, {}, paths)
      chain.takes? ? chain : new([*calls, EACH], {}, paths)
    end

    # @return [Array<Call>] the record's comes first
    attr_reader :calls

    # @return [Array<Array<Symbol>>, nil] where it ends with EACH, or is single or few: as AskedOfRecord's, of each of the records
    attr_reader :paths

    # @return [Hash{Symbol, ContextValue => Object}] what it is if it isn't given: a literal, or Bytecode::REQUIRED
    attr_reader :parameters

    def initialize(calls, parameters, paths = nil)
      @calls = calls
      @parameters = parameters
      @paths = paths
    end

    # @return [Array<ContextValue>] what it asks of the context
    def contexts = parameters.keys.grep_v(Symbol)

    # True if that are values of conditions, and neither SQL nor anything that code of the application's is given.
    def contexts_in_conditions?
      contexts.empty? || calls.none? { |call| context?(CONDITIONS.include?(call.name) ? call.arguments.first : call.to_a) }
    end

    # @return [Symbol, Class] a model where it is asked of that
    def reader = calls.first.name

    # @return [Class, nil] the model that it is asked of, if it isn't what the record leads to
    def queried = (reader if Class === reader)

    # @return [Array<OfOwner>] what it asks that model by
    def of_owner = OfOwner.all(calls.map(&:to_a))

    # True if nothing is given an argument or a ContextValue before the record is asked.
    def owner_first?
      return true unless queried && parameters.any?

      first = OfOwner.all(calls.map(&:to_a), Parameter).first
      OfOwner === first && !first.reader.nil?
    end

    # True if it ends with a question for one record.
    def single? = single_call?(calls.last)

    # True if it ends with so many of the first records, in an Array: `first(3)`. #takes? is true of these, and of one record.
    def few? = calls.last.name == :first && calls.last.arguments.one?(Integer)
    def takes? = single? || few?

    # True if it ends with a calculation.
    def question? = calculation?(calls.last)

    # True if it ends with a value of each record.
    def lists? = LISTS.include?(calls.last.name)

    # @return [Array(Chain, Chain)] what is asked of the database, and then of the record or the number that this brings
    def parted
      size = calls.index { |call| single_call?(call) || calculation?(call) } || (calls.size - 1)
      [calls.take(size + 1), calls.drop(size + 1)].map { |some| Chain.new(some, parameters) }
    end

    # True if it does nothing but to call the reader.
    def reader_alone? = calls.one? && calls.first.alone? && parameters.empty?

    # @return [Chain] what is called of what its first call returns
    def behind = Chain.new(calls.drop(1), parameters)

    # @param own [Chain] what a method does that the first call names
    # @return [Chain, nil] the same with these calls in its place; nil where a `&.` of theirs would skip the next call, too
    def begun_by(own)
      return if calls.many? && !calls[1].safe && own.calls.any?(&:safe)

      Chain.new(own.calls + calls.drop(1), parameters, paths)
    end

    # @param other [Chain] what is called of what this returns
    def followed_by(other) = Chain.new(calls + other.calls, { **parameters, **other.parameters })

    # The same with arguments.
    #
    # @raise [DoesNotFit] if one is missing
    def with(arguments)
      given = parameters.to_h { |name, default| [name, arguments.fetch(name, default)] }
      raise DoesNotFit if given.value?(Bytecode::REQUIRED)

      Chain.new(calls.map { |call| call.with(given) }, {}, paths)
    end

    # What a scope writes to: each object's is its own where graphql-ruby runs the method, and here there is one for all.
    def self.frozen(value, given = {})
      case value
      when Parameter then given.fetch(value.name)
      when Scope then value.with(given)
      when Array then value.map { |item| frozen(item, given) }.freeze
      when Hash then value.to_h { |key, item| [frozen(key, given), frozen(item, given)] }.freeze
      when String then value.frozen? ? value : value.dup.freeze
      else value
      end
    end

    private

    # What `find` is given may be several, but for what a record says.
    def single_call?(call)
      return false unless SINGLE[call.name]&.cover?(call.arguments.size)

      call.name != :find || OfOwner === call.arguments.first
    end

    def calculation?(call) = CALCULATIONS[call.name]&.cover?(call.arguments.size) || false

    # True if a ContextValue is in it.
    def context?(given)
      case given
      when Parameter then !given.name.is_a?(Symbol)
      when Scope then context?(given.calls.map(&:to_a))
      when Array then given.any? { |it| context?(it) }
      when Hash then given.any? { |pair| context?(pair) }
      else false
      end
    end
  end
end
