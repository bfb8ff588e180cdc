# frozen_string_literal: true

require_relative "random_case"
require_relative "../support/explained"
require_relative "../support/library"
require_relative "../support/plan_types"

# Random queries: with and without Pipeloader they answer the same, and leave the same behind.
class RandomTest < RandomCase
  include Explained

  # A query over the types of Schemas, up to +depth+ levels of objects.
  class Writer
    attr_reader :variables

    def initialize(random, schema, depth: random.rand(1..5))
      @random = random
      @schema = schema
      @depth = depth
      @rows = 1 # in a list of a list of …
      @aliases = 0
      @fragments = []
      @variables = {} # {name => [type, value]}
      @budget = 60 # fields
    end

    # @return [Hash] options for execute or multiplex
    def call = document("query", selections(@schema.query, @depth))

    def document(kind, body)
      declared = @variables.map { |name, (type, _)| "$#{name}: #{type}" }.join(", ")
      { query: "#{kind} Random#{"(#{declared})" unless declared.empty?} #{body}\n#{@fragments.join("\n")}", variables: @variables.transform_values(&:last) }
    end

    def selections(type, depth)
      return abstract(type, depth) if type.kind.union? || (type.kind.interface? && chance(0.7))

      parts = Array.new(@random.rand(1..4)) { selection(type, depth) }.compact
      "{ #{(parts.empty? ? ["__typename"] : parts).join(" ")} }"
    end

    private

    def chance(probability) = @random.rand < probability
    def pick(things) = things[@random.rand(things.size)]

    def abstract(type, depth)
      parts = @schema.possible_types(type).sort_by(&:graphql_name).filter_map do |possible|
        "... on #{possible.graphql_name} #{selections(possible, depth)}" if chance(0.8)
      end
      "{ #{["__typename", *parts].join(" ")} }"
    end

    def selection(type, depth)
      return if (@budget -= 1).negative?

      case @random.rand
      when 0..0.06 then "__typename#{directive}"
      when 0.06..0.16 then "... #{"on #{type.graphql_name} " if chance(0.5)}#{directive} #{selections(type, depth)}" unless type.kind.interface?
      when 0.16..0.22 then fragment(type, depth) unless type.kind.interface?
      else field(type, depth)
      end
    end

    def fragment(type, depth)
      name = "F#{@fragments.size}"
      @fragments << nil
      @fragments[name[1..].to_i] = "fragment #{name} on #{type.graphql_name} #{selections(type, depth)}"
      "...#{name}#{directive}"
    end

    def field(type, depth)
      fields = type.fields.values.select { |it| leaf?(it) || (depth.positive? && (@rows < 60 || !it.type.list?)) }
      fields.reject! { |it| Engine.avoids?(it) }
      return if fields.empty?

      it = pick(fields)
      outer, @rows = @rows, @rows * (it.type.list? || it.connection? ? 4 : 1)
      below = " #{selections(it.type.unwrap, depth - (it.connection? ? 0 : 1))}" unless leaf?(it)
      @rows = outer
      # Two types of a union may have a field of one name and different types: only with an alias they never conflict.
      "a#{@aliases += 1}: #{it.graphql_name}#{arguments(it)}#{directive}#{below}"
    end

    def leaf?(field) = field.type.unwrap.kind.leaf?

    def directive
      return "" unless chance(0.08)

      value = chance(0.5) ? chance(0.5).to_s : variable("Boolean!", chance(0.5))
      " @#{pick(%w[skip include])}(if: #{value})"
    end

    def variable(type, value)
      name = "v#{@variables.size}"
      @variables[name] = [type, value]
      "$#{name}"
    end

    def arguments(field)
      given = field.arguments.values.filter_map do |argument|
        next unless argument.type.non_null? || chance(0.4)

        value = value_for(argument)
        "#{argument.graphql_name}: #{chance(0.3) ? variable(argument.type.to_type_signature, value) : JSON.generate(value)}"
      end
      given.empty? ? "" : "(#{given.join(", ")})"
    end

    def value_for(argument)
      case argument.graphql_name
      when "id" then @random.rand(1..14).to_s
      when "ids" then Array.new(@random.rand(0..4)) { @random.rand(1..14).to_s }
      when "limit", "first", "last" then @random.rand(0..5)
      when "after", "before" then Base64.strict_encode64(@random.rand(1..13).to_s).delete("=")
      when "name" then "user #{@random.rand(1..9)}"
      else raise "what is #{argument.graphql_name}?"
      end
    end
  end

  def test_queries = each_round { |random| assert_query(random, pair) }

  def test_multiplexes = each_round { |random| assert_multiplex(random, pair) }

  # What explain says is what is seen to run. (An exception that leaves `execute` leaves explain, too.)
  def test_explanations
    schema = Schemas.make(pipeloader: ROOM.merge(compile: true)) { rescue_from(StandardError) { |error| raise GraphQL::ExecutionError, error.message } }.last
    each_round do |random|
      options = Writer.new(random, schema).call
      assert_explained(schema, options.delete(:query), **options)
    end
  end

  def test_queries_with_the_query_cache
    each_round { |random| assert_query(random, pair, around: QUERY_CACHE) }
  end

  # Values are in the texts then.
  def test_queries_without_prepared_statements
    ActiveRecord::Base.establish_connection(TestDatabase.hash(prepared_statements: false))
    each_round { |random| assert_query(random, pair, times: 3) }
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  # With a dataloader the serial order is another one: breadth first.
  def test_queries_of_a_schema_with_a_dataloader
    schemas = Schemas.make(pipeloader: ROOM) { use GraphQL::Dataloader }
    each_round { |random| assert_query(random, schemas) }
  end

  def test_queries_with_projection
    schemas = Schemas.make(pipeloader: { field_exact: true, **ROOM })
    each_round { |random| assert_query(random, schemas) }
  end

  # Types whose resolvers, and models whose readers, read columns that nobody could have seen: each such miss is a read more.
  def test_queries_with_projection_and_hidden_reads
    each_round { |random| assert_query(random, Library.pair, trips: false) }
  end

  def test_multiplexes_with_projection_and_hidden_reads
    each_round { |random| assert_multiplex(random, Library.pair, trips: false) }
  end

  def test_documents_with_projection
    each_round { |random| assert_document(random, Library.pair) }
  end

  # Plain subtrees between what has code of its own, and types that have none at all. (What doesn't fit is read again.)
  def test_queries_with_plans
    each_round { |random| assert_query(random, with_plans.sample(random: random), times: 2, trips: false) }
  end

  def test_documents_with_plans
    each_round { |random| assert_document(random, with_plans.sample(random: random)) }
  end

  def test_multiplexes_with_plans
    each_round { |random| assert_multiplex(random, with_plans.sample(random: random), trips: false) }
  end

  def test_plans_in_other_surroundings
    each_round do |random|
      schemas = with_plans.sample(random: random)
      around = [->(run) { rolled_back(&run) }, QUERY_CACHE, ->(run) { Post.where(id: ..7).scoping(&run) }].sample(random: random)
      assert_query(random, schemas, trips: false, without: /failing/, around: around)
    end
  end

  # Errors may come in another order then.
  def test_queries_with_few_fibers
    schemas = [4, 5, 8].map { |limit| Schemas.make(pipeloader: { fiber_limit: limit }) }
    each_round do |random|
      assert_query(random, schemas.sample(random: random), around: ->(run) { run.call.then { |answer| { **answer, "errors" => answer.key?("errors") } } })
    end
  end

  MUTATIONS = ["like(id: %d) %s", "addComment(postId: %d, body: \"random\") %s"].freeze

  # Serial root fields, with random selections below; each run starts from the same rows.
  def test_mutations
    each_round do |random|
      schema = pair.last
      writer = Writer.new(random, schema, depth: 3)
      fields = Array.new(random.rand(1..3)) do |index|
        which = random.rand(MUTATIONS.size)
        type = schema.mutation.fields.values_at("like", "addComment")[which].type.unwrap
        "m#{index}: #{format(MUTATIONS[which], random.rand(1..14), writer.selections(type, 2))}"
      end
      options = writer.document("mutation", "{ #{fields.join(" ")} }")
      runs = pair.map do |it|
        lambda do
          rolled_back do
            Comment.connection.execute("SELECT setval('comments_id_seq', 1000)")
            [it.execute(options[:query], variables: options[:variables].dup).to_h, Comment.order(:id).pluck(:id, :body), Post.order(:id).pluck(:likes)]
          end
        end
      end
      assert_same(*runs, show: options)
    end
  end

  # Only queries without a failing read: one would end the transaction for the others, and which those are depends on the order.
  def test_queries_in_a_transaction
    each_round { |random| assert_query(random, pair, without: /failing/, around: ->(run) { rolled_back(&run) }) }
  end

  private

  # @return [Array<Array(Class, Class)>]
  def with_plans
    @@with_plans ||= [
      Schemas.make(pipeloader: { compile: true, **ROOM }), Schemas.make(pipeloader: { compile: true, field_exact: true, **ROOM }),
      Schemas.make(pipeloader: { compile: true, **ROOM }) { use GraphQL::Dataloader },
      Library.make(compile: true), PlanTypes.make, PlanTypes.make { use GraphQL::Dataloader }
    ]
  end

  # @param without [Regexp, nil] what a query mustn't contain
  # @param around [Proc] called with what runs it, returns the answer
  def assert_query(random, schemas, without: nil, around: :call.to_proc, times: 1, **options)
    query = Writer.new(random, schemas.last).call
    return pass if without&.match?(query[:query])

    runs = schemas.map { |it| -> { around.call(-> { it.execute(query[:query], variables: query[:variables].dup).to_h }) } }
    times.times { assert_same(*runs, show: query, **options) }
  end

  def assert_multiplex(random, schemas, **options)
    queries = Array.new(random.rand(2..4)) { Writer.new(random, schemas.last, depth: 3).call }
    assert_same(*schemas.map { |it| -> { it.multiplex(queries.map(&:dup)).map(&:to_h) } }, show: queries, **options)
  end

  # A persisted document: what is known of one is kept by it, and each run has other variables. (The plain answer is asked for once
  # for each.)
  def assert_document(random, schemas)
    query = Writer.new(random, schemas.last).call
    document = GraphQL.parse(query[:query])
    run = ->(schema, variables) { schema.execute(document: document, variables: variables.dup).to_h }
    plain = Hash.new { |answers, variables| answers[variables] = run.call(schemas.first, variables) }
    3.times do
      variables = query[:variables].transform_values { |value| [true, false].include?(value) ? random.rand < 0.5 : value }
      assert_same(-> { plain[variables] }, -> { run.call(schemas.last, variables) }, show: query, trips: false)
    end
  end
end
