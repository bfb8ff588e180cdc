# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/plan_types"

# What doesn't fit, or fails, while a plan is at work: the answer, its errors and their order are graphql-ruby's own.
class PlanFaultsTest < PlanTest
  Types = PlanTypes
  PAIR = make(query: Types::Query)

  def pair = PAIR

  # Null where there must be something, at each depth, with siblings that fail, or don't, before and behind.
  {
    a_required_association: "{ posts { title requiredEditor { name } } }",
    behind_others: "{ users { name } posts { title requiredEditor { name } } tags { name } }",
    below: "{ users { name posts { title requiredEditor { name } } } }",
    below_one: "{ comments { body post { requiredEditor { name } } } }",
    has_one: "{ posts { title requiredLastComment { body } } }",
    two_of_them: "{ a: posts { requiredEditor { name } } b: posts { requiredLastComment { id } } c: users { name } }",
    beside_failing_fields: "{ posts { fails title } a: posts { requiredEditor { id } } b: posts(limit: 2) { mustFail } c: posts { requiredLastComment { id } } }",
    in_an_object_with_code: "{ posts { loud requiredEditor { name } fails comments { post { requiredEditor { id } } } } }",
    where_it_is_there: "{ post(id: 3) { requiredEditor { name } } other: post(id: 1) { requiredEditor { name } } }"
  }.each do |name, query|
    define_method(:"test_null_#{name}") do
      gives_up = Engine::NEXT && name == :beside_failing_fields
      assert_includes assert_parity(query, gives_up: gives_up), "errors"
      assert_parity(query, make(query: Types::Query) { use GraphQL::Dataloader }, gives_up: gives_up)
    end
  end

  def test_null_in_a_column
    post = type("Post") { field :id, GraphQL::Types::ID, null: false; field :author_id, GraphQL::Types::ID, null: false }
    user = type("User") { field :name, String; field :posts, [post, { null: true }] }
    strict = type("Strict") { field :posts, [post], null: false }
    schemas = schemas({ posts: [[post], -> { Post.order(:id) }], users: [[user], -> { User.order(:id) }], strict: [[strict], -> { User.order(:id) }], loose: [[post, { null: true }], -> { Post.order(:id) }] })
    ["{ posts { id authorId } }", "{ loose { id authorId } }", "{ users { name posts { authorId } } }", "{ strict { posts { authorId } } posts { id } loose { authorId } }"].each { |query| assert_parity(query, schemas) }
  end

  # What the schema does of values that don't fit is asked as ever.
  def test_type_errors
    asked = []
    post = type("Post") { field :id, GraphQL::Types::ID, null: false; field :big, Integer, null: false, method: :likes }
    model = Class.new(Post) { self.table_name = "posts"; attribute :likes, Class.new(ActiveRecord::Type::Integer) { def deserialize(value) = value.to_i * (2**30) }.new }
    schemas = schemas({ posts: [[post], -> { model.order(:id) }] }) do
      use GraphQL::Dataloader # (Before graphql 2.6 what a job raises leaves the response.)
      define_singleton_method(:type_error) { |error, context| asked << error.class.name; super(error, context) }
    end
    answer = assert_parity("{ posts { id big } }", schemas)
    assert_equal 0, asked.size % 3
    assert_operator asked.size, :>, 0, answer
  end

  # The server refuses a level's read, and no other. (For a column that is selected: what isn't read, isn't refused.)
  REFUSALS = {
    a_column_that_is_gone: ["ALTER TABLE plan_faults DROP value", nil],
    a_table_that_is_gone: ["ALTER TABLE plan_faults RENAME TO plan_faults_gone", "ALTER TABLE plan_faults_gone RENAME TO plan_faults"],
    rows_that_raise: ["CREATE VIEW plan_faults_raising AS SELECT id, post_id, (1 / (id - 3))::text AS value FROM plan_faults", "DROP VIEW plan_faults_raising"]
  }.freeze

  REFUSALS.each do |name, (sql, back)|
    define_method(:"test_refused_#{name}") do
      with_faults do |connection, schemas, model|
        queries = ["{ posts { title faults { value } } users { name } }", "{ faults { value post { title } } users { name } }", "{ posts { faults { id value } author { name } } faults { post { title faults { value } } value } }"]
        queries.each { |query| assert_plan(query, schemas) }
        connection.exec(sql)
        model.table_name = "plan_faults_raising" if name == :rows_that_raise
        queries.each { |query| assert_parity(query, schemas) }
      ensure
        model.table_name = "plan_faults"
        connection.exec(back) if back
      end
    end
  end

  def test_refused_for_lack_of_permission
    with_faults do |connection, schemas|
      connection.exec("DROP ROLE IF EXISTS plan_reader; CREATE ROLE plan_reader; GRANT SELECT ON posts, users TO plan_reader; GRANT SELECT (id, post_id) ON plan_faults TO plan_reader")
      ActiveRecord::Base.lease_connection.execute("SET ROLE plan_reader")
      ["{ posts { title faults { value } } users { name } }", "{ faults { value } users { name } }"].each { |query| assert_includes assert_parity(query, schemas), "permission denied" }
    ensure
      ActiveRecord::Base.lease_connection.execute("RESET ROLE")
      connection.exec("DROP OWNED BY plan_reader; DROP ROLE plan_reader")
    end
  end

  def test_statement_timeout
    slow = type("Slow") { field :title, String; field :author, Types::User }
    schemas = schemas({ slow: [Engine.failing_list(slow), -> { Post.where("pg_sleep(0.2) IS NOT NULL").order(:id) }], users: [[Types::User], -> { User.order(:id) }] })
    ActiveRecord::Base.lease_connection.execute("SET statement_timeout = 100")
    assert_includes assert_parity("{ slow { title author { name } } users { name } }", schemas), "QueryCanceled"
  ensure
    ActiveRecord::Base.lease_connection.execute("RESET statement_timeout")
  end

  # In a transaction nothing is read that plain ActiveRecord wouldn't read: it would end there.
  def test_in_a_transaction_a_failure_is_the_same
    with_faults do |connection, schemas|
      connection.exec("ALTER TABLE plan_faults DROP value")
      answers = schemas.map do |schema|
        answer = nil
        ActiveRecord::Base.transaction do
          answer = text_of(outcome { schema.execute("{ posts { title faults { value } } users { name } }").to_h })
          raise ActiveRecord::Rollback
        end
        answer
      end
      assert_equal(*answers)
    end
  end

  # Whoever interrupts the thread, by whatever it is, isn't taken for the server or a value. (Unless it is by an
  # ArgumentError, which a value may raise: graphql-ruby does it again.)
  [Timeout::Error, RuntimeError, ActiveRecord::StatementTimeout, ActiveRecord::QueryCanceled, Interrupt].each do |error|
    define_method(:"test_interrupted_by_#{error.name.underscore.tr("/", "_")}_in_a_read") do
      slow = type("Slow") { field :title, String; field :author, Types::User }
      schema = schemas({ slow: [[slow], -> { Post.where("pg_sleep(0.05) IS NOT NULL").order(:id) }] }) { error_handlers.clear if respond_to?(:error_handlers) }.last
      bare = Class.new(GraphQL::Schema) { query(schema.query); use(Pipeloader, compile: true) }
      thread = Thread.new { bare.execute("{ slow { title author { name } } }").to_h }
      thread.report_on_exception = false
      sleep 0.2
      thread.raise(error, "from outside")
      raised = assert_raises(error) { thread.value }
      assert_equal "from outside", Engine.message_of(raised)
      assert_equal 1, ActiveRecord::Base.lease_connection.select_value("SELECT 1")
    end
  end

  # While values are made, too.
  def test_interrupted_in_a_value
    [RuntimeError, Timeout::Error, ActiveRecord::StatementTimeout].each do |error|
      made = 0
      interrupting = Class.new(ActiveRecord::Type::String) do
        define_method(:deserialize) do |value|
          Thread.current.raise(error, "from outside") if (made += 1) == 5
          value
        end
      end
      model = Class.new(Post) { self.table_name = "posts"; attribute :title, interrupting.new }
      post = type("Post") { field :title, String }
      bare = Class.new(GraphQL::Schema) { query(Class.new(Schemas::Base) { graphql_name "Query"; field :them, [post]; define_method(:them) { model.order(:id) } }); use(Pipeloader, compile: true) }
      raised = assert_raises(error) { bare.execute("{ them { title } }") }
      assert_equal "from outside", Engine.message_of(raised)
      assert_equal 6, made
    end
  end

  def test_timeout_around
    slow = type("Slow") { field :title, String; field :author, Types::User }
    query = schemas({ slow: [[slow], -> { Post.where("pg_sleep(0.05) IS NOT NULL").order(:id) }] }).last.query
    bare = Class.new(GraphQL::Schema) { query(query); use(Pipeloader, compile: true) }
    [[], [ActiveRecord::StatementTimeout], [Class.new(StandardError)]].each do |type|
      error = assert_raises(type.first || Timeout::Error) { Timeout.timeout(0.2, *type) { bare.execute("{ slow { title author { name } } }") } }
      assert_equal "execution expired", Engine.message_of(error)
    end
    assert_equal 8, User.count
  end

  # How many objects a row takes, of three columns, with all that graphql-ruby and ActiveRecord do for the response besides.
  def test_allocations_for_a_row
    connection = TestDatabase.connect
    connection.exec("CREATE TABLE plan_rows AS SELECT i AS id, 'title ' || i AS title, i AS likes FROM generate_series(1, 400) i; ALTER TABLE plan_rows ADD PRIMARY KEY (id)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "plan_rows"; def self.name = "PlanRow" }
    row = type("Row") { field :id, GraphQL::Types::ID, null: false; field :title, String; field :likes, Integer }
    schema = schemas({ rows: [[row], ->(context) { model.order(:id).limit(context[:limit]) }] }).last
    taken = lambda do |limit|
      before = GC.stat(:total_allocated_objects)
      schema.execute("{ rows { id title likes } }", context: { limit: limit })
      GC.stat(:total_allocated_objects) - before
    end
    3.times { [200, 400].each(&taken) }
    few, many = [200, 400].map { |limit| Array.new(3) { taken.call(limit) }.min }
    per_row = (many - few) / 200.0
    # pg's row and its String, the Hash, and the String that the id becomes
    assert_operator per_row, :<=, 5, "#{per_row} for each row"
  ensure
    connection.exec("DROP TABLE plan_rows")
    connection.close
  end

  private

  # A table that fails, below posts.
  def with_faults
    connection = TestDatabase.connect
    connection.exec("SET client_min_messages = error; CREATE TABLE plan_faults (id serial PRIMARY KEY, post_id bigint, value text); INSERT INTO plan_faults (post_id, value) SELECT i % 12 + 1, 'value ' || i FROM generate_series(1, 20) i")
    # (The last test's table of that name may have had other columns when they were asked for.)
    ActiveRecord::Base.connection_pool.schema_cache.clear_data_source_cache!("plan_faults")
    model = self.class.const_set(:Fault, Class.new(ActiveRecord::Base) { self.table_name = "plan_faults"; belongs_to :post, class_name: "PlanFaultsTest::Faulty" })
    faulty = self.class.const_set(:Faulty, Class.new(ActiveRecord::Base) do
      self.table_name = "posts"
      has_many :faults, -> { order(:id) }, class_name: "PlanFaultsTest::Fault", foreign_key: :post_id
      belongs_to :author, class_name: "User"
    end)
    fault = type("Fault") { field :id, GraphQL::Types::ID; field :value, String }
    post = type("Post") { field :title, String; field :faults, [fault]; }
    author = type("Author") { field :name, String }
    post.field(:author, author)
    fault.field(:post, post)
    yield connection, schemas({ posts: [[post], -> { faulty.order(:id) }], faults: [Engine.failing_list(fault), -> { model.order(:id) }], users: [[author], -> { User.order(:id) }] }), model
  ensure
    connection.exec("DROP TABLE IF EXISTS plan_faults CASCADE")
    connection.close
    %i[Fault Faulty].each { |name| self.class.send(:remove_const, name) }
    ActiveRecord::Base.connection_handler.clear_all_connections!(:all)
  end

  # @param gives_up [Boolean] whether Next gives up fields that it hasn't resolved (see Engine::AVOIDED): those are fewer where reads
  #   have parked, and what fails in them is listed, too
  # @return [String]
  def assert_parity(query, schemas = pair, gives_up: false)
    plain, *piped = [schemas.first, schemas.last, schemas.last].map { |schema| text_of(outcome { schema.execute(query).to_h }) }
    return plain.tap { piped.each { |it| assert_same_but_for_errors(plain, it) } } if gives_up

    piped.each { |it| assert_equal plain, it, query }
    plain
  end

  def assert_same_but_for_errors(plain, piped)
    plain, piped = [plain, piped].map { |it| JSON.parse(it) }
    assert_equal plain["data"].inspect, piped["data"].inspect
    assert_equal plain["errors"], piped["errors"].select { |it| plain["errors"].include?(it) }
  end
end
