# frozen_string_literal: true

require "net/http"
require_relative "wire_case"
require_relative "../support/puma/server"

# Processes that are forked from one whose connections have been used for bursts: a worker of Puma or Spring, a resolver's own.
class ForkTest < WireCase
  class << self
    # The server that preloads the application, for all tests; nil after one that failed.
    attr_accessor :preloaded

    def run(...)
      super
    ensure
      preloaded&.stop
    end
  end

  def setup
    super
    connect_gated
  end

  def teardown
    stop_puma unless passed? && @puma == ForkTest.preloaded
    release
    assert_pool_sound(Gated.connection_pool)
    super
  end

  # -- fork ------------------------------------------------------------------------------------------------------------

  { leased: true, in_the_pool: false }.each do |name, leased|
    define_method(:"test_parent_and_child_after_a_burst_#{name}") do
      parent = leased ? Gated.lease_connection : nil
      assert_equal expected, answers
      before = pids
      child = in_child { [answers, pids, answers] }
      assert_equal [expected, expected], child.values_at(0, 2)
      assert_empty child[1] & before, "the child is on its parent's connection"
      assert_equal [expected, before], [answers, pids]
      assert_same parent, Gated.lease_connection if leased
    end
  end

  # Neither waits for the other.
  def test_both_at_once
    Gated.lease_connection
    assert_equal expected, answers
    go, told = IO.pipe
    result = child_process do
      told.close # else it waits for itself
      go.read
      Array.new(50) { answers }
    end
    told.close
    own = Array.new(50) { answers }
    assert_equal [expected], own.uniq
    assert_equal [expected], result.call.uniq
  ensure
    [go, told].each { |pipe| pipe.close unless pipe.closed? }
  end

  def test_children_of_children
    assert_equal expected, answers
    assert_equal [expected, [expected, [expected, nil]]], generations(3)
    assert_equal expected, answers
  end

  # PG::Connection says good-bye to the server when it is collected, or when the process ends.
  %i[exit exit! raise abort kill].each do |ending|
    define_method(:"test_the_child_ends_by_#{ending}") do
      Gated.lease_connection
      assert_equal expected, answers
      before = pids
      child = fork do
        $stderr.reopen(File::NULL)
        GC.start
        answers
        case ending
        when :exit then nil # at_exit, finalizers
        when :exit! then exit!(0)
        when :raise then raise "the child's end"
        when :abort then abort("the child's end")
        when :kill then Process.kill(:KILL, Process.pid)
        end
      end
      Process.wait(child)
      assert_equal [expected, before], [answers, pids]
    end
  end

  def test_the_child_ends_without_having_read
    Gated.lease_connection
    assert_equal expected, answers
    before = pids
    2.times { Process.wait(fork { GC.start }) }
    assert_equal [expected, before], [answers, pids]
  end

  def test_fork_in_a_transaction
    outcomes = GatedPost.transaction do
      GatedPost.where(id: 1).update_all(title: "changed")
      child = in_child { [GatedPost.find(1).title, Gated.with_connection(&:open_transactions)] }
      [child, resolve(true, 2) { |index| GatedPost.find(index + 1).title }].tap { GatedPost.where(id: 1).update_all(title: "post 1") }
    end
    assert_equal [["post 1", 0], ["changed", "post 2"]], outcomes
  end

  # -- fork in a resolver ------------------------------------------------------------------------------------------------

  # Its siblings are parked, or to come; the child is nobody's sibling.
  3.times do |forking|
    define_method(:"test_fork_in_a_resolver_#{forking}") do
      outcomes = assert_resolves_alike(3) do |index|
        next GatedPost.find(index + 1).title unless index == forking

        [in_child { "the child" }, GatedPost.find(index + 1).title]
      end
      assert_equal "the child", outcomes[forking].first
    end

    # What it reads is its own affair, and it doesn't go on with its parent's response.
    define_method(:"test_fork_in_a_resolver_#{forking}_that_reads_in_the_child") do
      side.exec("DROP SEQUENCE IF EXISTS resolved; CREATE SEQUENCE resolved")
      outcomes = assert_resolves_alike(3) do |index|
        side(:counter).exec("SELECT nextval('resolved')") unless index == forking
        next [GatedPost.find(index + 1).title, GatedPost.find(index + 2).title] unless index == forking

        [in_child { [GatedPost.find(7).title, GatedPost.where(id: 8).pick(:title)] }, GatedPost.find(index + 1).title]
      end
      assert_equal [["post 7", "post 8"], "post #{forking + 1}"], outcomes[forking]
      assert_equal "4", side.exec("SELECT last_value FROM resolved").getvalue(0, 0) # of 2 responses 2 fields each
    end
  end

  # A response of its own, in the child of a resolver.
  def test_a_response_in_the_child_of_a_resolver
    outcomes = assert_resolves_alike(2) do |index|
      index == 1 ? in_child { resolve(true, 2) { |inner| GatedPost.find(inner + 5).title } } : GatedPost.find(1).title
    end
    assert_equal ["post 1", ["post 5", "post 6"]], outcomes
  end

  # -- threads that are not in the child ---------------------------------------------------------------------------------

  # In such a child Ruby 3.1 dies of its own garbage collector, Pipeloader or not: it goes on to mark the first frames of the
  # other thread's fibers, which were on a stack that a new thread (ActiveRecord's reaper, our watchdog) has been given since.
  #
  #     def deep(count) = count.zero? ? Array.new(50) { "" } : deep(count - 1)
  #     Thread.new { ($fiber = Fiber.new { sleep }).resume }
  #     sleep(0.1)
  #     fork { 8.times { Thread.new { deep(2000) } } && 9.times { GC.start } } # Ruby 3.1.2: [BUG] Segmentation fault
  def test_fork_while_another_thread_is_in_a_burst
    other = nil
    advisory_locked(85) do
      other = in_thread { resolve(true, 2) { |index| index.zero? ? GatedPost.find(1).title : Gated.with_connection { |c| c.select_value("SELECT 'got it' FROM pg_advisory_xact_lock(85)") } } }
      await_waiter
      in_this_child = in_child do
        GC.disable if RUBY_VERSION < "3.3"
        answers
      end
      assert_equal expected, in_this_child
      assert_predicate other, :alive?
    end
    assert_equal ["post 1", "got it"], other.value
    assert_equal expected, answers
  end

  # -- Puma --------------------------------------------------------------------------------------------------------------

  QUERIES = ["{ post(id: 1) { title comments audits } }", "{ posts { title comments audits } }", "{ a: post(id: 2) { title } b: post(id: 3) { audits } none: post(id: 99) { title } }",
             "{ post(id: 4) { title } failing a: post(id: 5) { comments } b: post(id: 5) { comments } }"].freeze

  def test_puma_with_two_workers
    start_puma(preload: true)
    assert_requests(300)
    assert_operator Array.new(50) { get("/worker") }.uniq.size, :>, 1
  end

  { usr2: [:USR2, true], usr1_phased: [:USR1, false] }.each do |name, (signal, preload)|
    define_method(:"test_puma_restarts_by_#{name}") do
      start_puma(preload: preload)
      boot, booted = get("/boot"), @puma.booted
      assert_requests(60)
      restarting = in_thread { assert_requests(200) }
      @puma.signal(signal)
      restarting.join
      @puma.await("Puma's restart") { @puma.booted == booted + 2 }
      refute_equal boot, get("/boot")
      assert_requests(60)
    end
  end

  # While the server waits for the database, and when it has begun to answer.
  def test_a_client_that_goes_away
    start_puma(preload: true)
    advisory_locked(86) do
      6.times { request("/piped", "{ a: post(id: 1) { title } locked(key: 86) b: post(id: 2) { title } }").tap { |client| await_waiters(1) && reset(client) } }
      assert_requests(10) # there are threads left
    end
    6.times do
      client = request("/piped", "{ posts { body title } }")
      client.readpartial(100)
      reset(client)
    end
    assert_requests(60)
  end

  private

  def answers = resolve(true, 4) { |index| index == 3 ? Audit.find(3).note : [GatedPost.find(index + 1).title, GatedPost.where(id: index + 2).pick(:title)] }

  def expected = [["post 1", "post 2"], ["post 2", "post 3"], ["post 3", "post 4"], "audit 3"]

  # Server processes that this process is connected to.
  def pids = [Gated, Audit].map { |model| backend_pid(model) }

  def generations(count) = [answers, (in_child { generations(count - 1) } if count > 1)]

  def in_child(&block) = child_process(&block).call

  # @return [Proc] waits for the child, and returns what its block did
  def child_process
    reader, writer = IO.pipe(binmode: true)
    child = fork do
      # No other thread is here, so no watchdog.
      Thread.new { sleep(LIMIT) && exit!(1) }
      reader.close
      result = begin
        yield
      rescue Exception => e # rubocop:disable Lint/RescueException
        "#{e.class}: #{e.message}\n#{e.backtrace.first(5).join("\n")}"
      end
      Marshal.dump(result, writer)
      writer.close
      exit!(0)
    end
    writer.close
    lambda do
      Marshal.load(reader.read).tap { Process.wait(child) }
    ensure
      reader.close
    end
  end

  # -- Puma --------------------------------------------------------------------------------------------------------------

  def start_puma(preload:)
    return @puma = ForkTest.preloaded ||= PumaServer.new(preload: true) if preload

    @puma = PumaServer.new(preload: false)
  end

  def stop_puma
    @puma&.stop
    ForkTest.preloaded = nil if @puma == ForkTest.preloaded
  end

  # By four threads: what the one schema has answered once, the other answers each time, and now and then the one in between.
  def assert_requests(count)
    @answers ||= QUERIES.to_h { |query| [query, post("/plain", query)] }
    @answers.each_value { |answer| assert_match(/\A\{"(data|errors)/, answer) }
    threads = Array.new(4) do |number|
      in_thread do
        Array.new(count / 4) do |index|
          query = QUERIES[(number + index) % QUERIES.size]
          [query, post("/piped", query), (post("/plain", query) if index % 5 == 0)].compact
        end
      end
    end
    threads.flat_map(&:value).each { |query, *answers| assert_equal [@answers[query]], answers.uniq }
  end

  def get(path) = again { Net::HTTP.get(URI("http://127.0.0.1:#{@puma.port}#{path}")) }

  def post(path, text) = again { Net::HTTP.post(URI("http://127.0.0.1:#{@puma.port}#{path}"), text, "content-type" => "text/plain").body }

  # A server that restarts may cut off a connection that it has taken and not looked at.
  def again
    yield
  rescue SystemCallError, IOError
    @puma.alive? ? retry : raise
  end

  # @return [TCPSocket] on which the answer will come
  def request(path, text)
    TCPSocket.new("127.0.0.1", @puma.port).tap { |client| client.write("POST #{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: #{text.bytesize}\r\n\r\n#{text}") }
  end

  # As a browser whose user goes elsewhere.
  def reset(client)
    client.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
    client.close
  end

  def await_waiters(count)
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'"
    Thread.pass until side(:monitor).exec(waiting).ntuples >= count
    true
  end
end
