# frozen_string_literal: true

require_relative "both_ways"

# Fault × position × transaction × prepared or not: what every field gets, and what state the connection is in
# afterwards, is what a run without Pipeloader gives.
class FaultsTest < WireCase
  include BothWays

  # {fault => [SQL, value, session setting]}
  FAULTS = {
    division_by_zero: ["SELECT 1 / $1::int", 0],
    bad_cast: ["SELECT ($1::text)::int", "x"],
    missing_table: ["SELECT * FROM no_such_table WHERE id = $1", 1],
    missing_column: ["SELECT no_such_column FROM posts WHERE id = $1", 1],
    syntax: ["SELECT $1::int FORM posts WHERE", 1],
    statement_timeout: ["SELECT pg_sleep(30), $1::int", 1, "statement_timeout = '30ms'"],
    # Prepared, it is PREPARE that waits for the lock: all others of that SQL find no statement.
    lock_timeout: ["SELECT * FROM profiles WHERE id = $1", 1, "lock_timeout = '15ms'"],
    unknown_function: ["SELECT no_such_function($1::int)", 1],
    permission_denied: ["SELECT * FROM pg_authid WHERE oid = $1", 1, "ROLE pg_monitor"]
  }.freeze

  POSITIONS = { first: [0], middle: [2], last: [4], two: [1, 3], all: [0, 1, 2, 3, 4] }.freeze

  TRANSACTIONS = {
    none: ->(_model, &run) { run.call },
    transaction: lambda { |model, &run|
      model.transaction do
        run.call
        raise ActiveRecord::Rollback
      end
    },
    savepoint: lambda { |model, &run|
      model.transaction do
        model.transaction(requires_new: true) do
          run.call
          raise ActiveRecord::Rollback
        end
        # The transaction around the savepoint has to work as before.
        raise "broken" unless model.with_connection { |connection| connection.select_value("SELECT 'whole'") } == "whole"

        raise ActiveRecord::Rollback
      end
    }
  }.freeze

  FAULTS.each_key do |fault|
    TRANSACTIONS.each_key do |transaction|
      [Prepared, Unprepared].each do |model|
        define_method(:"test_#{fault}_#{model.name.demodulize.downcase}_in_#{transaction}") do
          POSITIONS.each_key { |position| assert_fault_alike(fault, position, transaction, model) }
        end
      end
    end
  end

  def test_the_matrix_does_fail_as_it_says
    states = FAULTS.to_h { |fault, _| [fault, outcomes_of(fault, :middle, :none, Prepared, true).first[2].sqlstate] }
    assert_equal({ division_by_zero: "22012", bad_cast: "22P02", missing_table: "42P01", missing_column: "42703", syntax: "42601",
                   statement_timeout: "57014", lock_timeout: "55P03", unknown_function: "42883", permission_denied: "42501" }, states)
  end

  def test_several_faults_in_one_level
    sqls = ["SELECT 1", "SELECT 1 / 0", "SELECT nothing", "SELEC", "SELECT 'x'::int", "SELECT 2"]
    TRANSACTIONS.each do |name, around|
      assert_resolves_alike(sqls.size, name, around: ->(&run) { wrapped(around, Prepared, &run) }) do |index|
        Prepared.with_connection { |connection| connection.select_value(sqls[index]) }
      end
    end
  end

  # Reads of models, as resolvers write them.
  FORMS = {
    load: -> { Post.where("1 / (likes - likes) = 0").to_a },
    find_by: -> { Post.find_by("no_such_column = 1") },
    find: -> { Post.where("likes / 0 = 1").find(1) },
    count: -> { Post.where("no_such_column = 1").count },
    sum: -> { Post.sum("likes / 0") },
    exists: -> { Post.exists?(["title::int = ?", 1]) },
    pluck: -> { Post.pluck(Arel.sql("title::int")) },
    pick: -> { Post.order(:id).pick(Arel.sql("1 / 0")) },
    first: -> { Post.order(Arel.sql("likes / 0")).first },
    association: -> { Post.find(1).comments.where("score / 0 = 1").to_a },
    find_by_sql: -> { Post.find_by_sql("SELECT * FROM nowhere") },
    count_by_sql: -> { Post.count_by_sql("SELECT count(*) FROM nowhere") },
    preload: -> { Post.joins(:comments).preload(:author).where("nothing = 1").to_a },
    not_found: -> { Post.find(0) },
    out_of_range: -> { Post.find(1 << 70) },
    nul: -> { Post.find_by(title: "nul\0byte") },
    good: -> { Post.find(3).title }
  }.freeze

  def test_read_forms_that_fail
    forms = FORMS.to_a
    outcomes = assert_resolves_alike(forms.size) { |index| forms[index].last.call.then { |it| it.is_a?(Array) ? it.size : it } }
    failed = forms.map(&:first).zip(outcomes).to_h
    assert_equal "post 3", failed.delete(:good)
    assert_equal "ActiveRecord::RecordNotFound", failed[:not_found].class_name
    assert failed.values.all?(Failure)
  end

  # One read each: what a field reads next comes after what others read first, so it fails where theirs did.
  def test_read_forms_that_fail_in_a_transaction
    forms = FORMS.except(:association).to_a
    forms.each_index do |first|
      order = forms.rotate(first)
      assert_resolves_alike(order.size, order.first.first, around: ->(&run) { wrapped(TRANSACTIONS[:transaction], Post, &run) }) do |index|
        order[index].last.call.then { |it| it.is_a?(Array) ? it.size : it }
      end
    end
  end

  def test_equal_reads_that_fail_have_an_error_each
    @errors = []
    resolve(true, 4) { |_| Post.where("likes / 0 = 1").to_a }
    assert_equal 4, @errors.size
    assert_equal 4, @errors.uniq(&:object_id).size
    assert_equal 4, @errors.map { |it| it.cause.object_id }.uniq.size
  end

  def test_the_backtrace_is_the_resolvers_own
    @errors = []
    resolve(true, 3) { |index| FaultsTest.public_send(%i[fail_here fail_there fail_elsewhere][index]) }
    assert_backtraces(@errors)
  end

  def test_the_backtrace_is_the_resolvers_own_when_the_connection_broke
    @errors = []
    Post.with_connection do |connection|
      connection.select_value("SELECT 1")
      terminate(connection.raw_connection.backend_pid)
      resolve(true, 3) { |index| FaultsTest.public_send(%i[break_here break_there break_elsewhere][index]) }
    end
    assert_backtraces(@errors)
    assert_equal 3, @errors.uniq(&:object_id).size
    # Where it happened, as the first line says without us.
    @errors.each { |error| assert_equal error.cause.backtrace.first, error.backtrace.first }
  ensure
    release
  end

  class << self
    def fail_here = Post.where("likes / 0 = 1").to_a
    def fail_there = Post.where("likes / 0 = 2").to_a
    def fail_elsewhere = Post.where("likes / 0 = 1").to_a

    # Not to be sent twice.
    def break_here = Post.find_by_sql("SELECT *, random() FROM posts")
    def break_there = Post.find_by_sql("SELECT *, random() FROM posts WHERE id = 1")
    def break_elsewhere = Post.find_by_sql("SELECT *, random() FROM posts")
  end

  def test_a_resolver_that_rescues_and_goes_on
    outcomes = assert_resolves_alike(4) { |index| FaultsTest.read_twice(index) }
    assert_equal ["again 0", "again 1", "again 2", "again 3"], outcomes.map(&:last)
  end

  # A field has all its levels before the next one's first, and so it is executed once more.
  def test_a_resolver_that_rescues_and_goes_on_in_a_transaction
    outcomes = assert_resolves_alike(4, around: ->(&run) { wrapped(TRANSACTIONS[:transaction], Prepared, &run) }) { |index| FaultsTest.read_twice(index) }
    assert_equal "again 0", outcomes.first.first.last
  end

  # What the client refuses hasn't aborted the transaction: an equal read behind it has its answer.
  def test_a_read_that_is_refused_before_one_that_aborts
    posts = Class.new(Prepared) { self.table_name = "posts" }
    reads = [-> { posts.where(id: 1).pluck(:title) }, -> { posts.where(title: "a\0b").pluck(:id) },
             -> { posts.where(id: 1).pluck(:title) }, -> { posts.where("1 / (id - id) > 0").pluck(:id) }]
    plain, piped = [false, true].map do |piped|
      wrapped(TRANSACTIONS[:transaction], Prepared) do
        resolve(piped, 4) do |index|
          reads[index].call
        rescue StandardError => e
          e.class.name
        end
      end
    end
    assert_equal plain, piped
    assert_equal ["post 1"], piped.first[2]
  end

  def self.read_twice(index)
    first = begin
      Prepared.with_connection { |connection| connection.select_value(index == 1 ? "SELECT 1 / 0" : "SELECT #{index}") }
    rescue ActiveRecord::StatementInvalid => e
      Failure.of(e)
    end
    again = begin
      Prepared.with_connection { |connection| connection.select_value("SELECT 'again #{index}'") }
    rescue ActiveRecord::StatementInvalid => e
      Failure.of(e)
    end
    [first, again]
  end

  # In a resolver's own savepoint a failed read harms nothing outside it.
  def test_a_resolver_that_fails_in_a_savepoint_of_its_own
    assert_resolves_alike(4, around: ->(&run) { wrapped(TRANSACTIONS[:transaction], Prepared, &run) }) do |index|
      before = Prepared.with_connection { |connection| connection.select_value("SELECT 'before #{index}'") }
      inside = begin
        Prepared.transaction(requires_new: true) do
          Prepared.with_connection { |connection| connection.select_value(index.odd? ? "SELECT #{index} / 0" : "SELECT #{index}") }
        end
      rescue ActiveRecord::StatementInvalid => e
        Failure.of(e)
      end
      [before, inside, Prepared.with_connection { |connection| connection.select_value("SELECT 'after #{index}'") }]
    end
  end

  def test_errors_in_the_answer
    query = "{ a: failingSql posts { title } b: failingSql failingList { id } post(id: 2) { title author { name } } tags { name } }"
    answer = assert_same_answer(query)
    assert_equal 3, answer["errors"].size
  end

  def test_a_fault_costs_no_round_trip_more
    plain = "{ posts { title } tags { name } }"
    failing = "{ posts { title } failingSql tags { name } }"
    assert_round_trips(1) { Schemas.pair.last.execute(plain) }
    assert_round_trips(1) { Schemas.pair.last.execute(failing) }
  ensure
    release
  end

  def self.read(model, index, positions, sql, value)
    sql, value = "SELECT 'field ' || $1::text", index.to_s unless positions.include?(index)
    type = value.is_a?(Integer) ? ActiveModel::Type::Integer.new : ActiveModel::Type::String.new
    bind = ActiveRecord::Relation::QueryAttribute.new("value", value, type)
    model.with_connection do |connection|
      sql = sql.gsub("$1", connection.quote(value)) unless connection.prepared_statements
      connection.select_all(sql, "Fault", connection.prepared_statements ? [bind] : [], preparable: true).rows
    end
  end

  private

  def assert_fault_alike(fault, position, transaction, model)
    plain, piped = [false, true].map { |with| outcomes_of(fault, position, transaction, model, with) }
    assert_equal plain, piped, "#{fault} #{position} #{transaction} #{model}"
    assert_pool_sound(model.connection_pool, "#{fault} #{position} #{transaction} #{model}")
  end

  # @return [Array] what the five fields got, and the transaction's state before it was rolled back
  def outcomes_of(fault, position, transaction, model, piped)
    sql, value, setting = FAULTS.fetch(fault)
    state = outcomes = nil
    with_setting(model, setting) do
      body = lambda do
        TRANSACTIONS.fetch(transaction).call(model) do
          outcomes = resolve(piped, 5) { |index| FaultsTest.read(model, index, POSITIONS.fetch(position), sql, value) }
          state = state_of(model)
        end
      end
      fault == :lock_timeout ? table_locked("profiles", &body) : body.call
    end
    [outcomes, state]
  end

  # The session setting for as long as the block runs; a connection that is leased for good, as that has it.
  def with_setting(model, setting)
    connection = model.lease_connection
    connection.schema_search_path # asks the server once per connection
    connection.execute("SET #{setting}") if setting
    yield
  ensure
    if setting&.start_with?("ROLE")
      connection.execute("RESET ROLE")
    elsif setting
      connection.execute("RESET #{setting[/\w+/]}")
    end
    model.release_connection
  end

  def wrapped(around, model)
    result = nil
    model.lease_connection.schema_search_path # asks the server once per connection
    around.call(model) { result = [yield, state_of(model)] }
    model.release_connection
    result
  end

  def assert_backtraces(errors)
    assert_equal 3, errors.size
    errors.each do |error|
      mine = error.backtrace.grep(/`(?:fail|break)_/)
      assert_equal 1, mine.size, error.backtrace.join("\n")
      assert(error.backtrace.any? { |line| line.include?("/lib/active_record/") })
    end
    assert_equal 3, errors.map { |error| error.backtrace.grep(/`(?:fail|break)_/).first }.uniq.size
  end
end
