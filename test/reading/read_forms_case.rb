# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/comparison"
require_relative "../support/sibling_fields"
require_relative "../support/read_forms"

# Each way to read, as the resolvers of four sibling fields (the last asks what the first asks): the values, the errors and
# the events are those of a run without Pipeloader, and each read is parked. What must not wait for others, goes at once.
class ReadFormsCase < PipeloaderTest
  FIELDS = 4
  QUERY = "{ #{Array.new(FIELDS) { |index| "f#{index}" }.join(" ")} }".freeze

  # What one execution has left: {results: what the resolvers returned or raised, events: payloads, parked: number of reads}
  Run = Struct.new(:results, :events, :parked)

  class << self
    def test_all_forms
      ReadForms::ALL.each do |name, (expectation, body)|
        define_method(:"test_#{name}") { assert_same_reads(expectation, &body) }
      end
    end

    # The schema without and the one with Pipeloader; what their fields do is in the context.
    def schemas
      @@schemas ||= SiblingFields.schemas(FIELDS)
    end
  end

  # Around the execution of the query.
  def around = yield

  def assert_same_reads(expectation, &body)
    plain, piped = runs(&body)
    assert_equal plain.results.map { |it| Comparison.of(it) }, piped.results.map { |it| Comparison.of(it) }
    assert_equal_lists comparable(plain.events), comparable(piped.events)
    assert_parked expectation, piped
  end

  # Events as text, in any order: siblings take turns.
  def comparable(events) = events.map { |it| Comparison.event(it) }.sort

  def assert_equal_lists(plain, piped)
    assert_equal plain.tally, piped.tally, "only plain:\n#{(plain - piped).join("\n")}\nonly piped:\n#{(piped - plain).join("\n")}\n" unless plain == piped
    pass
  end

  def assert_parked(expectation, run)
    parked, others = run.events.reject { |it| it[:cached] || it[:name] == "TRANSACTION" }.partition { |it| it.key?(:pipeloader) }
    expectation = in_transaction? ? :both : :at_once if expectation == :own_transaction
    # A statement that fails there has graphql-ruby execute the query by itself.
    return if in_transaction? && others.any? { |it| it.key?(:exception) }

    case expectation
    when :parks then assert_empty(others.map { |it| it[:sql] }) && assert_operator(run.parked, :>, 0)
    when :at_once then assert_empty(parked.map { |it| it[:sql] }) && refute_empty(others)
    when :nothing then assert_empty(run.events.map { |it| it[:sql] })
    end
  end

  def in_transaction? = false

  # @return [Array(Run, Run)] without and with Pipeloader
  def runs(&body)
    ReadFormsCase.schemas.map do |schema|
      run = Run.new([], nil, 0)
      resolve = ->(index) { run.results[index] = outcome((index % (FIELDS - 1)) + 1, &body) and nil }
      ActiveSupport::Notifications.subscribed(->(*, payload) { run.parked += payload[:reads].size }, "burst.pipeloader") do
        around do
          run.events = WireCounter.events("sql.active_record") { schema.execute(QUERY, context: { resolve: resolve }) }
        end
      end
      run.events.reject! { |it| it[:name] == "SCHEMA" }
      run
    end
  end

  def outcome(id)
    yield id
  rescue StandardError => e
    e
  end
end

# A pool without prepared statements, while the tests of a class run: a new one takes as long as a test.
module WithoutPreparedStatements
  def run(...)
    ActiveRecord::Base.establish_connection(TestDatabase.hash(prepared_statements: false))
    super
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end
end
