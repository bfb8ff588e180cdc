# frozen_string_literal: true

module Pipeloader
  # How the objects of one place of the document are gone through: what of them is written when they come, and the steps after.
  class ObjectCourse
    # asked: [Link | Preload, …] that no resolver comes before. steps: [Call | Evaluation | Follow, …]; each says whether no code
    # of the application's has run, or none since what it has left was seen
    Steps = Struct.new(:asked, :steps)

    # A method that is all that graphql-ruby would call.
    Call = Struct.new(:resolver_call, :nodes, :index) do
      def call(objects, member) = resolver_call.call(objects.runtime, member.result, nodes)
    end

    # A field that graphql-ruby does.
    Evaluation = Struct.new(:key, :nodes, :index) do
      def call(objects, member)
        objects.runtime.evaluate_selection(key, nodes, member.result)
        false
      end
    end

    # Plain fields behind one that isn't: its resolver may have changed the record.
    Follow = Struct.new(:keys, :index) do
      def call(objects, member)
        quiet = true
        keys.each { |key| quiet = false unless objects.follow(member, key) }
        quiet
      end
    end
    NONE = [].freeze
    private_constant :Steps, :Call, :Evaluation, :Follow, :NONE

    # @return [Hash{String => GraphQL::Language::Nodes::Field, Array}] what is selected of each, as graphql-ruby has gathered it
    attr_reader :fields

    # @return [Array<Array>] as PartialPlan#leaves
    attr_reader :leaves

    alias inspect to_s

    # @param keys [Array<String>] in the order of the response
    # @param watched [Boolean] whether a trace measures fields
    #: (PartialPlan, Hash[String, untyped], Array[String], bool) -> void
    def initialize(partial, fields, keys, watched)
      @partial = partial
      @fields = fields
      @watched = watched
      @leaves = partial.leaves(keys).map { |key, *leaf| in_turn?(key, NONE) ? [key] : [key, *leaf] }
      @positions = fields.each_key.with_index.to_h
    end

    # @return [Integer] of a field among the others
    def position(key) = @positions[key]

    # @param left [Array<String>] the plain leaves that an object couldn't be told; most have none
    # @return [Steps]
    def steps(left) = left.empty? ? @usual ||= make_steps(left) : make_steps(left)

    # True if associations are looked up behind fields that aren't plain: what those ask would be in a level before.
    def asks_later?
      @asks_later = steps([]).steps.grep(Follow).any? { |step| @partial.link(step.keys.first) } if @asks_later.nil?
      @asks_later
    end

    # @return [Call, Evaluation] of a field that isn't plain
    def opaque(key)
      call = @partial.resolver_call(key)
      direct = call && !(@watched && call.measured?)
      direct ? Call.new(call, @fields[key], @positions[key]) : Evaluation.new(key, @fields[key], @positions[key])
    end

    private

    def make_steps(left)
      asked, steps = [], []
      follows = follows?(left)
      @fields.each_key do |key|
        next steps << opaque(key) unless plain?(key, left)
        next asked.concat([@partial.link(key)].compact) if steps.empty? && !follows && !in_turn?(key, left)

        steps << Follow.new([], @positions[key]) unless joins?(key, steps.last)
        steps.last.keys << key
      end
      Steps.new(asked, steps)
    end

    def plain?(key, left) = @partial.plain?(key) && !left.include?(key)

    # Things in one list may know one another.
    def follows?(left) = !@partial.record? && opaque?(left)

    # True if a field of an object before may have put into the context what it asks for, or set what decides its value.
    def in_turn?(key, left) = plain?(key, left) && (@partial.asks?(key) || @partial.stateful?(key)) && opaque?(left)

    def opaque?(left) = @fields.any? { |key, _| !plain?(key, left) }

    # True if it goes with what is followed before it: what is asked for has a step of its own, since it waits.
    def joins?(key, step) = step.is_a?(Follow) && [key, step.keys.first].none? { |it| @partial.link(it) }
  end
end
