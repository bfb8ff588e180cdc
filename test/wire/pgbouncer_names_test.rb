# frozen_string_literal: true

require_relative "pgbouncer_case"

# Prepared statements through a PgBouncer that doesn't follow them from one server connection to another, and one that does.
class PgbouncerNamesTest < PgbouncerCase
  # -- prepared, where PgBouncer doesn't follow --------------------------------------------------------------------------

  # A setting that PgBouncer's manual warns of. Serially it ends in "prepared statement … does not exist", for good.
  def test_named_statements_are_repaired_after_the_server_connection_changed
    through(unaware_bouncer, prepared_statements: true)
    GatedPost.with_connection do
      5.times do
        assert_equal expected_forms, resolve(true, 7) { |index| form(index) }
        on_another_server { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
      end
    end
  end

  def test_serially_they_are_not
    through(unaware_bouncer, prepared_statements: true)
    GatedPost.with_connection do
      resolve(false, 7) { |index| form(index) }
      on_another_server { assert_includes states(resolve(false, 7) { |index| form(index) }), "26000" }
    end
  end

  # What shares a statement, of its own name, doesn't meet the old one there.
  def test_named_statements_in_a_transaction
    through(unaware_bouncer, prepared_statements: true)
    [1, 3].each do |reads|
      plain, piped = [false, true].map do |with|
        GatedPost.with_connection do |connection|
          read = ->(index) { GatedPost.find(index + 1).title }
          resolve(with, 3, &read)
          result = on_another_server { rolled_back { states(resolve(with, reads, &read)) } }
          connection.reconnect!
          result
        end
      end
      assert_equal ["26000"] * reads, plain
      assert_equal reads == 1 ? plain : ["post 1", "post 2", "post 3"], piped
    end
  end

  # The other client's statement has the name that is ours next.
  def test_a_name_that_another_client_has_taken
    through(unaware_bouncer, prepared_statements: true)
    outcomes = assert_alike do |piped|
      GatedPost.with_connection do |connection|
        take_names(connection, 1)
        states(resolve(piped, 2) { |index| index.zero? ? title_of(1) : GatedPost.where(id: 2).pick(:title) })
      ensure
        forget_names
      end
    end
    assert_equal ["42P05", "post 2"], outcomes
  end

  # Several reads of one shape: the first one's PREPARE fails, the others mustn't run what the name stands for.
  def test_a_name_that_another_client_has_taken_is_not_executed
    through(unaware_bouncer, prepared_statements: true)
    outcomes = GatedPost.with_connection do |connection|
      take_names(connection, 1)
      resolve(true, 3) { |index| title_of(index + 1) }
    ensure
      forget_names
    end
    assert_equal "42P05", outcomes.first.sqlstate
    outcomes.drop(1).each_with_index do |outcome, index|
      assert_includes ["post #{index + 2}", "42P05"], outcome.is_a?(Failure) ? outcome.sqlstate : outcome
    end
  end

  def test_many_threads_with_named_statements_get_no_wrong_row
    through(unaware_bouncer, prepared_statements: true, pool: 8)
    GatedPost.with_connection { GatedPost.find(1) }
    threads = Array.new(8) do |number|
      random = Random.new(seed + number)
      in_thread do
        Array.new(20) do
          ids = Array.new(random.rand(1..5)) { random.rand(1..12) }
          [ids, resolve(true, ids.size) { |index| GatedPost.find(ids[index]).title }]
        end
      end
    end
    outcomes = threads.flat_map(&:value)
    outcomes.each do |ids, titles|
      # (22P02, 08P01: the name is another client's, whose statement has parameters of another type, or another number of them.)
      ids.zip(titles) do |id, title|
        assert_includes ["post #{id}", "26000", "42P05", "22P02", "08P01", nil], title.is_a?(Failure) ? title.sqlstate : title
      end
    end
    assert_operator outcomes.sum { |_, titles| titles.grep(String).size }, :>, 0
  ensure
    Gated.connection_handler.clear_all_connections!(:all)
  end

  # -- prepared, where PgBouncer follows ---------------------------------------------------------------------------------

  if Bouncer.follows_statements?
    def test_followed_statements
      through(following_bouncer, prepared_statements: true)
      GatedPost.with_connection do
        5.times do
          assert_equal(1, WireCounter.events("burst.pipeloader") { assert_equal expected_forms.first(5), resolve(true, 5) { |index| form(index) } }.size)
          on_another_server { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
        end
      end
    end

    def test_followed_statements_need_no_repair
      through(following_bouncer, prepared_statements: true)
      GatedPost.with_connection do
        resolve(true, 5) { |index| form(index) }
        statements = on_another_server { WireCounter.events("burst.pipeloader") { resolve(true, 5) { |index| form(index) } }.sum { |it| it[:statements] } }
        assert_equal 5, statements
      end
    end

    def test_followed_statements_and_errors
      through(following_bouncer, prepared_statements: true)
      sqls = ["SELECT 1", "SELECT 1 / 0", "SELECT nothing", "SELEC", "SELECT 'x'::int", "SELECT 2"]
      3.times do
        outcomes = assert_resolves_alike(sqls.size) { |index| value(sqls[index]) }
        assert_equal [1, "22012", "42703", "42601", "22P02", 2], states(outcomes)
      end
    end

    def test_followed_statements_in_a_transaction
      through(following_bouncer, prepared_statements: true)
      outcomes = assert_alike do |piped|
        GatedPost.with_connection do
          resolve(piped, 3) { |index| GatedPost.find(index + 1).title }
          on_another_server { rolled_back { resolve(piped, 3) { |index| GatedPost.find(index + 1).title } } }
        end
      end
      assert_equal ["post 1", "post 2", "post 3"], outcomes
    end

    def test_many_threads_with_followed_statements
      through(following_bouncer, prepared_statements: true, pool: 16)
      assert_many_threads(16)
    end

    # More shapes than PgBouncer keeps.
    def test_followed_statements_are_evicted_by_pgbouncer
      through(Bouncer.new(pool_size: SERVERS, max_prepared_statements: 2), prepared_statements: true)
      GatedPost.with_connection do
        4.times { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
        on_another_server { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
      end
    end

    # More than we do. In a transaction there is an error where what ActiveRecord sends for a statement that it gives up is a
    # DEALLOCATE, which PgBouncer hands on as it is: before 8.1, before PostgreSQL 17. Without us, too.
    def test_followed_statements_are_evicted_by_us
      through(following_bouncer, prepared_statements: true, statement_limit: 2)
      closes = Gated.with_connection { |connection| connection.try(:supports_close_prepared?) }
      4.times do
        outcomes = assert_resolves_alike(7) { |index| index < 6 ? form(index) : GatedPost.transaction { GatedPost.where(id: 5).pluck(:title).first } }
        assert_equal [*expected_forms.first(6), closes ? "post 5" : "25P02"], states(outcomes)
      end
      GatedPost.with_connection do
        resolve(true, 6) { |index| form(index) }
        on_another_server { assert_equal expected_forms.first(6), resolve(true, 6) { |index| form(index) } }
      end
    end

    def test_interrupted_with_followed_statements
      through(following_bouncer, prepared_statements: true)
      assert_interrupted_in_a_burst
    end

    # PgBouncer hears of it (from 1.22 on), and forgets the statements of this client.
    ["DEALLOCATE ALL", "DISCARD ALL"].each do |command|
      define_method(:"test_followed_statements_after_#{command.downcase.tr(" ", "_")}") do
        through(following_bouncer, prepared_statements: true)
        GatedPost.with_connection do |connection|
          resolve(true, 7) { |index| form(index) }
          raw(connection).exec(command)
          outcomes = resolve(true, 7) { |index| form(index) }
          assert_equal expected_forms, outcomes
        end
      end
    end
  end

  private

  def unaware_bouncer
    Bouncer.follows_statements? ? Bouncer.new(pool_size: SERVERS, max_prepared_statements: 0) : PgbouncerCase.bouncer
  end

  def following_bouncer = Bouncer.new(pool_size: SERVERS, max_prepared_statements: 100)

  # A shape that nothing else has.
  def title_of(id) = GatedPost.where(id: id).limit(3).pluck(:id, :title).first.last

  # The next names of +connection+ mean another client's statements, on the server connection that it will have.
  def take_names(connection, count)
    pool = connection.instance_variable_get(:@statements)
    counter = pool.instance_variable_get(:@counter)
    other = bouncer.connect
    count.times { |index| other.exec("PREPARE a#{counter + 1 + index} (bigint, bigint) AS SELECT id, 'not yours' AS title FROM posts WHERE id > $1 LIMIT $2") }
    other.close
  end

  def forget_names = bouncer.connect.tap { |it| it.exec("DEALLOCATE ALL") }.close
end
