# frozen_string_literal: true

require_relative "../support/plans"

return if Engine::NEXT # (It goes through them in its own way.)

# Trees of things in memory, with no code behind what is selected of them: written without graphql-ruby, if nothing is the matter.
class ThingsTest < PlanTest
  Later = Struct.new(:value) do
    def get = value.is_a?(Exception) ? raise(value) : value
  end

  FIELDS = %i[id title words kids one many post].freeze
  Struck = Struct.new(*FIELDS)
  Plain = Class.new do
    attr_reader(*FIELDS)

    def initialize(*values) = FIELDS.zip(values) { |name, value| instance_variable_set("@#{name}", value) }
  end
  Heir = Class.new(Plain)
  MAKERS = { struct: Struck.method(:new), plain: Plain.method(:new), heir: Heir.method(:new), hash: ->(*values) { FIELDS.zip(values).to_h },
             strings: ->(*values) { FIELDS.map(&:to_s).zip(values).to_h }, sparse: ->(*values) { FIELDS.zip(values).to_h.compact },
             own: ->(*values) { Struck.new(*values).tap { |it| it.define_singleton_method(:title) { "own" } } },
             hidden: ->(*values) { Struck.new(*values).tap { |it| it.singleton_class.send(:private, :title) } },
             extended: ->(*values) { Struck.new(*values).extend(Module.new { def words = super + 1 }) } }.freeze

  class PostType < Schemas::Base
    graphql_name "ThingPost"
    field :id, ID
    field :title, String
  end

  class Node < Schemas::Base
    graphql_name "ThingNode"
    field :id, ID
    field :title, String, null: false
    field :words, Integer
    field :kids, [self], null: false
    field :one, self
    field :many, [self, { null: true }]
    field :post, PostType
    field :label, String
    field :scoped, [self], method: :kids
    def label = "#{object.class} #{context[:current_path].join(".")}"
  end

  # What may stand where a thing, or a list of things, is to be.
  ODD = [nil, 5, "text", [], {}, [nil], [[]], Set[1], Later.new(nil), Later.new([]), GraphQL::ExecutionError.new("an error"),
         [GraphQL::ExecutionError.new("one"), GraphQL::ExecutionError.new("two")], Later.new(ArgumentError.new("late")),
         GraphQL::Execution::Interpreter::RawValue.new({ "raw" => 1 }), Object.new.tap { |it| it.define_singleton_method(:inspect) { "odd" } }].freeze

  def test_a_tree
    things = Array.new(3) { |n| Struck.new(n, "title #{n}", n, [], nil, nil, nil) }
    things.each { |it| it.kids = things; it.one = things.first; it.many = things.last(2) }
    schemas = pair(things)
    leaves = "id title words __typename"
    ["{ nodes { #{leaves} } }", "{ nodes { #{leaves} kids { #{leaves} one { #{leaves} many { #{leaves} kids { id } } } } a: title } }",
     "{ nodes { one { id } one { title kids { id } } ...F ... on ThingNode { kids { words } } } } fragment F on ThingNode { kids { id kids { id } } }",
     "{ nodes { kids { post { title } } } }"].each { |query| assert_plan(query, schemas) }
    assert_includes Pipeloader.explain(schemas.last, "{ nodes { kids { one { id } } } }").to_s, "nodes: compiled\n  kids: compiled\n    one: compiled"
  end

  ODD.each_with_index do |odd, number|
    define_method("test_odd_#{number}") do
      %i[kids one many post].each do |field|
        make = ->(value) { Struck.new(1, "one", 1, [], nil, nil, nil).tap { |it| it[field] = value } }
        schemas = pair([make.call(nil).tap { |it| it[field] = %i[one post].include?(field) ? nil : [] }, make.call(odd)])
        ["{ nodes { id #{field} { id title } } }", "{ nodes { title kids { id } #{field} { id } } }", "{ nodes { one { id #{field} { title } } #{field} { id } } }"].each do |query|
          assert_plan(query, schemas, errors: :any)
        end
      end
    end
  end

  # Of a name that several types have, who asks decides which it is.
  def test_types_of_one_name
    first, second = %w[a b].map { |who| type("Twin") { field :title, String; define_singleton_method(:visible?) { |context| super(context) && context[:who] == who } } }
    query = type("Query") do
      field :first, first
      field :second, second
      def first = { title: "first" }
      def second = { title: "second" }
    end
    schemas = make(query: query)
    ["{ first { ...T } } fragment T on Twin { title }", "{ first { ... on Twin { title } __typename } }", "{ __schema { queryType { name } } __type(name: \"Twin\") { name kind ...I } } fragment I on __Type { fields { name } }"].each do |text|
      3.times { assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute(text, context: { who: "a" }).to_h }) }, text) }
    end
  end

  # One thing, and no list.
  def test_single_things
    MAKERS.each do |name, make|
      [[1, "one", 2, [], nil, nil, nil], [1, nil, 2, [], nil, nil, nil], [1, :one, "x", nil, nil, nil, nil]].each do |values|
        thing = -> { make.call(*values) }
        schemas = schemas({ node: [Node, thing], must: [Node, thing], post: [PostType, thing] })
        ["{ node { id title words __typename } }", "{ node { id kids { id } one { id } label } post { title id } }", "{ node { id } other: node { title many { id } scoped { id } } }"].each do |query|
          3.times { assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute(query).to_h }) }, "#{name} #{values} #{query}") }
        end
      end
    end
    ODD.each do |odd|
      schemas = schemas({ node: [Node, -> { odd }] })
      3.times { assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute("{ node { id title } }").to_h }) }, odd.inspect) }
    end
    schemas = schemas({ node: [Node, -> { { id: 1, title: "one", words: 2 } }] })
    assert_includes Pipeloader.explain(schemas.last, "{ node { id title } }").to_s, "node: compiled\n  id: compiled\n  title: compiled"
  end

  Page = Struct.new(:nodes, :edges, :page_info)
  Holder = Struct.new(:page, :pages)

  # A thing may stand for a connection.
  def test_connections_types
    holder = type("ThingHolder") { field :page, Node.connection_type, connection: false; field :pages, [Node.connection_type], connection: false }
    one = Page.new([], [], nil)
    schemas = schemas({ nodes: [[holder], -> { [Holder.new(one, [one])] * 2 }] })
    ["{ nodes { page { __typename } } }", "{ nodes { page { nodes { id } } pages { __typename } } }", "{ nodes { pages { pageInfo { hasNextPage } } } }",
     "{ nodes { page { pageInfo { hasNextPage } } } }"].each do |query|
      assert_plan(query, schemas, errors: :any)
    end
  end

  # However deep they are: a fiber's stack isn't.
  def test_deep_documents
    thing = Struck.new(1, "title", 1, [], nil, nil, nil).tap { |it| it.one = it; it.kids = [it] }
    schemas = pair([thing])
    %w[one kids].product([38, 39, 40, 60, 150]).each do |field, depth|
      assert_plan("{ nodes { id #{"#{field} { id " * depth} #{"}" * depth} } }", schemas)
    end
    assert_plan("{ nodes { ...A } } fragment A on ThingNode { one { ...B } kids { ...B } } fragment B on ThingNode { one { #{"one { id " * 25} #{"}" * 25} } }", schemas)
  end

  # A proxy that is no Object may say that it is a String.
  def test_values_that_are_no_objects
    proxy = Class.new(BasicObject) do
      def initialize(value) = @value = value
      def method_missing(...) = @value.public_send(...)
      def respond_to_missing?(...) = true
    end
    schemas = pair([Struck.new(proxy.new("a"), proxy.new("text"), 1, [], nil, nil, nil)])
    plain, *piped = schemas.values_at(0, 1, 1, 1).map { |schema| schema.execute("{ nodes { id title } }").to_h.dig("data", "nodes", 0).transform_values { |it| [it, String === it] } }
    assert_equal [plain] * 3, piped
  end

  def test_monitors_are_told
    told = []
    monitor = Module.new do
      define_method(:begin_execute_field) { |field, *rest| (told << field.path) && super(field, *rest) }
    end
    things = Array.new(2) { |n| Struck.new(n, "title", n, [], nil, nil, nil) }
    schemas = pair(things) { trace_with(monitor) }
    assert_plan("{ nodes { id kids { id } } }", schemas)
    assert_includes told, "ThingNode.id" # (somebody's own tracer sees each)
  end

  def test_random
    seed = Integer(ENV.fetch("PIPELOADER_SEED", 4711))
    Integer(ENV.fetch("PIPELOADER_RUNS", 60)).times { |run| assert_random(Random.new(seed + run), "PIPELOADER_SEED=#{seed + run}") }
  end

  private

  def pair(list, &block)
    schemas({ nodes: [[Node], -> { list }] }) do
      lazy_resolve(Later, :get)
      use GraphQL::Dataloader if GraphQL::VERSION.start_with?("2.5.") # (as in ObjectListsTest)
      class_eval(&block) if block
    end
  end

  def assert_random(random, message)
    maker = MAKERS.keys.sample(random: random)
    odds = random.rand(4) # no oddity in most
    list = Array.new(random.rand(1..4)) { thing(random, maker, odds, 3) }
    query = "{ nodes #{selected(random, 3, random.rand(5).zero?)} }"
    block = random.rand(3).zero? && !GraphQL::VERSION.start_with?("2.5.") ? proc { use GraphQL::Dataloader } : nil
    plain, *piped = pair(list, &block).values_at(0, 1, 1, 1).map { |schema| text_of(outcome { schema.execute(query, context: { prefix: "p" }).to_h }) }
    assert_equal [plain] * 3, piped, "#{message} #{query}"
  end

  def thing(random, maker, odds, depth)
    odd = -> { odds.zero? && random.rand(8).zero? }
    below = -> { thing(random, maker, odds, depth - 1) }
    maker = MAKERS.keys.sample(random: random) if odds.zero? && random.rand(6).zero?
    list = -> { depth.zero? ? [] : Array.new(random.rand(3)) { below.call } }
    values = [random.rand(9), odd.call ? [nil, :symbol, "b\xff", 1.5].sample(random: random) : "title #{random.rand(99)}", odd.call ? 2**31 : random.rand(99),
              odd.call ? ODD.sample(random: random) : list.call, odd.call ? ODD.sample(random: random) : (below.call if depth.positive? && random.rand(2).zero?),
              odd.call ? ODD.sample(random: random) : [list.call, nil].sample(random: random), odd.call ? ::Post.find(random.rand(1..12)) : nil]
    MAKERS.fetch(maker).call(*values)
  end

  def selected(random, depth, opaque)
    leaves = ["id", "title", "words", "__typename", "a: title", *("label" if opaque)].sample(random.rand(1..3), random: random)
    below = depth.zero? ? [] : %w[kids one many scoped].sample(random.rand(3), random: random).map { |field| "#{field} #{selected(random, depth - 1, opaque)}" }
    below << "post { id title }" if random.rand(6).zero?
    "{ #{(leaves + below).shuffle(random: random).join(" ")} }"
  end

  def text_of(answer) = answer.inspect.gsub(/0x[0-9a-fX]{6,}/, "0x")
end
