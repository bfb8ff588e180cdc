# frozen_string_literal: true

require_relative "../support/plans"

# JSON columns of which a type of things tells, with each key named: Execution::Next asks a Hash for nothing else.
class NamedDocumentsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define { create_table(:document_named) { |t| t.string :name; t.jsonb :settings } }

  class Shop < ActiveRecord::Base
    self.table_name = "document_named"
  end

  Shop.insert_all!([{ theme: "dark", "big-size" => 3, owner: { name: "Ann" }, rules: [{ name: "r1" }, { name: "r2", on: false }] }, { theme: nil, owner: {} },
                    nil, {}, { theme: 7, rules: [] }, { rules: [nil] }, [1], "text", { owner: "none" }].each_with_index.map { |it, at| { id: at + 1, name: "shop #{at}", settings: it } })

  class Rule < Schemas::Base
    graphql_name "NamedRule"
    field :name, String, hash_key: "name"
    field :on, GraphQL::Types::Boolean, hash_key: "on"
  end

  class Owner < Schemas::Base
    graphql_name "NamedOwner"
    field :name, String
    field :label, String, hash_key: :name
    def name = object["name"]
  end

  class Settings < Schemas::Base
    graphql_name "NamedSettings"
    field :theme, String, hash_key: "theme"
    field :size, Integer, hash_key: "big-size"
    field :owner, Owner, hash_key: "owner"
    field :rules, [Rule], hash_key: "rules"
    field :missing, String, hash_key: "missing"
    field :fallen, String, hash_key: "fallen", fallback_value: "fallen"
    field :deep, String, dig: %w[owner name]
    field :symbol, String, hash_key: :theme
    field :own, String
    def own = object["theme"]
  end

  class ShopType < Schemas::Base
    graphql_name "NamedShop"
    field :name, String
    field :settings, Settings
    field :opaque, String
    def opaque = object.name.dup
  end

  def pair = @pair ||= schemas({ shops: [[ShopType], -> { Shop.where(id: 1..5).order(:id) }], odd: [[ShopType], -> { Shop.order(:id) }], array: [[ShopType], -> { Shop.where(id: 1..3).order(:id).to_a }] })

  def test_columns
    assert_plan "{ shops { name settings { theme size missing __typename } } }"
    assert_plan "{ shops { settings { t: theme own rules { name on } } } }"
    assert_plan "{ shops { settings { owner { name } } } }"
    assert_plan "{ array { settings { theme own rules { on } } } }", made: [Shop]
  end

  def test_symbols_and_the_like
    ["settings { symbol }", "settings { owner { label } }"].each do |selected|
      Engine::NEXT ? assert_aside("{ shops { #{selected} } }", model: Shop, errors: :any) : assert_plan("{ shops { #{selected} } }")
    end
    ["settings { fallen }", "settings { deep }", "settings { theme owner { label } fallen }"].each { |selected| assert_aside("{ shops { #{selected} } }", model: Shop, errors: :any) }
  end

  def test_other_things_than_hashes
    ["settings { theme size }", "settings { rules { name } }", "settings { owner { name } own }", "opaque settings { theme owner { name } }"].each do |selected|
      3.times { assert_equal(*pair.map { |schema| text_of(outcome { schema.execute("{ odd { name #{selected} } }").to_h }) }) }
    end
  end
end

return if Engine::NEXT # (It asks a Hash for a method.)

