# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/sibling_fields"
require_relative "../support/coalesced_from_two"

class CoalescedTest < PipeloaderTest
  include SiblingFields
  include CoalescedFromTwo

  def connection = ActiveRecord::Base.lease_connection

  # As above, and all that the fields ask for is one statement.
  def assert_one(values, &block)
    _, sizes = assert_alike(values, &block)
    assert_equal [values.size], sizes
  end

  def assert_single(values, &block)
    _, sizes = assert_alike(values, &block)
    assert_equal [1] * values.size, sizes
  end

  # A prepared statement with one parameter of that type.
  def ask(sql, value, type = ActiveModel::Type::Value.new)
    connection.select_all(sql, "Ask", [ActiveRecord::Relation::QueryAttribute.new("v", value, type)], preparable: true)
  end

  VALUES = {
    "smallint" => [1, -5, 0], "integer" => [1, 2**31 - 1, -7], "bigint" => [1, 2**62], "numeric" => ["1.50", "NaN", "-0.000001"],
    "real" => [1.5, Float::INFINITY, -0.0], "double precision" => [0.1, Float::NAN, 1e300], "boolean" => [true, false],
    "text" => ["", "a,b", "{}", "NULL", "\"", "\\", "é\u{1f642}", "a b", "null", "'"], "varchar" => ["x", " x ", "\t\n"],
    "bpchar" => ["a ", "abc", ""], "date" => %w[2024-02-29 infinity -infinity], "timestamp" => ["2024-01-01 00:00:00.123456", "infinity"],
    "timestamptz" => ["2024-01-01 12:00:00+05", "1900-01-01 00:00:00Z"], "time" => %w[24:00 01:02:03.5], "interval" => ["1 day", "-3 months 2 hours"],
    "uuid" => %w[a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 00000000-0000-0000-0000-000000000000], "json" => ['{"a": 1}', "[]", "null"],
    "jsonb" => ['{"b": 2, "a": 1}', "\"x\""], "inet" => %w[10.0.0.1/8 ::1], "cidr" => %w[10.0.0.0/8 ::/0], "bit varying" => %w[101 0],
    "money" => ["$1.00", "2"], "xml" => ["<a/>", "b"], "oid" => [1, 2**32 - 1], "name" => %w[a b], "macaddr" => %w[08:00:2b:01:02:03 08:00:2b:01:02:04]
  }.freeze

  VALUES.each do |type, values|
    define_method(:"test_#{type.tr(" ", "_")}") do
      assert_one(values) { |value| ask("SELECT $1::#{type} AS value, $1::#{type}, $1::#{type} IS NULL AS nothing", value) }
    end
  end

  # Which arrays there are of them is asked once, along with the second burst.
  def test_types_of_ones_own
    connection.reconnect! # another test may have let it ask for citext's
    connection.execute("CREATE TYPE coalesced_mood AS ENUM ('sad', 'happy'); CREATE DOMAIN coalesced_positive AS integer CHECK (VALUE > 0)")
    connection.execute("CREATE EXTENSION IF NOT EXISTS citext")
    { "coalesced_mood" => %w[sad happy], "citext" => %w[A a], "int4range" => ["[1,2)", "empty"] }.each do |type, values|
      schema = schemas_of(2).last
      events = WireCounter.events("burst.pipeloader") do
        3.times { answers_of(schema, values) { |value| ask("SELECT $1::#{type} = $1::#{type} AS same, $1::#{type} AS value", value) } }
      end
      assert_equal [[2, 2], [2, 3], [2, 1]], events.map { |event| [event[:reads].size, event[:statements]] }, type
      assert_one(values) { |value| ask("SELECT $1::#{type} = $1::#{type} AS same, $1::#{type} AS value", value) }
    end
    assert_alike([1, -1, 2]) { |value| ask("SELECT $1::coalesced_positive AS n", value) }
  ensure
    connection.execute("DROP TYPE coalesced_mood; DROP DOMAIN coalesced_positive")
    connection.reconnect!
  end

  def test_arrays_and_bytes_stay_single
    assert_single(["{1,2}", "{}"]) { |value| ask("SELECT $1::int[]", value) }
    assert_single([[1, 2], [3]]) do |value|
      connection.select_all("SELECT id FROM posts WHERE id = ANY($1) ORDER BY id", "Ask",
                            [ActiveRecord::Relation::QueryAttribute.new("v", value, ActiveRecord::ConnectionAdapters::PostgreSQL::OID::Array.new(ActiveModel::Type::Integer.new))], preparable: true)
    end
    assert_single(["\x00\xff".b, "a".b]) { |value| ask("SELECT length($1::bytea)", value, ActiveModel::Type::Binary.new) }
  end

  # Where text is asked for, it matters how they are written.
  def test_booleans_as_texts
    assert_one([true, false]) { |flag| ask("SELECT $1::text AS value", flag) }
    assert_one(["true", true, "a", 1]) { |value| ask("SELECT $1::text = 't' AS short, $1::text AS value", value) }
    assert_one([[true, 1], [true, 2], [false, 3]]) do |flag, id|
      connection.select_all("SELECT id FROM (SELECT 't' AS flag, 1 AS id UNION ALL SELECT 'true', 2) AS flags WHERE flag = $1 AND id = $2", "Ask", [flag, id], preparable: true)
    end
  end

  # (What an array takes for NULL is a setting: array_nulls.)
  def test_null_stays_single
    assert_single([1, nil]) { |id| ask("SELECT id FROM posts WHERE author_id = $1", id) }
    assert_alike([1, nil, 2, 3]) { |id| ask("SELECT $1::int AS n, $1::int IS NULL AS nothing", id) }
  end

  def test_values_that_no_array_can_hold
    assert_alike(["a", "b", "nul\0", "\xff".dup.force_encoding("UTF-8"), "x" * 2000]) { |value| ask("SELECT length($1::text)", value) }
  end

  def test_other_encodings
    assert_alike(["é", "é".encode("ISO-8859-1"), "é".b, "abc".encode("UTF-16LE"), "abc".b]) { |value| ask("SELECT $1::text", value) }
  end

  def test_a_client_of_another_encoding
    ActiveRecord::Base.establish_connection(TestDatabase.hash(encoding: "LATIN1"))
    assert_alike(["é", "a", "ü", "é".encode("ISO-8859-1")]) { |value| ask("SELECT $1::text, length($1)", value).rows }
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  # -- rows ------------------------------------------------------------------------------------------------------------

  def test_no_rows_some_rows_many_rows
    assert_one([0, 1, 1000, 3]) { |rows| ask("SELECT id, id * 2 AS id, NULL AS nothing FROM posts ORDER BY 1 LIMIT $1", rows) }
    assert_one((1..12).to_a) { |id| Comment.where(post_id: id).order(:score, :id).to_a }
  end

  def test_ties_in_the_order
    Post.connection.execute("ANALYZE")
    assert_one((1..10).to_a) { |id| Comment.where(post_id: id).order(:score).pluck(:id) }
    assert_one((1..10).to_a) { |id| Comment.where(post_id: id).pluck(:id) }
  end

  def test_limits_that_differ
    assert_one([1, 2, 5]) { |limit| Post.order(:id).limit(limit).to_a }
    assert_one([0, 3, 11, 40]) { |offset| Post.order(:id).limit(2).offset(offset).pluck(:id) }
    assert_one([[1, 2], [3, 1], [5, 9]]) { |id, limit| Comment.where(post_id: id).order(:id).limit(limit).ids }
  end

  def test_aggregates_of_each_parent
    assert_one((0..12).to_a) { |id| Comment.where(post_id: id).count }
    assert_one((0..12).to_a) { |id| Comment.where(post_id: id).sum(:score) }
    assert_one((0..12).to_a) { |id| Comment.where(post_id: id).maximum(:score) }
    assert_one((0..12).to_a) { |id| Comment.where(post_id: id).average(:score) }
    assert_one((0..12).to_a) { |id| Comment.where(post_id: id).exists? }
    assert_one((0..12).to_a) { |id| Comment.where(post_id: id).group(:commenter_id).order(:commenter_id).count }
  end

  def test_duplicate_and_unnamed_columns
    assert_one([1, 2, 3]) { |id| ask("SELECT id, id, 1, 2, NULL, 'x', id AS n, id AS p1 FROM posts WHERE id = $1", id) }
    assert_one([1, 2, 3]) { |id| ask("SELECT WHERE $1::int > 1", id) }
  end

  # The plan, and with it the order that SQL leaves open, would depend on the value.
  def test_ranges_stay_single
    assert_single([1, 2, 3]) { |id| Post.where(id: id..).sort_by(&:id) }
    assert_single([1, 2, 3]) { |id| Post.where.not(id: id).order(:likes).sort_by(&:id) }
    assert_single([1, 2, 3]) { |id| ask("SELECT id FROM posts WHERE id = $1 OR id > $1 ORDER BY 1", id) }
    assert_single([[1, 2], [3, 4]]) { |ids| Post.where.not(id: ids).sort_by(&:id) }
    assert_one([[1, 2], [3, 4]]) { |ids| Post.where(id: ids).order(:id).to_a }
    assert_one([1, 2, 3]) { |id| Post.where(author_id: id).where("likes > 2").to_a }
  end

  # Values that are written into the text.
  def test_literals
    assert_one([1, 2, 3]) { |id| Post.where("author_id = ?", id).order(:id).to_a }
    assert_one(["user 1", "it's", "", "= 5", "user 3"]) { |name| User.where("name = ?", name).to_a }
    assert_one([[1, 2], [3, 4], [5, 99]]) { |ids| Post.where("id IN (?)", ids).order(:id).to_a }
    assert_one([1, 2, 3]) { |limit| connection.select_rows("SELECT id FROM posts ORDER BY id LIMIT #{limit}") }
    assert_one([1, 2, 3]) { |id| Post.where(author_id: [1, 2, 3]).where("id = ?", id).to_a }
    assert_one([1, 2, 3]) { |id| connection.select_rows("SELECT '= 5', \"id\" AS \"x = 6\", 'limit 7' FROM posts WHERE id = #{id}") }
    assert_one([1, 2, 3]) { |id| connection.select_rows("SELECT id FROM posts WHERE id = '#{id}'::int") }
    assert_one([1, 2, 3]) { |id| connection.select_rows("SELECT id, id = #{id} FROM posts WHERE id = #{id} + 1") }
  end

  # It would take longer to look through them than to send them again.
  def test_long_texts_are_sent_each
    { 100 => [3], 5000 => [1, 1, 1] }.each do |numbers, sizes|
      _, sent = assert_alike([1, 1, 1]) { connection.select_rows("SELECT id FROM posts WHERE id IN (#{[*1..numbers].join(",")}) ORDER BY id") }
      assert_equal sizes, sent
    end
  end

  # Where the value decides about the plan, or isn't what a parameter would be.
  def test_literals_that_stay
    assert_single([1, 2, 3]) { |id| connection.select_rows("SELECT id FROM posts WHERE id >= #{id} ORDER BY id") }
    assert_single([1, 2, 3]) { |id| connection.select_rows("SELECT id FROM posts WHERE id NOT IN (#{id}, 1) ORDER BY id") }
    assert_single([1, 2, 3]) { |id| connection.select_rows("SELECT id FROM posts WHERE id = #{id}.0") }
    assert_single([1, 2, 3]) { |id| connection.select_rows("SELECT id FROM posts WHERE id = -#{id}") }
    assert_single(%w[a b c]) { |letter| connection.select_rows("SELECT id FROM posts WHERE title = '\\#{letter}'") }
    assert_single([1, 2, 3]) { |id| connection.select_all("SELECT id = #{id}e0 FROM posts WHERE id = 1") }
    assert_single([1, 2, 3]) { |id| connection.select_rows("SELECT id FROM posts WHERE title = E'post #{id}'") }
    assert_single([1, 2, 3]) { |day| connection.select_rows("SELECT 1 FROM posts WHERE date '2024-01-01' = date '2024-01-0#{day}'") }
    assert_single([1, 2, 3]) { |id| connection.select_rows("SELECT id FROM posts WHERE title = 'post '\n'#{id}'") }
    assert_single([1, 2, 3]) { |n| connection.select_rows("SELECT 1 FROM (SELECT interval '2 hours' AS i) m WHERE i = '#{n}'::interval hour") }
    assert_single([1, 2, 3]) { |id| connection.select_rows("SELECT id /* = #{id} */ FROM posts WHERE title = 'post 1'") }
    assert_single([16_777_215, 16_777_216, 16_777_217]) { |n| connection.select_rows("SELECT n FROM (SELECT 16777216::real AS n) m WHERE n = #{n}") }
  end

  def test_literals_that_the_server_refuses
    assert_alike([1, "'one'", 10**17, 3]) { |value| connection.select_rows("SELECT id FROM posts WHERE likes = #{value}") }
    assert_alike(%w[1 2 x]) { |value| connection.select_rows("SELECT id FROM posts WHERE id = '#{value}'") }
    assert_alike([1, 2, 3]) { |value| connection.select_rows("SELECT 1 = #{value}, pg_typeof(likes = #{value}) FROM posts ORDER BY id LIMIT 1") }
    assert_single([1, 2, 3]) { |value| connection.select_rows("SELECT count(*) FROM no_such_table WHERE id = #{value}") }
  end

  # Whoever has asked in the same words, with values for all, has told what the server says of them.
  def test_parameters_without_a_value
    ask = ->(text, *values) { connection.select_all("SELECT id FROM posts WHERE #{text}", "Ask", values, preparable: values.any?).rows }
    { "author_id = $1 AND id = $1" => [[1], []], "author_id = $1 OR id = $2" => [[1, 2], [1]], "id = $1" => [[1], [1, 1]] }.each do |text, (enough, others)|
      2.times { assert_alike([1, 2, 3]) { |id| ask.call(text, id, *enough.drop(1)) } }
      results, = assert_alike([1, 2, 3]) { |id| others.empty? ? ask.call(text.sub("id = $1", "id = #{id}")) : ask.call(text, id, *others.drop(1)) }
      assert_equal [ActiveRecord::StatementInvalid], results.map(&:class).uniq, text
    end
    results, = assert_alike([1, 2, 3]) { |id| ask.call("author_id = $1 AND id = #{id}") }
    assert_equal [ActiveRecord::StatementInvalid], results.map(&:class).uniq
    results, = assert_alike([1, 2, 3]) { |id| Post.where("author_id = $1").where("id = #{id}").to_a }
    assert_equal [ActiveRecord::StatementInvalid], results.map(&:class).uniq
  end

  # -- what another connection has learned -----------------------------------------------------------------------------

  # How many reads each statement of a response was for.
  def sizes_of(values, &block)
    schema = schemas_of(values.size).last
    events = WireCounter.events("burst.pipeloader") { @answers = answers_of(schema, values, &block) }
    events.map { |event| event[:answers].map(&:last) }
  end

  # The first one prepares, and confirms what is known.
  def test_a_new_connection
    2.times { sizes_of([1, 2, 3, 4]) { |id| Post.find(id) } }
    connection.reconnect!
    assert_equal [[1, 3]], sizes_of([1, 2, 3, 4]) { |id| Post.find(id) }
    assert_equal ["post 1", "post 2", "post 3", "post 4"], @answers.map(&:title)
    assert_equal [[4]], sizes_of([1, 2, 3, 4]) { |id| Post.find(id) }
  end

  # What isn't prepared, is described in the same statement.
  def test_a_new_connection_and_literals
    ask = ->(id) { connection.select_rows("SELECT id, 'new' FROM posts WHERE author_id = #{id}") }
    2.times { sizes_of([1, 2, 3, 4], &ask) }
    connection.reconnect!
    2.times { assert_equal [[4]], sizes_of([1, 2, 3, 4], &ask) }
  end

  def test_connections_of_threads
    2.times { sizes_of([1, 2, 3, 4]) { |id| User.find(id).name } }
    schema = schemas_of(4).last
    answers = Array.new(4) do
      Thread.new { ActiveRecord::Base.connection_pool.with_connection { answers_of(schema, [1, 2, 3, 4]) { |id| User.find(id).name } } }
    end
    assert_equal [["user 1", "user 2", "user 3", "user 4"]] * 4, answers.map(&:value)
  end

  # Nor has another database, or server, another connection's types.
  def test_a_type_that_has_changed_for_the_new_connection
    connection.execute("CREATE EXTENSION IF NOT EXISTS citext; CREATE TABLE changing (name text); INSERT INTO changing VALUES ('A'), ('b'), ('c')")
    asks = [->(value) { connection.select_all("SELECT name FROM changing WHERE name = $1 ORDER BY 1", "Ask", [ActiveRecord::Relation::QueryAttribute.new("v", value, ActiveModel::Type::String.new)], preparable: true).rows },
            ->(value) { connection.select_rows("SELECT name FROM changing WHERE name = '#{value}' ORDER BY 1") }]
    asks.each { |ask| 2.times { sizes_of(%w[a b A B C], &ask) } }
    connection.execute("ALTER TABLE changing ALTER name TYPE citext")
    connection.reconnect!
    asks.each { |ask| 3.times { sizes_of(%w[a b A B C], &ask) && assert_equal([[["A"]], [["b"]], [["A"]], [["b"]], [["c"]]], @answers) } }
  ensure
    connection.execute("DROP TABLE changing")
  end

  # A guess that doesn't come true isn't used, however the columns look.
  def test_a_wrong_guess
    learned = Pipeloader::Learned.of(connection.pool)
    [[[25], ["n"]], [[20, 23], ["n"]], [[20], ["m"]], [[20], %w[n n]], [[], []]].each_with_index do |(types, columns), index|
      sql = "SELECT id AS n FROM posts WHERE id = $1 AND #{index} = #{index}"
      learned.learn(connection.send(:sql_key, sql), Pipeloader::Statement::Description.new(types, columns))
      2.times do
        sizes_of([1, 2, 3, 4]) { |id| ask(sql, id).to_a }
        assert_equal [1, 2, 3, 4].map { |id| [{ "n" => id }] }, @answers
      end
    end
  end

  # What the server won't have as one statement is tried once on each connection.
  def test_a_guess_that_is_refused
    ask = ->(id) { ask("SELECT 'x' AS a, $1::int AS n FROM posts WHERE missing = $1 LIMIT 1", id) }
    3.times { sizes_of([1, 2, 3, 4], &ask) }
    connection.reconnect!
    assert_equal ["PG::UndefinedColumn"] * 4, sizes_of([1, 2, 3, 4], &ask) && @answers.map { |it| it.cause.class.name }
  end

  # -- SQL that looks like ours ----------------------------------------------------------------------------------------

  # Names of ours, quotes, parameters in strings, comments.
  def test_sql_that_looks_like_ours
    assert_alike([1, 2]) { |id| ask("SELECT pipeloader_keys.id, '$1', $1::int AS \"$1\" FROM posts pipeloader_keys WHERE pipeloader_keys.id = $1", id) }
    assert_one([1, 2]) { |id| ask("SELECT n, '$1 it''s', n AS \"$1\" FROM (SELECT 2 AS n) AS pipeloader_rows WHERE n = $1", id) }
    assert_alike([1, 2]) { |id| ask("SELECT E'\\'$1', $1::int", id) }
    assert_alike([1, 2]) { |id| ask("SELECT $$ $1 $$, $1::int", id) }
    assert_alike([1, 2]) { |id| ask("SELECT $1::int;", id) }
    assert_one([1, 2]) { |id| ask("SELECT id AS a$5, a$2.id AS a$1 FROM posts a$2 WHERE id = $1 LIMIT $1", id) }
  end

  def test_with_and_union_and_values
    assert_one([1, 2]) { |id| ask("WITH a AS (SELECT id FROM posts WHERE author_id = $1) SELECT id FROM a UNION ALL SELECT id + 1 FROM a ORDER BY 1", id) }
    assert_one([1, 2]) { |id| ask("VALUES ($1::int, 'a'), (2, NULL)", id) }
    assert_one([1, 2]) { |id| ask("(SELECT id FROM posts WHERE author_id = $1 ORDER BY id LIMIT 2)", id) }
  end

  def test_patterns_stay_single
    assert_single(%w[post% user%]) { |pattern| ask("SELECT id FROM posts WHERE title LIKE $1 ORDER BY id", pattern) }
    assert_single(%w[^post ^user]) { |pattern| ask("SELECT id FROM posts WHERE title ~ $1 ORDER BY id", pattern) }
    assert_one([1, 2]) { |id| ask("SELECT id FROM posts WHERE title LIKE 'post%' AND id = $1", id) }
  end

  def test_locks_stay_single
    assert_single([1, 2]) { |id| Post.lock.find(id) }
    assert_single([1, 2]) { |id| ask("SELECT id FROM posts WHERE id = $1 FOR NO KEY UPDATE", id) }
  end

  def test_what_is_not_pure_stays_single
    connection.execute("CREATE SEQUENCE coalesced_seq")
    connection.execute("SELECT setval('coalesced_seq', 1, false)")
    schemas = schemas_of(3)
    3.times { |round| assert_equal((1..3).map { |n| (round * 3) + n }, answers_of(schemas.last, [0, 0, 0]) { |value| ask("SELECT nextval('coalesced_seq') + $1", value).rows.dig(0, 0) }) }
  ensure
    connection.execute("DROP SEQUENCE coalesced_seq")
  end

  # -- errors ----------------------------------------------------------------------------------------------------------

  def test_one_that_errs_fails_alone
    results, sizes = assert_alike([1, 0, 2, 3]) { |divisor| ask("SELECT 6 / $1::int AS n", divisor).rows.dig(0, 0) }
    assert_kind_of ActiveRecord::StatementInvalid, results[1]
    assert_equal [6, 3, 2], results.values_at(0, 2, 3)
    assert_equal [4, 1, 1, 1, 1], sizes
    # The next ones are tried together again.
    _, sizes = assert_alike([1, 2, 3]) { |divisor| ask("SELECT 6 / $1::int AS n", divisor).rows.dig(0, 0) }
    assert_equal [3], sizes
  end

  def test_out_of_range_and_invalid
    assert_alike([1, 2**40, 2]) { |value| ask("SELECT $1::int AS n", value) }
    assert_alike(%w[a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 nonsense]) { |value| ask("SELECT $1::uuid", value) }
    assert_alike([1, 2, 3]) { |value| ask("SELECT missing FROM posts WHERE id = $1", value) }
  end

  def test_an_error_leaves_no_names_behind
    before = connection.select_value("SELECT count(*) FROM pg_prepared_statements")
    5.times { answers_of(schemas_of(3).last, [1, 0, 2]) { |divisor| ask("SELECT 7 / $1::int AS n", divisor) } }
    assert_operator connection.select_value("SELECT count(*) FROM pg_prepared_statements"), :<=, before + 3
  end

  # In a transaction what fails couldn't be sent again, unless that is undone: once something was written it isn't.
  def test_in_a_transaction
    rolled_back do
      _, sizes = assert_alike([1, 2, 3]) { |id| Post.find(id) }
      assert_equal [3], sizes
    end
    rolled_back do
      sizes = sizes_of([1, 2, 3]) do |id|
        Post.where(id: 0).update_all(title: "")
        Post.find(id)
      end
      assert_equal [[1], [1], [1]], sizes
    end
  end

  # The one for many is cancelled first, then each by itself, as it is serially.
  def test_statement_timeout
    2.times { answers_of(schemas_of(3).last, [1, 2, 3]) { |id| Post.find(id).title } }
    other = TestDatabase.connect
    other.exec("BEGIN; LOCK TABLE posts")
    connection.execute("SET statement_timeout = 50")
    results, = assert_alike([1, 2, 3]) { |id| Post.find(id).title }
    assert_equal [ActiveRecord::QueryCanceled] * 3, results.map(&:class)
  ensure
    connection.execute("RESET statement_timeout")
    other&.close
  end

  # -- what changes in between -----------------------------------------------------------------------------------------

  def test_deallocate_and_discard
    ["DEALLOCATE ALL", "DISCARD ALL", "DISCARD PLANS"].each do |sql|
      assert_one([1, 2, 3]) { |id| Post.find(id) }
      connection.raw_connection.exec(sql)
      schema = schemas_of(3).last
      3.times { assert_equal ["post 1", "post 2", "post 3"], answers_of(schema, [1, 2, 3]) { |id| Post.find(id).title } }
    end
  ensure
    connection.reconnect!
  end

  def test_a_type_that_changes
    [true, false].each do |prepared|
      ActiveRecord::Base.establish_connection(TestDatabase.hash(prepared_statements: prepared))
      connection.execute("CREATE EXTENSION IF NOT EXISTS citext; CREATE TABLE changing (name text); INSERT INTO changing VALUES ('A'), ('b')")
      ask = ->(value) { connection.select_all("SELECT name FROM changing WHERE name = $1 ORDER BY 1", "Ask", [ActiveRecord::Relation::QueryAttribute.new("v", value, ActiveModel::Type::String.new)], preparable: true).rows }
      schema = schemas_of(3).last
      2.times { assert_equal [[], [["b"]], [["A"]]], answers_of(schema, %w[a b A], &ask) }
      connection.execute("ALTER TABLE changing ALTER name TYPE citext; ALTER TABLE changing ADD other int")
      expected = %w[a b A].map(&ask)
      3.times { assert_equal expected, answers_of(schema, %w[a b A], &ask) }
    ensure
      connection.execute("DROP TABLE changing")
    end
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  WHOLE_ROWS = ->(id) { ActiveRecord::Base.lease_connection.select_all("SELECT * FROM changing WHERE id = $1", "Ask", [ActiveRecord::Relation::QueryAttribute.new("v", id, ActiveModel::Type::Value.new)], preparable: true).to_a }

  # The block's answers for all +values+, +times+ before and three times after the +change+.
  def assert_as_plain_after(change, values: [1, 2, 3], times: 1, canceled: false, &ask)
    connection.execute("CREATE EXTENSION IF NOT EXISTS citext; CREATE SCHEMA coalesced_tenant")
    connection.execute("CREATE TABLE changing AS SELECT id, 'a' || id AS a, 'b' || id AS b, chr(64 + id) AS name FROM generate_series(1, 3) id")
    schema = schemas_of(values.size).last
    times.times { answers_of(schema, values, &ask) }
    while_locked("changing") { answers_of(schema, values, &ask) } if canceled
    connection.execute(change)
    answers = Array.new(3) { answers_of(schema, values, &ask) }
    assert_equal [values.map(&ask)] * 3, answers, change
  ensure
    connection.execute("RESET search_path; DROP SCHEMA coalesced_tenant CASCADE; DROP TABLE changing")
    connection.reconnect!
  end

  def while_locked(table)
    other = TestDatabase.connect
    other.exec("BEGIN; LOCK TABLE #{table}")
    connection.execute("SET statement_timeout = 50")
    yield
  ensure
    connection.execute("RESET statement_timeout")
    other&.close
  end

  # What the server has said of the single one may be old by the time at which the one for many is prepared.
  def test_a_table_that_changes_before_there_is_one_for_many
    assert_as_plain_after("ALTER TABLE changing DROP a, ADD c int DEFAULT 7", &WHOLE_ROWS)
    assert_as_plain_after("ALTER TABLE changing RENAME a TO z", &WHOLE_ROWS)
    assert_as_plain_after("ALTER TABLE changing ALTER name TYPE citext", values: %w[a B c]) do |name|
      ask("SELECT name FROM changing WHERE name = $1", name, ActiveModel::Type::String.new).rows
    end
    assert_as_plain_after("ALTER TABLE changing ALTER name TYPE citext", values: %w[a B c]) do |name|
      ask("SELECT id FROM changing WHERE name = $1", name, ActiveModel::Type::String.new).rows
    end
    assert_as_plain_after("CREATE TABLE coalesced_tenant.changing AS SELECT id, b, a, name FROM changing; SET search_path TO coalesced_tenant", &WHOLE_ROWS)
  end

  # One that was canceled is prepared anew.
  def test_a_table_that_changes_before_there_is_another_one_for_many
    assert_as_plain_after("ALTER TABLE changing DROP a, ADD c int DEFAULT 7", times: 2, canceled: true, &WHOLE_ROWS)
  end

  # A name that is there no more isn't looked for in what is around the SQL.
  def test_a_column_that_goes
    connection.execute("CREATE TABLE changing AS SELECT id, id AS n, id AS p1 FROM generate_series(1::bigint, 3) id")
    schema = schemas_of(3).last
    ask = ->(id) { ask("SELECT n, p1 FROM changing WHERE id = $1", id).rows }
    2.times { assert_equal [[[1, 1]], [[2, 2]], [[3, 3]]], answers_of(schema, [1, 2, 3], &ask) }
    connection.execute("ALTER TABLE changing RENAME n TO m; ALTER TABLE changing RENAME p1 TO p2")
    3.times { assert_equal ["PG::UndefinedColumn"] * 3, answers_of(schema, [1, 2, 3], &ask).map { |it| it.cause.class.name } }
  ensure
    connection.execute("DROP TABLE changing")
  end

  def test_search_path
    connection.execute("CREATE SCHEMA coalesced_tenant; CREATE TABLE coalesced_tenant.posts (LIKE public.posts INCLUDING ALL); INSERT INTO coalesced_tenant.posts (id, title) VALUES (1, 'tenant 1'), (2, 'tenant 2')")
    schema = schemas_of(2).last
    %w[public coalesced_tenant public coalesced_tenant].each do |path|
      connection.schema_search_path = path
      expected = path == "coalesced_tenant" ? ["tenant 1", "tenant 2"] : ["post 1", "post 2"]
      2.times { assert_equal expected, answers_of(schema, [1, 2]) { |id| Post.find(id).title } }
    end
  ensure
    connection.schema_search_path = '"$user", public'
    connection.execute("DROP SCHEMA coalesced_tenant CASCADE")
  end

  # -- who gets what ---------------------------------------------------------------------------------------------------

  # Each read has objects of its own, as it has by itself.
  def test_identity
    schema = schemas_of(4).last
    2.times { @records = answers_of(schema, [1, 2, 1, 2]) { |id| Post.find_by(id: id) } }
    assert_equal 4, @records.map(&:object_id).uniq.size
    @records.first.title << " changed"
    assert_equal ["post 1 changed", "post 2", "post 1", "post 2"], @records.map(&:title)
    2.times { @rows = answers_of(schema, [1, 2, 1, 2]) { |id| ask("SELECT title FROM posts WHERE id = $1", id).rows } }
    @rows.first[0][0] << " changed"
    assert_equal ["post 1 changed", "post 2", "post 1", "post 2"], @rows.flatten
  end

  # A Time can be changed in place, too.
  def test_identity_of_times
    connection.execute("CREATE TABLE timed AS SELECT n AS id, timestamp '2024-01-01' + n * interval '1 day' AS moment FROM generate_series(1, 2) n")
    schema = schemas_of(4).last
    2.times { @rows = answers_of(schema, [1, 2, 1, 2]) { |id| ask("SELECT moment FROM timed WHERE id = $1", id).rows } }
    @rows.first[0][0].localtime("+05:00")
    assert_equal [18_000, 0, 0, 0], @rows.map { |rows| rows[0][0].utc_offset }
  ensure
    connection.execute("DROP TABLE timed")
  end

  def test_options
    query = schemas_of(3).last.query
    schema = Class.new(GraphQL::Schema) { query(query); use Pipeloader, coalesce: false }
    inherited = Class.new(schema)
    [schema, inherited].each do |it|
      events = WireCounter.events("burst.pipeloader") { 2.times { answers_of(it, [1, 2, 3]) { |id| Post.find(id) } } }
      assert_equal [[3, 3]] * 2, events.map { |event| [event[:reads].size, event[:statements]] }
    end
    _, sizes = assert_alike([1, 2, 3, 4]) { |id| id > 2 ? Pipeloader.uncoalesced { Post.find(id) } : Post.find(id) }
    assert_equal [1, 1, 2], sizes.sort
    assert_equal :outside, Pipeloader.uncoalesced { :outside }
  end

  def test_three_are_needed
    replace_from(3)
    assert_single([1, 2]) { |id| Post.find(id) }
    assert_one([1, 2, 3]) { |id| Post.find(id) }
  ensure
    replace_from(2)
  end

  # Results are bounded: what single ones have brought says how many go together.
  def test_big_rows_go_in_parts
    reads = (1..40).to_a
    connection.execute("CREATE TABLE big AS SELECT repeat('x', 500000) AS text, n FROM generate_series(1, 40) n")
    _, sizes = assert_alike(reads) { |n| ask("SELECT text, n FROM big WHERE n = $1", n).rows.dig(0, 1) }
    assert_operator sizes.max, :<=, 8
    assert_operator sizes.max, :>=, 2
  ensure
    connection.execute("DROP TABLE IF EXISTS big")
  end

  # What they bring together tells as much as what single ones did.
  def test_rows_that_grow
    reads = (1..200).to_a
    connection.execute("CREATE TABLE big AS SELECT CASE WHEN n > 3 THEN repeat('x', 100000) END AS text, n FROM generate_series(1, 200) n")
    ask = ->(n) { ask("SELECT text, n FROM big WHERE n = $1", n).rows.dig(0, 1) }
    2.times { answers_of(schemas_of(3).last, [1, 2, 3], &ask) }
    assert_equal reads, answers_of(schemas_of(200).last, reads, &ask)
    _, sizes = assert_alike(reads, &ask)
    assert_operator sizes.max, :<=, 60
    assert_operator sizes.size, :<=, 10
  ensure
    connection.execute("DROP TABLE IF EXISTS big")
  end

  # The plan of each read is that of the single one, however many there are.
  def test_plans
    connection.execute("SET enable_seqscan = on")
    connection.execute("CREATE TABLE planned AS SELECT n AS id, n % 1000 AS parent FROM generate_series(1, 20000) n")
    connection.execute("ALTER TABLE planned ADD PRIMARY KEY (id); CREATE INDEX ON planned (parent); ANALYZE planned")
    {
      "SELECT * FROM planned WHERE id = $1" => "Index Scan", "SELECT * FROM planned WHERE parent = $1" => "Index Scan|Bitmap",
      "SELECT * FROM planned WHERE parent = $1 ORDER BY id LIMIT 3" => "Index Scan|Bitmap", "SELECT count(*) FROM planned WHERE parent = $1" => "Index|Bitmap"
    }.each do |sql, scan|
      [3, 10_000].each do |reads|
        wrapped = Pipeloader::Shape.new(sql, "a1", Pipeloader::Statement::Description.new([23], []), {}).wrap(Array.new(reads) { |n| [n] })
        plan = wrapped.sql.sub("$1", "'#{wrapped.params.first}'::int[]")
        plan = connection.select_values("EXPLAIN #{plan}").join("\n")
        assert_match(/#{scan}/, plan)
        refute_match(/Seq Scan on planned/, plan)
      end
    end
  ensure
    connection.execute("DROP TABLE IF EXISTS planned; RESET enable_seqscan")
  end
end
