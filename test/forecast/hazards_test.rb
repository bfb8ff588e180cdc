# frozen_string_literal: true

require "open3"
require_relative "../support/plans"

# Programs that notice a read that happens too early, in another order, or once too often. Both schemas execute each document
# several times: the second execution is observed, and from the third on reads happen ahead.
class ForecastHazardsTest < PlanTest
  def make(pipeloader: {}, **options, &block) = super(pipeloader: { forecast: true, **pipeloader }, **options, &block)

  class Setting < ActiveSupport::CurrentAttributes
    attribute :seen, :most
  end

  # The view compares each score with a setting of the session.
  class LowComment < ActiveRecord::Base
    self.table_name = "low_comments"
    self.primary_key = "id"
  end

  class TenantComment < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { where(score: ..Setting.most.fetch(:score)).order(:id) }
  end

  class Article < ActiveRecord::Base
    self.table_name = "posts"
    has_many :low_comments, -> { order(:id) }, class_name: "ForecastHazardsTest::LowComment", foreign_key: :post_id
    has_many :by_default, class_name: "ForecastHazardsTest::TenantComment", foreign_key: :post_id
    has_many :by_scope, -> { where(score: ..Setting.most.fetch(:score)).order(:id) }, class_name: "Comment", foreign_key: :post_id
    has_many :by_choice, -> { Setting.most ? where(score: ..Setting.most[:score]).order(:id) : raise("no tenant") },
             class_name: "Comment", foreign_key: :post_id
    has_many :divided, -> { where("10 / (score - score) > 1") }, class_name: "Comment", foreign_key: :post_id
  end

  class Namesake < ActiveRecord::Base
    self.table_name = "users"
    has_many :namesakes, class_name: "ForecastHazardsTest::Namesake", primary_key: :name, foreign_key: :name
  end

  class Peculiar < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    def has_attribute?(_name) = raise("not yours")
  end

  COUNT = ->(_, context) { context[:count] = context.fetch(:count, 0) + 1 }

  USER = type("User") do
    field :name, String
    def name = object.name.dup
  end

  COMMENT = type("Comment") do
    field :id, "ID"
    field :body, String
    def body = object.body.dup
  end

  # Fields' resolvers do what the context says.
  POST = type("Post") do
    field :author, USER
    field :comments, [COMMENT]
    field :first, String
    field :second, String
    def author = object.author.presence
    def comments = object.comments.to_a
    def first = context[:first].call(object, context).to_s
    def second = context[:second].call(object, context).to_s
  end

  # Its object is a relation.
  PAGE = type("Page") do
    field :total, Integer
    field :loaded, GraphQL::Types::Boolean
    field :first_body, String
    field :narrowed, [Integer]
    def total = object.count
    def loaded = object.loaded?
    def first_body = object.first&.body
    def narrowed = object.where!(id: 1..3).map(&:id).sort
  end

  # Executes +document+ so many +times+ by both schemas. The answers must be the same each time.
  #
  # @param before [Proc] called before each execution
  # @param context [Hash, Proc] what is in it, or what it is by the execution's number
  # @param ahead [Boolean, nil] whether reads happen ahead: the test shows nothing if they should and don't
  # @return [Array<Array<Integer>>] of each execution the piped schema's reads in each burst
  def assert_steady(document, schemas, times: 5, before: -> {}, around: :call.to_proc, context: {}, ahead: true)
    all = []
    execute = lambda do |schema, execution|
      before.call
      given = context.is_a?(Proc) ? context.call(execution) : context.dup
      around.call(-> { all << text_of(outcome { schema.execute(document, context: given).to_h }) })
    end
    bursts = nil
    events = WireCounter.events("forecast.pipeloader") do
      bursts = Array.new(times) do |execution|
        execute.call(schemas.first, execution)
        WireCounter.events("burst.pipeloader") { execute.call(schemas.last, execution) }.map { |burst| burst[:reads].size }
      end
    end
    all.each_slice(2).with_index(1) { |(plain, piped), execution| assert_equal plain, piped, "execution #{execution}" }
    assert_equal ahead, events.any?, "whether reads happened ahead" unless ahead.nil?
    bursts
  end

  def posts(&block) = schemas({ posts: [[POST], -> { Post.order(:id).to_a }] }, &block)

  def restore = Comment.where(id: 1..40).update_all("body = 'comment ' || id")

  # @return [Array<String>] the SQL of the block's statements
  def statements(&block)
    WireCounter.events("sql.active_record", &block).reject { |it| it[:name] == "SCHEMA" }.map { |it| it[:sql] }
  end

  # -- the order of resolver calls -----------------------------------------------------------------------------------------

  # The first list's objects wait for their authors, the second list's for nothing.
  def assert_in_order(first, second, before: -> {})
    with_author = ->(post, context) { [first.call(post, context), post.author&.name] }
    schemas = posts { use GraphQL::Dataloader }
    context = { first: with_author, second: second }
    assert_steady("{ a: posts { first } b: posts { second } }", schemas, before: before, context: context)
  end

  def test_a_counter_that_two_lists_increment = assert_in_order(COUNT, COUNT)

  def test_current_attributes_that_one_list_assigns
    assert_in_order(->(post, _) { Setting.seen = post.id }, ->(*) { Setting.seen }, before: -> { Setting.reset })
  ensure
    Setting.reset
  end

  def test_a_memo_that_one_list_fills
    assert_in_order(->(post, context) { (context[:seen] ||= []).push(post.id).size }, ->(_, context) { context[:seen]&.size })
  end

  def test_rows_that_one_list_writes
    write = ->(post, _) { post.comments.update_all("body = body || '!'") }
    assert_in_order(write, ->(post, _) { Comment.where(post_id: post.id).order(:id).pluck(:body) }, before: -> { restore })
  ensure
    restore
  end

  # An object type whose fields count.
  def counted(name, &block)
    type(name) do
      field :count, Integer
      def count = COUNT.call(object, context)
      class_eval(&block) if block
    end
  end

  def test_single_objects_between_which_others_come
    user = counted("CountedUser")
    post = counted("CountedPost") do
      field :same, self
      field :user, user
      field :read, Integer
      def same = object
      def user = User.new
      def read = count.tap { [object.comments.to_a, object.author] }
    end
    kept = nil
    schemas = schemas({ posts: [[post], -> { kept }] }) { use GraphQL::Dataloader }
    assert_steady("{ posts { same { read } user { count } count } }", schemas, before: -> { kept = Post.order(:id).to_a })
  end

  def test_a_single_object_that_joins_a_list_of_others
    other = counted("CountedOther")
    profile = counted("CountedProfile") { field :bio, String }
    user = counted("CountedUser") do
      field :name, String
      field :profile, profile
      field :other, other
      def other = User.new(name: "other")
    end
    post = type("CountedPost") do
      field :author, user
      def author = object.association(:author).target
    end
    kept = nil
    with_profiles = -> { kept = Post.where.not(author_id: nil).order(:id).to_a.each { |it| it.author.profile } }
    schemas = schemas({ posts: [[post], -> { kept }] }) { use GraphQL::Dataloader }
    ["name profile { count }", "profile { bio count } count", "count profile { bio count }"].each do |fields|
      assert_steady("{ posts { author { #{fields} other { count } } } }", schemas, before: with_profiles, ahead: false)
    end
  end

  module Ridden
    include GraphQL::Schema::Interface
    graphql_name "Ridden"
    field :count, Integer
    field :owner, String
    def count = COUNT.call(object, context)
    def owner = object.user&.name
    definition_methods { def resolve_type(object, _context) = object.is_a?(Car) ? CAR : BIKE }
  end
  CAR = type("RiddenCar") { implements Ridden }
  BIKE = type("RiddenBike") { implements Ridden }

  def test_a_list_of_an_interface
    schemas = schemas({ all: [[Ridden], -> { Vehicle.order(:id).to_a }] }) do
      use GraphQL::Dataloader
      orphan_types(CAR, BIKE)
    end
    assert_steady("{ all { count owner ... on RiddenBike { again: count } } b: all { owner count } }", schemas)
  end

  # -- relations that are objects ------------------------------------------------------------------------------------------

  def test_a_relation_that_is_an_object_is_not_loaded
    schemas = schemas({ page: [PAGE, -> { Comment.order(:id) }] })
    assert_steady("{ page { total firstBody loaded } }", schemas, ahead: false)
    assert_empty instantiated { 5.times { schemas.last.execute("{ page { total loaded } }") } }
  end

  def test_a_relation_that_is_an_object_may_be_narrowed
    assert_steady("{ page { narrowed } }", schemas({ page: [PAGE, -> { Comment.where(score: 0..) }] }), ahead: false)
  end

  def test_relations_that_are_the_objects_of_a_list
    pages = -> { [Comment.where(id: 1..3), Comment.where(id: 3..9)] }
    assert_steady("{ pages { total loaded } }", schemas({ pages: [[PAGE], pages] }), ahead: false)
  end

  def test_a_relation_for_each_object
    post = type("PagePost") do
      field :page, PAGE
      def page = Comment.where(post_id: object.id)
    end
    assert_steady("{ posts { page { total loaded } } }", schemas({ posts: [[post], -> { Post.order(:id) }] }), ahead: false)
  end

  # -- what fails ----------------------------------------------------------------------------------------------------------

  UNION = Class.new(GraphQL::Schema::Union) do
    graphql_name "Thing"
    possible_types USER, POST
    def self.resolve_type(object, _context) = object.is_a?(User) ? USER : POST
  end

  NO_POSTS = -> { Post.where("no_such = 1") }
  FAILING = { things: [[UNION, { null: true }], NO_POSTS], posts: [[POST, { null: true }], NO_POSTS] }.freeze
  FAILING_LISTS = ["{ things { ... on Post { comments { id } } } }", "{ posts { comments { id } } }"].freeze

  # After the first error every statement of the transaction fails with another one.
  def test_a_failing_list_in_a_transaction
    schemas = schemas(FAILING)
    FAILING_LISTS.each do |document|
      assert_steady(document, schemas, around: ->(execution) { rolled_back(&execution) }, ahead: false)
    end
  end

  def test_a_failing_list_is_read_once
    schemas = schemas(FAILING)
    FAILING_LISTS.each do |document|
      5.times { assert_equal 1, statements { schemas.last.execute(document) }.size }
    end
  end

  # -- scopes that raise outside of their resolver's block -----------------------------------------------------------------

  def tenants(name, **options)
    post = type("TenantPost") do
      field :comments, [COMMENT]
      define_method(:comments) { Setting.set(most: { score: 6 }) { object.public_send(name).to_a } }
    end
    schemas({ posts: [[post], -> { Article.order(:id).limit(6) }] }, **options)
  end

  %i[by_default by_scope by_choice].each do |name|
    define_method(:"test_a_scope_that_raises_#{name}") do
      [{}, { compile: false }].each do |options|
        assert_steady("{ posts { comments { id } } }", tenants(name, pipeloader: options), ahead: false)
      end
    end

    # By then the scope has been read ahead.
    define_method(:"test_a_scope_that_raises_later_#{name}") do
      schemas = tenants(name)
      assert_steady("{ posts { comments { id } } }", schemas, before: -> { Setting.most = { score: 7 } })
      assert_steady("{ posts { comments { id } } }", schemas, before: -> { Setting.reset }, ahead: false)
    ensure
      Setting.reset
    end
  end

  # -- what writes without saying so ---------------------------------------------------------------------------------------

  # Writes after the posts have come, before each one's comments are asked for.
  def assert_seen(&write)
    first = ->(post, _) { write.call(post) }
    assert_steady("{ posts { first comments { body } } }", posts, context: { first: first }, before: -> { restore })
  ensure
    restore
  end

  def with_function
    Comment.connection.execute(<<~SQL)
      CREATE FUNCTION touch_comments(post bigint) RETURNS int LANGUAGE sql
        AS 'UPDATE comments SET body = body || ''!'' WHERE post_id = post; SELECT 1'
    SQL
    yield
  ensure
    Comment.connection.execute("DROP FUNCTION touch_comments(bigint)")
  end

  def test_a_function_that_writes
    with_function do
      assert_seen { |post| Comment.connection.select_value("SELECT touch_comments(#{post.id})") }
      assert_seen { |post| Comment.limit(1).pick(Arel.sql("touch_comments(#{post.id})")) }
    end
  end

  def test_set_config
    connection = Article.connection
    connection.execute("CREATE VIEW low_comments AS SELECT * FROM comments WHERE score < current_setting('hazards.most')::int")
    post = type("LowPost") do
      field :raised, String
      field :comments, [COMMENT]
      def raised = Article.connection.select_value("SELECT set_config('hazards.most', '#{object.id * 2}', false)")
      def comments = object.low_comments.to_a
    end
    schemas = schemas({ posts: [[post], -> { Article.order(:id).limit(4) }] })
    assert_steady("{ posts { raised comments { id } } }", schemas, before: -> { connection.execute("SET hazards.most = 3") })
  ensure
    connection.execute("DROP VIEW low_comments; RESET hazards.most")
  end

  def elsewhere(post) = @elsewhere.exec("UPDATE comments SET body = body || '!' WHERE post_id = #{post.id}")

  # Another process writes over a connection that stays open.
  def assert_seen_from_elsewhere
    @elsewhere = TestDatabase.connect
    ask = ->(post, _) { yield(post) }
    schemas = schemas({ posts: [[POST], -> { Post.order(:id).limit(3) }] })
    assert_steady("{ posts { first } }", schemas, context: { first: ask }, before: -> { restore })
  ensure
    @elsewhere.close
    restore
  end

  # Whoever has waited for a lock, and reads under it, sees what was written by another thread that had it.
  def test_a_lock
    asked = over = nil
    @elsewhere = TestDatabase.connect
    writer = Thread.new do
      until over
        asked &&= elsewhere(asked) && nil
        Thread.pass
      end
    end
    monitor, mutex = Monitor.new, Mutex.new
    [->(&block) { mutex.synchronize(&block) }, ->(&block) { monitor.synchronize(&block) },
     lambda { |&block|
       mutex.lock
       begin
         block.call
       ensure
         mutex.unlock
       end
     }].each do |hold|
      ask = lambda do |post, _|
        hold.call do
          asked = post
          Thread.pass while asked
          post.comments.map(&:body)
        end
      end
      schemas = schemas({ posts: [[POST], -> { Post.order(:id).limit(3) }] })
      assert_steady("{ posts { first } }", schemas, context: { first: ask }, before: -> { restore }, ahead: nil)
    end
  ensure
    over = true
    writer&.join
    @elsewhere.close
    restore
  end

  def test_an_advisory_lock
    assert_seen_from_elsewhere do |post|
      Post.connection.select_value("SELECT pg_advisory_lock(77)::text")
      elsewhere(post) # the lock's holder until now
      post.comments.map(&:body).tap { Post.connection.select_value("SELECT pg_advisory_unlock(77)") }
    end
  end

  def test_reload_after_another_process
    assert_seen_from_elsewhere do |post|
      elsewhere(post)
      post.comments.reload.map(&:body)
    end
  end

  # In an Enumerator.
  def test_an_enumerators_fiber_that_asks_somebody_else
    assert_seen_from_elsewhere do |post|
      Enumerator.new { |all| all << elsewhere(post) }.next
      post.comments.map(&:body)
    end
  end

  # An initializer's is older than ActiveRecord's.
  def test_a_connection_from_before_the_adapter
    code = <<~RUBY
      require "pg"
      require "pipeloader"
      abort "the adapter is there" if defined?(ActiveRecord::ConnectionAdapters::PostgreSQLAdapter)
      print PG.connect(**Marshal.load([ARGV.first].pack("H*"))).method(:exec).owner.equal?(PG::Connection)
    RUBY
    address = Marshal.dump(TestDatabase.connect.then { |it| it.conninfo_hash.compact.tap { it.close } }).unpack1("H*")
    said, status = Open3.capture2e(RbConfig.ruby, "-Ilib", "-e", code, address)
    assert_equal ["false", true], [said, status.success?]
  end

  # The server writes when it is called by a client whose connection was open before.
  def test_a_service_that_writes
    %w[write syswrite puts << print send].each do |name|
      assert_called(-> { TCPServer.new("127.0.0.1", 0) }) { |socket, call| socket.public_send(name, call, *(0 if name == "send")) }
    end
  end

  # Without a server: whoever writes is another session.
  def test_others_that_write
    @elsewhere = TestDatabase.connect
    sql = ->(post) { "UPDATE comments SET body = body || '!' WHERE post_id = #{post.id}" }
    psql = ->(post) { [{ "PGPASSWORD" => TestDatabase.hash[:password].to_s }, "psql", "-q", "-h", *TestDatabase.hash.values_at(:host).map(&:to_s), "-p", TestDatabase.hash[:port].to_s, "-U", TestDatabase.hash[:username].to_s, "-c", sql.call(post), TestDatabase.hash[:database].to_s] }
    { exec: ->(post) { @elsewhere.exec(sql.call(post)) }, params: ->(post) { @elsewhere.exec_params(sql.call(post), []) },
      fresh: ->(post) { TestDatabase.connect.tap { |it| it.exec(sql.call(post)) }.close },
      query: ->(post) { @elsewhere.async_query(sql.call(post)) },
      sent: ->(post) { @elsewhere.send_query(sql.call(post)); @elsewhere.get_last_result },
      system: ->(post) { system(*psql.call(post)) || raise("psql") }, spawn: ->(post) { Process.wait(spawn(*psql.call(post))) },
      fork: ->(post) { Process.wait(fork { TestDatabase.connect.exec(sql.call(post)); exit!(0) }) },
      popen: ->(post) { IO.popen(psql.call(post), &:read) },
      udp: lambda do |post|
        server = UDPSocket.new.tap { |it| it.bind("127.0.0.1", 0) }
        thread = Thread.new { @elsewhere.exec(sql.call(server.recv(10).to_i.then { post })) && server.send("done", 0, "127.0.0.1", @client.addr[1]) }
        (@client = UDPSocket.new).bind("127.0.0.1", 0)
        @client.send("go", 0, "127.0.0.1", server.addr[1])
        @client.recv(10)
        thread.join
      end,
      polled: lambda do |post|
        thread = Thread.new { @elsewhere.exec(sql.call(post)) }
        sleep 0.001 while thread.alive?
      end }.each_value do |call|
      ask = ->(post, _) { call.call(post); post.comments.map(&:body) }
      schemas = schemas({ posts: [[POST], -> { Post.order(:id).limit(3) }] })
      assert_steady("{ posts { first } }", schemas, context: { first: ask }, before: -> { restore })
    end
  ensure
    @elsewhere.close
    restore
  end

  def test_a_service_over_tls
    require "openssl"
    %w[write puts << print syswrite].each { |name| assert_called(-> { tls_server }) { |socket, call| socket.public_send(name, call) } }
  end

  def tls_server
    key = OpenSSL::PKey::RSA.new(2048)
    certificate = OpenSSL::X509::Certificate.new
    certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
    certificate.public_key = key.public_key
    certificate.not_before = Time.now - 60
    certificate.not_after = Time.now + 600
    certificate.sign(key, "SHA256")
    context = OpenSSL::SSL::SSLContext.new
    context.cert, context.key = certificate, key
    OpenSSL::SSL::SSLServer.new(TCPServer.new("127.0.0.1", 0), context)
  end

  def assert_called(listen)
    elsewhere = TestDatabase.connect
    server = listen.call
    serving = Thread.new { serve(server, elsewhere) }
    client = TCPSocket.new("127.0.0.1", server.addr[1])
    client = OpenSSL::SSL::SSLSocket.new(client).connect if server.is_a?(OpenSSL::SSL::SSLServer)
    ask = lambda do |post, _|
      yield client, "#{post.id}\n"
      client.gets
      post.comments.map(&:body)
    end
    schemas = schemas({ posts: [[POST], -> { Post.order(:id).limit(3) }] })
    assert_steady("{ posts { first } }", schemas, context: { first: ask }, before: -> { restore })
  ensure
    [client, server].compact.each(&:close)
    serving&.kill&.join
    elsewhere.close
    restore
  end

  def serve(server, elsewhere)
    client = server.accept
    while (id = client.gets)
      elsewhere.exec("UPDATE comments SET body = body || '!' WHERE post_id = #{id}")
      client.write("done\n")
    end
  end

  # Also where the response has given its connection back meanwhile.
  def test_an_enumerators_fiber
    [-> {}, -> { ActiveRecord::Base.connection_handler.clear_active_connections! }].each do |before|
      before.call
      assert_seen { |post| Enumerator.new { |all| all << touch(post) }.next }
    end
  end

  def touch(post) = Comment.where(post_id: post.id).update_all("body = body || '!'")

  # A response of its own, within the other's.
  def test_what_an_enumerators_fiber_executes
    inner = schemas({ touch: [Integer, ->(context) { touch(context[:post]) }] }).last
    assert_seen { |post| Enumerator.new { |all| all << inner.execute("{ touch }", context: { post: post })["data"]["touch"] }.next }
  end

  # -- what models and keys do ---------------------------------------------------------------------------------------------

  def test_a_key_that_is_changed_in_place
    user = type("Namesake") do
      field :changed, String
      field :namesakes, [USER]
      def changed = (object.name << "x" if object.id == 2)
      def namesakes = object.namesakes.to_a
    end
    assert_steady("{ users { changed namesakes { name } } }", schemas({ users: [[user], -> { Namesake.order(:id) }] }))
  end

  def test_a_model_with_has_attribute_of_its_own
    post = type("PeculiarPost") do
      field :author, USER
      def author = (object.author.presence if object.id > 6)
    end
    assert_steady("{ posts { author { name } } }", schemas({ posts: [[post], -> { Peculiar.order(:id) }] }), ahead: false)
  end

  # -- cycles and chains ---------------------------------------------------------------------------------------------------

  EMPLOYEE = type("Employee") do
    field :name, String
    field :boss, self
    def boss = object.manager.presence
    def name = object.name.dup
  end

  BOSSES = "{ all { boss { ...Bosses } ...Bosses } } fragment Bosses on Employee { same: boss { name } }"

  def employees = schemas({ all: [[EMPLOYEE], ->(context) { Employee.where(id: context[:ids]).order(:id) }] })

  # Two levels are learned, then there are more.
  def assert_bounded(schemas, ids)
    assert_steady(BOSSES, schemas, context: { ids: [4, 6] })
    yield
    assert_operator assert_steady(BOSSES, schemas, times: 1, context: { ids: ids }).first.size, :<=, 4
  end

  def test_a_cycle
    assert_bounded(employees, [4, 6]) do
      Employee.where(id: 2).update_all(manager_id: 3)
      Employee.where(id: 3).update_all(manager_id: 2)
    end
  ensure
    Employee.where(id: [2, 3]).update_all(manager_id: 1)
  end

  def test_a_chain
    chain = (101..200).map { |id| { id: id, name: "employee #{id}", manager_id: (id - 2 if id > 102) } }
    assert_bounded(employees, [199, 200]) { Employee.insert_all!(chain) }
  ensure
    Employee.where(id: 101..).delete_all
  end

  # -- what is learned, and for how long -----------------------------------------------------------------------------------

  AUTHORS = "{ posts { author { name } } }"

  def test_null_keys_are_not_wrong
    assert_includes Post.pluck(:author_id), nil
    assert_equal [[1, 1]], assert_steady(AUTHORS, posts, times: 10).drop(2).uniq
  end

  def test_an_empty_list_unlearns_nothing
    schemas = schemas({ posts: [[POST], ->(context) { Post.where(id: context[:ids]).order(:id) }] })
    *, third, _, fifth = assert_steady(AUTHORS, schemas, context: ->(execution) { { ids: execution == 3 ? [] : 1..12 } })
    assert_equal [1, 1], third
    assert_equal [1, 1], fifth
  end

  # A thread that looks calls a method of what was learned, and then another thread learns more.
  def test_some_learn_while_others_look
    forecast = Pipeloader::Forecast.new(nil)
    reflections = Post.reflect_on_all_associations
    learn = -> { forecast.below(reflections.shift) }
    learn.call.define_singleton_method(:counts?) { learn.call && false }
    refute_predicate forecast, :expects?
    assert_empty forecast.expected
    forecast.each_below { learn.call }
    assert_equal 6, forecast.to_enum(:each_below).count
  end

  def test_some_learn_questions_while_others_look
    questions, post = Pipeloader::Questions.new, Post.first
    number = 0
    learn = lambda do
      ask = Pipeloader::Question::Ask.new("SELECT #{number += 1}", "Load", [], [], true, nil, [])
      questions.learn({ post => [ask] }, [post])
    end
    learn.call
    first = questions.expected.first
    first.define_singleton_method(:counts?) { learn.call && false }
    first.define_singleton_method(:observe) { |*| learn.call if number < 5 }
    refute_predicate questions, :any?
    assert_empty questions.expected
    assert_operator number, :>, 5
  end

  def test_more_is_read_than_asked_for
    first = nil
    ask = ->(post, _) { (first ? post.comments.limit(first) : post.comments).map(&:id) }
    schemas = posts
    4.times { assert_steady("{ posts { first } }", schemas, times: 1, context: { first: ask }, ahead: nil) }
    first = 1
    made = Array.new(3) { instantiated { schemas.last.execute("{ posts { first } }", context: { first: ask }) }.fetch("Comment") }
    few = Comment.distinct.count(:post_id)
    assert_equal [few + Comment.count, few + Comment.count, few], made
  end

  def test_statements_that_always_fail
    post = type("DividedPost") do
      field :comments, [COMMENT]
      def comments = object.divided.to_a
    end
    schemas = schemas({ posts: [[post], -> { Article.order(:id) }] })
    assert_steady("{ posts { comments { id } } }", schemas)
    counts = Array.new(11) { statements { schemas.last.execute("{ posts { comments { id } } }") }.size }
    assert_equal [13], counts.last(6).uniq, counts.inspect
    assert_operator counts.count { |it| it > 13 }, :<=, 4
  end
end
