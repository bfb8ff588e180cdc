# frozen_string_literal: true

require_relative "../support/test_helper"
require "active_support/log_subscriber/test_helper"

class InstrumentationTest < PipeloaderTest
  QUERY = "{ posts { title author { name } comments { body } } }"

  def setup = take_first_alias

  def test_burst_event
    bursts = WireCounter.events("burst.pipeloader") { Schemas.parked.last.execute(QUERY) }
    assert_equal([1, 2], bursts.map { |burst| burst[:position] })
    bursts.each do |burst|
      assert_kind_of ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, burst[:connection]
      assert_operator burst[:bytes_sent], :>, 0
      assert_operator burst[:bytes_received], :>, burst[:bytes_sent]
      assert_operator burst[:statements], :<=, burst[:reads].size
    end
    assert_equal ["Post Load"], bursts.first[:reads].map(&:name)
    assert_equal({ "User Load" => 9, "Comment Load" => 12 }, bursts.last[:reads].map(&:name).tally)
  end

  # Ruby puts the receiver's inspect into a NoMethodError's message: from any of ours all the others can be reached.
  def test_inspect_is_short
    ours = []
    Schemas.resolve(2) do
      fiber = Pipeloader::ResolverFiber.current or next
      ours << Pipeloader::Flight.new(fiber) << fiber << fiber.job << fiber.response << fiber.loader.pipeloader_run
    end
    assert_equal 10, ours.size
    level = Pipeloader::Level.new(ours, 1)
    [*ours, level, Pipeloader::Burst.new(::Post.lease_connection, level)].each { |it| assert_operator it.inspect.size, :<, 80 }
  end

  def test_reads_say_which_burst_brought_them_and_how_long_they_waited
    Schemas.parked.last.execute(QUERY) # whatever ActiveRecord wants to know of the tables, it knows now
    events = WireCounter.events("sql.active_record") { Schemas.parked.last.execute(QUERY) }
    events.reject! { |event| event[:name] == "SCHEMA" } # (of a new connection)
    assert_equal [1, *[2] * 21], (events.map { |event| event[:pipeloader].fetch(:burst) })
    assert_equal [false, *[true] * 21], (events.map { |event| event[:pipeloader].fetch(:wait).positive? }) # nothing goes with the first
    plain = WireCounter.events("sql.active_record") { Schemas.parked.first.execute(QUERY) }
    assert_equal plain.first.keys.sort, (events.first.keys - [:pipeloader]).sort
  end

  # In production, where nothing is logged at that level, no event is made.
  def test_who_watches_bursts
    before = ActiveSupport::LogSubscriber.logger
    watched = { nil => false, Logger::INFO => false, Logger::DEBUG => true }.map do |level, expected|
      ActiveSupport::LogSubscriber.logger = level && Logger.new(nil, level: level)
      [expected, Pipeloader::Burst.watched?]
    end
    assert_equal(*watched.transpose)
    ActiveSupport::LogSubscriber.logger = nil
    ActiveSupport::Notifications.subscribed(->(*) {}, "burst.pipeloader") { assert_predicate Pipeloader::Burst, :watched? }
  ensure
    ActiveSupport::LogSubscriber.logger = before
  end

  def test_what_goes_at_once_carries_no_key
    plain, piped = Schemas.resolve(2) do
      events = WireCounter.events("sql.active_record") { Post.connection.execute("SELECT 1"); Post.where(id: 0).update_all(likes: 1) }
      events.reject { |event| event[:name] == "SCHEMA" }.map(&:keys) # (as above)
    end
    assert_equal plain, piped
  end

  def test_counters_of_an_operation
    result = Schemas.parked.last.execute(QUERY)
    assert_equal({ bursts: 2, reads: 22 }, result.context.namespace(:pipeloader).slice(:bursts, :reads))
    again = Schemas.parked.last.execute("{ posts { title } }")
    assert_equal({ bursts: 1, reads: 1, statements: 1 }, again.context.namespace(:pipeloader))
    assert_empty Schemas.parked.first.execute(QUERY).context.namespace(:pipeloader)
  end

  def test_log_line
    Schemas.parked.last.execute(QUERY) # (what an earlier test has made the server forget, is prepared again)
    log = StringIO.new
    before, ActiveSupport::LogSubscriber.logger = ActiveSupport::LogSubscriber.logger, Logger.new(log)
    Schemas.parked.last.execute(QUERY)
    lines = log.string.lines.grep(/Burst/).map { |line| line.gsub(/\e\[\d*m/, "") }
    assert_equal 2, lines.size
    assert_match(/Burst 1 \(\d+\.\dms\)  1 read in 1 statement, 0\.\d kB out, \d+\.\d kB in  Post Load$/, lines.first)
    assert_match(/Burst 2 .* 21 reads in \d+ statements, .* User Load ×9(?: → \d+)?, Comment Load ×12(?: → \d+)?$/, lines.last)
  ensure
    ActiveSupport::LogSubscriber.logger = before
  end

  # As one of sql.active_record does: it ends what the event is about, for whoever asked for it.
  def test_a_subscriber_that_raises
    plain, piped = [["sql.active_record", Schemas.parked.first], ["burst.pipeloader", Schemas.parked.last]].map do |event, schema|
      refusing(event, "refused") { assert_raises(RuntimeError) { schema.execute("{ posts { title } }") }.message }
    end
    assert_equal plain, piped
    assert_match(/refused\z/, piped)
    assert_same_answer("{ posts { title } tags { name } }")
  end

  # Two bursts of one level, for two databases: both are one round trip, and the event of each ends. The other fields have their answers.
  def test_a_subscriber_that_raises_in_each_of_two_bursts
    told, outcomes, counts = [], [], nil
    refusing("burst.pipeloader", "refused", told) do
      Schemas.resolve(3, before: -> { outcomes.clear }) do |index|
        counts = context.namespace(:pipeloader)
        outcomes[index] = [-> { Post.find(1).title }, -> { Audit.find(1).note }, -> { Post.find(2).title }][index].call
      rescue RuntimeError => e
        outcomes[index] = e.message
      end
    end
    assert_equal 2, told.size
    assert_equal({ bursts: 1, reads: 3, statements: 3 }, counts.slice(:bursts, :reads, :statements))
    assert_equal ["refused", "audit 1", "post 2"], outcomes
  end

  def test_nothing_is_counted_outside_a_response
    assert_empty(WireCounter.events("burst.pipeloader") { Post.count; Post.find(1).comments.to_a })
  end

  private

  # While the block runs, a subscriber of +event+ raises.
  def refusing(event, message, told = [])
    subscriber = ActiveSupport::Notifications.subscribe(event) do |*, payload|
      next if payload[:name] == "SCHEMA"

      told << payload
      raise message
    end
    yield
  ensure
    ActiveSupport::Notifications.unsubscribe(subscriber)
  end
end
