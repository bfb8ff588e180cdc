# frozen_string_literal: true

require_relative "../support/test_helper"

# A read that nothing could go with is ActiveRecord's own to send. It is counted and told like a burst.
class LoneReadTest < PipeloaderTest
  class Names < GraphQL::Dataloader::Source
    def fetch(ids) = ::User.where(id: ids).order(:id).pluck(:name)
  end

  # @return [Array<Array(Integer, Boolean)>] of each burst: how many reads, and whether ActiveRecord has sent it
  def bursts_of(fields = 1, **options, &block)
    2.times { Schemas.resolve(fields, **options, &block) } # now the server knows the statements
    events = WireCounter.events("burst.pipeloader") { @results = Schemas.resolve(fields, **options, &block) }
    assert_equal @results.first, @results.last
    events.map { |event| [event[:reads].size, event[:reads].none?(&:answered?)] }
  end

  def test_one_after_the_other
    bursts = bursts_of { [::Post.find(1).title, ::User.where(id: 2).pick(:name), ::Comment.count, ::Post.find(1).comments.to_a.size] }
    assert_equal [[1, true]] * 5, bursts
  end

  def test_side_by_side
    assert_equal [[3, false]], (bursts_of(3) { |index| ::Post.where(id: index).pick(:title) })
  end

  # The other fields don't read, but might.
  def test_before_fields_that_have_not_begun
    assert_equal [[1, false]], (bursts_of(2) { |index| ::Post.where(id: 7).pick(:title) if index.zero? })
    assert_equal [[1, true]], (bursts_of(2) { |index| ::Post.where(id: 8).pick(:title) if index == 1 })
  end

  def test_while_another_waits
    bursts = bursts_of(2) { |index| Array.new(index + 1) { |number| ::Post.where(id: index + number).pick(:title) } }
    assert_equal [[2, false], [1, true]], bursts
  end

  def test_beside_a_source_and_a_lazy_value
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :name, String
      field :title, String
      def name = dataloader.with(Names).load(1)
      def title = ::Post.where(id: 1).pick(:title)
    end
    schemas = Schemas.make(query: query, mutation: nil) { use GraphQL::Dataloader }
    2.times { assert_same_answer("{ name title }", schemas) }
    assert_equal([2], WireCounter.events("burst.pipeloader") { schemas.last.execute("{ name title }") }.map { |it| it[:reads].size })
  end

  # PREPARE would be a round trip of its own.
  def test_a_statement_that_is_new_to_the_connection
    query = piped { ::Post.where(id: 1, likes: 1).order(:likes, :title, :id).pick(:title) }
    assert_equal([[false], [true]], Array.new(2) { WireCounter.events("burst.pipeloader", &query).map { |event| event[:reads].none?(&:answered?) } })
  end

  # @return [Proc] executes a query of which the block is the resolver
  def piped(&block)
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :title, String
      define_method(:title, &block)
    end
    schema = Schemas.make(query: query, mutation: nil).last
    -> { schema.execute("{ title }").to_h }
  end

  def test_in_a_transaction
    bursts = ::Post.transaction { bursts_of { ::Post.where(id: 1).pick(:title) } }
    assert_equal [[1, false]], bursts
  end

  def test_without_parking
    bursts = bursts_of(2) { |index| Pipeloader.without_parking { ::Post.where(id: index).pick(:title) } }
    assert_equal [[1, true]] * 2, bursts
  end

  def test_what_is_told
    2.times { Schemas.resolve { ::Post.where(id: 1).pick(:title) } }
    context = {}
    told = WireCounter.events("burst.pipeloader") { @sql = WireCounter.events("sql.active_record") { Schemas.resolve { context = self.context; ::Post.where(id: 1).pick(:title) } } }
    assert_equal [[1, 1, [["Post Pluck", 1]]]], (told.map { |it| it.values_at(:position, :statements, :answers) })
    assert_operator told.first[:bytes_sent], :>, 0
    assert_equal ::Post.find(1).title.bytesize, told.first[:bytes_received]
    assert_equal({ burst: 1, wait: 0.0 }, @sql.last[:pipeloader])
    assert_equal({ bursts: 1, reads: 1, statements: 1 }, context.namespace(:pipeloader).slice(:bursts, :reads, :statements))
  end

  # As plain ActiveRecord's, and the next field's read isn't affected.
  def test_an_error
    read = lambda do |*|
      ::Post.where("1 / (id - id) = 1").to_a
    rescue ActiveRecord::StatementInvalid => e
      [e.class, e.message, e.cause.class, ::Post.count]
    end
    2.times { assert_equal(*Schemas.resolve(&read)) }
  end

  # By DEALLOCATE ALL, or since a proxy has given us another server. The level's way finds the rows.
  def test_a_statement_that_the_server_has_forgotten
    query = piped { ::Post.where(id: 3).pick(:title) }
    2.times { query.call }
    ActiveRecord::Base.lease_connection.raw_connection.exec("DEALLOCATE ALL")
    2.times { assert_equal({ "data" => { "title" => "post 3" } }, query.call) }
  ensure
    ActiveRecord::Base.lease_connection.reconnect!
  end

  # It reads when another field's statement starts, whose rows aren't its.
  class Auditor
    attr_reader :seen

    def initialize = @seen = []

    def start(_event, _id, payload)
      @seen << ::User.where(id: 1).pick(:name) if payload[:name] == "Audited"
    end

    def finish(*) = nil
  end

  def test_a_subscriber_that_reads_when_a_statement_starts
    query = lambda do |index|
      index.zero? ? ::Comment.where(id: 1).pick(:body) : ::Post.connection.select_value("SELECT title FROM posts WHERE id = 2", "Audited")
    end
    2.times { Schemas.resolve(2, &query) && Schemas.resolve { ::User.where(id: 1).pick(:name) } }
    auditor = Auditor.new
    subscriber = ActiveSupport::Notifications.subscribe("sql.active_record", auditor)
    assert_equal(*Schemas.resolve(2, &query))
    assert_equal ["user 1"] * 2, auditor.seen
  ensure
    ActiveSupport::Notifications.unsubscribe(subscriber)
  end

  class Late
    def initialize(&block) = @block = block
    def value = @block.call
  end

  class LatePost < GraphQL::Schema::Object
    field :comments_count, Integer
    field :late_name, String
    def comments_count = ::Comment.where(post_id: object.id.itself).count
    def late_name = Late.new { ::User.where(id: object.author_id).pick(:name) }
  end

  # Below a lazy value the next round of them belongs to the level of the fields beside.
  def test_in_a_lazy_value
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :read, LatePost
      field :made, LatePost
      def read = Late.new { ::Post.find(2) }
      def made = Late.new { ::Post.new(id: 2, author_id: 1) }
    end
    schemas = Schemas.make(query: query, mutation: nil) { lazy_resolve(Late, :value) }
    { "{ read { lateName commentsCount } }" => [1, 2], "{ made { lateName commentsCount } }" => [2] }.each do |text, reads|
      3.times { assert_same_answer(text, schemas) }
      next unless Pipeloader::LazyRounds.possible?

      assert_equal reads, WireCounter.events("burst.pipeloader") { schemas.last.execute(text) }.map { |it| it[:reads].size }
    end
  end

  # As a burst's: it is cancelled, so that the connection's next user doesn't wait for it.
  def test_an_interrupt
    query = piped { ::Post.connection.select_value("SELECT 'slept' FROM pg_sleep(30)") }
    around = -> { assert_raises(Timeout::Error) { Timeout.timeout(0.2) { query.call } } }
    inside = -> { piped { Timeout.timeout(0.2) { ::Post.connection.select_value("SELECT 'slept' FROM pg_sleep(30)") } rescue "over" }.call }
    killed = lambda do
      thread = Thread.new { ::Post.connection_pool.with_connection { |connection| @busy = connection.raw_connection; query.call } }
      Thread.pass until @busy && Pipeloader::CancelRequest.active?(@busy)
      thread.kill.join
      ::Post.connection_pool.reap # `connection` leases for good
      assert_equal PG::PQTRANS_IDLE, @busy.transaction_status
    end
    [around, inside, killed].each do |interrupted|
      interrupted.call
      assert_equal PG::PQTRANS_IDLE, ::Post.lease_connection.raw_connection.transaction_status
      assert_equal "slept", piped { ::Post.connection.select_value("SELECT 'slept' FROM pg_sleep(0)") }.call.dig("data", "title")
    end
  end

  # What it sets for the session is seen by this field alone.
  def test_a_setting_by_a_function
    results = Schemas.resolve(2) do |index|
      set = ::Post.connection.select_value("SELECT set_config('pipeloader.test', '#{index}', false)") if index == 1
      [set, ::Post.where(id: index).pick(:title)]
    end
    assert_equal(*results)
  end

  def test_in_the_query_cache
    ActiveRecord::Base.cache do
      bursts = bursts_of { Array.new(3) { ::Post.where(id: 5).pick(:title) } }
      assert_empty bursts
    end
    ActiveRecord::Base.cache do
      events = WireCounter.events("burst.pipeloader") { Schemas.pair.last.execute("{ posts(ids: [1, 2]) { title } }") }
      assert_equal([true], events.map { |event| event[:reads].none?(&:answered?) }) # and not of the compiled plan's look-up alone
      assert_empty(WireCounter.events("burst.pipeloader") { Schemas.pair.last.execute("{ posts(ids: [1, 2]) { title } }") })
    end
  end
end
