# frozen_string_literal: true

require_relative "wire_case"

# `use Pipeloader, snapshot: true, lanes: 4`: connections that read for one response, read in one snapshot.
class SnapshotLanesTest < WireCase
  Gated = WireCase::Gated

  class Account < WireCase::Gated
    self.table_name = "snapshot_lane_accounts"
  end

  ACCOUNTS = 8
  EACH = 100
  ROWS = <<~SQL
    CREATE TABLE IF NOT EXISTS snapshot_lane_accounts (id int PRIMARY KEY, balance int);
    TRUNCATE snapshot_lane_accounts;
    INSERT INTO snapshot_lane_accounts SELECT n, #{EACH} FROM generate_series(1, #{ACCOUNTS}) AS n;
  SQL

  # Which server process has answered, too. (Not `pure?`, so it's declared.)
  READ = "SELECT balance, pg_backend_pid() AS pid FROM snapshot_lane_accounts WHERE id = "
  DECLARED = [/pg_backend_pid\(\)/].freeze

  class Level < GraphQL::Schema::Object
    field :again, String do
      argument :index, Integer
    end
    field :level, Level

    def again(index:) = context[:read].call(index, object)

    # It waits, as the next level's reads do for this one.
    def level
      Account.find(object + 1)
      object + 1
    end
  end

  class Query < GraphQL::Schema::Object
    field :level, Level

    def level = 0
  end

  def self.schema(options)
    Class.new(GraphQL::Schema) do
      query(Query)
      use(Pipeloader, **options) if options
      validate_timeout(nil)
      rescue_from(ActiveRecord::StatementInvalid, Pipeloader::Error) { |error| raise GraphQL::ExecutionError, error.message.lines.first }
    end
  end

  PLAIN = schema(nil)
  LANES = schema({ lanes: { most: 4, declared: DECLARED } })
  BOTH = schema({ snapshot: true, lanes: { most: 4, declared: DECLARED } })
  SETTINGS = schema({ snapshot: true, lanes: { most: 4, declared: DECLARED }, settings: ->(context) { { "app.x" => context[:x] } } })

  def setup
    super
    connect_gated(min_messages: "error", pool: 5, checkout_timeout: 60)
    side.exec(ROWS)
    warm_up
  end

  def teardown
    release
    assert_pool_sound(Gated.connection_pool)
    Gated.connection_pool.connections.each { |it| assert_nil it.pipeloader_session.read_transaction }
    assert_no_stray_backends
  ensure
    super
  end

  # Between the levels somebody moves money.
  def test_lanes_read_one_snapshot
    rounds(5).times { assert_equal 1, totals(BOTH) { move }.uniq.size }
    assert_equal 4, @pids.uniq.size
    assert_operator Array.new(20) { totals(LANES) { move } }.map { |it| it.uniq.size }.max, :>, 1
  end

  def test_while_somebody_writes_all_the_time
    enough = false
    writer = in_thread { move until enough }
    rounds(60).times { assert_equal 1, totals(BOTH).uniq.size }
  ensure
    enough = true
    writer.value
  end

  # To export it takes one, and only where lanes are used.
  def test_round_trips
    levels = bursts { totals(BOTH) }
    assert_equal [false, true, true, true] * 3, levels.map { |it| it[:lane] }
    assert_equal [9, 9, 8], levels.each_slice(4).map { |level| level.sum { |it| it[:statements] } }
    assert_equal 4, @trips
    alone = bursts { totals(BOTH, "SELECT balance, 1 AS pid FROM snapshot_lane_accounts WHERE id = ") }
    assert_equal [false] * 3, alone.map { |it| it[:lane] }
    assert_equal 3, @trips
  end

  def test_errors_in_lanes
    read = ->(index, depth) { index.odd? ? value("SELECT 1 / (#{index} - #{index}) AS d#{depth}, pg_backend_pid()") : who }
    told = [PLAIN, BOTH].map { |schema| execute(schema, read)["errors"] }
    assert_equal(*told)
    assert_equal 12, told.first.size
    assert_equal 1, totals(BOTH).uniq.size
  end

  def test_what_a_lane_sets_is_gone
    3.times { assert_equal ["7"], execute_flat(SETTINGS, ->(*) { who && setting }, x: 7).uniq }
    Gated.connection_pool.connections.each { |it| assert_equal "", it.select_value("SELECT coalesce(current_setting('app.x', true), '')") }
  end

  def test_a_lane_that_is_killed_between_levels
    killed = false
    found = totals(BOTH) do
      move
      killed ||= kill("idle")
    end
    assert_equal 1, found.uniq.size
    assert killed
  end

  # Its own connection is killed: nothing else is read.
  def test_the_own_connection_is_killed_between_levels
    read = lambda do |index, depth|
      kill("idle in transaction") if depth == 1 && index.zero?
      value("#{READ}#{index + 1} AND #{depth} = #{depth}")
    end
    told = execute(BOTH, read)
    assert_equal "100", told.dig("data", "level", "f1")
    assert_match(/The snapshot .* is gone/, told["errors"].map { |it| it["message"] }.join("\n"))
    assert_equal [ACCOUNTS * EACH], totals(BOTH).uniq
  end

  # It is another database's, where the snapshot can't be had: what it reads there would be of somewhere else. None is asked again.
  def test_a_connection_that_cannot_have_the_snapshot
    pool = Gated.connection_pool
    own = pool.with_connection { |it| it }
    pool.connections.without(own).each do |it|
      it.disconnect!
      it.instance_variable_get(:@connection_parameters)[:dbname] = "postgres"
    end
    levels = bursts { assert_equal 1, totals(BOTH) { move }.uniq.size }
    assert_equal(1, levels.count { |it| it[:lane] })
    assert_equal [raw(own).backend_pid], @pids.uniq
  ensure
    connect_gated(min_messages: "error", pool: 5, checkout_timeout: 60)
  end

  private

  def who = value("SELECT pg_backend_pid()")
  def value(sql) = Gated.with_connection { |it| it.select_rows(sql).first.tap { |row| @pids << row.last.to_i }.first.to_s }
  def setting = Gated.with_connection { |it| it.select_value("SELECT current_setting('app.x', true)") }

  def warm_up
    @pids = []
    4.times { execute(LANES, ->(*) { who }) }
  end

  def move
    from, to = (1..ACCOUNTS).to_a.sample(2, random: random)
    side(:mover).exec(<<~SQL).clear
      UPDATE snapshot_lane_accounts SET balance = balance + CASE id WHEN #{from} THEN -1 ELSE 1 END WHERE id IN (#{from}, #{to});
      UPDATE snapshot_lane_accounts SET balance = balance - 1 WHERE id = 1 AND random() < 0.2
    SQL
  end

  def random = @random ||= Random.new(seed)

  # Those that have answered and are now in that state.
  #
  # @return [Boolean] whether there were any
  def kill(state)
    asked = @pids.uniq.grep(1..)
    pids = side(:monitor).exec("SELECT pid, state FROM pg_stat_activity").filter_map { |it| it["pid"].to_i if it["state"] == state }
    (asked & pids).each { |pid| terminate(pid) }.any?
  end

  def execute(schema, read, **context)
    @pids = []
    fields = Array.new(ACCOUNTS) { |index| "f#{index}: again(index: #{index})" }.join(" ")
    told = schema.execute("{ level { #{fields} level { #{fields} level { #{fields} } } } }", context: { read: read, **context })
    @trips = told.context.namespace(:pipeloader)[:bursts]
    told.to_h
  ensure
    release
  end

  # @return [Array<String>] what the fields say, level by level
  def execute_flat(...)
    told = execute(...)
    raise told.inspect if told["errors"]

    level = told["data"]
    Array.new(3) { (level = level["level"]).values_at(*Array.new(ACCOUNTS) { |index| "f#{index}" }) }.flatten
  end

  # @return [Array<Integer>] what the accounts hold together, by level
  def totals(schema, sql = READ)
    side.exec("UPDATE snapshot_lane_accounts SET balance = #{EACH}") if block_given?
    read = lambda do |index, depth|
      yield if block_given? && index == 3
      value("#{sql}#{index + 1} AND #{depth} = #{depth}")
    end
    execute_flat(schema, read).map(&:to_i).each_slice(ACCOUNTS).map(&:sum)
  end

  def bursts(&) = WireCounter.events("burst.pipeloader", &)
end
