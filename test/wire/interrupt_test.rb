# frozen_string_literal: true

require "net/http"
require_relative "wire_case"
require_relative "unstruck"

# Timeout, Thread#raise and Thread#kill, wherever they strike. Every read asks for a literal that no other request asks
# for: what another request left on a connection can't be mistaken for an answer.
class InterruptTest < WireCase
  include Unstruck::WithTransactions

  class Mishap < StandardError; end

  LIB = File.expand_path("../../lib/pipeloader", __dir__)
  FIELDS = 3

  # What strikes a thread: Timeout is Thread#raise of an Exception of its own.
  STRIKES = {
    error: ->(thread) { thread.raise(Mishap, "struck") },
    exception: ->(thread) { thread.raise(Stop, "struck") },
    kill: ->(thread) { thread.kill }
  }.freeze

  def setup
    super
    Pipeloader::Patches.install_lanes # as another test may have done before
    connect_gated(pool: 2)
    @tags = 0
    side(:monitor)
  end

  def teardown
    assert_pool_sound(Gated.connection_pool)
    assert_no_stray_backends
  ensure
    super
  end

  # -- at every line of ours -------------------------------------------------------------------------------------------

  STRIKES.each_key do |strike|
    define_method(:"test_#{strike}_at_every_step") { strike_everywhere(strike, :request) }
    define_method(:"test_#{strike}_at_every_step_in_a_transaction") { strike_everywhere(strike, :request_in_transaction) }
    define_method(:"test_#{strike}_at_every_step_of_a_repair") { strike_everywhere(strike, :request_after_deallocate) }
    define_method(:"test_#{strike}_at_every_step_of_a_reconnect") { strike_everywhere(strike, :request_after_kill) }
    define_method(:"test_#{strike}_at_every_step_where_the_resolver_rescues") { strike_everywhere(strike, :rescuing_request) } unless strike == :kill
  end

  # -- while the server works ------------------------------------------------------------------------------------------

  STRIKES.each do |name, strike|
    define_method(:"test_#{name}_while_waiting") do
      interrupted_while_waiting { |worker| strike.call(worker) }
    end

    define_method(:"test_#{name}_while_waiting_in_a_transaction") do
      interrupted_while_waiting(transaction: true) { |worker| strike.call(worker) }
    end

    define_method(:"test_#{name}_twice") do
      interrupted_while_waiting { |worker| 2.times { strike.call(worker) } }
    end
  end

  # Somebody was interrupted on this connection before us, and the server is still at it.
  def test_while_what_another_left_is_waited_for
    advisory_locked(55) do
      worker = in_thread do
        Gated.with_connection do |connection|
          raw(connection).send_query("SELECT 1 FROM pg_advisory_xact_lock(55)")
          execute { |index| select(["field #{index}"]) }
        end
      end
      await_waiter
      Thread.pass until worker.stop? && worker.backtrace.to_a.grep(/pipeloader/).any?
      worker.raise(Stop, "struck")
      assert ended?(worker), "waits for ever, whatever happens:\n#{worker.backtrace&.first(8)&.join("\n")}"
    end
    Gated.connection_pool.disconnect!
  end

  def test_timeout_around_the_response
    advisory_locked(51) do
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { request(waiting_for: 51) } }
      assert_equal [["after"]], [select(["after"])]
    end
  end

  # It is that field's, whichever fiber sends its read.
  def test_timeout_in_a_resolver_that_rescues
    3.times do |slow|
      advisory_locked(52) do
        outcomes = execute do |index|
          index == slow ? Timeout.timeout(0.05) { select_locked(52) } : select(["field #{index}"])
        rescue Timeout::Error
          "timeout"
        end
        assert_equal Array.new(3) { |index| index == slow ? "timeout" : ["field #{index}"] }, outcomes
      end
    end
  end

  def test_timeouts_in_all_resolvers
    advisory_locked(52) do
      outcomes = execute do |index|
        Timeout.timeout(0.05 * (index + 1)) { select(["field #{index}"]) + [select_locked(52)] }
      rescue Timeout::Error
        "timeout"
      end
      assert_equal ["timeout"] * 3, outcomes
    end
    assert_equal ["field 0", "field 1"], execute(2) { |index| Timeout.timeout(60) { select(["field #{index}"]) } }.flatten
  end

  # The siblings' statements have taken longer by then; a serial run has come to the one, and not to the other.
  def test_a_timeout_in_a_resolver_is_not_charged_for_siblings
    3.times do |hasty|
      outcomes = execute do |index|
        next [Gated.with_connection { |connection| connection.select_value("SELECT 'slept' FROM pg_sleep(0.6)") }] unless index == hasty

        [Timeout.timeout(0.3) { select(["first"]) }, Timeout.timeout(0.3) { select(["second"]) }].flatten
      end
      assert_equal Array.new(3) { |index| index == hasty ? %w[first second] : ["slept"] }, outcomes
    end
  end

  # A library of Ruby's reads nothing.
  def test_a_timeout_around_a_librarys_connect_splits_no_level
    server = TCPServer.new("127.0.0.1", 0)
    bursts = WireCounter.events("burst.pipeloader") do
      execute { |index| [Net::HTTP.start("127.0.0.1", server.addr[1]) { "connected" }, *select(["field #{index}"])] }
    end
    assert_equal [3], bursts.map { |it| it[:reads].size }.uniq # a proof executes it twice
  ensure
    server.close
  end

  # What a write sends first is no fiber's time to go on, while it is cleared.
  def test_a_write_that_is_interrupted_while_it_sends_what_is_gathered
    outcomes = []
    worker = nil
    advisory_locked(53) do
      worker = in_thread do
        outcomes = execute do |index|
          case index
          when 0 then select_locked(53)
          when 1 then Gated.with_connection { |connection| connection.execute("SELECT 1 INTO TEMPORARY TABLE written") } && "written"
          else select(["field 2"])
          end
        rescue Stop
          "struck"
        end
      end
      await_waiter
      worker.raise(Stop)
      Thread.pass until @outcomes[1] || !worker.alive?
    end
    ended?(worker)
    assert_equal ["struck", ["field 2"]], outcomes.drop(1)
    refute_nil outcomes.first
  end

  # The fields that an interrupt has nothing to do with come to their answers, by another burst.
  def test_siblings_of_a_field_that_was_interrupted
    worker = outcomes = nil
    advisory_locked(53) do
      worker = in_thread do
        outcomes = execute(5) do |index|
          index == 2 ? select_locked(53) && ["field 2"] : select(["field #{index}"])
        rescue Mishap
          "struck"
        end
      end
      await_waiter
      worker.raise(Mishap, "struck")
      await_waiter # the others have sent theirs
    end
    worker.join
    assert_equal 1, outcomes.count("struck")
    outcomes.each_with_index { |outcome, index| assert_includes ["struck", ["field #{index}"]], outcome }
  end

  # The cancel request goes by another connection, and is still on its way when the statement ends by itself.
  def test_a_cancel_request_that_comes_late
    gate = put_gate(pool: 1)
    side(:lock).exec("SELECT pg_advisory_lock(56)")
    late = gate.retard
    worker = in_thread { request(waiting_for: 56) }
    await_waiter
    worker.raise(Stop, "struck")
    late.await
    side(:lock).exec("SELECT pg_advisory_unlock(56)")
    assert_raises(Stop) { worker.join }
    advisory_locked(57) do
      worker = in_thread { select_locked(57) }
      await_waiter
      late.pass
    end
    assert_equal 1, worker.value
  end

  # -- what an interrupted response leaves behind ----------------------------------------------------------------------

  # Their fibers never run again. The objects may: a current user lives longer than a response.
  def test_an_association_whose_load_was_abandoned
    user = User.find(1)
    expected = user.vehicles.reload.map(&:name)
    user = User.find(1)
    assert_raises(Stop) { execute(2) { |index| index.zero? ? user.vehicles.to_a : raise(Stop) } }
    assert_equal [expected, expected], resolve(true, 2) { user.vehicles.map(&:name) }
    assert_equal expected, user.vehicles.map(&:name)
  end

  def test_a_has_one_whose_load_was_abandoned
    user = User.find(1)
    assert_raises(Stop) { execute(2) { |index| index.zero? ? user.profile : raise(Stop) } }
    assert_equal ["bio 1", "bio 1"], resolve(true, 2) { user.profile.bio }
  end

  def test_a_relation_whose_load_was_abandoned
    relation = Post.order(:id).limit(2)
    assert_raises(Stop) { execute(2) { |index| index.zero? ? relation.to_a : raise(Stop) } }
    assert_equal [["post 1", "post 2"], 2], resolve(true, 2) { |index| index.zero? ? relation.map(&:title) : relation.size }
  end

  def test_reads_that_were_gathered_and_never_sent
    bursts = WireCounter.events("burst.pipeloader") do
      assert_raises(Stop) { execute(3) { |index| index < 2 ? select(["lost #{index}"]) : raise(Stop) } }
    end
    assert_empty bursts
    trips = WireCounter.trips { assert_equal ["now"], select(["now"]) }
    assert_equal 1, trips.size, "nothing of the abandoned response is sent later"
    Gated.transaction { GatedPost.create!(title: "written") && raise(ActiveRecord::Rollback) }
  end

  def test_a_sibling_that_raises_while_others_wait_for_the_second_level
    10.times do
      assert_raises(Stop) do
        execute(4) do |index|
          first = select([fresh_tag])
          index == 3 ? raise(Stop) : [first, select([fresh_tag])]
        end
      end
      assert_right(*tagged_request)
    end
  end

  def test_dynamic_state_is_back
    Gated.connection_pool.with_connection { nil }
    I18n.with_locale(:en) do
      before = [I18n.locale, Time.zone, ActiveRecord::Base.current_role, Thread.current.keys.grep(/pipeloader/), Post.all.to_sql]
      assert_raises(Stop) do
        execute(3) do |index|
          Time.use_zone("Hawaii") do
            Post.where(id: 7).scoping do
              ActiveRecord::Base.connected_to(role: :writing) { index == 2 ? raise(Stop) : Post.first }
            end
          end
        end
      end
      assert_equal before, [I18n.locale, Time.zone, ActiveRecord::Base.current_role, Thread.current.keys.grep(/pipeloader/), Post.all.to_sql]
    end
  end

  # The connection that a thread had leased before is gone, and with it the mark that keeps it leased.
  def test_a_new_connection_stays_with_its_fibers_after_one_was_thrown_away
    gate = put_gate(pool: 2)
    worker = in_thread do
      Gated.lease_connection
      execute(3) do |index|
        first = begin
          select(["first #{index}"])
        rescue Stop
          gate.pass
          "struck"
        end
        Gated.with_connection do |connection|
          connection.select_rows("SELECT 'second #{index}'")
          [first, connection, in_thread { Gated.with_connection { |another| another } }.value]
        end
      end
    ensure
      Gated.release_connection
    end
    gate.hold(:answers)
    gate.await(:answers)
    worker.raise(Stop, "struck")
    outcomes = worker.value
    assert_includes outcomes.map(&:first), "struck"
    outcomes.each { |_, mine, theirs| refute_same mine, theirs }
  end

  private

  # -- requests --------------------------------------------------------------------------------------------------------

  def fresh_tag = "tag #{@tags += 1} #{object_id}"

  # Tags that come back, prepared and unprepared: two levels of three fields.
  def request(tag = fresh_tag, waiting_for: nil)
    execute do |index|
      first = select(["#{tag} #{index}"])
      select_locked(waiting_for) if waiting_for && index == 1
      first + select(["#{tag} #{index} again"], prepared: index.odd?)
    end
  end

  def expected_of(tag) = Array.new(FIELDS) { |index| ["#{tag} #{index}", "#{tag} #{index} again"] }

  # @return [Array(Array, Array)] what came, what was to come
  def tagged_request(tag = fresh_tag) = [request(tag), expected_of(tag)]

  def request_in_transaction(tag = fresh_tag) = Gated.transaction { request(tag) }

  def request_after_deallocate(tag = fresh_tag)
    Gated.with_connection { |connection| raw(connection)&.exec("DEALLOCATE ALL") if connection.active? }
    request(tag)
  end

  def request_after_kill(tag = fresh_tag)
    Gated.with_connection do |connection|
      pid = connection.select_value("SELECT pg_backend_pid()")
      terminate(pid)
      request(tag)
    end
  end

  # Each field by itself, as if every resolver had a `rescue`.
  def rescuing_request(tag = fresh_tag)
    execute do |index|
      first = select(["#{tag} #{index}"])
      first + select(["#{tag} #{index} again"], prepared: index.odd?)
    rescue Mishap, Stop => e
      e
    end
  end

  # As WireCase#resolve, but what is raised goes through.
  def execute(fields = FIELDS)
    outcomes = Array.new(fields)
    @outcomes = outcomes
    schema(true, fields).execute("{ #{Array.new(fields) { |index| "f#{index}" }.join(" ")} }",
                                 context: { resolver: ->(index) { outcomes[index] = yield(index) } })
    outcomes
  end

  def select(texts, prepared: true)
    Gated.with_connection do |connection|
      next connection.select_rows("SELECT #{connection.quote(texts.first)}, #{rand(1 << 40)}").map(&:first) unless prepared

      bind = ActiveRecord::Relation::QueryAttribute.new("text", texts.first, ActiveModel::Type::String.new)
      connection.select_all("SELECT $1::text", "Tag", [bind], preparable: true).rows.map(&:first)
    end
  end

  def select_locked(key) = Gated.with_connection { |connection| connection.select_value("SELECT 1 FROM pg_advisory_xact_lock(#{key})") }

  def assert_right(outcomes, expected) = assert_equal(expected, outcomes)

  # -- striking at a line ----------------------------------------------------------------------------------------------

  # Runs the request with a strike before the first line of ours, the second, … (or as many of them as `rounds` says).
  def strike_everywhere(strike, request)
    2.times { send(request) } # warm: names known, types known
    lines = count_lines { send(request) }
    assert_operator lines, :>, 100
    points = (1..lines).to_a
    points = points.sample(rounds(60), random: Random.new(seed)).sort
    # One thread for all: what a strike leaves on it would be seen by the next request.
    @worker = nil
    failures = points.filter_map { |point| failure_at(point, strike, request) }
    assert_empty failures, "#{failures.size} of #{points.size} points:\n\n#{failures.join("\n\n")}"
  ensure
    @worker&.first&.close
  end

  # @return [String, nil] what went wrong, for the list; the next point begins with a new pool and a new thread
  def failure_at(point, strike, request)
    strike_at(point, strike, request)
    nil
  rescue Minitest::Assertion => e
    connect_gated(pool: 2)
    @worker&.first&.close
    @worker = nil
    2.times { send(request) }
    e.message
  end

  def strike_at(point, strike, request)
    tag = fresh_tag
    where = nil
    @outcomes = []
    outcome = on_worker do
      struck_before(point, strike, ->(path) { where = path }) { send(request, tag) }
    end
    label = "#{strike} at line event #{point} of #{request}: #{where}"
    outcomes = @outcomes
    assert_only_mine(outcomes, tag, label)
    assert_struck(outcome, strike, where, outcomes, tag, label)
    assert_pool_sound(Gated.connection_pool, label)
    after = fresh_tag
    assert_equal expected_of(after), on_worker { request(after) }, "the next request after #{label}"
    assert_pool_sound(Gated.connection_pool, "after the next request after #{label}")
  end

  # What has come in spite of the strike is this request's, or the strike itself.
  def assert_only_mine(outcomes, tag, label)
    expected = expected_of(tag)
    outcomes.each_with_index do |outcome, index|
      next if outcome.nil? || outcome.is_a?(Mishap) || outcome.is_a?(Stop)

      assert_equal expected[index], outcome, label
    end
  end

  # The strike comes out as it went in. (Where it comes when the response is done, the answer does.)
  def assert_struck(outcome, strike, where, outcomes, tag, label)
    case outcome
    when :died then assert_equal :kill, strike, label
    when Mishap, Stop then assert_equal "struck", Engine.message_of(outcome), label
    when Exception then flunk("#{label} became #{outcome.class}: #{outcome.message}\n#{outcome.backtrace.first(20).join("\n")}")
    else
      assert(outcomes.any?(Exception) || where.nil? || outcomes == expected_of(tag), label)
    end
  end

  # Each line of lib/pipeloader that this thread comes to is a point at which an interrupt may be seen.
  def struck_before(point, strike, noting)
    thread = Thread.current
    seen = 0
    trace = TracePoint.new(:line) do |event|
      next unless Thread.current.equal?(thread) && ours?(event)
      next unless (seen += 1) == point

      noting.call("#{event.path.delete_prefix(LIB)}:#{event.lineno}")
      # From another thread, as they all come: `handle_interrupt` is heeded. (Not `join`: that blocks, and may let others go on.)
      striker = Thread.new { STRIKES.fetch(strike).call(thread) }
      Thread.pass while striker.alive?
    end
    trace.enable { yield }
  end

  # Patches that are asked in the middle of ActiveRecord's own checkout and checkin, which don't survive a strike without us either.
  WITHIN_CHECKOUT = %w[isolated_execution_state locks session_watch].map { |patch| "#{LIB}/patches/#{patch}.rb" }.freeze

  # Nor does it survive one in these, as PostgreSQLSnapshot and ConnectionPool have them.
  CHECKIN = %i[expire release_connection checkin].freeze

  def ours?(event) = event.path.start_with?(LIB) && !WITHIN_CHECKOUT.include?(event.path) && !CHECKIN.include?(event.method_id)

  def count_lines
    thread = Thread.current
    lines = 0
    TracePoint.new(:line) { |event| lines += 1 if Thread.current.equal?(thread) && ours?(event) }.enable { yield }
    lines
  end

  # Runs the block on the thread of before, if it lives. @return what the block returned, the exception, or :died
  def on_worker(&block)
    @worker = nil unless @worker&.last&.alive?
    @worker ||= begin
      queue = Queue.new
      [queue, in_thread do
        while (job = queue.pop)
          job.call
        end
      end]
    end
    answer = Queue.new
    queue, thread = @worker
    queue << lambda do
      answer << block.call
    rescue Exception => e # rubocop:disable Lint/RescueException
      answer << e
    end
    Thread.pass until !answer.empty? || !thread.alive? || (thread.join(0.0005) && false)
    answer.empty? ? :died : answer.pop
  end

  # -- striking while the server works ---------------------------------------------------------------------------------

  def interrupted_while_waiting(transaction: false)
    advisory_locked(54) do
      worker = in_thread { transaction ? Gated.transaction { request(waiting_for: 54) } : request(waiting_for: 54) }
      await_waiter
      yield worker
      outcome = begin
        worker.value
      rescue Mishap, Stop => e
        e
      end
      assert_includes [nil, "struck"], outcome.is_a?(Exception) ? Engine.message_of(outcome) : outcome
      assert_pool_sound(Gated.connection_pool)
      assert_right(*tagged_request)
    end
  end
end
