# frozen_string_literal: true

# Which of graphql-ruby's engines runs the tests' schemas: the Interpreter or, by PIPELOADER_ENGINE=next,
# GraphQL::Execution::Next. What the schemas leave open is settled as an application on its way to Next would do it: Next is
# each schema's default, it has a GraphQL::Dataloader (Next's other way, depth first, ends differently where fields fail),
# and a field whose type has a method of its name is `resolve_legacy_instance_method`.
#
# There, one fiber resolves a field for all objects, so that few reads gather yet: how many round trips an answer takes isn't
# asserted, but that they are no more than without Pipeloader (see PipeloaderTest and AnswerTest).
module Engine
  NAME = ENV.fetch("PIPELOADER_ENGINE", "interpreter")
  NEXT = NAME == "next"

  unless %w[interpreter next].include?(NAME) && (!NEXT || defined?(GraphQL::Execution::Next))
    abort "PIPELOADER_ENGINE=#{NAME}: graphql #{GraphQL::VERSION} has no such engine"
  end

  # Tests that ask what Next doesn't do, by why.
  NOT_ON_NEXT = {
    "counts bursts or what is in them" => %w[
      BoundsTest#test_forty_thousand_items_with_a_read_each
      CompanyTest#test_nested_execution_in_a_plain_schema CompanyTest#test_shape_of_bursts_with_sources
      CountersTest#test_burst_event CountersTest#test_counters CountersTest#test_each_answer_counts_for_itself
      CountersTest#test_sql_event_of_a_parked_read
      DatabaseConnectionsTest#test_all_bursts_of_a_level_are_sent_before_any_is_waited_for
      DatabaseConnectionsTest#test_two_databases_share_a_level
      FiberIsolationTest#test_all_bursts_of_a_level_are_sent_before_any_is_waited_for
      FiberIsolationTest#test_two_databases_share_a_level
      HooksTest#test_visibility
      InstrumentationTest#test_burst_event InstrumentationTest#test_counters_of_an_operation InstrumentationTest#test_log_line
      InstrumentationTest#test_reads_say_which_burst_brought_them_and_how_long_they_waited
      OutsideTest#test_query_cache_around_a_response
    ],
    "Next loses fields that come after a list that fails as a whole, if they are resolved later (without Pipeloader, too)" => %w[
      ErrorsTest#test_in_a_transaction ErrorsTest#test_statement_invalid_fails_one_field FaultsTest#test_errors_in_the_answer
      PlanAssociationsTest#test_of_no_column
    ],
    "Next has no context.add_error" => %w[ErrorsTest#test_returned_and_added_errors],
    "Next gives an extension other arguments" => %w[HooksTest#test_field_extension],
    "Next doesn't look into a mutation's Hash" => %w[MutationsTest#test_resolver_class]
  }.flat_map { |reason, tests| tests.map { |test| [test, reason] } }.to_h.freeze

  # Fields that fail where it matters. When a list fails as a whole, or a field that is non-null, Next 2.6.14 gives up what it
  # hasn't resolved yet (without Pipeloader it is more, as less is resolved by then); and a second error below something
  # that became null ends in a NoMethodError of its own (graphql/execution/finalize.rb).
  AVOIDED = %w[failingList veryFussy requiredAuthor requiredEditor].freeze

  # @param field [GraphQL::Schema::Field]
  def self.avoids?(field) = NEXT && AVOIDED.include?(field.graphql_name)

  # @return [String, nil] why +test+ ("FooTest#test_x") is skipped
  def self.skip_reason(test) = (NOT_ON_NEXT[test] if NEXT)

  module EverySchema
    def inherited(schema)
      super
      schema.use(GraphQL::Execution::Next, as_default: true)
      schema.use(GraphQL::Dataloader) unless schema.dataloader_class < GraphQL::Dataloader
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
