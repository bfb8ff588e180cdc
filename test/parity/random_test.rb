# frozen_string_literal: true

require "pp"
require_relative "../support/test_helper"
require_relative "../support/comparison"
require_relative "../support/explained"
require_relative "../support/read_forms"
require_relative "../support/library"
require_relative "../support/plan_types"

# Random queries and random resolvers: with and without Pipeloader they answer the same, and leave the same behind.
#
# PIPELOADER_ROUNDS sets how many of each are tried, PIPELOADER_SEED where to begin; a failure says what to set.
class RandomTest < PipeloaderTest
  include Explained

  ROUNDS = Integer(ENV.fetch("PIPELOADER_ROUNDS", 8))
  SEED = Integer(ENV.fetch("PIPELOADER_SEED", Random.new_seed % 1_000_000))

  # For all fibers that a query of Writer's may need: at the limit, a field that failed no longer waits its turn, and errors
  # may be listed in another order (docs/internals.md).
  ROOM = { fiber_limit: 16_000 }.freeze

  QUERY_CACHE = ->(run) { ActiveRecord::Base.cache { Audit.cache(&run) } }

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
      around = [->(run) { in_transaction(&run) }, QUERY_CACHE, ->(run) { Post.where(id: ..7).scoping(&run) }].sample(random: random)
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
          in_transaction do
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
    each_round { |random| assert_query(random, pair, without: /failing/, around: ->(run) { in_transaction(&run) }) }
  end

  # What Rails keeps for a thread or fiber.
  class Current < ActiveSupport::CurrentAttributes
    attribute :who
  end

  # A resolver's program: [[:read, "count", 2], [:scoping, 3, [[:read, …], …]], …]
  class Programmer
    # Without those that move rows, as not every form has an order, and what shows whether the query cache knew.
    FORMS = ReadForms::ALL.reject { |name, (expectation, _)| expectation == :own_transaction || name.match?(/update|UPDATE|writes|explain|find_or_create/) }.keys.freeze
    # Leave the other reads of a transaction an error.
    FAILING = FORMS.grep(/several statements|no such|error|syntax|division|bad |too few|encoding|NUL|savepoint/).freeze
    BLOCKS = %i[scoping unscoped cache uncached locale zone current connected_to transaction without_parking rescuing tagged].freeze

    def initialize(random, failing: true, fibers: true)
      @random = random
      @forms = failing ? FORMS : FORMS - FAILING
      @failing = failing
      @fibers = fibers
    end

    # @return [Hash] {steps: the program, lazy: whether a lazy value runs it, below: programs of the fields below}
    def call(depth)
      { steps: steps(3), lazy: @random.rand < 0.15, below: depth.zero? ? [] : Array.new(@random.rand(0..3)) { call(depth - 1) } }
    end

    private

    def steps(depth) = Array.new(@random.rand(1..3)) { step(depth) }

    def step(depth)
      case @random.rand
      when 0..0.45 then [:read, @forms.sample(random: @random), @random.rand(1..3)]
      when 0.45..0.7 then depth.zero? ? [:look] : [BLOCKS.sample(random: @random), @random.rand(1..5), steps(depth - 1)]
      when 0.7..0.76 then [:shared_association, %i[author comments tags last_comment].sample(random: @random)]
      when 0.76..0.8 then [:shared_relation]
      when 0.8..0.84 then @fibers ? [:enumerator] : [:look]
      when 0.87..0.9 then @failing ? [:fail_with, %w[execution missing].sample(random: @random)] : [:look]
      when 0.9..0.93 then @fibers ? [:fiber] : [:look]
      else [:look]
      end
    end
  end

  # Runs programs in a resolver.
  class Processor
    def initialize(context) = @context = context

    # @return [Array] what each step has seen
    def call(steps) = steps.map { |name, *arguments| seen(public_send(name, *arguments)) }

    # What nested calls return has been seen already: Strings.
    def seen(value)
      case value
      when Array then value.map { |it| seen(it) }
      when String then value
      else Comparison.of(value).inspect.then { |text| text.size > 600 ? "#{text[0, 500]}… #{text.hash}" : text }
      end
    end

    def read(form, id)
      ReadForms::ALL.fetch(form).last.call(id)
    rescue ActiveRecord::ActiveRecordError, ArgumentError, NameError, PG::Error, EncodingError, RangeError => e
      e
    end

    # What is in force here.
    def look = [::Post.count, surroundings, ::Post.all.to_sql, ::Tag.order(:id).first.name, surroundings]

    def surroundings
      [I18n.locale, Time.zone&.name, Current.who, ActiveRecord::Base.current_role, ::Post.current_scope&.to_sql,
       ::Post.connection.query_cache_enabled, ::Post.connection.open_transactions - @context[:open_transactions], ActiveRecord::Base.current_preventing_writes]
    end

    def scoping(number, steps) = ::Post.where(id: number..).scoping { [call(steps), look] }
    def unscoped(_number, steps) = ::Post.unscoped { [call(steps), look] }
    def cache(_number, steps) = ::Post.cache { [call(steps), look] }
    def uncached(_number, steps) = ::Post.uncached { [call(steps), look] }
    def locale(number, steps) = I18n.with_locale(number.odd? ? :en : :de) { [call(steps), look] }
    def zone(number, steps) = Time.use_zone(%w[Tokyo Lima UTC][number % 3]) { [call(steps), look] }
    def current(number, steps) = Current.set(who: number) { [call(steps), look] }
    def tagged(number, steps) = ActiveSupport::ExecutionContext.set(tag: number) { [call(steps), look, ActiveSupport::ExecutionContext.to_h.slice(:tag)] }
    def connected_to(number, steps) = ActiveRecord::Base.connected_to(role: :writing, prevent_writes: number.odd?) { [call(steps), look] }
    def without_parking(_number, steps) = Pipeloader.without_parking { [call(steps), look] }

    def rescuing(_number, steps)
      call(steps)
    rescue StandardError => e
      [e.class, look]
    end

    # An error in it would end it for what comes after.
    def transaction(number, steps)
      steps = steps.reject { |name, form| name == :read && Programmer::FAILING.include?(form) }
      seen = nil
      ::Tag.transaction(requires_new: true) do
        ::Tag.create!(id: 9000 + number, name: "new") unless ActiveRecord::Base.current_preventing_writes
        seen = [call(steps.select { |name, *| %i[read look].include?(name) }.reject { |name, form| name == :read && Programmer::FAILING.include?(form) }), ::Tag.count]
        raise ActiveRecord::Rollback
      end
      [seen, look]
    end

    def shared_association(name) = @context[:post].public_send(name).then { |it| it.respond_to?(:map) ? it.map(&:id) : it }
    def shared_relation = [@context[:relation].size, @context[:relation].map(&:title), @context[:relation].empty?]
    def enumerator = Enumerator.new { |them| ::Post.order(:id).limit(3).each { |post| them << [post.title, post.comments.count] } }.then { |it| [it.next, it.next] }
    def fiber = Fiber.new { [::Post.first.title, surroundings.first] }.resume

    def fail_with(kind)
      kind == "missing" ? ::Post.find(4711) : raise(GraphQL::ExecutionError, "#{kind} of #{::Post.count}")
    end
  end

  Later = Struct.new(:work) { def value = work.call }

  class Step < GraphQL::Schema::Object
    field :value, GraphQL::Types::JSON
    field :must, GraphQL::Types::JSON, null: false
    field :below, ["RandomTest::Step"], null: false

    def value = object[:lazy] ? Later.new(-> { run }) : run
    def must = value
    def run = Processor.new(context).call(object[:steps])
    def below = ::Tag.exists? && object[:below]
  end

  class Query < GraphQL::Schema::Object
    field :programs, [Step], null: false
    def programs = context[:programs]
  end

  PROGRAMS = "{ programs { ...s below { ...s below { ...s } } } } fragment s on Step { value again: value @include(if: $again) must @include(if: $must) }"
             .then { |text| "query($again: Boolean!, $must: Boolean!) #{text}" }

  def pair = @@pair ||= Schemas.make(pipeloader: ROOM) # rubocop:disable Style/ClassVars

  def program_schemas = @@program_schemas ||= Schemas.make(query: Query, mutation: nil) { lazy_resolve(Later, :value) } # rubocop:disable Style/ClassVars

  def test_programs
    each_round { |random| assert_same_programs(random) { |run| run.call } }
  end

  def test_programs_with_the_query_cache
    each_round { |random| assert_same_programs(random) { |run| ActiveRecord::Base.cache { run.call } } }
  end

  def test_programs_in_a_transaction
    each_round { |random| assert_same_programs(random, failing: false) { |run| in_transaction { run.call } } }
  end

  def test_programs_under_fiber_isolation
    level = ActiveSupport::IsolatedExecutionState.isolation_level
    ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
    # Each other fiber would take a connection of its own.
    each_round { |random| assert_same_programs(random, fibers: false) { |run| run.call } }
  ensure
    ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
    ActiveSupport::IsolatedExecutionState.isolation_level = level
  end

  def test_programs_in_other_blocks
    each_round do |random|
      assert_same_programs(random) do |run|
        I18n.with_locale(:de) { Time.use_zone("Lima") { Current.set(who: "outside") { ::Post.where(id: ..11).scoping(&run) } } }
      end
    end
  end

  private

  # @return [Array<Array(Class, Class)>]
  def with_plans
    @@with_plans ||= [ # rubocop:disable Style/ClassVars
      Schemas.make(pipeloader: { compile: true, **ROOM }), Schemas.make(pipeloader: { compile: true, field_exact: true, **ROOM }),
      Schemas.make(pipeloader: { compile: true, **ROOM }) { use GraphQL::Dataloader },
      Library.make(compile: true), PlanTypes.make, PlanTypes.make { use GraphQL::Dataloader }
    ]
  end

  def each_round
    # What a thread of an earlier test took along when it was killed is noticed by the first of two equal runs alone.
    ActiveRecord::Base.connection_pool.reap
    ROUNDS.times do |round|
      seed = SEED + round
      @seed = "PIPELOADER_SEED=#{seed} PIPELOADER_ROUNDS=1"
      yield Random.new(seed)
    end
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

  # A transaction sends what is gathered, before its siblings have come to ask the same; and whoever reads asynchronously, when
  # a thread has time for it: there may be a round trip more for each of them.
  APART = /transaction|async/

  def assert_same_programs(random, **options, &around)
    I18n.available_locales |= %i[en de]
    programmer = Programmer.new(random, **options)
    programs = Array.new(random.rand(1..5)) { programmer.call(2) }
    variables = { "again" => random.rand < 0.3, "must" => random.rand < 0.3 && !Engine::NEXT } # see Engine::AVOIDED
    runs = ->(some) { program_schemas.map { |schema| -> { around.call(-> { run_programs(schema, some, variables) }) } } }
    failure = lambda do |some|
      failure_of { assert_same(*runs.call(some), show: { programs: some, variables: variables }, trips: some.to_s.scan(APART).size) }
    end
    return unless (first = failure.call(programs))

    # Shown is what is left when nothing more can be left out; unless it takes more than once to fail.
    raise failure.call(shrink(programs) { |some| failure.call(some) }) || first
  end

  def failure_of
    yield
    nil
  rescue Minitest::Assertion => e
    e
  end

  def run_programs(schema, programs, variables)
    context = { programs: programs, post: ::Post.find(1), relation: ::Post.order(:id), open_transactions: ::Post.connection.open_transactions }
    schema.execute(PROGRAMS, context: context, variables: variables).to_h
  end

  # Leaves out programs and steps as long as the block says yes.
  def shrink(programs)
    while (smaller = smaller_ones(programs).find { |some| yield some })
      programs = smaller
    end
    programs
  end

  # @return [Array] +thing+ with one piece less, each piece once; [:locale, 1, [steps]] becomes less by its steps
  def smaller_ones(thing)
    case thing
    when Hash
      %i[steps below].flat_map { |key| smaller_ones(thing[key]).map { |less| { **thing, key => less } } }
    when Array
      step = thing.first.is_a?(Symbol)
      without = step ? [] : thing.each_index.map { |index| thing[0...index] + thing[index + 1..] }
      without + thing.each_with_index.flat_map do |piece, index|
        smaller_ones(piece).map { |less| thing[0...index] + [less] + thing[index + 1..] }
      end
    else []
    end
  end

  # @param trips [Integer, false] how many round trips more than the first the second may take
  def assert_same(plain, piped, show:, trips: 0)
    more = trips
    trips = []
    answers = [plain, piped].map do |run|
      answer = nil
      trips << WireCounter.trips { answer = outcome(&run) }.size
      [answer, left_behind]
    end
    explain = -> { "#{@seed}\n#{show.is_a?(Hash) && show[:query] ? show.values.join("\n") : show.pretty_inspect}" }
    bytes = answers.map { |answer, _| JSON.generate(answer) }
    assert bytes.uniq.one?, -> { "#{explain.call}#{differences(*answers.map(&:first)).join("\n")}" }
    assert_equal(*answers.map(&:last), explain)
    assert_operator trips.last, :<=, trips.first + more, explain unless !more || bytes.first.include?('"errors":')
  end

  def outcome
    yield
  rescue StandardError => e
    [e.class.name, e.message]
  end

  # @return [Array<String>] "path: expected … but was …", the first four
  def differences(plain, piped, path = "answer")
    return [] if JSON.generate(plain) == JSON.generate(piped)

    children = if plain.is_a?(Hash) && piped.is_a?(Hash) && plain.keys == piped.keys then plain.keys
               elsif plain.is_a?(Array) && piped.is_a?(Array) && plain.size == piped.size then plain.each_index
               end
    return ["#{path}: expected\n  #{plain.inspect[0, 700]}\nbut was\n  #{piped.inspect[0, 700]}"] unless children

    children.flat_map { |key| differences(plain[key], piped[key], "#{path}.#{key}") }.first(4)
  end

  def left_behind
    connection = ActiveRecord::Base.lease_connection
    [I18n.locale, Time.zone, Current.who, Post.current_scope, connection.query_cache_enabled, connection.open_transactions,
     connection.raw_connection.pipeline_status, connection.raw_connection.transaction_status, Post.count, Tag.count,
     ActiveRecord::Base.connection_pool.stat.slice(:busy, :dead)]
  end

  def in_transaction
    result = nil
    ActiveRecord::Base.transaction do
      result = yield
      raise ActiveRecord::Rollback
    end
    result
  end
end
