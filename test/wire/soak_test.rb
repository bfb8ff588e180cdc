# frozen_string_literal: true

require_relative "wire_case"
require_relative "unstruck"

# Requests of several threads that share a small pool, and are struck at any time: by Thread#raise and Thread#kill from
# outside, by Timeout, by a sibling that raises. Each row carries the tag of the request, field and level that asked for
# it: what another request left on a connection can't be mistaken for an answer.
#
#     PIPELOADER_ROUNDS=10000 bundle exec ruby -Itest -Ilib test/wire/soak_test.rb
class SoakTest < WireCase
  class Mishap < StandardError; end

  STRIKES = {
    error: ->(thread) { thread.raise(Mishap, "struck") },
    exception: ->(thread) { thread.raise(Stop, "struck") },
    kill: ->(thread) { thread.kill }
  }.freeze

  # How a request reads; a tag comes back as it was sent.
  FORMS = {
    prepared: ->(connection, tag) { connection.select_all("SELECT $1::text", "Tag", [SoakTest.bind(tag)], preparable: true).rows.first.first },
    literal: ->(connection, tag) { connection.select_value("SELECT #{connection.quote(tag)}") },
    large: ->(connection, tag) { connection.select_value("SELECT repeat(#{connection.quote(tag)} || ',', 2000) FROM generate_series(1, 1)").split(",").uniq.join("|") },
    rows: ->(connection, tag) { connection.select_rows("SELECT #{connection.quote(tag)}, n FROM generate_series(1, 20) AS n").tap { |rows| raise "rows" unless rows.map(&:last) == [*1..20] }.map(&:first).uniq.join("|") },
    fault: lambda do |connection, tag|
      connection.select_value("SELECT #{connection.quote(tag)}::int")
    rescue ActiveRecord::StatementInvalid => e
      e.message[/"(soak [^"]*)"/, 1] || raise
    end,
    repeatable: ->(connection, tag) { connection.select_value("SELECT title || #{connection.quote("|#{tag}")} FROM posts WHERE id = 3").delete_prefix("post 3|") }
  }.freeze

  def self.bind(text) = ActiveRecord::Relation::QueryAttribute.new("text", text, ActiveModel::Type::String.new)

  def setup
    super
    connect_gated(pool: pool, checkout_timeout: 60)
    Gated.connection_pool.extend(Unstruck::Pool)
    Unstruck::Transactions.on = true
    side(:monitor)
    @counts = Hash.new(0)
    @counting = Mutex.new
    @wrong = Queue.new
  end

  def teardown
    Unstruck::Transactions.on = false
    super
  end

  def test_soak
    total = rounds(400)
    random = Random.new(seed)
    puts "  soak: seed #{seed}" if ENV["PIPELOADER_ROUNDS"]
    warm_up
    strikable = Array.new(3) { worker(random.rand(1 << 30), :strikable) }
    others = Array.new(2) { worker(random.rand(1 << 30), :timed) }
    until done >= total || !@wrong.empty?
      # Time as dice, not as a signal.
      sleep(random.rand(0.004))
      at = random.rand(strikable.size)
      strike = STRIKES.keys.sample(random: random)
      STRIKES.fetch(strike).call(strikable[at])
      # (One that is killed isn't struck again: an exception raised while it dies brings it back to life.)
      next if strikable[at].alive? && strike != :kill

      count(:killed) if finish(strikable[at]) == :killed
      strikable[at] = worker(random.rand(1 << 30), :strikable)
    end
    @enough = true
    [*strikable, *others].each { |thread| finish(thread) }
    Gated.connection_pool.reap # what killed threads had leased
    assert_predicate @wrong, :empty?, -> { @wrong.pop.to_s }
    assert_pool_sound(Gated.connection_pool)
    assert_operator Gated.connection_pool.connections.size, :<=, pool
    assert_no_stray_backends
    %i[answered struck timed_out sibling_raised].each { |kind| assert_operator @counts[kind], :>, 0, kind }
    puts "  soak: #{done} requests: #{@counts.map { |kind, number| "#{kind} #{number}" }.join(", ")}; " \
         "#{Names.prepared.values.sum(&:size)} names prepared over #{Names.prepared.size} connections" if ENV["PIPELOADER_ROUNDS"]
  end

  private

  # Connections that five threads share.
  def pool = 3

  # What is loaded lazily, is loaded: a `require` that was struck leaves half a file.
  def warm_up
    connection = Gated.lease_connection
    (1..6).each do |fields|
      execute(fields) { FORMS.each_value { |form| form.call(connection, "soak warm") } }
      Gated.transaction { execute(fields) { FORMS[:prepared].call(connection, "soak warm") } }
      assert_raises(Stop) { execute(fields) { |index| connection.select_value("SELECT 1") && index.zero? && raise(Stop) } }
      assert_raises(Timeout::Error) { Timeout.timeout(0.001) { loop { execute(fields) { connection.select_value("SELECT 1") } } } }
    end
  ensure
    Gated.release_connection
  end

  def count(kind) = @counting.synchronize { @counts[kind] += 1 }

  def done = @counting.synchronize { @counts.values.sum }

  # Timeout leaves its timer running if its thread is struck on the way into the block: who uses it isn't struck.
  def worker(seed, kind)
    random = Random.new(seed)
    in_thread do
      Thread.handle_interrupt(Mishap => :never, Stop => :never) do
        Thread.current.thread_variable_set(:soaking, true)
        count(soaked(random, kind)) until @enough || !@wrong.empty?
      rescue Minitest::Assertion, StandardError => e
        @wrong << "#{e.class}: #{e.message}\n#{e.backtrace.first(15).join("\n")}"
      end
    end
  end

  # @return [Symbol] how it ended
  def soaked(random, kind)
    request = request_of(random)
    outcomes = Array.new(request[:fields]) { [] }
    # (A thread struck between the pool and `with_connection` loses its connection: ActiveRecord's gap.)
    Gated.lease_connection
    result = begin
      if kind == :timed && random.rand(2).zero?
        Timeout.timeout(random.rand * 0.01) { run_request(request, outcomes) }
      else
        Thread.handle_interrupt(Mishap => :immediate, Stop => :immediate) { run_request(request, outcomes) }
      end
      :answered
    rescue Timeout::Error then :timed_out
    rescue Mishap, Stop => e then e.message == "sibling" ? :sibling_raised : :struck
    rescue GraphQL::Schema::Field::MissingReturnTypeError => e
      # graphql 2.5 says so of whatever strikes while it looks a field's type up.
      case e.cause when Timeout::Error then :timed_out when Mishap then :struck else raise end
    end
    check(request, outcomes, result)
    result
  ensure
    Gated.release_connection
  end

  def request_of(random)
    fields, levels = random.rand(1..6), random.rand(1..3)
    { tag: "soak #{random.rand(1 << 60)}", fields: fields, levels: levels,
      forms: Array.new(fields) { Array.new(levels) { FORMS.keys.sample(random: random) } },
      transaction: random.rand(4).zero?, rescues: random.rand(3).zero?,
      raises: ([random.rand(fields), random.rand(levels), [Mishap, Stop].sample(random: random)] if random.rand(6).zero?) }
  end

  def run_request(request, outcomes)
    return Gated.transaction { run_request({ **request, transaction: false, inside: true }, outcomes) } if request[:transaction]

    execute(request[:fields]) do |index|
      request[:levels].times do |level|
        raise request[:raises].last, "sibling" if request[:raises]&.first(2) == [index, level]

        outcomes[index] << read(request, index, level)
      end
    rescue Mishap => e
      # (The cancel has ended the transaction: docs/reliability.md.)
      raise unless request[:rescues] && !request[:inside]

      outcomes[index] << e
    end
  end

  def read(request, index, level)
    form = request[:forms][index][level]
    form = :literal if form == :fault && request[:inside] # it would end the transaction
    Gated.with_connection { |connection| FORMS.fetch(form).call(connection, "#{request[:tag]} #{index} #{level}") }
  end

  # As WireCase#resolve, but what is raised goes through.
  def execute(fields)
    schema(true, fields).execute("{ #{Array.new(fields) { |index| "f#{index}" }.join(" ")} }", context: { resolver: ->(index) { yield(index) } })
  end

  def check(request, outcomes, result)
    outcomes.each_with_index do |levels, index|
      got = levels.grep_v(Exception)
      expected = Array.new(got.size) { |level| "#{request[:tag]} #{index} #{level}" }
      assert_equal expected, got, "of #{request}, which was #{result}"
      next if result != :answered || levels.any?(Exception)

      assert_equal request[:levels], got.size, "of #{request}"
    end
  end

  def finish(thread)
    thread.join
    thread.status.nil? || !@enough ? :killed : :ended
  rescue Mishap, Stop
    :struck
  end
end

# The same with lanes: each thread has a connection, and whoever reads takes others that are free.
class LanesSoakTest < SoakTest
  def setup
    @lanes = Queue.new
    (1..6).each { |fields| schema(true, fields) } # a connection that was there before might have been asked anything
    super
    @listener = ActiveSupport::Notifications.subscribe("burst.pipeloader") { |event| @lanes << true if event.payload[:lane] }
  end

  def teardown
    ActiveSupport::Notifications.unsubscribe(@listener)
    super
  end

  def test_soak
    super
    puts "  soak: #{@lanes.size} bursts by lanes" if ENV["PIPELOADER_ROUNDS"]
    refute_empty @lanes
  end

  private

  def pool = 10
  def options = { lanes: { most: 4, declared: [/./] } }
end
