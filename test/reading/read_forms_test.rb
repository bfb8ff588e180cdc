# frozen_string_literal: true

require_relative "../support/query_log_tags"
require_relative "read_forms_case"

class ReadFormsTest < ReadFormsCase
  test_all_forms

  # The resolver's own line is in it, as if the read had not been elsewhere meanwhile.
  def test_backtrace
    _plain, piped = runs { |id| ReadForms.connection.select_value("SELECT #{id} / 0") }
    piped.results.each { |error| assert(error.backtrace.any? { |line| line.include?(__FILE__) }) }
  end

  # Where nobody subscribes to a query cache's hits, nothing is parked for them either.
  def test_events_have_the_same_connection_and_transaction
    plain, piped = runs { |id| Post.find(id) }
    assert_equal(plain.events.map { |it| it[:connection].object_id }, piped.events.map { |it| it[:connection].object_id })
    assert(piped.events.all? { |it| it[:transaction].nil? == plain.events.first[:transaction].nil? })
  end

  # With an executor they run on other threads; a pool asks for it when it's made.
  def test_async_with_an_executor
    ActiveRecord.async_query_executor, before = :global_thread_pool, ActiveRecord.async_query_executor
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
    # As Rails' executor does around a request; from 8.1 on ActiveRecord insists on it.
    ActiveRecord::Base.asynchronous_queries_tracker.start_session
    plain, piped = runs do |id|
      relation = Post.where(id: id..).order(:id).load_async
      [Post.where(id: id..).async_count.value, Post.find(id).title, relation.to_a]
    end
    assert_equal plain.results.map { |it| Comparison.of(it) }, piped.results.map { |it| Comparison.of(it) }
    assert_empty(plain.results.grep(Exception))
    assert_equal [FIELDS, 2 * FIELDS], piped.events.partition { |it| it.key?(:pipeloader) }.map(&:size)
  ensure
    ActiveRecord::Base.asynchronous_queries_tracker.finalize_session
    ActiveRecord.async_query_executor = before
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end
end

class ReadFormsWithQueryCacheTest < ReadFormsCase
  # What empties the cache does so at another moment, so that other reads are answered by it; but all ask for the same.
  EMPTYING = ["reload", "reload a missing one", "reload of an association", "reload_author, reset", "update and read again",
              "transaction between reads", "in other blocks", "insert and rollback", "with_lock", "lock!"].freeze

  def comparable(events)
    return super unless EMPTYING.include?(name.delete_prefix("test_"))

    events.reject { |it| it[:name] == "TRANSACTION" }.map { |it| it.slice(:sql, :name).merge(binds: it[:binds].map { |bind| bind.respond_to?(:value) ? bind.value : bind }).inspect }.sort
  end

  def around(&block) = ActiveRecord::Base.cache { Audit.cache(&block) }

  # Reading the schema empties the cache as well: that is done in a first run.
  def runs(...)
    super
    super
  end
  test_all_forms
end

# As in a test suite with transactional tests.
class ReadFormsInTransactionTest < ReadFormsCase
  def around
    ActiveRecord::Base.transaction do
      ActiveRecord::Base.lease_connection.materialize_transactions
      Audit.transaction { yield }
      raise ActiveRecord::Rollback
    end
  end

  def in_transaction? = true
  test_all_forms
end

class ReadFormsUnpreparedTest < ReadFormsCase
  extend WithoutPreparedStatements
  test_all_forms
end

# Like ActiveRecord::QueryLogs, which turns prepared statements off, and without that.
class ReadFormsTransformedTest < ReadFormsCase
  def setup
    ActiveRecord.query_transformers << ->(sql, _connection = nil) { "#{sql} /*app:test*/" }
  end

  def teardown = super.tap { ActiveRecord.query_transformers.pop }
  test_all_forms
end

# What QueryLogs says of a read is what its own field has set, on the wire as in the event.
class ReadFormsWithQueryLogsTest < ReadFormsCase
  include QueryLogTags

  def log_tags = [{ field: ->(context) { context[:field] } }]

  def test_tags_of_each_field
    sent = []
    plain, piped = ActiveSupport::Notifications.subscribed(->(*, payload) { sent.concat(payload[:reads].map(&:sql)) }, "burst.pipeloader") do
      runs { |id| ActiveSupport::ExecutionContext.set(field: "field#{id}") { [Post.count, Post.find(id).comments.to_a, Post.count] } }
    end
    assert_equal plain.results.map { |it| Comparison.of(it) }, piped.results.map { |it| Comparison.of(it) }
    assert_equal_lists comparable(plain.events), comparable(piped.events)
    assert_equal piped.events.map { |it| it[:sql] }.sort, sent.sort
    assert_equal({ "field1" => 8, "field2" => 4, "field3" => 4 }, sent.map { |sql| sql[/field\d/] }.tally)
  end
end

# ActiveRecord asks the connection for warnings after each statement: nothing that a burst could answer.
class ReadFormsWithWarningsTest < ReadFormsCase
  def setup
    @before = ActiveRecord.db_warnings_action
    ActiveRecord.db_warnings_action = :log
  end

  def teardown
    super
  ensure
    ActiveRecord.instance_variable_set(:@db_warnings_action, @before)
    # One that was made here would go on to listen, and find nobody to tell.
    ActiveRecord::Base.connection_pool.disconnect!
  end

  def test_at_once
    plain, piped = runs { |id| [Post.find(id), Post.count] }
    assert_equal plain.results.map { |it| Comparison.of(it) }, piped.results.map { |it| Comparison.of(it) }
    assert_equal_lists comparable(plain.events), comparable(piped.events)
    assert_parked :at_once, piped
  end
end

class ReadFormsUnpreparedTransformedTest < ReadFormsCase
  extend WithoutPreparedStatements

  def setup
    ActiveRecord.query_transformers << ->(sql, _connection = nil) { "/*app:test*/ #{sql}" }
  end

  def teardown = super.tap { ActiveRecord.query_transformers.pop }
  test_all_forms
end

class ReadFormsUnderFiberIsolationTest < ReadFormsCase
  def setup = isolate_by(:fiber)
  test_all_forms
end
