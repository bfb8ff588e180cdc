# frozen_string_literal: true

require_relative "connection_case"

# What becomes of a response when its connection breaks.
class ConnectionTest < ConnectionCase
  # -- killed before the burst -----------------------------------------------------------------------------------------

  def test_killed_while_the_connection_was_in_the_pool
    outcomes = assert_alike do |piped|
      terminate(backend_pid)
      resolve(piped, 3) { |index| [-> { Post.find(1).title }, -> { Post.count }, -> { Post.with_connection { |c| c.select_value("SELECT 1") } }][index].call }
    end
    assert_equal ["post 1", 12, 1], outcomes
  end

  def test_killed_while_leased_and_reads_may_be_repeated
    outcomes = assert_alike do |piped|
      leased_and_killed { resolve(piped, 3) { |index| Post.find(index + 1).title } }
    end
    assert_equal ["post 1", "post 2", "post 3"], outcomes
  end

  def test_killed_while_leased_and_reads_may_not_be_repeated
    outcomes = assert_alike do |piped|
      leased_and_killed { resolve(piped, 1) { Post.with_connection { |c| c.select_value(VOLATILE) } } }
    end
    assert_equal ["ActiveRecord::ConnectionFailed"], outcomes.map(&:class_name)
  end

  def test_killed_in_a_transaction
    outcomes = assert_alike do |piped|
      Post.transaction do
        Post.with_connection { |connection| terminate(connection.select_value("SELECT pg_backend_pid()")) }
        resolve(piped, 1) { Post.find(1).title }
      end
    rescue ActiveRecord::StatementInvalid, ActiveRecord::ConnectionNotEstablished => e
      ["the transaction", Failure.of(e)]
    end
    assert_match(/Connection|transaction/, outcomes.first.to_s)
  end

  def test_killed_before_the_transaction_has_begun_on_the_server
    outcomes = assert_alike do |piped|
      Post.with_connection do |connection|
        terminate(connection.select_value("SELECT pg_backend_pid()"))
        Post.transaction { resolve(piped, 3) { |index| Post.find(index + 1).title } }
      end
    end
    assert_equal 3, outcomes.size
  end

  # -- killed during the burst -----------------------------------------------------------------------------------------

  def test_reads_without_an_answer_are_sent_again
    outcomes = assert_alike do |piped|
      thread = respond(piped, 3) { |index| [-> { Tag.find(1).name }, -> { Post.find(1).title }, -> { Tag.find(2).name }][index].call }
      table_locked("posts") do
        thread.wakeup_gate
        terminate(first = await_waiter)
        refute_equal first, await_waiter
      end
      thread.value
    end
    assert_equal ["ruby", "post 1", "sql"], outcomes
  end

  def test_but_only_once
    piped = respond(true, 3) { |index| [-> { Tag.find(1).name }, -> { Post.find(1).title }, -> { Tag.find(2).name }][index].call }
    outcomes = table_locked("posts") do
      piped.wakeup_gate
      2.times { terminate(await_waiter) }
      piped.value
    end
    assert_equal "ruby", outcomes.first # was answered before
    assert_equal ["ActiveRecord::ConnectionFailed"] * 2, outcomes.drop(1).map(&:class_name)
  end

  def test_what_may_not_be_repeated_fails_and_the_others_are_sent_again
    outcomes = assert_alike do |piped|
      thread = respond(piped, 3) do |index|
        Post.with_connection { |connection| connection.select_value([VOLATILE, "SELECT pg_advisory_xact_lock(31)", "SELECT 'pure'"][index]) }
      end
      advisory_locked(31) do
        thread.wakeup_gate
        terminate(await_waiter)
        thread.value
      end
    end
    assert_equal [1, "pure"], outcomes.values_at(0, 2)
    assert_equal "ActiveRecord::ConnectionFailed", outcomes[1].class_name
  end

  def test_a_volatile_read_with_an_answer_is_not_sent_again
    thread = respond(true, 2) { |index| index.zero? ? Post.with_connection { |c| c.select_value(VOLATILE) } : Post.find(1).title }
    table_locked("posts") do
      thread.wakeup_gate
      terminate(await_waiter)
      await_waiter
    end
    assert_equal [1, "post 1"], thread.value
    assert_equal "1", side.exec("SELECT last_value FROM connection_probe").getvalue(0, 0)
  end

  def test_a_volatile_read_without_an_answer_is_not_sent_again
    thread = respond(true, 2) { |index| index.zero? ? Post.find(1).title : Post.with_connection { |c| c.select_value(VOLATILE) } }
    table_locked("posts") do
      thread.wakeup_gate
      terminate(await_waiter)
      await_waiter
    end
    found, volatile = thread.value
    assert_equal "post 1", found
    assert_equal "ActiveRecord::ConnectionFailed", volatile.class_name
    assert_equal "f", side.exec("SELECT is_called FROM connection_probe").getvalue(0, 0)
  end

  # What regular expressions can't see through is no read to repeat.
  ["SELECT random() FROM posts WHERE id = 1", "SELECT posts.id FROM posts WHERE id = 1 FOR UPDATE", "SELECT clock_timestamp() FROM posts",
   "SELECT 1 FROM posts WHERE nextval('connection_probe') > 0", "SELECT \"nextval\" ('connection_probe') FROM posts",
   "SELECT pg_catalog . nextval('connection_probe') FROM posts", "SELECT NEXTVAL\n('connection_probe') FROM posts",
   "SELECT nextval/* */('connection_probe') FROM posts", "SELECT nextval -- why\n('connection_probe') FROM posts",
   "SELECT U&\"\\006eextval\"('connection_probe') FROM posts", "SELECT current_timestamp FROM posts",
   "SELECT (SELECT max(id) FROM posts), txid_current()"].each_with_index do |sql, number|
    define_method(:"test_not_sent_again_#{number}") do
      side.exec("INSERT INTO posts (title) SELECT 'more' WHERE false")
      thread = respond(true, 1) { Post.with_connection { |connection| connection.select_value(sql) } }
      outcome = table_locked("posts") do
        thread.wakeup_gate
        terminate(await_waiter)
        thread.join(0.01) until thread.stop? && waiting_again? || !thread.alive?
        thread.alive? ? "sent again" : thread.value.first
      end
      thread.join
      assert_kind_of Failure, outcome, sql
    end
  end

  def test_never_sent_again_in_a_transaction
    outcomes = assert_alike do |piped|
      outcomes = nil
      thread = waiting_thread do
        Post.transaction do
          outcomes = resolve(piped, 3) { |index| [-> { Tag.find(1).name }, -> { Post.find(1).title }, -> { Post.find(2).title }][index].call }
        end
      rescue ActiveRecord::ConnectionNotEstablished, ActiveRecord::StatementInvalid => e
        outcomes.push(Failure.of(e))
      end
      table_locked("posts") do
        thread.wakeup_gate
        terminate(await_waiter)
        thread.value # while the lock is held: nobody waits for it any more
      end
    end
    assert_equal "ruby", outcomes.first
    assert(outcomes.drop(1).all?(Failure))
  end

  def test_never_sent_again_in_a_savepoint
    thread = waiting_thread do
      Post.transaction do
        Post.transaction(requires_new: true) { resolve(true, 2) { |index| [-> { Tag.find(1).name }, -> { Post.find(1).title }][index].call } }
      end
    rescue ActiveRecord::ConnectionNotEstablished, ActiveRecord::StatementInvalid => e
      ["ruby", Failure.of(e)]
    end
    outcomes = table_locked("posts") do
      thread.wakeup_gate
      terminate(await_waiter)
      thread.value
    end
    assert_equal "ruby", outcomes.first
    assert_kind_of Failure, outcomes.last
  end

  def test_one_database_is_killed_the_other_not
    outcomes = assert_alike do |piped|
      thread = respond(piped, 3) { |index| [-> { Audit.find(1).note }, -> { Post.find(1).title }, -> { Audit.find(2).note }][index].call }
      table_locked("posts") do
        thread.wakeup_gate
        terminate(first = await_waiter)
        refute_equal first, await_waiter
      end
      thread.value
    end
    assert_equal ["audit 1", "post 1", "audit 2"], outcomes
    assert_pool_sound(Audit.connection_pool)
  end

  # -- killed after the burst ------------------------------------------------------------------------------------------

  def test_killed_between_levels
    outcomes = assert_alike do |piped|
      resolve(piped, 2) do |index|
        post = Post.find(index + 1)
        if index.zero?
          pid = Post.with_connection { |connection| raw(connection).backend_pid }
          terminate(pid)
        end
        [post.title, Post.find(index + 5).title]
      end
    end
    assert_equal [["post 1", "post 5"], ["post 2", "post 6"]], outcomes
  end

  def test_killed_between_responses
    2.times do
      assert_equal ["post 1", "post 2"], resolve(true, 2) { |index| Post.find(index + 1).title }
      terminate(backend_pid)
    end
  end

  # A read that was answered before the connection broke says nothing about the connection.
  def test_a_broken_connection_is_not_trusted_again
    outcomes = assert_alike do |piped|
      thread = waiting_thread do
        Post.with_connection do |connection|
          read = resolve(piped, 2) { |index| index.zero? ? Tag.find(1).name : connection.select_value("SELECT 1 FROM pg_advisory_xact_lock(33)") }
          # Not to be repeated, so that ActiveRecord looks first whether the connection is alive.
          [*read, connection.execute("SELECT 'after'").values]
        end
      end
      advisory_locked(33) do
        thread.wakeup_gate
        terminate(await_waiter)
        thread.value
      end
    end
    assert_equal ["ruby", [["after"]]], outcomes.values_at(0, 2)
  end

  # -- the network -----------------------------------------------------------------------------------------------------

  # Wherever in the server's answer the network breaks: nothing is lost, nothing is taken for an answer that is none.
  def test_cut_after_each_byte_of_the_answer
    gate = put_gate
    block = ->(index) { index == 1 ? GatedPost.with_connection { |c| c.select_value("SELECT 'raw'") } : GatedPost.find(index + 1).title }
    expected = resolve(false, 3, &block)
    GatedPost.with_connection do
      total = bytes_of_answer(gate) { assert_equal expected, resolve(true, 3, &block) }
      assert_operator total, :>, 100
      (0...total).to_a.sample(rounds(60), random: Random.new(seed)).each do |bytes|
        GatedPost.with_connection { |connection| connection.select_value("SELECT 1") }
        gate.cut_after(bytes)
        assert_equal expected, resolve(true, 3, &block), "cut after #{bytes} bytes"
      end
    end
    assert_pool_sound(Gated.connection_pool)
  end

  def test_cut_after_each_byte_of_the_answer_in_a_transaction
    gate = put_gate
    block = ->(index) { GatedPost.find(index + 1).title }
    expected = resolve(false, 3, &block)
    # What is forecast, as it has come before, and what is prepared is fewer bytes.
    total = Array.new(4) { GatedPost.transaction { bytes_of_answer(gate) { resolve(true, 3, &block) } } }.min
    (0...total).to_a.sample(rounds(60), random: Random.new(seed)).each do |bytes|
      outcomes = nil
      assert_raises(ActiveRecord::ConnectionNotEstablished, ActiveRecord::StatementInvalid) do
        GatedPost.transaction do
          GatedPost.create!(title: "cut before")
          gate.cut_after(bytes)
          outcomes = resolve(true, 3, &block)
          GatedPost.create!(title: "cut after")
        end
      end
      assert_equal 0, side.exec("SELECT 1 FROM posts WHERE title LIKE 'cut %'").ntuples
      answered = outcomes.take_while { |outcome| !outcome.is_a?(Failure) }
      assert_equal expected.first(answered.size), answered
      assert outcomes.drop(answered.size).all?(Failure)
      assert_pool_sound(Gated.connection_pool, "cut after #{bytes} bytes")
    end
  end

  def test_cut_before_anything_was_sent
    gate = put_gate
    GatedPost.with_connection do
      gate.hold(:requests)
      cutter = in_thread do
        gate.await(:requests)
        gate.cut
        gate.pass(:requests)
      end
      outcomes = resolve(true, 3) { |index| GatedPost.find(index + 1).title }
      cutter.join
      assert_equal ["post 1", "post 2", "post 3"], outcomes
    end
  end

  def test_stalled_and_given_up
    gate = put_gate
    thread = in_thread { resolve(true, 3) { |index| GatedPost.find(index + 1).title } }
    gate.hold(:answers)
    gate.await(:answers)
    thread.raise(Stop, "enough")
    assert_equal "enough", assert_raises(Stop) { thread.join }.message
    gate.pass
    assert_pool_sound(Gated.connection_pool)
    assert_equal ["post 4", "post 5"], resolve(true, 2) { |index| GatedPost.find(index + 4).title }
  end

  # -- the server restarts ---------------------------------------------------------------------------------------------

  def test_server_restarted_between_responses
    only_of_our_own_server
    assert_equal ["post 1"], resolve(true, 1) { Post.find(1).title }
    restart
    assert_equal ["post 1", "audit 2"], resolve(true, 2) { |index| index.zero? ? Post.find(1).title : Audit.find(2).note }
  end

  def test_server_restarted_during_a_burst
    only_of_our_own_server
    thread = respond(true, 2) { |index| [-> { Tag.find(1).name }, -> { Post.find(1).title }][index].call }
    side(:lock).exec("BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE")
    thread.wakeup_gate
    await_waiter
    restart
    tag, post = thread.value
    assert_equal "ruby", tag
    # As it happens: the server is back when we reconnect, or it isn't.
    assert_includes ["post 1", "ActiveRecord::ConnectionFailed", "ActiveRecord::ConnectionNotEstablished", "ActiveRecord::DatabaseConnectionError"],
                    post.is_a?(Failure) ? post.class_name : post
  end

  # -- the pool's reaper -----------------------------------------------------------------------------------------------

  # From ActiveRecord 8.1 on it pings what nobody leases, and a burst's connection is leased.
  def test_the_pool_looks_after_its_connections_while_the_burst_runs
    outcomes = assert_alike do |piped|
      pool = Gated.connection_pool
      Array.new(2) { pool.checkout.tap(&:connect!) }.each { |adapter| pool.checkin(adapter) }
      thread = respond(piped, 2) do |index|
        Gated.with_connection { |c| c.select_value(["SELECT 'read'", "SELECT 'locked' FROM pg_advisory_xact_lock(34)"][index]) }
      end
      advisory_locked(34) do
        thread.wakeup_gate
        await_waiter
        %i[reap flush].each { |work| pool.public_send(work) }
        pool.keep_alive(0) if pool.respond_to?(:keep_alive)
      end
      thread.value
    end
    assert_equal %w[read locked], outcomes
  end

  # -- somebody else's hands on the connection -------------------------------------------------------------------------

  def test_a_connection_that_was_left_busy
    Gated.with_connection do |connection|
      connection.raw_connection.send_query("SELECT 'left unread'")
      assert_equal ["post 1", "post 2"], resolve(true, 2) { |index| GatedPost.find(index + 1).title }
    end
  end

  # Whoever it is, may have results to come: we say so, and leave it as it is.
  def test_a_connection_that_is_in_somebody_elses_pipeline
    Gated.with_connection do |connection|
      raw = connection.raw_connection
      raw.enter_pipeline_mode
      raw.send_query_params("SELECT 'theirs'", [])
      raw.pipeline_sync
      outcomes = resolve(true, 2) { |index| GatedPost.find(index + 1).title }
      assert_equal ["ActiveRecord::ConnectionNotEstablished"] * 2, outcomes.map(&:class_name)
      assert_match(/busy|somebody else's pipeline/, outcomes.first.message)
      assert_equal "theirs", raw.get_result.getvalue(0, 0)
      [raw.get_result, raw.get_result, raw.exit_pipeline_mode]
      assert_equal ["post 1", "post 2"], resolve(true, 2) { |index| GatedPost.find(index + 1).title }
    end
  end

  private

  def leased_and_killed
    Post.with_connection do |connection|
      terminate(connection.select_value("SELECT pg_backend_pid()"))
      yield
    end
  end

  # A response in a thread of its own, which begins when `wakeup_gate` is called.
  def respond(piped, fields, &block) = waiting_thread { resolve(piped, fields, &block) }

  def waiting_again?
    side(:monitor).exec("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'").ntuples.positive?
  end

  def bytes_of_answer(gate)
    before = gate.passed(:answers)
    yield
    gate.passed(:answers) - before
  end

  def only_of_our_own_server
    skip "a server that isn't ours can't be restarted" unless PrivateCluster.own?
  end

  def restart
    @sides.each_value { |connection| connection.close unless connection.finished? }
    @sides.clear
    PrivateCluster.restart("INT")
  end
end
