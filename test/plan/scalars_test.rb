# frozen_string_literal: true

require_relative "../support/pages"
require_relative "../wire/subprocess"

# Scalars of the application's whose `coerce_result` only computes from the value; and graphql-ruby's own.
class ScalarsTest < PlanTest
  include Subprocess

  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:scalar_shops) { |t| t.string :name }
    create_table(:scalar_items) do |t|
      t.string :title; t.datetime :made; t.date :due; t.integer :score; t.bigint :big; t.decimal :price, precision: 10, scale: 2; t.jsonb :data; t.json :old
      t.string :tags, array: true; t.datetime :times, array: true; t.integer :numbers, array: true; t.interval :span; t.inet :net; t.boolean :flag; t.string :packed; t.bigint :shop_id
    end
  end

  class Shop < ActiveRecord::Base
    self.table_name = "scalar_shops"
    has_many :items, -> { order(:id) }, class_name: "ScalarsTest::Item"
  end

  class Item < ActiveRecord::Base
    self.table_name = "scalar_items"
    belongs_to :shop, class_name: "ScalarsTest::Shop", optional: true
    serialize :packed, coder: JSON
    def label = "#{title}: #{score}"
  end

  Shop.insert_all!([{ id: 1, name: "one" }, { id: 2, name: "two" }])
  at = Time.utc(2024, 2, 29, 23, 59, 59.5)
  Item.insert_all!([
    { id: 1, title: "first", made: at, due: "2024-02-29", score: 3, big: 2**40, price: "1.50", data: { a: [1, nil], "b" => { "c" => 2.5 } }, old: [1, { x: nil }],
      tags: ["a", nil, "ü"], times: [at, nil], numbers: [1, 2], span: "P1DT2H", net: "10.0.0.1", flag: true, shop_id: 1 },
    { id: 2, title: "ü漢", made: at - 1e8, due: "1999-12-31", score: -7, big: -1, price: "0", data: "text", old: "t", tags: [], times: [], numbers: [], span: "PT0S", net: "::1", flag: false, shop_id: 1 },
    { id: 3, title: "", made: at + 1, due: "2024-03-01", score: 0, big: 0, price: "-3.25", data: [], old: {}, tags: ["x"], times: [at], numbers: [3], span: "P1Y", net: "::1", flag: true, shop_id: 2 }
  ])
  EMPTY = Item.create!(id: 4).id

  SCALAR_WORDS = %w[zero one].freeze
  SCALAR_STYLE = "%Y/%m/%d"
  SCALAR_ZONE = "America/New_York"
  CHANGING = +"%Y"

  def self.keep(value) = (@kept ||= []) << value
  def self.kept = @kept

  # {name => [code, columns of which it is the scalar, whether a plan does it]}
  CODES = {
    text: ["value.to_s", %i[title made due score big price data old tags flag numbers span], true],
    loud: ["value.to_s.upcase", %i[title score], true],
    as_it_is: ["value", %i[title made due score price data flag], true],
    stamp: ["value.iso8601", %i[made due], true],
    year: ["value&.strftime(\"%Y\")", %i[made due], true],
    styled: ["value.strftime(SCALAR_STYLE)", %i[made due], true],
    money: ["format(\"%.2f EUR\", value)", %i[price score], true],
    sprinted: ["sprintf(\"%s-%p\", value, value)", %i[title score tags], true],
    percent: ["\"%05.1f\" % value", %i[price score], true],
    conditional: ["value.to_i.positive? ? \"+\#{value}\" : (value.to_i.zero? ? nil : value.to_s)", %i[score big price], true],
    cased: ["case value when 3 then :three when String then 1.5 else \"other\" end", [], :any],
    chosen: ["case value when 3 then :three when 0 then 1.5 else \"other\" end", %i[score title], true],
    variable: ["text = value.to_s; text = text.strip; text.presence || \"none\"", %i[title score], true],
    parts: ["[value.to_s, { \"size\" => value.to_s.size }]", %i[title score], true],
    helped: ["shown(value, \"!\")", %i[title score], true],
    named: ["value.to_s + graphql_name", %i[title], false],
    mapped: ["value.to_a.map(&:to_s).join(\"|\")", %i[tags numbers], true],
    words: ["SCALAR_WORDS[value.to_i.abs % 2]", %i[score big], true],
    null: ["nil", %i[title], true],
    failing: ["100 / value.to_i", %i[score big price], true],
    missing: ["value.strftime(\"%Y\")", %i[title score], true],
    changing: ["value.strftime(CHANGING)", %i[made], false],
    changed: ["value.to_s << \"!\"", %i[title], false],
    upcased: ["value.upcase!; value", %i[title], false],
    utc: ["value.utc.to_s", %i[made], false],
    kept: ["ScalarsTest.keep(value); value.to_s", %i[title], false],
    ivar: ["@seen = value; value.to_s", %i[title], false],
    memo: ["(@prefix ||= \"p\") + value.to_s", %i[title], false],
    variable_of_class: ["@@prefix = value.to_s; @@prefix", %i[title], false],
    global: ["$scalars.to_s + value.to_s", %i[title], false],
    clock: ["value.to_s + (Time.now.year > 1 ? \"!\" : \"\")", %i[title], false],
    zone: ["value.in_time_zone.to_s", %i[made], false],
    of_a_zone: ["value.in_time_zone(\"Europe/London\").iso8601", %i[made due title score], true],
    of_a_zone_if_any: ["value&.in_time_zone(SCALAR_ZONE)&.iso8601", %i[made due], true],
    of_its_own_zone: ["value.in_time_zone(value.to_s.presence).to_s", %i[made], false],
    service: ["Shop.count.to_s + value.to_s", %i[title], false],
    of_context: ["\"\#{context[:mark]}\#{value}\"", %i[title], false],
    of_context_in_a_block: ["[value].map { |it| \"\#{context[:mark]}\#{it}\" }.first", %i[title], false],
    tests_context: ["context ? value.to_s : nil", %i[title], false],
    hands_on: ["shown(value, context.to_s.size.to_s)", %i[title], false],
    sets_context: ["context = value; context.to_s", %i[title], false],
    super_first: ["super.to_s", %i[title], false],
    own_self: ["self.to_s.size.to_s + value.to_s", %i[title], false],
    rescued: ["begin; value.strftime(\"%Y\"); rescue NoMethodError; nil; end", %i[title], false],
    raising: ["raise GraphQL::CoercionError, \"never\"", %i[title], false],
    looping: ["value.to_s.each_char { |it| it }", %i[title], false],
    random: ["value.to_s + rand(1).to_s", %i[title], false],
    compared: ["value.equal?(value).to_s", %i[title], false]
  }.freeze

  SCALARS = CODES.to_h do |name, (code)|
    [name, Class.new(GraphQL::Schema::Scalar) do
      graphql_name "Scalar#{name.to_s.camelize}"
      class_eval("def self.coerce_result(value, context) = (#{code})", __FILE__, __LINE__)
      def self.shown(value, mark) = value.to_s.strip + mark
    end]
  end
  SCALARS.each { |name, scalar| const_set("#{name.to_s.camelize}Scalar", scalar) }

  # {"null" => …}: of what a scalar is made.
  FORMS = { null: ->(of) { [of, { null: true }] }, full: ->(of) { [of, { null: false }] } }.freeze
  LISTS = { list: ->(of) { [[of], { null: true }] }, loose: ->(of) { [[of, { null: true }], { null: true }] } }.freeze
  ARRAYS = %i[tags times numbers].freeze

  ItemType = type("ScalarItem") do
    field :id, Integer
    CODES.each do |name, (_, columns)|
      FORMS.each { |form, made| columns.each { |column| of, options = made.call(SCALARS[name]); field(:"#{name}_#{column}_#{form}", of, camelize: false, method: column, **options) } }
    end
    LISTS.each { |form, made| %i[text loud failing conditional].product(ARRAYS) { |name, column| of, options = made.call(SCALARS[name]); field(:"#{name}_#{column}_#{form}", of, camelize: false, method: column, **options) } }
    field :net_text, SCALARS[:text], method: :net
    field :packed, SCALARS[:text]
    field :label, SCALARS[:loud]
    field :heading, SCALARS[:loud]
    field :price_text, String
    field :opaque, SCALARS[:loud]
    field :opaque_year, SCALARS[:missing], null: false
    field :shop_name, SCALARS[:loud]
    def heading = "#{object.title} #{object.score}"
    def price_text = format("%.2f", object.price.to_f)
    def opaque = object.title.dup&.concat("!")
    def opaque_year = object.title.dup
    def shop_name = object.shop&.name
  end

  ShopType = type("ScalarShop") do
    field :name, SCALARS[:loud]
    field :items, [ItemType]
    field :items_count, SCALARS[:money]
    field :sum, SCALARS[:loud]
    def items_count = object.items.count
    def sum = object.items.sum(:score)
  end

  # Such errors leave `execute` under any dataloader of graphql 2.5.
  def make(**options, &block)
    super(**options) do
      use(GraphQL::Dataloader) if GraphQL::VERSION.start_with?("2.5.")
      class_eval(&block) if block
    end
  end

  def pair
    @pair ||= schemas({ items: [[ItemType], -> { Item.where.not(id: EMPTY).order(:id) }], all: [[ItemType], -> { Item.order(:id) }], few: [[ItemType], -> { Item.order(:id).to_a }],
                        one: [ItemType, -> { Item.find(1) }], shops: [[ShopType], -> { Shop.order(:id) }] })
  end

  CODES.each do |name, (_, columns, planned)|
    define_method(:"test_#{name}") do
      columns.each do |column|
        field = "#{name}_#{column}"
        assert_fields(field, planned)
      end
      fields = columns.map { |column| "#{name}_#{column}" }
      fields.each { |field| assert_same_twice("{ few { opaque it: #{field}_full } all { opaque #{field}_null } }") }
      assert_same_twice("{ all { #{fields.map { |field| "#{field}_null" }.join(" ")} id } one { #{fields.map { |field| "#{field}_full" }.join(" ")} id } }")
      refute_empty [*columns, planned]
    end
  end

  # Where it raises, or a null comes that may not be, graphql-ruby does it.
  def assert_fields(field, planned)
    FORMS.each_key do |form|
      query = "{ items { id #{field}_#{form} } }"
      next assert_aside(query, model: Item, errors: :any, context: { mark: "m" }) unless planned

      plain = outcome { pair.first.execute(query).to_h }
      fits = !plain.key?("errors") && (form == :null || !text_of(plain).include?("null"))
      fits ? assert_plan(query) : assert_same_twice(query)
    end
  end

  def assert_same_twice(query, schemas = pair) = super(query, schemas, context: { mark: "m" })

  def test_lists
    %w[text_tags text_times text_numbers loud_tags loud_numbers].product(LISTS.keys) { |field, form| assert_same_twice("{ all { #{field}_#{form} } }") }
    assert_plan("{ items { text_numbers_list loud_numbers_loose text_tags_loose text_times_loose conditional_numbers_loose } all { loud_tags_loose text_times_loose } }")
    %w[failing_numbers failing_tags conditional_numbers].product(LISTS.keys) { |field, form| assert_same_twice("{ all { #{field}_#{form} } few { it: #{field}_#{form} } }") }
  end

  # What isn't known to be a number, a text and the like, is graphql-ruby's.
  def test_values_of_unknown_classes
    assert_aside("{ items { netText } }", model: Item)
    assert_aside("{ items { packed } }", model: Item)
  end

  def test_formulas_and_calculations
    assert_plan("{ items { label heading shopName priceText } shops { name itemsCount sum items { loud_title_null } } }", errors: :any)
    assert_same_twice("{ all { label heading shopName priceText opaque } few { opaque opaqueYear } }")
  end

  # @return [Class] a scalar whose class body is +code+
  def scalar(code = nil, base = GraphQL::Schema::Scalar, &block)
    Class.new(base) { graphql_name "OwnScalar"; code ? class_eval(code, __FILE__, __LINE__) : class_eval(&block) }
  end

  # @return [Array(Class, Class)] schemas of items with the +scalar+, alone and beside what is graphql-ruby's
  def schemas_with(scalar)
    item = type("OwnScalarItem") do
      field :title, scalar, null: false
      field :score, scalar
      field :tags, [scalar, { null: true }]
      field :opaque, String
      def opaque = object.title.dup
      field :called, scalar
      def called = object.title.dup
    end
    things = type("OwnScalarThing") { field :title, scalar; field :score, scalar }
    thing = Struct.new(:title, :score)
    Object.const_set("ScalarThing#{thing.object_id}", thing)
    schemas({ items: [[item], -> { Item.where.not(id: EMPTY).order(:id) }], things: [[things], -> { [thing.new("t", 3), thing.new(nil, 4.5)] }] })
  end

  EVERYWHERE = ["{ items { title score tags } }", "{ items { title opaque called } }", "{ things { title score } }"].freeze

  def assert_everywhere(schemas, planned: true)
    planned ? assert_plan(EVERYWHERE.first, schemas) : assert_aside(EVERYWHERE.first, schemas, model: Item, errors: :any)
    EVERYWHERE.drop(1).each { |query| assert_same_twice(query, schemas) }
  end

  # {what => [class body, whether a plan does it]}
  WAYS = {
    private_helper: ["class << self; def coerce_result(value, _) = shown(value); private def shown(value) = value.to_s; end", true],
    private: ["def self.coerce_result(value, _) = value.to_s; private_class_method :coerce_result", false],
    deeper_helpers: ["def self.coerce_result(value, _) = a(value); def self.a(value) = b(value, 1); def self.b(value, number) = value.to_s * number", true],
    recursive: ["def self.coerce_result(value, _) = a(value); def self.a(value) = value.nil? ? a(1) : value.to_s", false],
    optional: ["def self.coerce_result(value, context = nil) = value.to_s", false],
    rest: ["def self.coerce_result(*values) = values.first.to_s", false],
    same_names: ["def self.coerce_result(_, _) = 3", false],
    destructured: ["def self.coerce_result((value, _), context) = value.to_s", true],
    by_a_block: ["define_singleton_method(:coerce_result) { |value, _| value.to_s }", :any],
    by_a_closure: ["mark = +'!'; define_singleton_method(:coerce_result) { |value, _| value.to_s + mark }", true],
    by_ruby: ["singleton_class.alias_method :coerce_result, :instance_exec", false],
    an_alias: ["class << self; def text(value, _) = value.to_s; alias coerce_result text; end", :any],
    prepended: ["def self.coerce_result(value, _) = value.to_s; singleton_class.prepend(Module.new { def coerce_result(*) = super.upcase })", false],
    of_a_module: ["extend(Module.new { def coerce_result(value, _) = value.to_s.upcase })", true],
    helper_asks: ["def self.coerce_result(value, _) = a(value); def self.a(value) = (@b ||= value).to_s", false],
    helper_is_missing: ["def self.coerce_result(value, _) = missing(value)", false],
    helper_missing: ["def self.coerce_result(value, _) = made(value); def self.method_missing(_, value) = value.to_s; def self.respond_to_missing?(*) = true", false],
    own_format: ["def self.coerce_result(value, _) = format('%s', value); def self.format(*all) = all.to_s", false],
    own_formatting: ["def self.coerce_result(value, _) = format('%s', value); def self.format(text, value) = text + value.to_s", true],
    keywords_of_format: ["def self.coerce_result(value, _) = format('%<a>s', a: value)", false],
    format_alone: ["def self.coerce_result(value, _) = format(value.to_s)", true],
    format_wrongly: ["def self.coerce_result(value, _) = format()", false],
    asks_object: ["def self.coerce_result(value, _) = object.to_s; def self.object = 3", false],
    asks_objects_title: ["def self.coerce_result(value, _) = object.title; def self.object = Struct.new(:title).new('t')", false],
    own_context: ["def self.coerce_result(value, _) = context[:key].to_s; def self.context = {}", false],
    own_helper_of_context: ["def self.coerce_result(value, _) = mark.to_s; def self.mark = context[:key]; def self.context = {}", false],
    ancestors_variable: ["@@mark = 'a'; def self.coerce_result(value, _) = @@mark + value.to_s", false]
  }.freeze

  each_case(WAYS, "way") do |code, planned|
    schemas = schemas_with(scalar(code))
    planned == :any ? EVERYWHERE.each { |query| assert_same_twice(query, schemas) } : assert_everywhere(schemas, planned: planned)
  end

  def test_heirs
    base = scalar("def self.coerce_result(value, _) = shown(value); def self.shown(value) = value.to_s")
    assert_everywhere(schemas_with(Class.new(base) { graphql_name "Heir" }))
    assert_everywhere(schemas_with(Class.new(base) { graphql_name "Heir"; def self.shown(value) = value.to_s.upcase }))
    assert_everywhere(schemas_with(Class.new(base) { graphql_name "Heir"; def self.shown(value) = "#{object_id}#{value}" }), planned: false)
    assert_everywhere(schemas_with(Class.new(base) { graphql_name "Heir"; def self.coerce_result(value, _context) = super.to_s }), planned: false)
    text = Class.new(GraphQL::Types::String) { graphql_name "Loud"; def self.coerce_result(value, _context) = value.to_s.upcase }
    assert_everywhere(schemas_with(text))
  end

  # What an application makes of graphql-ruby's own scalars.
  REDEFINED = { String: "value.to_s.strip.upcase", ID: "'n' + value.to_s", Int: "value.to_i + 1", Float: "value.to_f.round(1)", Boolean: "!value" }.freeze

  def test_redefined
    type = type("Redefined") do
      field :id, GraphQL::Types::ID
      { title: String, score: Integer, price: Float, flag: GraphQL::Types::Boolean, tags: [String] }.each { |name, of| field name, of }
    end
    schemas = schemas({ them: [[type], -> { Item.order(:id) }], few: [[type], -> { Item.order(:id).to_a }] })
    query = "{ them { id title score price flag tags } few { id title score price flag tags } }"
    texts = -> { schemas.map { |schema| Array.new(3) { text_of(outcome { schema.execute(query).to_h }) }.uniq } }
    after = in_process do
      silently { REDEFINED.each { |name, code| GraphQL::Types.const_get(name).class_eval("def self.coerce_result(value, _context) = #{code}", __FILE__, __LINE__) } }
      texts.call
    end
    before = texts.call
    [before, after].each { |plain, piped| assert_equal plain, piped }
    refute_equal before, after
  end

  def test_an_enum
    enum = Class.new(GraphQL::Schema::Enum) { graphql_name "Own"; value "A"; def self.coerce_result(value, _context) = value.to_s.downcase }
    assert_everywhere(schemas_with(enum))
    assert_everywhere(schemas_with(Class.new(enum) { graphql_name "Own"; def self.coerce_result(value, context) = super.upcase }), planned: false)
  end

  # {what => class body that comes when plans were made, and whether they are made again}
  LATER = {
    other: ["def self.coerce_result(value, _) = value.to_s.reverse", true],
    opaque: ["def self.coerce_result(value, _) = (@last = value.to_s)", false],
    helper: ["def self.shown(value) = value.to_s.capitalize", true],
    opaque_helper: ["def self.shown(value) = value.to_s + object_id.to_s", false],
    removed_helper: ["singleton_class.remove_method(:shown)", false],
    above: ["def self.format(text, value) = value.to_s + text", true],
    module: ["extend(Module.new { def coerce_result(value, _) = 3 })", true], # which comes behind its own
    prepended: ["singleton_class.prepend(Module.new { def coerce_result(value, _) = value.to_s * 2 })", true]
  }.freeze

  each_case(LATER, "later") do |code, planned|
    silently do
      scalar = scalar("def self.coerce_result(value, _) = shown(value); def self.shown(value) = format('<%s>', value)")
      schemas = schemas_with(scalar)
      2.times { assert_everywhere(schemas) }
      scalar.class_eval(code, __FILE__, __LINE__)
      2.times { assert_everywhere(schemas, planned: planned) }
    end
  end

  # As a scalar's, beside what is graphql-ruby's.
  def test_a_method_that_computes_later
    silently do
      item = type("LaterItem") { field :heading, String; field :opaque, String; def opaque = object.title.dup; def heading = object.title.upcase }
      schemas = schemas({ items: [[item], -> { Item.order(:id).where.not(id: EMPTY) }] })
      2.times { assert_same_twice("{ items { heading opaque } }", schemas) }
      item.class_eval { def heading = object.title.capitalize }
      assert_same_twice("{ items { heading opaque } }", schemas)
      item.class_eval { def heading = (@all ||= object.title) }
      assert_same_twice("{ items { heading opaque } }", schemas)
    end
  end

  def test_pages
    own = SCALARS[:helped]
    edge = type("ScalarEdge", GraphQL::Types::Relay::BaseEdge) { graphql_name "ScalarItemEdge"; node_type ItemType; field :cursor, own; field :mark, own; def mark = "#{object.cursor}!" }
    page = type("ScalarPage", GraphQL::Types::Relay::BaseConnection) { graphql_name "ScalarItemConnection"; edge_type edge; field :total, own; def total = object.items.size }
    shop = type("PagedShop") { field :items, page }
    schemas = schemas({ shops: [[shop], -> { Shop.order(:id) }], items: [page, -> { Item.order(:id) }] })
    2.times do
      assert_plan("{ shops { items(first: 1) { total edges { cursor mark node { id } } } } }", schemas)
      assert_plan("{ items(first: 2) { total edges { cursor mark node { id } } } }", schemas)
      silently { own.class_eval { def self.shown(value, mark) = value.to_s.strip.reverse + mark } }
    end
  ensure
    silently { own.class_eval { def self.shown(value, mark) = value.to_s.strip + mark } }
  end

  # {scalar of graphql-ruby's => columns}
  THEIRS = {
    ISO8601DateTime: %i[made due], ISO8601Date: %i[made due], ISO8601Duration: %i[span], BigInt: %i[big score price title], JSON: %i[data old tags numbers price made score flag title],
    Float: %i[price score], String: %i[price due made score title data]
  }.freeze

  def test_graphql_rubys_own
    item = type("TheirItem") do
      THEIRS.each { |name, columns| columns.each { |column| field(:"#{name}_#{column}", GraphQL::Types.const_get(name), camelize: false, method: column, null: false) } }
      { tags: :JSON, numbers: :BigInt, times: :ISO8601DateTime }.each { |column, name| field :"list_#{column}", [GraphQL::Types.const_get(name), { null: true }], camelize: false, method: column }
      { times: :ISO8601Date, numbers: :JSON }.each { |column, name| field :"loose_#{column}", [GraphQL::Types.const_get(name), { null: true }], null: false, camelize: false, method: column }
    end
    schemas = schemas({ items: [[item], -> { Item.where.not(id: EMPTY).order(:id) }], all: [[item], -> { Item.order(:id) }] })
    item.own_fields.each_key do |name|
      assert_plan("{ items { #{name} } }", schemas, errors: :any)
      assert_same_twice("{ all { #{name} } }", schemas)
    end
  end

  def silently
    verbose, $VERBOSE = $VERBOSE, nil
    yield
  ensure
    $VERBOSE = verbose
  end
end
