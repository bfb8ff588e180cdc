# frozen_string_literal: true

require_relative "../support/test_helper"

# Whatever a resolver changes for the length of a block, nobody else sees: not a sibling that runs while it is parked,
# not the code after the response. What it assigns for good is seen by whatever a serial run would have started later.
class DynamicStateTest < PipeloaderTest
  class Current < ActiveSupport::CurrentAttributes
    attribute :user, :tenant
  end

  def setup
    Current.reset
  end

  def teardown
    super
    Current.reset
    Time.zone = nil
    I18n.locale = :en
  end

  # Runs +block+ in several sibling fields, plain and piped, and compares what they saw.
  def assert_same_view(fields = 3, &block)
    plain, piped = Schemas.resolve(fields, &block)
    assert_equal plain, piped
    piped
  end

  def test_scoping
    assert_same_view do |index|
      seen = [Post.count]
      scope = [Post.where(id: 1..3), Post.where("likes > 5"), Post.all][index]
      scope.scoping { seen << Post.count << Post.order(:id).pluck(:id) << Post.first&.id }
      seen << Post.count
    end
    assert_equal 12, Post.count
  end

  def test_unscoped_and_default_scope_of_delegated_class_methods
    model = Class.new(Post) do
      self.table_name = "posts"
      def self.name = "ScopedPost"
      default_scope { where("likes < 5") }
      def self.tally_all = [count, unscoped { count }, where(id: 1..6).count]
    end
    assert_same_view do |index|
      [model.where(id: (index + 1)..).tally_all, model.unscoped { [model.count, Post.count] }, model.count]
    end
  end

  def test_reload
    assert_same_view { |index| [Post.find(index + 1).reload.title, Post.where(id: index + 1).reload.map(&:id), Post.count] }
    assert_equal 12, Post.count
  end

  def test_current_attributes_block
    assert_same_view do |index|
      before = Current.user
      inside = Current.set(user: index) { [Post.count, Current.user, User.count, Current.user] }
      [before, inside, Current.user]
    end
    assert_nil Current.user
  end

  def test_hand_made_block
    assert_same_view do |index|
      old, Current.tenant = Current.tenant, index
      begin
        [old, Post.count, Current.tenant]
      ensure
        Current.tenant = old
      end
    end
    assert_nil Current.tenant
  end

  class Audit
    thread_mattr_accessor :options, default: { notify: true, names: ["a"] }
    thread_mattr_accessor :names, default: ["a"]
    thread_mattr_accessor :memo
    thread_mattr_accessor :counts

    def self.quietly
      was, self.options = options, options.merge(notify: false)
      yield
    ensure
      self.options = was
    end

    def self.memo_of(name) = (self.memo ||= Hash.new { |hash, key| hash[key] = "#{key} of #{Post.count}" })[name]
    def self.count(name) = (self.counts ||= Hash.new(0))[name] += 1
  end

  # ActiveSupport freezes what a thread_mattr_accessor is by default.
  def test_frozen_defaults
    [false, true].each do |asked_before|
      assert_same_view(4) do |index|
        [Audit.options, Audit.names, Audit.quietly { [Post.count, Audit.options] }, Current.set(user: index) { Post.count }, Audit.options]
      end
      Audit.options if asked_before
      assert_equal({ notify: true, names: ["a"] }, Audit.options)
    end
  end

  # A Hash that makes up its values goes on doing so after others have been kept apart.
  def test_defaults_of_hashes
    [false, true].each do |asked_before|
      before = lambda do
        Audit.memo = Audit.counts = nil
        asked_before && [Audit.memo_of("before"), Audit.count("before")]
      end
      plain, piped = Schemas.resolve(4, before: before) do |index|
        Current.set(user: index) { Post.where(id: index).count }
        [Audit.memo_of("x#{index}"), Audit.count("y#{index}")]
      end
      assert_equal plain, piped
      assert_equal ["after of 12", 1], [Audit.memo_of("after"), Audit.count("after")]
    end
  ensure
    Audit.memo = Audit.counts = nil
  end

  # While somebody goes through a Hash no key can be added to it, but each can be put back to what it was.
  def test_a_hash_that_somebody_goes_through
    Current.set(user: "caller", tenant: 1) do
      assert_same_view(3) do |index|
        seen = []
        Current.set(user: index) { Current.attributes.each { |name, value| seen << [name, Post.where(id: index).count, value, Current.user] } }
        [seen, Current.user, Current.tenant]
      end
      assert_equal ["caller", 1], [Current.user, Current.tenant]
    end
  end

  def test_surrounding_block_is_seen_and_closed
    Current.set(user: "caller") do
      assert_same_view { |index| [Current.user, Post.where(id: index).count, Current.user, Current.set(user: index) { Post.count; Current.user }] }
      assert_equal "caller", Current.user
    end
    assert_nil Current.user
  end

  def test_assignment_is_seen_after_the_response
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :a, Integer
      field :b, Integer
      define_method(:a) { Post.count.tap { Current.user = "assigned" } }
      define_method(:b) { Current.set(tenant: "inside") { Post.count } }
    end
    Schemas.make(query: query, mutation: nil).each do |schema|
      Current.reset
      schema.execute("{ a b }")
      assert_equal ["assigned", nil], [Current.user, Current.tenant]
    end
  end

  # A login mutation: what it selects below runs in fibers that start later.
  def test_assignment_in_a_mutation
    viewer = Class.new(GraphQL::Schema::Object) do
      graphql_name "Viewer"
      field :name, String
      field :posts, Integer
      field :again, String
      def name = [Current.user, User.find(1).name, Current.user].join(" ")
      def posts = Current.user && Post.count
      def again = [Comment.count, Current.user].join(" ")
    end
    mutation = Class.new(GraphQL::Schema::Object) do
      graphql_name "Mutation"
      field :login, viewer
      field :logout, viewer
      define_method(:login) do
        Current.user = User.find_by!(name: "user 1").name
        {}
      end
      define_method(:logout) do
        Current.user = nil
        {}
      end
    end
    schemas = Schemas.make(mutation: mutation)
    answers = schemas.map do |schema|
      Current.reset
      [schema.execute("mutation { login { a: again name posts again } logout { name posts } }").to_h.to_json, Current.user]
    end
    assert_equal(*answers)
    assert_includes answers.last.first, "user 1 user 1 user 1"
  end

  # What a sibling has settled while this one was parked, it comes to by itself.
  def test_the_same_assignment_in_siblings
    I18n.available_locales = %i[en de fr]
    assert_same_view_each_from_rest do |index|
      Post.count if index.zero?
      Current.tenant ||= 7
      I18n.locale = :de
      [(Post.count if index.zero?), Current.tenant, I18n.locale]
    end
    assert_equal [7, :de], [Current.tenant, I18n.locale]
  end

  def test_a_block_for_what_a_sibling_assigned_for_good
    assert_same_view_each_from_rest do |index|
      Post.count if index.zero?
      index.zero? ? Current.set(user: :me) { [Post.count, Current.user] } : Current.user = :me
    end
    assert_equal :me, Current.user
  end

  def test_locale_and_time_zone
    I18n.available_locales = %i[en de fr]
    assert_same_view do |index|
      seen = [I18n.locale, Time.zone&.name]
      I18n.with_locale(%i[en de fr][index]) do
        Time.use_zone(%w[UTC Tokyo Berlin][index]) { seen << Post.count << I18n.locale << Time.zone.name << User.count << I18n.locale }
      end
      seen << I18n.locale << Time.zone&.name
    end
    assert_equal :en, I18n.locale
    assert_nil Time.zone
  end

  def test_query_cache_blocks
    assert_same_view do |index|
      flag = -> { Post.connection_pool.query_cache_enabled }
      seen = [flag.call]
      block = -> { seen << flag.call << Post.where(id: 1..3).count << flag.call << Post.where(id: 1..3).count }
      index.even? ? Post.cache(&block) : Post.uncached(&block)
      seen << flag.call
    end
    refute Post.connection_pool.query_cache_enabled
  end

  def test_uncached_within_a_cached_response
    Post.cache do
      assert_same_view(4) do |index|
        [Post.where(id: index).count, Post.uncached { [Post.count, Post.connection_pool.query_cache_enabled] },
         Post.connection_pool.query_cache_enabled]
      end
      assert Post.connection_pool.query_cache_enabled
    end
  end

  def test_while_preventing_writes
    assert_same_view(3) do |index|
      attempt = lambda do
        Post.count
        Post.where(id: 0).update_all(likes: 1)
        "written"
      rescue ActiveRecord::ReadOnlyError => e
        e.class.name
      end
      index == 1 ? ActiveRecord::Base.while_preventing_writes { attempt.call } : attempt.call
    end
  end

  def test_unprepared_statement_block
    assert_same_view do |index|
      ask = -> { [Post.find_by(id: index + 1)&.title, Post.connection.prepared_statements?] }
      index == 1 ? Post.connection.unprepared_statement { ask.call } : ask.call
    end
  end

  def test_log_tags
    logger = ActiveSupport::TaggedLogging.new(Logger.new(IO::NULL))
    assert_same_view do |index|
      [logger.tagged("f#{index}") { [Post.count, logger.formatter.current_tags.dup] }, logger.formatter.current_tags.dup]
    end
  end

  # As ActionDispatch::ServerTiming does in development: each read adds an event to a list in the execution state.
  def test_a_list_that_events_are_added_to
    key = :action_dispatch_server_timing_events
    query = "{ posts { commentsCount scoreSum author { name } } users { postsCount } }"
    events = ActiveSupport::IsolatedExecutionState[key] = [:first]
    subscriber = ActiveSupport::Notifications.subscribe("sql.active_record") { |*event| ActiveSupport::IsolatedExecutionState[key]&.push(event.first) }
    2.times { assert_same_answer(query) }
    before = events.size
    trips = assert_round_trips(2) { Schemas.pair.last.execute(query) }
    assert_same events, ActiveSupport::IsolatedExecutionState[key]
    assert_operator events.size - before, :>=, trips.flatten.size
  ensure
    ActiveSupport::Notifications.unsubscribe(subscriber)
    ActiveSupport::IsolatedExecutionState.delete(key)
  end

  def test_notifications_nest_per_fiber
    plain, piped = [false, true].map do
      [].tap do |seen|
        subscriber = ActiveSupport::Notifications.subscribe("work.test") { |event| seen << event.payload[:index] }
        Schemas.resolve(3) { |index| ActiveSupport::Notifications.instrument("work.test", index: index) { Post.where(id: index).count } }
        ActiveSupport::Notifications.unsubscribe(subscriber)
      end
    end
    assert_equal plain.sort, piped.sort
  end

  def test_an_error_inside_a_block_leaves_nothing_behind
    plain, piped = Schemas.resolve(3) do |index|
      Post.where(id: 1).scoping { Current.set(user: index) { Post.where("1 / (id - 1) > 0").load } }
    rescue ActiveRecord::StatementInvalid => e
      [e.class, Current.user, Post.count]
    end
    assert_equal plain, piped
    assert_equal [12, nil], [Post.count, Current.user]
  end

  # An exception ends the response while other fibers are parked inside their blocks.
  def test_abandoned_fibers_leave_nothing_behind
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :a, String
      field :b, String
      define_method(:a) { Post.where(id: 1).scoping { Current.set(user: 1) { I18n.with_locale(:de) { Post.count; Post.count } } } }
      define_method(:b) do
        Post.count
        raise "escapes"
      end
    end
    I18n.available_locales = %i[en de fr]
    _, piped = Schemas.make(query: query, mutation: nil)
    assert_raises(RuntimeError) { piped.execute("{ b a }") }
    assert_equal [12, nil, :en], [Post.count, Current.user, I18n.locale]
    refute_predicate ActiveRecord::Base.connection.pipeloader_session, :gathering?
  end

  # ActiveRecord and ActiveSupport make some state when a thread first needs it. That is no assignment.
  def test_a_thread_that_begins
    assert ActiveRecord::RuntimeRegistry # which Rails loads, and which then hears of each statement
    schema = Schemas.pair.last
    bursts = lambda do
      schema.execute("{ posts { title author { name } comments { body } } }").context.namespace(:pipeloader)[:bursts]
    end
    2.times { bursts.call }
    assert_equal [2, 2], Thread.new { Array.new(2) { bursts.call } }.value
  end

  private

  # As above, where what is assigned is there to stay.
  def assert_same_view_each_from_rest(&block)
    plain, piped = Schemas.resolve(2, before: -> { [Current.reset, I18n.locale = :en] }, &block)
    assert_equal plain, piped
  end
end
