# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/comparison"

# Every common type of PostgreSQL comes through the pipeline as it comes without it, class included: as attributes of
# models, by pluck and select_all, as a parameter, and as NULL.
class TypesTest < PipeloaderTest
  # {column type => SQL of its values}
  TYPES = {
    "numeric" => ["0", "-12345678901234567890.123456789", "'NaN'", "1e100", "'Infinity'"],
    "numeric(10,2)" => ["1.5", "-0.01"],
    "numeric(10,0)" => ["42"],
    "double precision" => ["0.1", "-1e300", "'NaN'", "'Infinity'", "'-Infinity'"],
    "real" => ["0.1", "'NaN'", "'-Infinity'"],
    "bigint" => ["9223372036854775807", "-9223372036854775808"],
    "integer" => ["2147483647", "-1"],
    "smallint" => ["32767", "-32768"],
    "oid" => ["4294967295"],
    "boolean" => %w[true false],
    "text" => ["''", "'a'", "E'\\n\\t\\\\'", "'ü漢🙂'", "repeat('x', 100000)", "'NULL'"],
    "varchar" => ["'v'", "' padded '"],
    "varchar(5)" => ["'five5'"],
    "char(4)" => ["'c'"],
    "citext" => ["'CiText'"],
    "name" => ["'a name'"],
    "timestamptz" => ["'2024-02-29 23:59:59.999999+05:30'", "'infinity'", "'-infinity'", "'0044-03-15 12:00:00+00 BC'"],
    "timestamp" => ["'2024-02-29 23:59:59.123456'", "'2024-07-01 12:00:00'", "'infinity'", "'-infinity'", "'0044-03-15 12:00:00 BC'"],
    "timestamp(3)" => ["'2024-01-01 00:00:00.123'"],
    "date" => ["'2024-02-29'", "'infinity'", "'-infinity'", "'0044-03-15 BC'"],
    "time" => ["'23:59:59.999'", "'00:00'"],
    "timetz" => ["'12:30:00+02'"],
    "interval" => ["'1 year 2 months 3 days 04:05:06.789'", "'-1 day'", "'0'"],
    "json" => ["'{\"b\": [1, 2.5, null], \"a\": {}}'", "'null'", "'\"text\"'", "'1'"],
    "jsonb" => ["'{\"b\": [1, 2.5, null], \"a\": {}}'", "'null'", "'[]'", "'true'"],
    "integer[]" => ["'{1,NULL,3}'", "'{}'", "'{{1,2},{3,4}}'"],
    "text[]" => ["'{a,\"b c\",NULL,\"NULL\",\"\"}'", "ARRAY['\"', '\\', ',', '{}']"],
    "timestamptz[]" => ["ARRAY['2024-01-01 00:00:00+00'::timestamptz, NULL]"],
    "numeric[]" => ["'{1.10,NaN}'"],
    "jsonb[]" => ["ARRAY['{\"a\": 1}'::jsonb, 'null'::jsonb]"],
    "uuid" => ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"],
    "mood" => ["'happy'", "'so so'"],
    "mood[]" => ["'{happy,NULL}'"],
    "int4range" => ["'[1,5)'", "'empty'", "'(,)'", "'[3,)'"],
    "int8range" => ["'(1,5]'"],
    "numrange" => ["'[1.5,2.5]'"],
    "tstzrange" => ["'[2024-01-01 00:00:00+00, 2024-02-01 00:00:00+00)'", "'[2024-01-01 00:00:00+00, infinity)'", "'empty'"],
    "tsrange" => ["'[2024-01-01 00:00:00,)'"],
    "daterange" => ["'[2024-01-01,2024-02-01)'", "'(,2024-01-01)'"],
    "floatrange" => ["'[1.0,2.5)'"],
    "inet" => ["'192.168.1.5/24'", "'::1'"],
    "cidr" => ["'10.0.0.0/8'"],
    "macaddr" => ["'08:00:2B:01:02:03'"],
    "bytea" => ["'\\x'", "'\\x00ff5c27'", "decode(repeat('00ff', 50000), 'hex')"],
    "bit(3)" => ["B'101'"],
    "bit varying" => ["B'1'", "B''"],
    "point" => ["'(1.5,-2)'"],
    "box" => ["'((1,1),(0,0))'"],
    "path" => ["'[(0,0),(1,1)]'"],
    "circle" => ["'<(1,2),3>'"],
    "money" => ["'$1,234.56'", "'-$0.01'"],
    "xml" => ["'<a b=\"c\">d</a>'"],
    "tsvector" => ["to_tsvector('simple', 'a fat cat')"],
    "tsquery" => ["'fat & cat'"],
    "hstore" => ["'a=>1, b=>NULL, \"c d\"=>\"e\\\"f\"'", "''"],
    "positive" => ["7"],
    "email" => ["'a@b'"],
    "pair" => ["ROW(1, 'two')"],
    "pair[]" => ["ARRAY[ROW(1, 'two')::pair]"],
    "pg_lsn" => ["'16/B374D848'"],
    "ltree_like" => ["'a.b'"]
  }.freeze

  COLUMNS = TYPES.keys.each_with_index.to_h { |type, index| [type, "c#{index}"] }.freeze

  DEFINITIONS = <<~SQL
    CREATE EXTENSION IF NOT EXISTS citext;
    CREATE EXTENSION IF NOT EXISTS hstore;
    CREATE TYPE mood AS ENUM ('happy', 'so so', 'sad');
    CREATE TYPE pair AS (number integer, word text);
    CREATE TYPE floatrange AS RANGE (subtype = float8);
    CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
    CREATE DOMAIN email AS text;
    CREATE DOMAIN ltree_like AS email;
    CREATE TABLE typed (id serial PRIMARY KEY, #{COLUMNS.map { |type, column| "#{column} #{type}" }.join(", ")});
  SQL

  class Typed < ActiveRecord::Base
    self.table_name = "typed"
    self.inheritance_column = nil
  end

  class << self
    def prepare
      @prepare ||= begin
        connection = TestDatabase.connect
        connection.exec("SET client_min_messages = warning")
        connection.exec(DEFINITIONS)
        connection.exec(rows)
        connection.close
        true
      end
    end

    private

    # As many rows as a type has values at most, and one with nothing but NULL.
    def rows
      values = (0..TYPES.values.map(&:size).max).map do |index|
        "(#{TYPES.map { |type, them| them[index] ? "(#{them[index]})::#{type}" : "NULL" }.join(", ")})"
      end
      "INSERT INTO typed (#{COLUMNS.values.join(", ")}) VALUES #{values.join(", ")}"
    end
  end

  def setup
    TypesTest.prepare
    capture_io { Typed.load_schema }
    # Where local time isn't UTC.
    @zone, ENV["TZ"] = ENV["TZ"], "America/New_York"
  end

  def teardown
    super
    ActiveRecord.default_timezone = :utc
    ENV["TZ"] = @zone
  end

  # @param options [Hash] for Schemas.resolve
  def assert_same_values(fields = 2, **options, &block)
    plain = piped = nil
    out, err = capture_io do
      plain, piped = Schemas.resolve(fields, **options) { |index| Comparison.of(instance_exec(index, &block)) }
    end
    assert_empty out
    # ActiveRecord says so of `pair`, once for each connection.
    assert_empty err.lines.grep_v(/unknown OID/)
    assert_equal plain, piped
    piped
  end

  # Makes ActiveRecord ask for types while it casts.
  def on_new_connections(**options)
    yield before: -> { ActiveRecord::Base.establish_connection(TestDatabase.hash(**options)) }
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  def test_attributes
    assert_same_values { |index| Typed.order(:id).offset(index).to_a }
  end

  # Each type on its own, so that none hides behind another.
  TYPES.each_key do |type|
    column = COLUMNS[type]
    define_method(:"test_#{type}") do
      values = assert_same_values(4) do |index|
        case index
        when 0 then Typed.order(:id).map { |it| it.public_send(column) }
        when 1 then Typed.order(:id).pluck(column)
        when 2 then Typed.connection.select_all("SELECT #{column}, #{column} AS again FROM typed ORDER BY id")
        when 3 then [Typed.connection.select_values("SELECT #{column} FROM typed ORDER BY id"), Typed.where(column => nil).count,
                     Typed.group(Arel.sql("#{column}::text")).count.size, Typed.maximum(Arel.sql("#{column}::text"))]
        end
      end
      refute_empty values.first.uniq - ["NilClass nil"]
    end
  end

  # What was read, as a parameter: each value finds its row again, or doesn't, in the same way.
  (TYPES.keys - %w[json xml point box path circle pair pair[] jsonb[]]).each do |type|
    column = COLUMNS[type]
    define_method(:"test_#{type}_as_parameter") do
      assert_same_values(3) do |index|
        value = Typed.order(:id).offset(index).limit(1).pluck(column).first
        [value, Typed.where(column => value).order(:id).ids, Typed.find_by(column => value)&.id, Typed.where(column => [value, nil]).count]
      rescue StandardError => e
        e
      end
    end
  end

  def test_aggregates
    assert_same_values(6) do |index|
      %w[numeric bigint integer smallint real numeric(10,2)].map { |type| COLUMNS[type] }[index].then do |column|
        %i[sum minimum maximum average].map { |name| Typed.where("#{column}::text <> 'NaN'").calculate(name, column) }
      end
    end
  end

  def test_grouped_by_each_type
    groupable = TYPES.keys - %w[json xml point box path circle pair[]]
    assert_same_values(groupable.size) { |index| Typed.group(COLUMNS[groupable[index]]).order(Arel.sql("COUNT(*), 1")).count }
  end

  def test_default_timezone_local
    ActiveRecord.default_timezone = :local
    assert_same_values(2) do |index|
      %w[timestamp timestamptz date time timestamp(3) tsrange tstzrange].map { |type| Typed.offset(index).order(:id).pluck(COLUMNS[type]) } +
        Typed.connection.select_rows("SELECT now() - now(), '2024-07-01 12:00'::timestamp, '2024-07-01 12:00'::timestamptz") +
        [Typed.where(COLUMNS["timestamp"] => Time.at(1_719_835_200)).count]
    end
  end

  # ActiveRecord tells the server too (SET SESSION timezone): that must come before the burst.
  def test_default_timezone_that_changes
    execute("ALTER DATABASE #{TestDatabase::NAME} SET timezone TO 'Asia/Tokyo'")
    runs = on_new_connections do |before:|
      before.call
      %i[utc local utc].map do |zone|
        assert_same_values(2, before: -> { switch_timezone_to(zone) }) do |_index|
          Typed.connection.select_rows("SELECT #{COLUMNS["timestamp"]}, timestamptz '2024-07-01 12:00+00'::text FROM typed ORDER BY id")
        end
      end
    end
    assert_equal runs.first, runs.last
    refute_equal runs.first, runs[1]
  ensure
    execute("ALTER DATABASE #{TestDatabase::NAME} RESET timezone")
  end

  def test_time_zone_aware_attributes
    aware = Class.new(Typed) { self.time_zone_aware_types = %i[datetime time] }
    aware.time_zone_aware_attributes = true
    Time.use_zone("Tokyo") { assert_same_values { |index| aware.order(:id).offset(index).to_a } }
    assert_same_values { |index| Time.use_zone(%w[Tokyo Lima][index]) { aware.order(:id).map { |it| it[COLUMNS["timestamptz"]] } } }
  end

  def test_attribute_types_of_models
    cast = Class.new(Typed) do
      attribute COLUMNS["integer"], :string
      attribute COLUMNS["text"], :integer
      attribute COLUMNS["jsonb"], :string
    end
    assert_same_values { |index| cast.order(:id).offset(index).map { |it| COLUMNS.values_at("integer", "text", "jsonb").map { |name| it[name] } } }
  end

  def test_new_connections
    on_new_connections do |before:|
      assert_same_values(3, before: before) { |index| Typed.order(:id).offset(index).to_a }
      assert_same_values(2, before: before) { |_index| Typed.connection.select_all("SELECT * FROM typed ORDER BY id") }
    end
  end

  def test_unprepared
    on_new_connections(prepared_statements: false) do |before:|
      assert_same_values(before: before) { |index| Typed.order(:id).offset(index).to_a }
      assert_same_values(before: before) { |index| Typed.where(id: index + 1).pluck(*COLUMNS.values) }
    end
  end

  # Types that came into being after the connection: ActiveRecord asks for them while it casts, when the pipeline is closed.
  def test_types_that_the_connection_does_not_know
    on_new_connections do |before:|
      late = lambda do
        before.call
        Typed.connection.select_value("SELECT 1")
        execute("DROP TYPE IF EXISTS late", "CREATE TYPE late AS ENUM ('sooner', 'later')")
      end
      values = assert_same_values(3, before: late) do |_index|
        Typed.connection.select_all("SELECT 'later'::late AS a, ARRAY['sooner'::late] AS b, ROW(1, 2) AS c")
      end
      assert_equal 3, values.size
    end
  ensure
    execute("DROP TYPE late")
  end

  def test_through_graphql
    column = COLUMNS.slice("numeric(10,2)", "double precision", "timestamptz", "date", "jsonb", "uuid", "boolean", "bigint", "text[]")
    json = GraphQL::Types::JSON
    typed = Class.new(GraphQL::Schema::Object) do
      graphql_name "Typed"
      column.each { |type, name| field(:"t#{name}", json, resolver_method: :"t#{name}") && define_method(:"t#{name}") { object[name].to_s.then { |it| [type, it] } } }
    end
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :all, [typed]
      def all = Typed.order(:id)
    end
    assert_same_answer("{ all { #{column.values.map { |name| "t#{name}" }.join(" ")} } }", Schemas.make(query: query, mutation: nil))
  end

  private

  def switch_timezone_to(zone)
    ActiveRecord.default_timezone = zone == :utc ? :local : :utc
    Typed.count
    ActiveRecord.default_timezone = zone
  end

  def execute(*statements)
    connection = TestDatabase.connect
    connection.exec("SET client_min_messages = warning")
    statements.each { |sql| connection.exec(sql) }
  ensure
    connection.close
  end
end
