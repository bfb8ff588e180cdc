# frozen_string_literal: true

require_relative "../support/pages"
require_relative "../support/replaced_constant"
require "globalid"
GlobalID.app = "pipeloader-test"

# Associations whose keys are several columns: read for all owners at once, as those of one column are.
class CompositeKeysTest < PlanTest
  include ReplacedConstant

  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:keyed_orders, primary_key: %i[shop_id id]) do |t|
      t.bigint :shop_id
      t.bigint :id
      t.string :state
      t.uuid :label_group
      t.string :label_code
    end
    create_table(:keyed_lines) do |t|
      t.integer :shop_id
      t.bigint :order_id
      t.bigint :product_id
      t.string :name
      t.integer :amount, null: false, default: 0
    end
    create_table(:keyed_products, primary_key: %i[shop_id number]) { |t| t.bigint :shop_id; t.bigint :number; t.string :name }
    create_table(:keyed_labels, primary_key: %i[group code]) { |t| t.uuid :group; t.text :code; t.string :name }
    create_table(:keyed_receipts) { |t| t.bigint :shop_id; t.bigint :order_id; t.string :name }
    create_table(:keyed_stamps) { |t| t.bigint :shop_id; t.bigint :receipt_id; t.string :name }
    create_table(:keyed_rates) { |t| t.decimal :shop_id, precision: 10, scale: 0; t.bigint :order_id; t.string :name }
  end

  class Order < ActiveRecord::Base
    self.table_name = "keyed_orders"
    self.primary_key = %i[shop_id id]
    KEY = { foreign_key: %i[shop_id order_id], primary_key: %i[shop_id id] }.freeze
    has_many :lines, -> { order(:id) }, class_name: "CompositeKeysTest::Line", inverse_of: :order, **KEY
    has_many :loose_lines, class_name: "CompositeKeysTest::Line", **KEY
    has_many :dear_lines, -> { where(amount: 3..).order(amount: :desc, id: :asc).limit(2) }, class_name: "CompositeKeysTest::Line", **KEY
    has_many :products, -> { order(:number) }, through: :lines
    has_one :receipt, class_name: "CompositeKeysTest::Receipt", **KEY
    has_one :last_line, -> { order(id: :desc) }, class_name: "CompositeKeysTest::Line", **KEY
    has_many :stamps, -> { order(:id) }, through: :receipt
    has_many :rates, class_name: "CompositeKeysTest::Rate", **KEY
    has_many :tenant_lines, -> { order(:id) }, class_name: "CompositeKeysTest::TenantLine", **KEY
    has_many :shop_lines, -> { unscope(where: :order_id).order(:id) }, class_name: "CompositeKeysTest::Line", **KEY
    has_many :own_lines, -> { where(shop_id: 1).order(:id) }, class_name: "CompositeKeysTest::Line", **KEY
    has_many :lines_of_state, ->(order) { where(name: order.state).or(where(amount: 3..)).order(:id) }, class_name: "CompositeKeysTest::Line", **KEY
    belongs_to :label, class_name: "CompositeKeysTest::Label", foreign_key: %i[label_group label_code], optional: true
    def dear = lines.where(amount: 3..)
    def total = lines.sum(:amount)
  end

  class Line < ActiveRecord::Base
    self.table_name = "keyed_lines"
    belongs_to :order, class_name: "CompositeKeysTest::Order", inverse_of: :lines, optional: true, **Order::KEY
    belongs_to :open_order, -> { where(state: "open") }, class_name: "CompositeKeysTest::Order", optional: true, **Order::KEY
    belongs_to :product, class_name: "CompositeKeysTest::Product", foreign_key: %i[shop_id product_id], optional: true
    has_one :label, through: :order
    has_many :receipts, class_name: "CompositeKeysTest::Receipt", inverse_of: :line, **Order::KEY, primary_key: %i[shop_id order_id]
    # What these go through may have a key of which a part is NULL.
    belongs_to :slip, class_name: "CompositeKeysTest::Receipt", optional: true, **Order::KEY, primary_key: %i[shop_id order_id]
    has_many :slip_stamps, -> { order(:id) }, through: :slip, source: :own_stamps
    belongs_to :shop_slip, class_name: "CompositeKeysTest::Receipt", optional: true, foreign_key: :shop_id, primary_key: :shop_id
    has_many :shop_stamps, -> { order(:id) }, through: :shop_slip, source: :own_stamps
    delegate :state, to: :order, allow_nil: true
    def dear? = amount > 3
  end

  # Whose default scope says something of a part of the key.
  class TenantLine < ActiveRecord::Base
    self.table_name = "keyed_lines"
    default_scope { where(shop_id: CompositeKeysTest.shop, amount: 1..) }
    belongs_to :order, class_name: "CompositeKeysTest::TenantOrder", optional: true, **Order::KEY
  end

  class TenantOrder < ActiveRecord::Base
    self.table_name = "keyed_orders"
    self.primary_key = %i[shop_id id]
    default_scope { where(shop_id: CompositeKeysTest.shop) }
    has_many :lines, class_name: "CompositeKeysTest::TenantLine", **Order::KEY
    has_many :receipts, through: :lines
  end

  class << self
    attr_accessor :shop
  end

  # Of which the methods by which a key is read are the application's.
  class OwnId < Order
    def id = super.reverse
  end

  class OwnColumn < Order
    def shop_id = super + 10
  end

  # A list of one.
  class Listed < ActiveRecord::Base
    self.table_name = "keyed_receipts"
    self.primary_key = %w[id]
    has_many :stamps, -> { order(:id) }, class_name: "CompositeKeysTest::Stamp", foreign_key: [:receipt_id], primary_key: [:id]
  end

  # One of whose keys has a type of its own.
  class Halved < Line
    attribute :shop_id, :string
  end

  class OwnReader < Line
    def order = super&.tap { |it| it.state = "changed" }
  end

  class Product < ActiveRecord::Base
    self.table_name = "keyed_products"
    self.primary_key = %i[shop_id number]
    has_many :lines, -> { order(:id) }, class_name: "CompositeKeysTest::Line", foreign_key: %i[shop_id product_id]
    has_many :orders, -> { order(:shop_id, :id) }, through: :lines
  end

  class Label < ActiveRecord::Base
    self.table_name = "keyed_labels"
    self.primary_key = %i[group code]
    has_many :orders, -> { order(:shop_id, :id) }, class_name: "CompositeKeysTest::Order", foreign_key: %i[label_group label_code]
  end

  # Of one primary key, found by two columns.
  class Receipt < ActiveRecord::Base
    self.table_name = "keyed_receipts"
    query_constraints :shop_id, :id
    belongs_to :order, class_name: "CompositeKeysTest::Order", **Order::KEY
    belongs_to :line, class_name: "CompositeKeysTest::Line", inverse_of: :receipts, **Order::KEY, primary_key: %i[shop_id order_id]
    has_many :stamps, -> { order(:id) }, class_name: "CompositeKeysTest::Stamp", foreign_key: %i[shop_id receipt_id]
    has_many :own_stamps, class_name: "CompositeKeysTest::Stamp", foreign_key: :receipt_id, primary_key: :id
  end

  class Stamp < ActiveRecord::Base
    self.table_name = "keyed_stamps"
    belongs_to :receipt, class_name: "CompositeKeysTest::Receipt", foreign_key: %i[shop_id receipt_id]
  end

  # A column of another type.
  class Rate < ActiveRecord::Base
    self.table_name = "keyed_rates"
  end

  GROUPS = [1, 2].map { |it| "00000000-0000-0000-0000-00000000000#{it}" }.freeze
  CODES = ["a", "b,c", "\"{}\\", "a "].freeze
  # Whatever two of them have in common isn't enough.
  Order.insert_all!([[1, 1], [1, 2], [2, 1], [2, 2], [3, 7]].map.with_index do |(shop, id), at|
    { shop_id: shop, id: id, state: %w[open closed][at % 2], label_group: at == 3 ? nil : GROUPS[at % 2], label_code: at == 4 ? nil : CODES[at % 4] }
  end)
  Line.insert_all!([[1, 1], [1, 2], [2, 1], [1, 1], [2, 2], [nil, 1], [1, nil], [nil, nil], [2, 7], [3, 1], [1, 2]].map.with_index(1) do |(shop, order), id|
    { id: id, shop_id: shop, order_id: order, name: "line #{id}", amount: id % 5, product_id: id % 4 == 0 ? nil : id % 3 }
  end)
  Product.insert_all!([1, 2, 3].product([0, 1]).map { |shop, number| { shop_id: shop, number: number, name: "product #{shop}.#{number}" } })
  Label.insert_all!(GROUPS.product(CODES).map.with_index { |(group, code), at| { group: group, code: code, name: "label #{at}" } })
  Receipt.insert_all!([[1, 1], [2, 1], [2, 2], [nil, 1], [1, nil]].map.with_index(1) { |(shop, order), id| { id: id, shop_id: shop, order_id: order, name: "receipt #{id}" } })
  Stamp.insert_all!([[1, 1], [1, 2], [2, 2], [2, 2], [2, 3], [4, 4], [4, 5]].map.with_index { |(shop, receipt), at| { shop_id: shop, receipt_id: receipt, name: "stamp #{at}" } })
  Rate.insert_all!([[1, 1], [2, 1]].map { |shop, order| { shop_id: shop, order_id: order, name: "rate #{shop}.#{order}" } })

  types = %w[Order Line Product Label Receipt Stamp Rate].to_h { |name| [name, Class.new(Schemas::Base) { graphql_name "Keyed#{name}" }] }
  TYPES = types.freeze
  TYPES["Order"].class_eval do
    field :shop_id, Integer
    field :number, Integer, method: :id_value
    field :id, GraphQL::Types::ID
    field :state, String
    field :lines, [types["Line"]]
    field :loose_lines, [types["Line"]]
    field :dear_lines, [types["Line"]]
    field :dear, [types["Line"]]
    field :products, [types["Product"]]
    field :receipt, types["Receipt"]
    field :required_receipt, types["Receipt"], null: false, method: :receipt
    field :last_line, types["Line"]
    field :stamps, [types["Stamp"]]
    field :rates, [types["Rate"]]
    field :tenant_lines, [types["Line"]]
    field :shop_lines, [types["Line"]]
    field :own_lines, [types["Line"]]
    field :lines_of_state, [types["Line"]]
    field :receipts, [types["Receipt"]]
    field :label, types["Label"]
    field :total, Integer
    field :line_count, Integer
    field :line_names, String
    field :page, types["Line"].connection_type, method: :lines
    field :summary, String
    field :few, [types["Line"]] do
      argument :least, Integer
    end
    field :id_text, String
    field :id_size, Integer
    field :last_key, String
    def id_text = object.id.join("-")
    def id_size = object.id.size + object.shop_id
    def last_key = object.lines.map(&:order_id).inspect + object.id.inspect
    field :opaque, String
    def line_count = object.lines.count
    def line_names = object.lines.map(&:name).join(", ")
    def summary = "#{object.label&.name}: #{object.receipt&.name} #{object.lines.where(amount: 2..).count}"
    def few(least:) = object.lines.where(amount: least).limit(1)
    def opaque = object.state.dup.concat((context.dig(:mark) || "!"))
  end
  TYPES["Line"].class_eval do
    field :id, Integer
    field :name, String
    field :amount, Integer
    field :order, types["Order"]
    field :required_order, types["Order"], null: false, method: :order
    field :open_order, types["Order"]
    field :product, types["Product"]
    field :label, types["Label"]
    field :receipts, [types["Receipt"]]
    field :slip, types["Receipt"]
    field :slip_stamps, [types["Stamp"]]
    field :shop_stamps, [types["Stamp"]]
    field :state, String
    field :label_of_order, types["Label"]
    field :orders_name, String
    field :opaque, String
    def label_of_order = object.order&.label
    def orders_name = object.order ? "#{object.order.state} #{object.order.label&.name}" : "none"
    def opaque = object.name.dup.concat((context.dig(:mark) || "!"))
  end
  TYPES.except("Order", "Line").each_value { |it| it.field(:name, String) }
  TYPES["Product"].class_eval { field :lines, [types["Line"]]; field :orders, [types["Order"]] }
  TYPES["Label"].class_eval { field :id, GraphQL::Types::ID; field :key, [GraphQL::Types::ID], method: :id; field :orders, [types["Order"]] }
  TYPES["Receipt"].class_eval { field :order, types["Order"]; field :line, types["Line"]; field :stamps, [types["Stamp"]] }
  TYPES["Stamp"].class_eval { field :receipt, types["Receipt"] }

  def pair = @pair ||= schemas(roots)

  def roots
    { orders: [[TYPES["Order"]], -> { Order.order(:shop_id, :id) }], found: [TYPES["Order"], -> { Order.find([2, 1]) }],
      listed: [[TYPES["Order"]], -> { Order.find([[1, 2], [2, 1], [2, 2]]) }], lines: [[TYPES["Line"]], -> { Line.order(:id) }],
      ordered: [[TYPES["Line"]], -> { Line.where(id: [1, 2, 4, 5, 11]).order(:id) }],
      products: [[TYPES["Product"]], -> { Product.order(:shop_id, :number) }], labels: [[TYPES["Label"]], -> { Label.order(:group, :code) }],
      receipts: [[TYPES["Receipt"]], -> { Receipt.where.not(shop_id: nil).order(:id) }], stamps: [[TYPES["Stamp"]], -> { Stamp.order(:id) }],
      page: [TYPES["Order"].connection_type, -> { Order.order(:shop_id, :id) }] }
  end

  # {query => whether a plan does it}
  PLANNED = [
    "{ orders { shopId number lines { name } } }", "{ orders { lines { id amount } label { name } receipt { name } } }",
    "{ orders { looseLines { __typename } dearLines { name } } }", "{ orders { products { name lines { id } } lastLine { name } } }",
    "{ lines { name order { number shopId } openOrder { state } product { name } } }", "{ ordered { requiredOrder { state } } }",
    "{ labels { name orders { state label { name } lines { product { name } } } } }", "{ products { name orders { number state } } }",
    "{ orders { stamps { name } } }", "{ stamps { name receipt { name stamps { name } order { number } } } }",
    "{ lines { label { name } } }", "{ lines { order { lines { order { number } } } } }", "{ ordered { receipts { name } } }",
    "{ orders { total lineCount dear { name } few(least: 2) { name amount } } }", "{ orders { lineNames summary } }",
    "{ lines { state labelOfOrder { name } ordersName } }",
    "{ orders { page(first: 2) { nodes { name } edges { cursor } pageInfo { hasNextPage endCursor } } } }",
    "{ orders { page(last: 1) { nodes { name product { name } } pageInfo { hasPreviousPage } } } }",
    "{ orders { id lines { id order { id } } } }", "{ labels { id key orders { id } } }", "{ orders { idText idSize lastKey } }",
    "{ page(first: 2, after: \"Mg\") { nodes { number lines { name } } pageInfo { hasNextPage endCursor } } }"
  ].freeze

  PLANNED.each_with_index { |query, at| define_method(:"test_planned_#{at}") { assert_plan(query) } }

  def test_records
    assert_plan("{ found { shopId number lines { name } label { name } } listed { receipt { name } products { name } } }", made: [Order])
  end

  # What is opaque is graphql-ruby's, and the associations beside it are read for all owners.
  def test_beside_opaque_fields
    ["{ orders { opaque lines { name } label { name } receipt { name } stamps { name } } }",
     "{ lines { opaque order { number lines { opaque name } } product { name lines { opaque order { opaque } } } } }",
     "{ found { opaque lines { name } page(first: 1) { nodes { name } } } listed { opaque lines { opaque } total } }"].each do |query|
      3.times { assert_equal(*pair.map { |schema| text_of(schema.execute(query).to_h) }) }
    end
  end

  # ActiveRecord looks for rows whose key IS NULL, but for a `belongs_to`.
  def test_a_part_is_nil
    assert_plan("{ lines { order { state } slip { name } product { name } label { name } } }")
    ["receipts { name }", "slipStamps { name }", "shopStamps { name }"].each do |selected|
      ["{ lines { #{selected} } }", "{ lines { opaque #{selected} } }", "{ ordered { #{selected} } }"].each do |query|
        3.times { assert_equal(*pair.map { |schema| text_of(outcome { schema.execute(query).to_h }) }, query) }
      end
    end
    3.times { assert_equal(*pair.map { |schema| text_of(schema.execute("{ lines { requiredOrder { state } } orders { requiredReceipt { name } } }").to_h) }) }
  end

  # ActiveRecord lets the records know their owner. Others have the same key: it may be one of these that is read.
  def test_an_owner_that_is_not_the_only_one
    answer = assert_aside("{ ordered { id receipts { line { id } } } }", model: Line)
    assert_equal [[1], [], [4], [5], []], answer.dig("data", "ordered").map { |line| line["receipts"].map { |it| it["line"]["id"] } }
  end

  def test_scopes_of_a_part_of_the_key
    [nil, 1, 2, [1, 3]].each do |shop|
      CompositeKeysTest.shop = shop
      assert_plan("{ orders { tenantLines { id } ownLines { id } } }")
      tenant = schemas({ orders: [[TYPES["Order"]], -> { TenantOrder.order(:id) }], lines: [[TYPES["Line"]], -> { TenantLine.order(:id) }] })
      assert_plan("{ orders { lines { id order { number } } } lines { order { state } } }", tenant)
      assert_plan("{ orders { number receipts { name } } }", tenant, aside: (TenantOrder if shop)) if shop.nil?
    end
  ensure
    CompositeKeysTest.shop = nil
  end

  def test_what_stays_opaque
    assert_aside("{ orders { rates { name } } }", model: Order)
    assert_aside("{ orders { linesOfState { id } } }", model: Order)
    3.times { assert_equal(*pair.map { |schema| text_of(schema.execute("{ orders { shopLines { id } number } }").to_h) }) }
  end

  def test_models_with_code_of_their_own
    order, line = TYPES.values_at("Order", "Line")
    own = schemas({ ids: [[order], -> { OwnId.order(:shop_id, :id) }], columns: [[order], -> { OwnColumn.order(:shop_id, :id) }],
                    halved: [[line], -> { Halved.order(:id) }], readers: [[line], -> { OwnReader.order(:id) }],
                    listed: [[TYPES["Receipt"]], -> { Listed.order(:id) }] })
    assert_aside("{ ids { id } }", own, model: OwnId)
    assert_plan("{ columns { id } }", own)
    assert_aside("{ halved { order { number } } }", own, model: Halved)
    assert_aside("{ readers { order { state } } }", own, model: OwnReader)
    assert_plan("{ ids { lines { id } label { name } } columns { lines { id } } listed { name stamps { name } } }", own)
  end

  def test_a_list_of_one_as_key
    id = type("KeyedListed") { field :id, GraphQL::Types::ID; field :stamps, [TYPES["Stamp"]] }
    assert_aside("{ listed { id stamps { name } } }", schemas({ listed: [[id], -> { Listed.order(:id) }] }), model: Listed)
  end

  # What is looked up in several goes.
  def test_more_keys_than_one_statement_takes
    with_constant(Pipeloader::Lookup, :MOST, 2) { assert_plan("{ lines { id order { number lines { id } } } orders { lineCount } }") }
  end

  IDS = ["def self.id_from_object(object, _type, _context) = object.to_gid_param",
         "def self.id_from_object(object, type, _context) = GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.id)"].freeze

  def test_global_ids
    IDS.each do |code|
      label = type("KeyedNodeLabel") { implements GraphQL::Types::Relay::Node }
      node = type("KeyedNode") { implements GraphQL::Types::Relay::Node; field :state, String; field :label, label }
      Order.include(GlobalID::Identification)
      Label.include(GlobalID::Identification)
      own = schemas({ orders: [[node], -> { Order.order(:shop_id, :id) }] }) { define_singleton_method(:name) { "KeyedSchema" }; instance_eval(code); def self.resolve_type(*) = nil }
      assert_plan("{ orders { id state label { id } } }", own)
    end
  end

  # A resolver that comes before may have changed a part of the key.
  def test_a_changed_part
    line = type("KeyedChanged", TYPES["Line"]) { field :moved, String; def moved = (object.order_id = 3 - object.order_id.to_i).to_s }
    order = type("KeyedBuilt", TYPES["Order"]) { field :built, String; def built = object.lines.build(name: "new").name }
    own = schemas({ lines: [[line], -> { Line.order(:id).to_a }], orders: [[order], -> { Order.order(:shop_id, :id).to_a }],
                    fresh: [[line], -> { [Line.new(shop_id: 1, order_id: 1), Line.new(shop_id: 1), Line.new] }] })
    # On Next an earlier field sees the change, for objects behind the first that waits. ActiveRecord 7.2.0 itself doesn't notice it.
    between = "{ lines { order { number } moved again: order { number } product { name } } }" unless Engine::NEXT || ActiveRecord.version <= Gem::Version.new("7.2.0")
    [*between, "{ lines { moved order { number } } }",
     "{ orders { built lines { name } } }", "{ orders { lines { name } built again: lines { name } } }", "{ fresh { order { number lines { id } } state } }"].each do |query|
      3.times { assert_equal(*own.map { |schema| text_of(outcome { schema.execute(query).to_h }) }, query) }
    end
  end

  # Associations that opaque code asks for are read for all owners, too.
  def test_preloads_and_forecasts
    line = type("KeyedAsking", TYPES["Line"]) { field :asks, String; def asks = "#{object.order&.then(&:state)} #{object.receipts.to_a.size}" }
    own = schemas({ lines: [[line], -> { Line.order(:id) }] })
    5.times { assert_equal(*own.map { |schema| text_of(schema.execute("{ lines { asks order { opaque lines { opaque } } } }").to_h) }) }
  end

  def test_as_few_statements_as_with_one_column
    3.times { pair.last.execute("{ lines { name order { state label { name } lines { id } } } }") }
    bursts = WireCounter.events("burst.pipeloader") { pair.last.execute("{ lines { name order { state label { name } lines { id } } } }") }
    assert_equal [1, 1, 2], bursts.map { |it| it[:statements] }
  end

  def test_guards_and_the_context
    order = type("KeyedGuarded", TYPES["Order"]) do
      field :mine, GraphQL::Types::Boolean
      def self.authorized?(object, context) = object.id != context[:order]&.id && !object.state.nil?
      def mine = object.id == context[:order]&.id
    end
    line = type("KeyedGuardedLine", TYPES["Line"]) { field :order, order }
    own = schemas({ orders: [[order], -> { Order.order(:shop_id, :id) }], lines: [[line], -> { Line.order(:id) }] })
    orders = [Order.find([1, 1]), Order.find([1, 2]), nil]
    orders.each do |given|
      query = "{ orders { number mine } lines { order { number mine lines { id } } } }"
      3.times { assert_equal(*own.map { |schema| text_of(schema.execute(query, context: { order: given }).to_h) }) }
    end
    few = schemas({ lines: [[line], -> { Line.where(shop_id: 1, order_id: 1).order(:id) }] })
    assert_plan("{ lines { order { number mine } } }", few, context: { order: orders[1] })
  end
end
