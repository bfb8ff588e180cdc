# frozen_string_literal: true

require_relative "meaning_case"

# What others see and when, doesn't depend on whether a statement was sent alone: row locks, writes among reads, snapshots.
class IsolationTest < MeaningCase
  # -- locks and transactions ------------------------------------------------------------------------------------------

  def test_for_update_in_a_transaction_holds_its_row
    outcomes = assert_alike do |piped|
      Gated.transaction do
        read = resolve(piped, 3) { |index| GatedPost.lock.find(index + 1).title }
        locked = Array.new(5) { |index| side.exec("SELECT id FROM posts WHERE id = #{index + 1} FOR UPDATE SKIP LOCKED").ntuples.zero? }
        [read, locked]
      end
    end
    assert_equal [["post 1", "post 2", "post 3"], [true, true, true, false, false]], outcomes
  end

  def test_for_update_outside_a_transaction_holds_nothing
    outcomes = assert_alike do |piped|
      read = resolve(piped, 3) { |index| GatedPost.lock.find(index + 1).title }
      [read, side.exec("SELECT id FROM posts WHERE id <= 3 FOR UPDATE SKIP LOCKED").ntuples]
    end
    assert_equal [["post 1", "post 2", "post 3"], 3], outcomes
  end

  def test_for_update_in_transactions_of_resolvers
    outcomes = assert_resolves_alike(3) do |index|
      GatedPost.transaction do
        post = GatedPost.lock.find(index + 1)
        post.with_lock { post.title + side.exec("SELECT 1 FROM posts WHERE id = #{index + 1} FOR UPDATE SKIP LOCKED").ntuples.to_s }
      end
    end
    assert_equal ["post 10", "post 20", "post 30"], outcomes
  end

  def test_for_update_is_kept_out_of_the_query_cache
    outcomes = assert_alike do |piped|
      side.exec("UPDATE posts SET likes = 1 WHERE id = 1")
      Gated.with_connection do |connection|
        connection.select_value("SELECT 1") # a connection that isn't connected isn't cached, either
        Gated.cache do
          [1, 2].map do |likes|
            side.exec("UPDATE posts SET likes = #{likes} WHERE id = 1")
            resolve(piped, 3) { |index| index == 1 ? GatedPost.find(1).likes : GatedPost.lock.find(1).likes }
          end
        end
      end
    end
    assert_equal [[1, 1, 1], [2, 1, 2]], outcomes
  ensure
    side.exec("UPDATE posts SET likes = 1 WHERE id = 1")
  end

  def test_for_update_nowait_of_a_locked_row
    side(:lock).exec("BEGIN; SELECT 1 FROM posts WHERE id = 2 FOR UPDATE")
    outcomes = assert_resolves_alike(3) { |index| GatedPost.lock("FOR UPDATE NOWAIT").find(index + 1).title }
    assert_equal ["post 1", "55P03", "post 3"], states(outcomes)
  ensure
    side(:lock).exec("ROLLBACK")
  end

  # In each place among the reads a write by another field, by each way there is to write.
  WRITES = {
    update_all: ->(_) { GatedPost.where(id: 1).update_all("likes = likes + 1") },
    update: ->(post) { post.update!(likes: post.likes + 1) },
    increment: ->(post) { post.increment!(:likes).likes },
    reload: ->(post) { post.update_column(:likes, 5) && post.reload.likes },
    create: ->(_) { GatedPost.create!(title: "new").title },
    execute: ->(_) { Gated.with_connection { |connection| connection.execute("UPDATE posts SET likes = likes + 1 WHERE id = 1").cmd_tuples } },
    exec_update: ->(_) { Gated.with_connection { |connection| connection.update("UPDATE posts SET likes = likes + 1 WHERE id = 1") } },
    select_that_writes: ->(_) { Gated.with_connection { |connection| connection.select_value("WITH x AS (UPDATE posts SET likes = likes + 1 WHERE id = 1 RETURNING likes) SELECT likes FROM x") } },
    raw: ->(_) { Gated.with_connection { |connection| connection.raw_connection.exec("UPDATE posts SET likes = likes + 1 WHERE id = 1").cmd_tuples } },
    raw_params: ->(_) { Gated.with_connection { |connection| connection.raw_connection.exec_params("UPDATE posts SET likes = likes + $1 WHERE id = 1", [1]).cmd_tuples } },
    transaction: ->(_) { GatedPost.transaction { GatedPost.where(id: 1).update_all("likes = likes + 1") } },
    rolled_back: ->(_) { GatedPost.transaction { GatedPost.where(id: 1).update_all("likes = likes + 1").then { raise ActiveRecord::Rollback } } },
    delete: ->(_) { GatedPost.where(title: "new").delete_all },
    truncate: ->(_) { Gated.with_connection { |connection| connection.truncate("journal") && "done" } },
    insert_all: ->(_) { GatedPost.insert_all([{ title: "new" }]).rows.size }
  }.freeze

  WRITES.each do |name, write|
    [false, true].each do |transaction|
      define_method(:"test_a_write_among_parked_reads_#{name}#{"_in_a_transaction" if transaction}") do
        4.times do |writer|
          assert_alike("by field #{writer}") do |piped|
            side.exec("UPDATE posts SET likes = 1 WHERE id = 1; DELETE FROM posts WHERE title = 'new'")
            post = GatedPost.find(1)
            outcomes = rolled_back_if(transaction) do
              resolve(piped, 4) { |index| index == writer ? write.call(post) : select("SELECT likes, (SELECT count(*) FROM posts) - 12 FROM posts WHERE id = 1 AND #{index} >= 0") }
            end
            [outcomes, side.exec("SELECT likes FROM posts WHERE id = 1").values]
          end
        end
      ensure
        side.exec("UPDATE posts SET likes = 1 WHERE id = 1; DELETE FROM posts WHERE title = 'new'")
      end
    end
  end

  # -- snapshots -------------------------------------------------------------------------------------------------------

  # Another session commits between the first level and the second.
  { read_committed: [1, 2], repeatable_read: [1, 1], serializable: [1, 1] }.each do |isolation, expected|
    define_method(:"test_snapshot_under_#{isolation}") do
      outcomes = assert_alike do |piped|
        side.exec("UPDATE posts SET likes = 1 WHERE id = 1")
        GatedPost.transaction(isolation: isolation) do
          resolve(piped, 2) do |index|
            first = GatedPost.find(1).likes
            # By the field that is asked last: then all first reads have been answered, in a serial run too.
            side.exec("UPDATE posts SET likes = 2 WHERE id = 1") if index == 1
            [first, GatedPost.where(id: 1).pick(:likes)]
          end.last # Field 0 has read both before the commit, in a serial run.
        end
      end
      assert_equal expected, outcomes
    ensure
      side.exec("UPDATE posts SET likes = 1 WHERE id = 1")
    end
  end

  # A level isn't one snapshot, unless its transaction is: as serially, a commit may come between two of its reads.
  ["read committed", "repeatable read"].each do |isolation|
    { reads_of_two_shapes: -> { GatedPost.find(1).likes }, equal_reads: -> { GatedPost.where(id: 1).pick(:likes) } }.each do |kind, last|
      define_method(:"test_another_session_commits_between_#{kind}_under_default_#{isolation.tr(" ", "_")}") do
        outcomes = assert_alike do |piped|
          side.exec("UPDATE posts SET likes = 1 WHERE id = 1")
          thread = waiting_thread do
            with_default(isolation) do
              resolve(piped, 3) { |index| [-> { GatedPost.where(id: 1).pick(:likes) }, -> { select("SELECT 'got it' FROM pg_advisory_xact_lock(95)") }, last][index].call }
            end
          end
          advisory_locked(95) do
            thread.wakeup_gate
            await_waiter
            side.exec("UPDATE posts SET likes = 2 WHERE id = 1")
          end
          thread.value
        end
        assert_equal [1, "got it", 2], outcomes
      ensure
        side.exec("UPDATE posts SET likes = 1 WHERE id = 1")
      end
    end
  end

  def test_a_serialization_failure
    outcomes = assert_alike do |piped|
      side.exec("UPDATE posts SET likes = 1 WHERE id IN (1, 2)")
      GatedPost.transaction(isolation: :repeatable_read) do
        GatedPost.find(1)
        side.exec("UPDATE posts SET likes = 2 WHERE id = 2")
        states(resolve(piped, 3) { |index| index == 1 ? GatedPost.lock.find(2).likes : GatedPost.find(index + 1).title })
      end
    rescue ActiveRecord::StatementInvalid => e
      e.class.name
    end
    assert_equal ["post 1", "40001", "25P02"], outcomes
  ensure
    side.exec("UPDATE posts SET likes = 1 WHERE id = 2")
  end

  ["default_transaction_isolation = 'serializable'", "default_transaction_read_only = on", "default_transaction_deferrable = on"].each do |setting|
    define_method(:"test_#{setting[/\w+/]}") do
      outcomes = assert_alike do |piped|
        Gated.with_connection do |connection|
          connection.execute("SET #{setting}")
          resolve(piped, 4) do |index|
            next GatedPost.find(4).title if index == 3

            select(["SHOW transaction_isolation", "SELECT current_setting('transaction_read_only')", "SELECT nextval('numbers') * 0"][index])
          end
        ensure
          connection.execute("RESET #{setting[/\w+/]}")
        end
      end
      assert_equal "post 4", outcomes.last
    end
  end

  def test_a_read_only_transaction
    outcomes = assert_alike do |piped|
      rolled_back do
        Gated.with_connection { |connection| connection.execute("SET TRANSACTION READ ONLY") }
        states(resolve(piped, 3) { |index| index == 1 ? select("SELECT enter('no')") : GatedPost.find(index + 1).title })
      end
    end
    assert_equal ["post 1", "25006", "25P02"], outcomes
  end

  private

  def with_default(isolation)
    Gated.with_connection do |connection|
      connection.execute("SET default_transaction_isolation = '#{isolation}'")
      yield
    ensure
      connection.execute("RESET default_transaction_isolation")
    end
  end
end
