# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../support/explained"

# A transaction that was open before the response: a test suite's, or one around each request. There a query goes as it goes
# outside, and if a statement fails, graphql-ruby executes it by itself, in a transaction that is as it was.
class SurroundingTransactionsTest < AnswerTest
  include Explained

  TREE = "{ posts { title author { name } comments { body } } }"
  SAVEPOINT = "pipeloader_apart"

  def connection = ActiveRecord::Base.connection

  # What was prepared for columns that were altered is of no use.
  def teardown
    connection.clear_cache!
    super
  end

  # @yield before each of them, in its transaction
  # @return [Hash] the answer
  def assert_same_within(query, schemas = Schemas.make, **options)
    answers = schemas.flat_map do |schema|
      Array.new(2) do
        rolled_back do
          yield if block_given?
          answer = JSON.generate(schema.execute(query, **options).to_h)
          [answer, connection.raw_connection.transaction_status, (connection.select_value("SELECT count(*) FROM posts") unless failed?)]
        end
      end
    end
    assert_equal 1, answers.uniq.size, answers.uniq.join("\n")
    JSON.parse(answers.first.first)
  end

  def failed? = connection.raw_connection.transaction_status == PG::PQTRANS_INERROR

  def test_plans
    schemas = Schemas.make
    assert_same_within(TREE, schemas) { ::Post.first.update!(title: "uncommitted") }
    told = rolled_back { Pipeloader.explain(schemas.last, TREE).to_h }
    assert(told[:fields].all? { |field| field[:compiled] })
    assert_equal(outside(schemas, TREE), rolled_back { statements { schemas.last.execute(TREE) } })
  end

  def outside(schemas, query) = statements { schemas.last.execute(query) }

  def statements(&block) = WireCounter.events("burst.pipeloader", &block).map { |payload| [payload[:reads].size, payload[:statements]] }

  # As outside of it, they share statements.
  def test_opaque_reads
    post = type(Schemas::Post) { field :loud, String; def loud = ::User.find(object.author_id).name.upcase.then { |it| [it].sum("") } }
    schemas = Schemas.make(query: query_type { field :opaque, [post]; def opaque = ::Post.order(:id) })
    query = "{ opaque { loud } }"
    assert_same_within(query, schemas)
    assert_equal(outside(schemas, query), rolled_back { statements { schemas.last.execute(query) } })
  end

  # BEGIN is sent with the first statement.
  def test_a_transaction_that_is_yet_to_begin
    schema = Schemas.make.last
    schema.execute(TREE)
    told = ::Post.transaction { Pipeloader.explain(schema, TREE).to_h }
    assert(told[:fields].all? { |field| field[:compiled] })
  end

  def test_nothing_stays
    schemas = Schemas.make
    [TREE, "{ failingSql posts { title } }"].each do |query|
      rolled_back do
        schemas.last.execute(query)
        error = assert_raises(ActiveRecord::StatementInvalid) { connection.execute("RELEASE SAVEPOINT #{SAVEPOINT}") }
        assert_match(failed_by(query) ? /aborted/ : /does not exist/, error.message)
      end
    end
  end

  def failed_by(query) = query.include?("failing")

  # A plan's own statement fails, which says of which type the keys are; ActiveRecord's doesn't.
  def test_a_plan_that_fails
    schemas = Schemas.make
    answer = assert_same_within(TREE, schemas) { alter }
    assert_equal "user 4", answer.dig("data", "posts", 0, "author", "name")
  end

  def alter
    connection.clear_cache!
    connection.execute("ALTER TABLE users ALTER COLUMN id TYPE text")
  end

  def test_one_that_fails
    { "{ failingSql }" => 1, "{ posts { title } failingSql users { name } }" => 2, "{ users { name } posts { title author { name } } failingSql }" => 1,
      "{ failingList { title } posts { comments { body } } }" => 2 }.each do |query, errors|
      assert_errors errors, assert_same_within(query)["errors"].size, query
    end
  end

  # A resolver that has an answer to the error.
  def test_one_that_fails_and_is_rescued
    query = query_type do
      field :careful, String
      field :late, String
      def careful
        ::Post.where("1 / 0 = 1").first.title
      rescue ActiveRecord::StatementInvalid => e
        e.cause.class.name
      end

      def late = ::Post.find(2).title + ::User.find(1).name
    end
    schemas = Schemas.make(query: query)
    ["{ careful late }", "{ late careful }", "{ careful posts { title } }"].each { |text| assert_same_within(text, schemas) }
  end

  def test_one_that_has_failed_before
    answer = assert_same_within("{ posts { title } users { name } }") do
      connection.execute("SELECT 1 / 0")
    rescue ActiveRecord::StatementInvalid
      nil
    end
    assert_match(/current transaction is aborted/, answer["errors"].first["message"])
  end

  # What nobody can see in SQL: a view's function writes, sets, or locks.
  def test_what_a_read_does_stays
    connection.execute("CREATE TABLE IF NOT EXISTS seen_rows (id bigint); TRUNCATE seen_rows")
    connection.execute("CREATE OR REPLACE FUNCTION see(bigint) RETURNS boolean LANGUAGE sql AS " \
                       "'INSERT INTO seen_rows VALUES ($1); SELECT set_config(''my.mark'', ''seen'', true); SELECT true'")
    connection.execute("CREATE OR REPLACE VIEW seen_posts AS SELECT * FROM posts WHERE see(id)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "seen_posts"; self.primary_key = "id"; def self.name = "SeenPost" }
    schemas = Schemas.make(query: query_type { field :seen, String; define_method(:seen) { model.find(1).title } })
    outcomes = schemas.map do |schema|
      rolled_back do
        schema.execute("{ seen posts { title } }")
        ["SELECT count(*) FROM seen_rows", "SELECT current_setting('my.mark', true)"].map { |sql| connection.select_value(sql) }
      end
    end
    assert_equal [[1, "seen"]] * 2, outcomes
  ensure
    connection.execute("DROP VIEW IF EXISTS seen_posts; DROP FUNCTION IF EXISTS see; DROP TABLE IF EXISTS seen_rows")
  end

  # After that nothing can be done again, and a plan's statement mustn't fail.
  def test_a_plan_behind_what_may_have_written
    query = query_type do
      field :stat, String
      field :late, String
      field :wrote, String
      def stat = ::Post.connection.select_value("SELECT jsonb_array_length('[1]')").to_s
      def late = "#{::Post.find(1).title} #{stat}"
      def wrote = ::Post.find(1).tap { |post| post.update!(likes: 7) }.title
    end
    schemas = Schemas.make(query: query)
    %w[stat late wrote].flat_map { |field| ["#{TREE[0..-2]} #{field} }", "{ #{field} #{TREE[1..]}"] }.each do |text|
      answer = assert_same_within(text, schemas) { alter }
      assert_equal "user 4", answer.dig("data", "posts", 0, "author", "name")
    end
  end

  # Code that rescues everything, or returns in `ensure`.
  def test_one_that_fails_and_is_swallowed
    query = query_type do
      field :careful, String
      field :given, String
      field :late, String
      def careful
        ::Post.where("1 / 0 = 1").first.title
      rescue Exception => e # rubocop:disable Lint/RescueException
        e.class.name
      end

      def given
        ::Post.where("1 / 0 = 1").first.title
      ensure
        return "given" # rubocop:disable Lint/EnsureReturn
      end

      def late = ::Post.find(2).title
    end
    schemas = Schemas.make(query: query)
    ["{ careful late }", "{ given late }", "{ late given posts { title } }"].each { |text| assert_same_within(text, schemas) }
  end

  # What it unwinds writes nothing: that is done when it's executed again.
  def test_one_that_fails_and_is_followed_by_a_write
    query = query_type do
      field :ensuring, String
      def ensuring
        ::Post.where("1 / 0 = 1").first.title
      ensure
        ::Post.where(id: 0).update_all(title: "")
      end
    end
    schemas = Schemas.make(query: query)
    assert_same_within("{ ensuring }", schemas)
    updates = schemas.map do |schema|
      events = WireCounter.events("sql.active_record") { rolled_back { schema.execute("{ ensuring }") } }
      events.select { |payload| payload[:sql].start_with?("UPDATE") }.filter_map { |payload| payload[:exception]&.first }
    end
    assert_equal [["ActiveRecord::StatementInvalid"], %w[Pipeloader::Transactions::Failed ActiveRecord::StatementInvalid]], updates
  end

  # Others read by the same levels.
  def test_several_queries_and_blocks
    plain, piped = Schemas.make
    texts = ["{ posts { title } }", "{ failingSql posts { title } }", "{ users { name } }"]
    expected = rolled_back { texts.map { |text| plain.execute(text).to_h } }
    assert_equal expected, rolled_back { Pipeloader.multiplex(texts) { |text| piped.execute(text).to_h } }

    read = lambda do |number|
      ::Post.where("1 / (#{number} - 2) < 9").count
    rescue ActiveRecord::StatementInvalid => e
      e.cause.class.name
    end
    assert_equal(rolled_back { [1, 2, 3].map(&read) }, rolled_back { Pipeloader.map([1, 2, 3], &read) })
  end

  def test_with_the_query_cache
    schemas = Schemas.make
    ActiveRecord::Base.cache { assert_same_within("{ comments { body post { title } } failingSql users { name } }", schemas) }
  end

  # Nothing is done twice.
  def test_mutations_and_what_writes
    writing = query_type do
      field :written, String
      field :drawn, Integer
      field :lost, String
      def written = ::Post.find(1).tap { |post| post.update!(title: "#{post.title}!") }.title
      def drawn = ::Post.connection.select_value("SELECT setval('posts_id_seq', 500)")
      def lost = ::Post.where("1 / 0 = 1").first
    end
    schemas = Schemas.make(query: writing)
    ["{ written posts { title } lost }", "{ drawn posts { title } lost }", "{ posts { title } written lost }"].each do |query|
      assert_same_within(query, schemas)
      writes = 0
      counting = ->(*, payload) { writes += 1 if payload[:sql].match?(/UPDATE|setval/) }
      rolled_back { ActiveSupport::Notifications.subscribed(counting, "sql.active_record") { schemas.last.execute(query) } }
      assert_equal 1, writes, query
    end
  end
end
