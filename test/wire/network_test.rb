# frozen_string_literal: true

require "fileutils"
require_relative "wire_case"

# A network that stands still at any message and then breaks; servers that end idle sessions; TLS.
class NetworkTest < WireCase
  # Lets that many messages of the server's pass, says so, and lets nothing else through.
  class Halt
    attr_reader :reached

    def initialize
      @reached = Queue.new
      @rest = +"".b
    end

    def after(messages) = @left = messages

    #: (String) -> Array[String]
    def call(bytes)
      @rest << bytes
      passing = []
      while (size = next_size)
        message = @rest.slice!(0, size)
        next passing << message unless @left
        next passing << message unless (@left -= 1).negative?

        @reached << true if @left == -1
      end
      passing
    end

    private

    def next_size
      return if @rest.bytesize < 5

      size = 1 + @rest.byteslice(1, 4).unpack1("N")
      size if @rest.bytesize >= size
    end
  end

  READS = [-> { GatedPost.find(1).title }, -> { GatedPost.count }, -> { GatedPost.with_connection { |c| c.select_value("SELECT 'raw'") } }].freeze
  ANSWERS = ["post 1", 12, "raw"].freeze

  # -- stalled, then reset, at every message ---------------------------------------------------------------------------

  def test_stalled_at_each_message_of_the_answer
    each_message { |messages| assert_equal ANSWERS, stalled { |halt| halt.after(messages) && ask }, "stalled after #{messages} messages" }
  end

  def test_stalled_at_each_message_of_the_answer_in_a_transaction
    each_message do |messages|
      outcomes = nil
      stalled do |halt|
        GatedPost.transaction do
          GatedPost.lease_connection.materialize_transactions
          halt.after(messages)
          outcomes = ask
          raise ActiveRecord::Rollback
        end
      rescue ActiveRecord::ActiveRecordError
        nil # of ROLLBACK
      end
      answered = outcomes.take_while { |outcome| !outcome.is_a?(Failure) }
      assert_equal ANSWERS.first(answered.size), answered, "stalled after #{messages} messages"
      assert outcomes.drop(answered.size).all?(Failure), "sent again in a transaction, after #{messages} messages"
    end
  end

  # What the client sends goes nowhere, and then the connection breaks.
  def test_requests_that_never_arrive
    gate = put_gate
    GatedPost.with_connection do
      gate.hold(:requests)
      asking = in_thread { GatedPost.with_connection { resolve(true, 3) { |index| READS[index].call } } }
      gate.await(:requests)
      gate.cut
      gate.pass
      assert_equal ANSWERS, asking.value
    end
    assert_pool_sound(Gated.connection_pool)
  end

  # -- the server ends idle sessions -----------------------------------------------------------------------------------

  def test_idle_session_timeout
    connect_gated
    2.times do
      Gated.with_connection do |connection|
        # (Of this session alone: a machine under load would need longer than that to connect anew.)
        connection.execute("SET idle_session_timeout = '1ms'")
        await_gone(raw(connection).backend_pid)
        assert_equal ANSWERS, resolve(true, 3) { |index| READS[index].call }
      end
    end
    assert_pool_sound(Gated.connection_pool)
  end

  def test_idle_in_transaction_session_timeout
    connect_gated
    plain, piped = [false, true].map do |with|
      outcomes = nil
      begin
        Gated.transaction do
          connection = Gated.lease_connection
          connection.execute("SET idle_in_transaction_session_timeout = '1ms'")
          await_gone(raw(connection).backend_pid)
          outcomes = resolve(with, 3) { |index| READS[index].call }
        end
      rescue ActiveRecord::ActiveRecordError => e
        e
      end
      release
      outcomes.map { |outcome| outcome.is_a?(Failure) }
    end
    assert_equal [[true] * 3] * 2, [plain, piped]
    assert_equal ANSWERS, ask
    assert_pool_sound(Gated.connection_pool)
  end

  # A limit: a sibling that takes longer than that before it reads, ends what is gathered before it. Serially that is sent by then.
  def test_idle_in_transaction_session_timeout_while_a_sibling_works
    plain, piped = [false, true].map do |with|
      connect_gated
      outcomes = Gated.transaction do
        connection = Gated.lease_connection
        pid = raw(connection).backend_pid
        connection.execute("SET idle_in_transaction_session_timeout = '2s'")
        resolve(with, 2) do |index|
          await_gone(pid) if index == 1
          READS[index].call
        end
      rescue ActiveRecord::ActiveRecordError # (COMMIT)
        outcomes
      end
      release
      outcomes.map { |outcome| outcome.is_a?(Failure) ? outcome.class_name : outcome }
    end
    assert_equal [ANSWERS.first, "ActiveRecord::ConnectionFailed"], plain
    assert_equal ["ActiveRecord::ConnectionFailed"] * 2, piped
  end

  # -- TLS -------------------------------------------------------------------------------------------------------------

  def test_tls
    with_tls do
      assert_equal "t", tls?
      assert_equal ANSWERS, ask
      # More than any record, or any buffer, holds; both ways.
      texts = Array.new(40) { |index| "#{index} #{"x" * 300_000}" }
      assert_equal texts.map(&:size), resolve(true, 40) { |index| Gated.with_connection { |c| c.select_value("SELECT #{c.quote(texts[index])}") }.size }
      assert_equal ["22012", *ANSWERS.drop(1)], resolve(true, 3) { |index| index.zero? ? GatedPost.where("1 / 0 = 1").to_a : READS[index].call }.map { |it| it.is_a?(Failure) ? it.sqlstate : it }
    end
  end

  def test_tls_and_an_interrupt
    with_tls do
      pid = Gated.with_connection { |connection| raw(connection).backend_pid }
      advisory_locked(91) do
        asking = in_thread { resolve(true, 3) { |index| index == 1 ? Gated.with_connection { |c| c.select_value("SELECT 1 FROM pg_advisory_xact_lock(91)") } : READS[index].call } }
        await_waiter
        asking.raise(Stop, "enough")
        assert_raises(Stop) { asking.join }
      end
      assert_equal ANSWERS, ask
      assert_equal pid, Gated.with_connection { |connection| raw(connection).backend_pid }, "emptied, not thrown away"
    end
  end

  def test_tls_and_a_backend_that_is_killed
    with_tls do
      Gated.with_connection do |connection|
        terminate(raw(connection).backend_pid)
        assert_equal ANSWERS, ask
      end
    end
  end

  private

  def ask = resolve(true, 3) { |index| READS[index].call }

  # How many messages a burst has, and the block for each number of them that is let through.
  def each_message
    @halts = []
    @gate = put_gate(pool: 1)
    @gate.mangle { Halt.new.tap { |halt| @halts << halt } }
    (0..14).each do |messages|
      Gated.connection_pool.disconnect!
      assert_equal ANSWERS, ask # names known, types known
      yield messages
      assert_pool_sound(Gated.connection_pool, "after #{messages} messages")
    end
  end

  # Runs the block in a thread; once the server's messages have stopped, as it says, the connection is cut.
  def stalled
    halt = @halts.last
    outcome = nil
    asking = in_thread do
      outcome = yield(halt)
    ensure
      halt.reached << false
      Gated.release_connection
    end
    @gate.cut if halt.reached.pop
    asking.join
    outcome
  end

  def await_gone(pid)
    loop { break if side(:monitor).exec("SELECT 1 FROM pg_stat_activity WHERE pid = #{pid}").ntuples.zero? }
  end

  def tls?
    Gated.with_connection { |connection| connection.select_rows("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()") }.first.first[0]
  end

  # The private server, with a certificate that it signed itself.
  def with_tls
    skip "an external server's TLS is its own affair" if ENV["PIPELOADER_DATABASE_URL"]
    skip "no openssl here" unless system("openssl", "version", out: File::NULL, err: File::NULL)

    folder = File.dirname(PrivateCluster.log_path)
    key, certificate = %w[tls.key tls.crt].map { |name| File.join(folder, name) }
    system("openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
           %i[out err] => File::NULL, exception: true)
    FileUtils.chmod(0o600, key)
    File.stat(folder).then { |stat| FileUtils.chown(stat.uid, stat.gid, [key, certificate]) } if Process.uid.zero?
    configure_tls("on", key, certificate)
    connect_gated(host: "127.0.0.1", sslmode: "require", gssencmode: "disable")
    yield
  ensure
    configure_tls("off", "", "") if key
  end

  def configure_tls(switch, key, certificate)
    side(:monitor).exec("ALTER SYSTEM SET ssl_key_file = '#{key}'") unless key.empty?
    side(:monitor).exec("ALTER SYSTEM SET ssl_cert_file = '#{certificate}'") unless key.empty?
    side(:monitor).exec("ALTER SYSTEM SET ssl = #{switch}")
    side(:monitor).exec("SELECT pg_reload_conf()")
    loop { break if TestDatabase.connect.then { |it| it.exec("SHOW ssl").getvalue(0, 0).tap { it.close } } == switch }
  end
end
