# frozen_string_literal: true

require "open3"
require_relative "test_helper"

# Plans: what plain schemas answer, schemas that compile must answer byte by byte; and whether a plan did run is told by the records
# that came to be: a plan makes none.
class PlanTest < PipeloaderTest
  # A type, and schemas with roots of the test's own.
  module Making
    # An object type of a test's own.
    def type(name, base = Schemas::Base, &block)
      Class.new(base) do
        graphql_name name
        class_eval(&block) if block
      end
    end

    # @param root [Hash{Symbol => Array(type, Proc)}] fields of the query, and what they resolve to
    # @return [Array(Class, Class)] the plain schema, the one that compiles; the block is evaluated in both
    def schemas(roots, pipeloader: {}, mutation: nil, base: Schemas::Base, &block)
      query = Class.new(base) do
        graphql_name "Query"
        roots.each do |name, (type, value)|
          field name, type
          define_method(name) { value.arity == 1 ? value.call(context) : value.call }
        end
      end
      make(query: query, mutation: mutation, pipeloader: pipeloader, &block)
    end

    # As Schemas.make, with plans, and errors of every kind as answers.
    def make(query:, mutation: nil, pipeloader: {}, &block)
      [false, true].map do |piped|
        Class.new(GraphQL::Schema) do
          query(query)
          mutation(mutation)
          rescue_from(StandardError) { |error| raise GraphQL::ExecutionError, "#{error.class}: #{error.message}" }
          class_eval(&block) if block
          use(Pipeloader, compile: true, **pipeloader) if piped
        end
      end
    end
  end
  include Making
  extend Making

  # The same answer, also when the document is executed again.
  #
  # @param aside [Class, nil] where the plan is to step aside: a model of which records must come to be
  # @param made [Array<Class>] models of which the resolvers themselves make records
  def assert_plan(query, schemas = pair, aside: nil, made: [], errors: false, around: :call.to_proc, before: nil, **options)
    answer = nil
    run = lambda do |schema, **text|
      before&.call
      outcome { schema.execute(**text, **options.transform_values { |it| it.is_a?(Proc) ? it.call : it.dup }).to_h }
    end
    around.call(-> { answer = run.call(schemas.first, query: query) })
    document = GraphQL.parse(query)
    [{ query: query }, { document: document }, { document: document }].each do |text|
      piped = nil
      records = instantiated { around.call(-> { piped = run.call(schemas.last, **text) }) }
      assert_equal text_of(answer), text_of(piped)
      assert_ran(records, aside, made)
    end
    assert_equal errors, answer.key?("errors"), answer.inspect unless errors == :any
    answer
  end

  # As assert_plan, where graphql-ruby itself must do it.
  def assert_aside(query, schemas = pair, model: Post, **options) = assert_plan(query, schemas, aside: model, **options)

  # The same answer each time, whether by a plan or not.
  def assert_same_twice(query, schemas = pair, **options)
    answers = schemas.flat_map { |schema| Array.new(3) { text_of(outcome { schema.execute(query, **options).to_h }) } }
    assert_equal 1, answers.uniq.size, answers.uniq.join("\n")
  end

  # Runs +code+ as a test in a process of its own: for what can't be undone.
  #
  # @param file [String] of the test that it belongs to, to be loaded before
  def assert_in_a_process(file, code)
    script = <<~RUBY
      require "./#{file}"
      test = Class.new(PlanTest) { def test_it = (#{code}) }
      Minitest::Runnable.runnables.replace([test])
    RUBY
    output, status = Open3.capture2e(RbConfig.ruby, "-w", "--disable-error_highlight", "-Itest", "-Ilib", "-e", script)
    assert_predicate status, :success?, output
  end

  # @return [Hash{String => Integer}] how many records of which class came to be during the block
  def instantiated(&block)
    WireCounter.events("instantiation.active_record", &block).each_with_object(Hash.new(0)) { |it, all| all[it[:class_name]] += it[:record_count] if it[:record_count].positive? }
  end

  # (Some messages have addresses in them.)
  def text_of(answer) = JSON.generate(answer).gsub(/0x[0-9a-fX]{6,}/, "0x")

  private

  def assert_ran(records, aside, made)
    return assert_includes(records.keys, aside.name) if aside

    assert_equal({}, records.except(*made.map(&:name)), "records of a plan")
  end

  # What escapes is an answer, too.
  def outcome
    yield
  rescue StandardError => e
    { "raised" => [e.class.name, e.message.lines.first], "errors" => [] }
  end
end
