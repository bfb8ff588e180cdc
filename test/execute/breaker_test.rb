# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../support/faults"
require "stringio"

# A bug in Pipeloader is a line in the log: what it keeps from being answered, graphql-ruby answers by itself, and from then on all of
# that operation.
class BreakerTest < AnswerTest
  QUERY = "query Posts { posts { title comments { body } } }"

  # Resolvers that read, write, and count how often they are asked.
  ROOT = Class.new(Schemas::Query) do
    graphql_name "Query"
    field :names, [String]
    field :asked, Integer
    field :writes, String
    field :updates, Integer
    field :locks, String
    field :begins, String
    field :mine, String
    field :inner, String

    def names = ::Post.order(:id).limit(3).map { |post| post.author&.name.to_s }
    def asked = context[:asked] = context.fetch(:asked, 0) + 1
    def writes = ::Comment.create!(post: ::Post.first, body: "by a query").body
    def updates = ::Comment.where(body: "none").update_all(score: 1)
    def locks = ::Post.connection.select_value("SELECT pg_advisory_xact_lock(1)").to_s
    def begins = ::Post.transaction { ::Post.first.title }
    def mine = raise(NoMethodError, "mine")
    def inner = context.schema.execute(QUERY).to_h.dig("data", "posts").size.to_s
  end

  MUTATION = Class.new(Schemas::Mutation) do
    graphql_name "Mutation"
    field :count, Integer
    def count = context[:calls].push(1).size.tap { ::Post.count }
  end

  def setup
    @log = StringIO.new
    ActiveSupport::LogSubscriber.logger = Logger.new(@log)
    take_first_alias
  end

  def teardown
    ActiveSupport::LogSubscriber.logger = nil
    Pipeloader.breaker.reset
    super
  end

  def breaker = Pipeloader.breaker

  # @return [Array<String>] what was logged at least as a warning
  def warnings = @log.string.lines.grep(/ (?:WARN|ERROR) /).map { |line| line[/: (Pipeloader: .*)/, 1] }

  def make(pipeloader: {}, &block) = Schemas.make(query: ROOT, mutation: MUTATION, pipeloader: { breaker: true, **pipeloader }, &block)

  def schema(**options, &block) = make(pipeloader: options, &block).last

  def plain = @plain ||= make.first

  # The answer is graphql-ruby's, where Pipeloader has a bug at +point+; and is it again, where it has none.
  def assert_falls_back(schema, query, point = :read, **options)
    expected = JSON.generate(plain.execute(query, **copy(options)).to_h)
    answer = Faults.raising(point) { schema.execute(query, **copy(options)).to_h }
    assert_equal expected, JSON.generate(answer)
    assert_operator Faults.count, :>, 0
    assert_empty bursts { assert_equal expected, JSON.generate(schema.execute(query, **copy(options)).to_h) }
    assert_equal 1, breaker.open.size
    assert_equal 1, warnings.size
  end

  each_case({ a_read: [:read, "{ names }", false], a_burst: [:burst, "{ names posts { title author { name } } }", true],
              the_beginning: [:run, QUERY, true], the_end: [:over, QUERY, true], a_delivery: [:delivery, "{ names }", true],
              a_plan: [:plan, QUERY, true] }, "a_bug_in") do |point, query, compile|
    assert_falls_back(schema(compile: compile), query, point)
  end

  # Its errors are answers, too; where the application handles all errors, it isn't asked about ours.
  def test_where_the_application_handles_all_errors
    asked = []
    handling = ->(*) { rescue_from(StandardError) { |error| asked << error.class; raise GraphQL::ExecutionError, "handled" } }
    plain, piped = make { class_exec(&handling) }
    @plain = plain
    assert_falls_back(piped, "{ names mine }")
    assert_equal [NoMethodError] * 3, asked # of `mine`
  end
end
