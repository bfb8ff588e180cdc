# frozen_string_literal: true

# Which of graphql-ruby's engines runs the tests' schemas: the Interpreter or, by PIPELOADER_ENGINE=next,
# GraphQL::Execution::Next. What the schemas leave open is settled as an application on its way to Next would do it: Next is
# each schema's default, it has a GraphQL::Dataloader (Next's other way, depth first, ends differently where fields fail),
# and a field whose type has a method of its name is `resolve_legacy_instance_method`.
module Engine
  NAME = ENV.fetch("PIPELOADER_ENGINE", "interpreter")
  NEXT = NAME == "next"

  unless %w[interpreter next].include?(NAME) && (!NEXT || defined?(GraphQL::Execution::Next))
    abort "PIPELOADER_ENGINE=#{NAME}: graphql #{GraphQL::VERSION} has no such engine"
  end

  # Tests that ask what Next doesn't do, by why.
  NOT_ON_NEXT = {
    "Next loses fields that come after a list that fails as a whole, if they are resolved later (without Pipeloader, too)" => %w[
      ErrorsTest#test_in_a_transaction ErrorsTest#test_statement_invalid_fails_one_field FaultsTest#test_errors_in_the_answer
    ],
    "Next has no context.add_error" => %w[ErrorsTest#test_returned_and_added_errors],
    "Next gives an extension other arguments" => %w[HooksTest#test_field_extension],
    "Next doesn't look into a mutation's Hash" => %w[MutationsTest#test_resolver_class]
  }.flat_map { |reason, tests| tests.map { |test| [test, reason] } }.to_h.freeze

  # Fields that fail where it matters. When a list fails as a whole, or a field that is non-null, Next 2.6.14 gives up what it
  # hasn't resolved yet (without Pipeloader it is more, as less is resolved by then); and a second error below something
  # that became null ends in a NoMethodError of its own (graphql/execution/finalize.rb).
  AVOIDED = %w[failingList veryFussy mustFail requiredAuthor requiredEditor requiredLastComment].freeze

  # @param field [GraphQL::Schema::Field]
  def self.avoids?(field) = NEXT && AVOIDED.include?(field.graphql_name)

  # The type of a root field that fails as a whole while others are asked for. On Next its items are nullable: then it gives
  # up nothing else.
  def self.failing_list(type) = NEXT ? [type, { null: true }] : [type]

  # @return [String] what a resolver's error says; Next puts in front of a StandardError's message where it came, without us too
  def self.message_of(error) = NEXT ? error.message.sub(/\AResolving Query\.\w+: /, "") : error.message

  # Has a +schema+ of a test work depth first, as the Interpreter does without a dataloader. On Next, with a dataloader, Pipeloader
  # comes to some fields in another order than graphql-ruby: see docs/internals.md, "Order on Execution::Next".
  def self.depth_first(schema) = (schema.use(GraphQL::Dataloader::NullDataloader) if NEXT)

  # @return [String, nil] why +test+ ("FooTest#test_x") is skipped
  def self.skip_reason(test) = (NOT_ON_NEXT[test] if NEXT)

  module EverySchema
    def inherited(schema)
      super
      schema.use(GraphQL::Execution::Next, as_default: true)
      schema.use(GraphQL::Dataloader)
    end
  end

  # (The method is defined after the field, so it is looked for when the field is executed.)
  module EveryField
    def execution_mode
      @execution_mode == :direct_send && owner.method_defined?(@resolver_method) ? :resolve_legacy_instance_method : super
    end

    def execution_mode_key
      execution_mode == :resolve_legacy_instance_method && @execution_mode == :direct_send ? @resolver_method : super
    end
  end

  if NEXT
    GraphQL::Schema.singleton_class.prepend(EverySchema)
    GraphQL::Schema::Field.prepend(EveryField)
  end
end
