# frozen_string_literal: true

require_relative "../support/plans"

# Scopes are blocks, which may say something else each time: default scopes, an association's, those that a chain calls. A statement
# is kept for what they say, and asked again only for that.
class ScopesTest < PlanTest
  class << self
    # What the scopes ask.
    attr_accessor :asked
  end

  # Counts what Arel makes SQL of, to be sent or to be kept.
  module Compiled
    class << self
      attr_accessor :count
    end

    def compile(...)
      Compiled.count += 1
      super
    end
  end
  Compiled.count = 0
  Arel::Visitors::ToSql.prepend(Compiled)

  class Current < ActiveSupport::CurrentAttributes
    attribute :tenant
  end

  # A value that is written for who asks.
  class Shifted < ActiveRecord::Type::Integer
    def serialize(value) = super(value && (value.to_i + ScopesTest.asked.to_i))
  end

  MEMO = {}
  NAME = +""

  # {name => [scope, values that it asks for]}
  SCOPES = {
    bind: [-> { where(score: ScopesTest.asked) }, [3, 5, nil, [3, 5], 1..4, 3]],
    value: [-> { where("score >= ?", ScopesTest.asked) }, [3, 5, 7]],
    named_value: [-> { where("score >= :least", least: ScopesTest.asked) }, [3, 5]],
    text: [-> { where("score >= #{ScopesTest.asked}") }, [3, 5]],
    negated: [-> { where.not(score: ScopesTest.asked) }, [3, nil, [3, 4]]],
    either: [-> { where(score: ScopesTest.asked).or(where(score: 1)) }, [3, 5]],
    order: [-> { (ScopesTest.asked ? order(score: :desc) : order(:score)).order(:id) }, [true, false]],
    order_text: [-> { order("score #{ScopesTest.asked}, comments.id") }, %w[desc asc]],
    order_arel: [-> { order(Arel.sql("score * #{ScopesTest.asked}, comments.id")) }, [1, -1]],
    limit: [-> { order(:id).limit(ScopesTest.asked) }, [1, 2, nil]],
    offset: [-> { order(:id).limit(2).offset(ScopesTest.asked) }, [0, 1]],
    nothing: [-> { where(score: 3) if ScopesTest.asked }, [true, false]],
    none: [-> { ScopesTest.asked ? all : none }, [true, false]],
    current: [-> { where(score: Current.tenant) }, [3, 5, nil]],
    locale: [-> { order(I18n.locale == :de ? { score: :desc } : { score: :asc }).order(:id) }, %i[de en]],
    zone: [-> { where("score >= ?", Time.zone.at(0).hour) }, ["UTC", "Tokyo"]],
    clock: [-> { where("score > 1 AND '#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)}' <> ''") }, [1]],
    time: [-> { where("score > 1 AND now() - interval '1 hour' < ?", Time.now) }, [1]],
    memo: [-> { where(score: MEMO[ScopesTest.asked] ||= rand(6)) }, (1..5).to_a],
    changed_string: [-> { where(body: NAME) }, ["comment 3", "comment 5"]],
    changed_value: [-> { where("body = ?", NAME) }, ["comment 3", "comment 5"]],
    changed_order: [-> { order(NAME) }, ["score desc, id", "score, id"]],
    another_class: [-> { where(body: ScopesTest.asked) }, [1, 1.0, "1", :"1"]],
    subquery: [-> { where(commenter_id: User.where("id >= ?", ScopesTest.asked)) }, [2, 4]],
    exists: [-> { where(User.where("users.id = commenter_id AND users.id >= ?", ScopesTest.asked).arel.exists) }, [2, 4]],
    joins: [-> { joins(:commenter).where(users: { id: ScopesTest.asked }) }, [2, [3, 4]]],
    joins_changing: [-> { joins(:asker) }, [2, 4]],
    joins_left_changing: [-> { left_joins(:asker).where.not(users: { id: nil }) }, [2, 4]],
    joins_scoped: [-> { joins(:scoped) }, [2, 4]],
    joins_deep: [-> { joins(writing: :asking) }, [2, 4]],
    joins_text: [-> { joins("JOIN users ON users.id = commenter_id AND users.id >= #{ScopesTest.asked}") }, [2, 4]],
    extending: [-> { extending(Module.new).where(score: ScopesTest.asked) }, [3, 5]],
    reads: [-> { where("score >= ?", User.where("id >= ?", ScopesTest.asked).minimum(:id)) }, [1, 3]],
    own_type: [-> { where(post_id: ScopesTest.asked ? 1.. : 1..) }, [1, 2]],
    raises: [-> { raise "no #{ScopesTest.asked}" }, [1, 2]]
  }.freeze

  def self.model(name, table, &block)
    const_set(name, Class.new(ActiveRecord::Base) { self.table_name = table })
    const_get(name).class_eval(&block)
  end

  model(:Asker, "users") { default_scope { where("users.id >= #{ScopesTest.asked}") } }
  model(:Writing, "posts") { belongs_to :asking, class_name: "ScopesTest::Asker", foreign_key: :author_id, optional: true }

  JOINED = lambda do |model|
    model.belongs_to :commenter, class_name: "User", optional: true
    model.belongs_to :asker, class_name: "ScopesTest::Asker", foreign_key: :commenter_id, optional: true
    model.belongs_to :scoped, -> { where("users.id >= #{ScopesTest.asked}") }, class_name: "User", foreign_key: :commenter_id, optional: true
    model.belongs_to :writing, class_name: "ScopesTest::Writing", foreign_key: :post_id, optional: true
  end

  SCOPES.each do |name, (block, _)|
    prefix = name.to_s.camelize
    model("#{prefix}Default", "comments") do
      JOINED.call(self)
      default_scope(&block)
      belongs_to :story, class_name: "ScopesTest::#{prefix}Story", foreign_key: :post_id, optional: true
    end
    model("#{prefix}Plain", "comments") do
      JOINED.call(self)
      scope :asked, block
      scope :asked_for, ->(_score) { instance_exec(&block) }
    end
    model("#{prefix}Story", "posts") do
      has_many :defaults, foreign_key: :post_id, class_name: "ScopesTest::#{prefix}Default"
      has_many :scoped, block, foreign_key: :post_id, class_name: "ScopesTest::#{prefix}Plain"
      has_many :plain, foreign_key: :post_id, class_name: "ScopesTest::#{prefix}Plain"
      has_many :commenters, through: :defaults, source: :commenter
    end
  end

  class Comment < Schemas::Base
    graphql_name "Asked"
    field :id, GraphQL::Types::ID
    field :body, String
  end

  class Named < Schemas::Base
    graphql_name "AskedName"
    field :name, String
  end

  INT = GraphQL::Types::Int

  # Its types have all that may be asked for.
  def schemas_of(story_model)
    story = type("Story") do
      field :id, GraphQL::Types::ID
      field :defaults, [Comment]
      field :scoped, [Comment]
      field :commenters, [Named]
      field :chain, [Comment]
      field(:given, [Comment]) { argument :score, INT }
      field :count, INT
      field :default_count, INT
      field :first, Comment
      field :opaque, [Comment]
      def chain = object.plain.asked
      def given(score:) = object.plain.asked_for(score).where("score < ?", 100)
      def count = object.plain.asked.count
      def default_count = object.defaults.count
      def first = object.defaults.order(:id).first
      def opaque = object.then(&:defaults)
    end
    roots = { stories: [[story], -> { story_model.order(:id) }] }
    roots[:tenants] = [[story], lambda { |context|
      Current.tenant = context[:tenants].shift
      story_model.order(:id)
    }]
    roots[:joined] = [[joined], -> { story_model.order(:id) }] if story_model == JoinsStory
    schemas(roots) { Engine.depth_first(self) if story_model == CurrentStory }
  end

  def joined
    type("Joined") do
      field :asker, [Comment]
      field :nested, INT
      field :left, [Comment]
      def asker = object.plain.joins(:asker).order(:id)
      def nested = object.plain.joins({ writing: :asking }).count
      def left = object.plain.left_joins(:scoped).where("users.id > 0").order(:id)
    end
  end

  FIELDS = ["defaults { id body } a: given(score: 1) { id } b: given(score: 2) { id } defaultCount",
            "scoped { id } chain { id body } count first { id }", "opaque { id } commenters { name }"].freeze

  def teardown
    ScopesTest.asked = nil
    super
  end

  # In this state of all that may be asked.
  def asking(value, &block)
    ScopesTest.asked = value
    Current.tenant = value
    NAME.replace(value.to_s)
    zone = value if value.is_a?(String) && ActiveSupport::TimeZone[value]
    Time.use_zone(zone || "UTC") { I18n.with_locale(value == :de ? :de : :en, &block) }
  end

  # Rows that nothing orders may come in any order: as on the other side of `includes`.
  def sorted(value)
    case value
    when Hash then value.transform_values { |it| sorted(it) }
    when Array then value.map { |it| sorted(it) }.then { |all| @ordered ? all : all.sort_by(&:to_s) }
    else value
    end
  end

  def assert_same(query, schemas, **options)
    plain, piped = schemas.map { |schema| outcome { schema.execute(query, **options.transform_values { |it| it.is_a?(Proc) ? it.call : it }).to_h } }
    assert_equal sorted(plain), sorted(piped), "#{query} where #{ScopesTest.asked.inspect} is asked for"
    plain
  end

  SCOPES.each do |name, (_, values)|
    define_method(:"test_#{name}") do
      I18n.available_locales |= %i[de en]
      @ordered = /order|limit|offset|locale/.match?(name)
      schemas = schemas_of(self.class.const_get("#{name.to_s.camelize}Story"))
      answers = FIELDS.to_h do |fields|
        # Each after each other.
        [fields, [*values, *values].map { |value| [value, asking(value) { assert_same("{ stories { id #{fields} } }", schemas) }] }.uniq]
      end
      assert_operator answers.values.map { |it| it.map(&:last).uniq.size }.max, :>, 1, "it asks for nothing" if TELLING.include?(name)
    end
  end
  TELLING = SCOPES.keys - %i[clock time own_type extending memo another_class raises reads]

  # What a chain joins has scopes, too.
  def test_joined_by_a_chain
    schemas = schemas_of(JoinsStory)
    answers = [1, 3, 5, 1, 3].map { |value| asking(value) { assert_same("{ joined { asker { id } nested left { id } } }", schemas) } }
    assert_equal 3, answers.uniq.size
  end

  # As #test_current: what a field assigns is its subtree's.
  def test_between_fields
    schemas = schemas_of(CurrentStory)
    tenants = (1..4).map { |at| "t#{at}: tenants { id defaults { id } scoped { id } chain { id } count defaultCount }" }.join(" ")
    [[3, 5, 3, nil], [5, 3, 1, 2]].each do |order|
      assert_same("{ #{tenants} }", schemas, context: -> { { tenants: order.dup } })
    end
  end

  # {field => whose scopes it needs}
  KEPT = { "defaults { id }" => BindStory, "scoped { id }" => BindStory, "chain { id }" => BindStory, "count defaultCount" => ValueStory,
           "given(score: 1) { id }" => TextStory, "first { id }" => BindStory,
           "commenters { name }" => OrderStory }.freeze

  # All that is compiled is the root.
  def test_statements_are_kept
    KEPT.each do |fields, story_model|
      schema = schemas_of(story_model).last
      compiled = [3, 5, 3, 5, 3].map { |value| asking(value) { compiled { schema.execute("{ stories { id #{fields} } }") } } }
      assert_equal [1, 1], compiled.last(2), "#{fields}: #{compiled}"
    end
  end

  def compiled
    before = Compiled.count
    yield
    Compiled.count - before
  end

  # With the time of day in it no two are the same.
  def test_what_is_never_the_same_is_not_kept_for_ever
    schema = schemas_of(ClockStory).last
    reflection = ClockStory.reflect_on_association(:defaults)
    40.times { |i| asking(i) { schema.execute("{ stories { id defaults { id } } }") } }
    lookups = reflection.instance_variable_get(:@pipeloader_lookups).values.flat_map(&:values)
    assert(lookups.all? { |it| it.instance_variable_get(:@kept).size <= 16 })
  end

  class Said < ActiveRecord::Base
    self.table_name = "comments"
    singleton_class.attr_accessor :name_of
    belongs_to :named, -> { where(name: Said.name_of) }, class_name: "User", foreign_key: :commenter_id, optional: true
  end

  # A text that is changed in place is another one: what was said before is kept as it was.
  def test_a_text_that_is_changed_in_place
    user = type("SaidUser") { field :name, String }
    said = type("Said") { field :id, Integer; field :named, user }
    schemas = schemas({ said: [[said], -> { Said.order(:id) }] })
    same = -> { assert_equal(*schemas.map { |schema| schema.execute("{ said { id named { name } } }").to_h }) }
    Said.name_of = text = +"user 4"
    2.times { same.call }
    text.replace("user 5")
    same.call
    Said.name_of = +"user 4"
    same.call
  end

  def test_scoping_and_unscoped_around
    schemas = schemas_of(BindStory)
    query = "{ stories { id #{FIELDS.first(2).join(" ")} } }"
    [BindDefault, BindPlain].each do |model|
      around = [->(run) { run.call }, ->(run) { model.unscoped { run.call } }, ->(run) { model.where(score: 4..).scoping { run.call } },
                ->(run) { model.where(score: 4..).scoping(all_queries: true) { run.call } }]
      answers = [*around, *around].map { |block| asking([3, 4, 5]) { block.call(-> { assert_same(query, schemas) }) } }
      assert_operator answers.uniq.size, :>, 1
    end
  end

  # Also when another scope is added later, or it's a method.
  def test_default_scopes_that_come_later
    schemas = schemas_of(LimitStory)
    query = "{ stories { id defaults { id } defaultCount } }"
    @ordered = true
    asking(nil) do
      first = assert_same(query, schemas)
      LimitDefault.class_eval { default_scope { where(score: 3..) } }
      refute_equal first, second = assert_same(query, schemas)
      LimitDefault.define_singleton_method(:default_scope) { where(score: 5..).order(:id) }
      LimitDefault.default_scope_override = nil
      refute_equal second, assert_same(query, schemas)
    end
  end

  def test_threads
    schemas = schemas_of(CurrentStory)
    query = "{ tenants { id defaults { id } scoped { id } chain { id } count defaultCount } }"
    expected = (0..7).to_h { |tenant| [tenant, schemas.first.execute(query, context: { tenants: [tenant] }).to_h] }
    found = Array.new(4) do |from|
      Thread.new { Array.new(30) { |i| [(from + i) % 8, schemas.last.execute(query, context: { tenants: [(from + i) % 8] }).to_h] } }
    end
    found.flat_map(&:value).each { |tenant, answer| assert_equal sorted(expected[tenant]), sorted(answer) }
  end

  # What such records lead to may not be loaded: ActiveRecord raises.
  class StrictlyScoped < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { strict_loading }
    belongs_to :commenter, class_name: "User", optional: true
  end

  class Strict < ActiveRecord::Base
    self.table_name = "posts"
    has_many :strict, -> { order(:id).strict_loading }, foreign_key: :post_id, class_name: "::Comment"
    has_one :strict_one, -> { order(:id).strict_loading }, foreign_key: :post_id, class_name: "::Comment"
    has_many :by_default, foreign_key: :post_id, class_name: "ScopesTest::StrictlyScoped"
    has_many :loose, -> { order(:id) }, foreign_key: :post_id, class_name: "::Comment"
  end

  def test_scopes_that_are_strict_loading
    user = type("StrictUser") { field :name, String }
    remark = type("StrictRemark") { field :id, Integer; field :commenter, user }
    story = type("StrictStory") do
      %i[strict by_default loose].each { |name| field name, [remark] }
      field :strict_one, remark
      field :page, remark.connection_type, method: :strict
      field :names, String
      field :chained, [remark]
      def names = object.strict.map { |it| it.commenter&.name }.inspect
      def chained = object.strict.where(score: 1..)
    end
    schemas = schemas({ them: [[story], -> { Strict.order(:id) }] })
    ["strict { commenter { name } }", "strictOne { commenter { name } }", "byDefault { commenter { name } }", "names",
     "page(first: 1) { nodes { commenter { name } } }", "chained { commenter { name } }"].each do |asked|
      answer = nil
      2.times { assert_equal(*schemas.map { |schema| text_of(answer = schema.execute("{ them { #{asked} } }").to_h) }, asked) }
      assert_includes answer.dig("errors", 0, "message"), "StrictLoadingViolationError", asked
    end
    assert_plan("{ them { loose { commenter { name } } } }", schemas)
    around = "{ them { loose { commenter { name } } } }"
    2.times { assert_equal(*schemas.map { |schema| ::Comment.strict_loading.scoping(all_queries: true) { text_of(schema.execute(around).to_h) } }) }
  end
end