# JSON columns of which a type of things tells.
class DocumentsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:document_shops) { |t| t.string :name; t.jsonb :settings; t.json :tags; t.jsonb :stored }
  end

  class Shop < ActiveRecord::Base
    self.table_name = "document_shops"
    store_accessor :stored, :color
  end

  Shop.insert_all!([
    { id: 1, name: "one", settings: { theme: "dark", size: 3, ratio: 1.5, owner: { name: "Ann", tags: %w[a b] }, rules: [{ name: "r1" }, { name: "r2", on: true }] }, tags: [{ name: "x" }, { name: "y" }] },
    { id: 2, name: "two", settings: { theme: nil, extra: 1 }, tags: [] }, { id: 3, name: "three", settings: nil, tags: nil }, { id: 4, name: "four", settings: {}, tags: [{}] }
  ].map { |it| { stored: {}, **it } })

  class Rule < Schemas::Base
    graphql_name "DocumentRule"
    field :name, String
    field :on, GraphQL::Types::Boolean
  end

  class Owner < Schemas::Base
    graphql_name "DocumentOwner"
    field :name, String
    field :tags, [String]
  end

  class Settings < Schemas::Base
    graphql_name "DocumentSettings"
    field :theme, String
    field :size, Integer
    field :ratio, Float
    field :owner, Owner
    field :rules, [Rule]
    field :missing, String
    field :fallen, String, fallback_value: "fallen"
    field :loud, String
    field :must, String, null: false, method: :theme
    def loud = object["theme"].to_s.then { |it| it.upcase }
  end

  class ShopType < Schemas::Base
    graphql_name "DocumentShop"
    field :name, String
    field :settings, Settings
    field :sure, Settings, null: false, method: :settings
    field :tags, [Rule]
    field :wrong, [Settings], method: :settings
    field :stored, Settings
    field :opaque, String
    field :shops, [self]
    def opaque = object.name.dup
  end

  PAIR = schemas({ shops: [[ShopType], -> { Shop.order(:id) }], full: [[ShopType], -> { Shop.where(id: 1).order(:id) }], array: [[ShopType], -> { Shop.order(:id).to_a.each { |it| it.settings = { "theme" => "changed" } if it.id == 2 } }],
                   shop: [ShopType, -> { Shop.find(1) }] })

  def pair = PAIR

  def test_columns
    assert_plan "{ shops { name settings { theme size ratio } } }"
    assert_plan "{ shops { settings { owner { name } rules { name on } missing __typename } tags { name } } }"
    assert_plan "{ shops { a: settings { theme } settings { ...S } } } fragment S on DocumentSettings { size t: theme }"
    assert_plan "{ full { sure { must rules { on } } } }"
    assert_plan("{ array { settings { theme } } }", made: [Shop])
    assert_plan("{ shop { settings { theme owner { name } } } }", made: [Shop])
  end

  # What graphql-ruby has to report, or to ask code for.
  def test_left_alone
    ["settings { loud }", "settings { fallen }", "wrong { theme }", "sure { theme }", "settings { must }", "stored { theme }"].each do |selected|
      assert_aside("{ shops { name #{selected} } }", model: Shop, errors: :any)
    end
    ["settings { owner { tags } }", "opaque settings { theme size }", "opaque settings { loud } tags { name }"].each do |selected|
      assert_plan("{ array { #{selected} } }", made: [Shop], errors: :any)
      3.times { assert_equal(*pair.map { |schema| text_of(schema.execute("{ shops { #{selected} } }").to_h) }) }
    end
  end

  def test_one_trip
    pair.last.execute("{ shops { settings { theme } tags { name } } }")
    assert_round_trips(1) { pair.last.execute("{ shops { settings { theme } tags { name } } }") }
    assert_round_trips(1) { pair.last.execute("{ shops { settings { theme loud } } }") }
  end

  def test_other_things_than_hashes
    Shop.insert_all!([{ id: 9, name: "odd", settings: "text", tags: { name: "no list" }, stored: {} }, { id: 10, name: "odd", settings: [1], tags: [1, "a"], stored: {} }])
    ["settings { theme }", "tags { name }", "settings { owner { name } } tags { on }"].each do |selected|
      3.times { assert_equal(*pair.map { |schema| text_of(outcome { schema.execute("{ shops { #{selected} } }").to_h }) }) }
    end
  ensure
    Shop.where(id: 9..).delete_all
  end
end
