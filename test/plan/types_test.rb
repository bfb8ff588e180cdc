# frozen_string_literal: true

require_relative "../support/plans"

# Every column type, as every scalar, nullable and not, NULL and not: the same values, and the same errors.
class PlanTypesTest < PlanTest
  # {column type => SQL of its values}
  COLUMNS = {
    "text" => ["'ü漢🙂'", "''", "'12'", "E'\\n\\\\\"'", "'2024-02-29T12:00:00Z'"],
    "varchar" => ["'v'", "' padded '", "'happy'"],
    "varchar(5)" => ["'five5'"],
    "char(4)" => ["'c'"],
    "citext" => ["'CiText'"],
    "name" => ["'a name'"],
    "smallint" => ["32767", "0"],
    "integer" => ["2147483647", "-2147483648"],
    "bigint" => ["7", "2147483648", "-9223372036854775808"],
    "oid" => ["4294967295"],
    "numeric" => ["0", "1e30", "'NaN'", "-0.000001"],
    "numeric(10,2)" => ["1.5", "-0.01"],
    "numeric(10,0)" => ["42"],
    "double precision" => ["0.1", "-1e300", "'NaN'", "'Infinity'"],
    "real" => ["0.1", "'-Infinity'"],
    "boolean" => %w[true false],
    "timestamp" => ["'2024-02-29 23:59:59.123456'", "'infinity'", "'0044-03-15 12:00:00 BC'"],
    "timestamp(3)" => ["'2024-01-01 00:00:00.123'"],
    "timestamptz" => ["'2024-02-29 23:59:59.999999+05:30'", "'-infinity'"],
    "date" => ["'2024-02-29'", "'infinity'", "'0044-03-15 BC'"],
    "time" => ["'23:59:59.999'"],
    "interval" => ["'1 year 2 months 3 days 04:05:06.789'", "'0'"],
    "json" => ["'{\"b\": [1, 2.5, null], \"a\": {}}'", "'null'", "'[\"a\", null]'", "'1'"],
    "jsonb" => ["'{\"b\": [1, 2.5, null], \"a\": {}}'", "'null'", "'[1, 2]'", "'\"text\"'", "'[[1], [2, 3]]'"],
    "uuid" => ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"],
    "integer[]" => ["'{1,NULL,3}'", "'{}'", "'{{1,2},{3,4}}'", "'{1,2}'"],
    "bigint[]" => ["'{9223372036854775807}'"],
    "text[]" => ["'{a,\"b c\",NULL,\"NULL\",\"\"}'", "ARRAY['\"', '\\', ',']"],
    "timestamptz[]" => ["ARRAY['2024-01-01 00:00:00+00'::timestamptz]"],
    "boolean[]" => ["'{t,f}'"],
    "feeling" => ["'happy'", "'so so'"],
    "feeling[]" => ["'{happy,NULL}'"],
    "bytea" => ["'\\x'", "'\\x00ff5c27'", "'abc'"],
    "inet" => ["'192.168.1.5/24'", "'::1'"],
    "cidr" => ["'10.0.0.0/8'"],
    "macaddr" => ["'08:00:2B:01:02:03'"],
    "int4range" => ["'[1,5)'", "'empty'"],
    "bit(3)" => ["B'101'"],
    "point" => ["'(1.5,-2)'"],
    "money" => ["'$1,234.56'"],
    "xml" => ["'<a/>'"],
    "tsvector" => ["to_tsvector('simple', 'a fat cat')"],
    "hstore" => ["'a=>1, b=>NULL'"]
  }.freeze
  NAMES = COLUMNS.keys.each_with_index.to_h { |type, index| [type, "c#{index}"] }.freeze

  connection = TestDatabase.connect
  connection.exec("SET client_min_messages = warning")
  connection.exec(<<~SQL)
    CREATE EXTENSION IF NOT EXISTS citext;
    CREATE EXTENSION IF NOT EXISTS hstore;
    CREATE TYPE feeling AS ENUM ('happy', 'so so', 'sad');
    CREATE TABLE plan_values (id serial PRIMARY KEY, #{NAMES.map { |type, name| "#{name} #{type}" }.join(", ")});
    #{(0..COLUMNS.values.map(&:size).max).map do |row|
      "INSERT INTO plan_values (#{NAMES.values.join(", ")}) VALUES (#{COLUMNS.map { |type, them| them[row] ? "(#{them[row]})::#{type}" : "NULL" }.join(", ")});"
    end.join("\n")}
  SQL
  connection.close

  class PlanValue < ActiveRecord::Base
    self.inheritance_column = nil
  end

  class Feeling < GraphQL::Schema::Enum
    value "HAPPY", value: "happy"
    value "SO_SO", value: "so so"
  end

  # A scalar that leaves values as they are.
  class Anything < GraphQL::Schema::Scalar; end

  # Descends from a built-in one.
  class Email < GraphQL::Types::String
    graphql_name "Email"
    default_scalar false
  end

  SCALARS = {
    string: GraphQL::Types::String, id: GraphQL::Types::ID, int: GraphQL::Types::Int, float: GraphQL::Types::Float,
    boolean: GraphQL::Types::Boolean, big: GraphQL::Types::BigInt, time: GraphQL::Types::ISO8601DateTime, date: GraphQL::Types::ISO8601Date,
    duration: GraphQL::Types::ISO8601Duration, json: GraphQL::Types::JSON, enum: Feeling, anything: Anything, email: Email
  }.freeze

  # {"null" => …}: of what a scalar is made.
  FORMS = {
    null: ->(name, of) { [name, of, { null: true }] }, full: ->(name, of) { [name, of, { null: false }] },
    list: ->(name, of) { [name, [of], { null: true }] }, loose: ->(name, of) { [name, [of, { null: true }], { null: false }] },
    lists: ->(name, of) { [name, [[of]], { null: true }] }
  }.freeze

  VALUE = Class.new(GraphQL::Schema::Object) do
    graphql_name "Value"
    field :id, GraphQL::Types::ID, null: false
    NAMES.each_value do |column|
      FORMS.each do |form, make|
        SCALARS.each do |scalar, of|
          name, its_type, options = make.call(:"#{column}_#{scalar}_#{form}", of)
          field(name, its_type, camelize: false, method: column.to_sym, **options)
        end
      end
    end
  end

  QUERY = Class.new(GraphQL::Schema::Object) do
    graphql_name "Query"
    field :values, [VALUE] do
      argument :id, GraphQL::Types::ID, required: false
    end
    field :records, [VALUE]
    def values(id: nil) = id ? PlanValue.where(id: id).order(:id) : PlanValue.order(:id)
    def records = PlanValue.order(:id).to_a
  end

  # In graphql 2.5.2 what a handler makes of a scalar's error ends the response; and where there is a GraphQL::Dataloader, as with
  # Pipeloader, it leaves `execute`.
  ALIKE = GraphQL::VERSION.start_with?("2.5.") ? -> { use(GraphQL::Dataloader) } : -> {}

  # Errors are listed, and one doesn't hide others.
  TOLERANT = make(query: QUERY) { instance_exec(&ALIKE) }
  STRICT = Schemas.make(query: QUERY, mutation: nil, pipeloader: { compile: true })

  NAMES.each do |column_type, column|
    define_method(:"test_#{column_type.gsub(/\W+/, "_")}_as_everything") do
      planned = 0
      SCALARS.each_key do |scalar|
        (column_type.match?(/\[|json|text|integer/) ? FORMS.keys : %i[null full]).each do |form|
          query = "{ values { id #{column}_#{scalar}_#{form} } }"
          records = assert_same(query, TOLERANT)
          planned += 1 if records.empty?
        end
      end
      # In one row at least each fits its own scalar; the plan has been there.
      assert_operator planned, :>=, 5
    end
  end

  # As many in one response as don't end it for the others.
  def test_each_row_by_itself
    (1..6).each_slice(GraphQL::VERSION.start_with?("2.5.") ? 1 : 6) do |ids|
      NAMES.each_value.to_a.product(%i[string int float enum]) do |column, scalar|
        assert_same("{ #{ids.map { |id| "row#{id}: values(id: #{id}) { #{column}_#{scalar}_full }" }.join(" ")} }", TOLERANT)
      end
    end
  end

  def test_what_is_raised_without_a_handler
    NAMES.each_value { |column| %i[int float time enum].each { |scalar| assert_same("{ values { #{column}_#{scalar}_null } }", STRICT) } }
  end

  def test_loaded_records
    NAMES.each_value do |column|
      %i[string id int float time json enum].each { |scalar| assert_same("{ records { #{column}_#{scalar}_null } }", TOLERANT) }
      assert_same("{ records { #{column}_string_loose } }", TOLERANT)
    end
  end

  def test_all_columns_at_once
    fields = NAMES.values.map { |column| "#{column}_anything_null" }.join(" ")
    assert_same("{ values { #{fields} } }", TOLERANT)
    assert_same("{ values { id #{fields} } records { #{fields} } }", TOLERANT)
  end

  def test_without_prepared_statements
    on_connection(prepared_statements: false) { NAMES.each_value { |column| assert_same("{ values { #{column}_string_null #{column}_json_null } }", TOLERANT) } }
  end

  def test_time_zones
    aware = Class.new(PlanValue) { self.table_name = "plan_values" }
    aware.time_zone_aware_attributes = true
    aware.skip_time_zone_conversion_for_attributes = []
    times = NAMES.values_at("timestamp", "timestamptz", "date", "time", "timestamptz[]")
    schemas = schemas({ values: [[VALUE], -> { aware.order(:id) }] }) { instance_exec(&ALIKE) }
    Time.use_zone("Tokyo") do
      times.each { |column| %i[string time json].each { |scalar| assert_same("{ values { #{column}_#{scalar}_null } }", schemas) } }
    end
    ActiveRecord.default_timezone = :local
    times.each { |column| assert_same("{ values { #{column}_string_null #{column}_anything_null } }", schemas) }
  ensure
    ActiveRecord.default_timezone = :utc
  end

  # Values' classes and encodings, and whether they may be changed.
  def test_values_as_ruby_has_them
    fields = NAMES.values.map { |column| "#{column}_anything_null #{column}_json_null" }.join(" ")
    plain, piped = TOLERANT.map { |schema| leaves(schema.execute("{ values { id #{fields} } }").to_h) }
    assert_equal plain, piped
  end

  # What a text is, that isn't one, or isn't canonical, ActiveRecord decides.
  class Token < ActiveRecord::Base
    self.table_name = "plan_tokens"
    attribute :token, :uuid
    attribute :tokens, :uuid, array: true
    belongs_to :holder, class_name: "PlanTypesTest::Holder", optional: true
    def label = "token #{token}"
  end

  class Holder < ActiveRecord::Base
    self.table_name = "plan_holders"
    has_many :tokens, -> { order(:id) }, class_name: "PlanTypesTest::Token"
  end

  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:plan_holders) { |t| t.string :name }
    create_table(:plan_tokens) { |t| t.text :token; t.text :tokens, array: true; t.uuid :real; t.bigint :holder_id }
  end
  Holder.insert_all!([{ id: 1 }])
  uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
  connection = TestDatabase.connect
  [uuid, uuid.upcase, "{#{uuid}}", uuid.delete("-"), "none", "", nil].each do |text|
    connection.exec_params("INSERT INTO plan_tokens (token, tokens, real, holder_id) VALUES ($1, ARRAY[$1], $2, 1)", [text, uuid.upcase])
  end
  connection.close

  def test_uuids_over_a_column_of_texts
    token = type("Token") do
      field :token, String
      field :id, GraphQL::Types::ID, method: :token
      field :tokens, [String, { null: true }]
      field :real, String
      field :label, String
    end
    holder = type("Holder") do
      field :least, String
      field :listed, [String, { null: true }]
      field :tokens, [token]
      def least = object.tokens.minimum(:token)
      def listed = object.tokens.pluck(:token)
    end
    roots = { all: [[token], -> { Token.order(:id) }], holders: [[holder], -> { Holder.order(:id) }] }
    [false, true].each do |narrowed|
      schemas = schemas(roots, pipeloader: { field_exact: narrowed })
      ["{ all { token id tokens real label } }", "{ holders { tokens { token real label } } }", "{ holders { least } }", "{ holders { listed } }"].each { |it| assert_same(it, schemas) }
      assert_plan("{ all { token id tokens real } }", schemas)
    end
  end

  private

  def leaves(value)
    case value
    when Hash then value.transform_values { |it| leaves(it) }
    when Array then value.map { |it| leaves(it) }
    else [value.class, (value.encoding if value.is_a?(String)), value.frozen?]
    end
  end

  def assert_same(query, schemas)
    plain = outcome { schemas.first.execute(query).to_h }.inspect.gsub(/0x[0-9a-fX]{6,}/, "0x")
    piped = nil
    records = instantiated { piped = outcome { schemas.last.execute(query).to_h }.inspect.gsub(/0x[0-9a-fX]{6,}/, "0x") }
    assert_equal plain, piped, query
    records
  end

  def on_connection(**options)
    ActiveRecord::Base.establish_connection(TestDatabase.hash(**options))
    yield
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end
end
