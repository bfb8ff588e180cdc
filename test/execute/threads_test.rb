# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/plan_types"

# Many threads execute one document, whose plan is made, and made into Ruby code, while they do: each answer is its own. Threads take
# turns at any line of ours, more often than Ruby would have it.
class ThreadsTest < PlanTest
  THREADS, ROUNDS = 4, 6
  LIB = File.expand_path("../../lib/pipeloader", __dir__)

  QUERY = <<~GRAPHQL
    query($limit: Int, $more: Boolean!) {
      posts(limit: $limit) { id title teaser author @include(if: $more) { name posts { title } } comments { body commenter @skip(if: $more) { name } } }
    }
  GRAPHQL
  # The first fails for some of the rows; the second has something opaque between what is plain.
  FAILING = "query($limit: Int, $more: Boolean!) { posts(limit: $limit) { id rate mustRate tags { name @include(if: $more) } } }"
  OPAQUE = "query($limit: Int, $more: Boolean!) { posts(limit: $limit) { loud opaqueAuthor { name posts { title @skip(if: $more) } } comments { body } } }"

  { plain: QUERY, failing: FAILING, opaque: OPAQUE }.each do |name, query|
    define_method(:"test_text_#{name}") { assert_threads { { query: query } } }
    define_method(:"test_document_#{name}") { GraphQL.parse(query).then { |document| assert_threads { { document: document } } } }
  end

  private

  # @yield gives what is executed
  def assert_threads
    plain, piped = PlanTypes.make { rescue_from(ZeroDivisionError) { raise GraphQL::ExecutionError, "by zero" } }
    variables = (1..5).to_a.product([true, false]).map { |limit, more| { "limit" => limit, "more" => more } }
    expected = variables.to_h { |it| [it, text_of(plain.execute(**yield, variables: it).to_h)] }
    start = Queue.new
    threads = Array.new(THREADS) do |number|
      Thread.new do
        start.pop
        Array.new(ROUNDS) { |round| variables[(number + (round * 3)) % variables.size].then { |it| [it, text_of(piped.execute(**yield, variables: it).to_h)] } }
      end
    end
    answers = taking_turns { THREADS.times { start << true } && threads.flat_map(&:value) }
    answers.each { |it, answer| assert_equal expected[it], answer, it.inspect }
    assert_equal THREADS * ROUNDS, answers.size
  ensure
    threads&.each(&:kill)
  end

  # At one line of ours in seven another thread goes on.
  def taking_turns
    lines = 0
    turns = TracePoint.new(:line) { |point| Thread.pass if point.path.start_with?(LIB) && ((lines += 1) % 7).zero? }
    turns.enable # (With a block, Ruby 3.2 traces this thread alone.)
    yield
  ensure
    turns.disable
    assert_operator lines, :>, 1000
  end
end
