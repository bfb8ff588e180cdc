# frozen_string_literal: true

require_relative "../support/plans"

return if Engine::NEXT # (It goes through them in its own way.)

# Lists of objects that are gone through together: each field as if it had a job of its own.
class ObjectListsTest < PlanTest
  # What stands for a value that comes later.
  Later = Struct.new(:value) do
    def get = value.is_a?(Exception) ? raise(value) : value
  end

  Article = Struct.new(:id, :title, :words, :tags, :kind, :author)

  class Person
    attr_reader :id, :name

    def initialize(id, name)
      @id = id
      @name = name
    end

    def shout = name.upcase
    def initials(size = 1) = name[0, size]
  end

  class Setting < ActiveSupport::CurrentAttributes
    attribute :note
  end

  class Kind < GraphQL::Schema::Enum
    graphql_name "CohortKind"
    value "NEWS", value: "news"
    value "ESSAY", value: :essay
  end

  class Stamp < GraphQL::Schema::Scalar
    graphql_name "CohortStamp"
    def self.coerce_result(value, context) = "#{context[:stamp]}#{value}"
  end

  class PersonType < Schemas::Base
    graphql_name "CohortPerson"
    field :id, ID, null: false
    field :name, String
    field :shout, String
    field :initials, String
    field :loud, String
    def loud = object.name.dup.upcase << "!"
  end

  class ArticleType < Schemas::Base
    graphql_name "CohortArticle"
    field :id, ID, null: false
    field :title, String, null: false
    field :words, Integer
    field :tags, [String]
    field :kind, Kind
    field :author, PersonType
    field :stamp, Stamp, method: :id
    field :label, String
    field :needed, String, null: false
    field :count, Integer, null: false
    field :related, ["ObjectListsTest::ArticleType"], null: false
    field :people, [PersonType]
    field :read, Integer
    field :path, String
    def label = "#{context[:prefix]}#{object[:id]}"
    def needed = answer(:needed)
    def count = ::Post.where(id: ..object[:id]).count
    def related = context[:related].to_a
    def people = [object[:author]].compact
    def read = answer(:read)
    def path = context[:current_path].join(".")

    private

    def answer(field) = context[:answers][[field, object[:id]]].call(context)
  end

  def articles(kind: :struct)
    Array.new(6) do |n|
      values = { id: n, title: "title #{n}", words: n * 7, tags: n.even? ? ["a", n.to_s] : nil, kind: n.odd? ? "news" : :essay,
                 author: (Person.new(n, "person #{n}") unless n == 3) }
      case kind
      when :struct then Article.new(*values.values)
      when :hash then values
      when :strings then values.transform_keys(&:to_s)
      end
    end
  end

  def pair(list, **options, &block)
    schemas({ articles: [[ArticleType], -> { list }], listed: [[[ArticleType]], -> { [list, list] }],
              posts: [[PostType], -> { ::Post.order(:id) }] }, **options) do
      lazy_resolve(Later, :get)
      class_eval(&block) if block
    end
  end

  def setup
    super
    Setting.reset
  end

  ALL = "id title words tags kind stamp label author { id name shout initials loud } people { name loud shout }"

  def test_structs = assert_plan("{ articles { #{ALL} } }", pair(articles), context: -> { { prefix: "p", stamp: "s" } })
  def test_hashes = assert_plan("{ articles { #{ALL} } }", pair(articles(kind: :hash)), context: -> { { prefix: "p" } })
  def test_lists_of_lists = assert_plan("{ listed { #{ALL} } }", pair(articles), context: -> { { prefix: "p" } })

  # Where graphql-ruby looks for a String, too, or for what there is by default.
  def test_hashes_by_strings
    query = "{ articles { title words tags kind } }"
    assert_plan(query, pair(articles(kind: :strings)))
    assert_plan(query, pair(articles(kind: :hash).map { |it| Hash.new { |_, key| key }.merge(it).tap { |hash| hash.delete(:title) } }), errors: :any)
    assert_plan(query, pair(articles(kind: :hash).map { |it| it.except(:words) }))
    assert_plan(query, pair(articles(kind: :hash).map { |it| ActiveSupport::HashWithIndifferentAccess.new(it) }))
  end

  def test_aliases_fragments_and_names
    assert_plan(<<~GRAPHQL, pair(articles), context: -> { { prefix: "p" } })
      query { articles { __typename b: title a: title ... on CohortArticle { label l: label words author { __typename name } } ...F } }
      fragment F on CohortArticle { title kind x: author { loud } author { shout } }
    GRAPHQL
  end

  def test_skip_and_include
    schemas = pair(articles)
    query = "query($a: Boolean!) { articles { title @skip(if: $a) label @include(if: $a) words author @skip(if: $a) { name } } }"
    [true, false, true].each { |value| assert_plan(query, schemas, variables: { "a" => value }, context: -> { { prefix: "p" } }) }
  end

  # No two alike, nor all of one class; nothing; the same object twice.
  def test_lists_of_all_kinds
    all = articles
    lists = [[], [nil], [all.first, nil, all.last], [all.first, all.first], [all.first, articles(kind: :hash).last], [Later.new(all.first)],
             [all.first, Later.new(all.last)], [GraphQL::ExecutionError.new("no")], [all.first, GraphQL::ExecutionError.new("no")],
             [Later.new(GraphQL::ExecutionError.new("no")), all.first], Set.new(all), all.each, all.lazy, all.to_enum, 5, all.first]
    lists.each do |list|
      assert_plan("{ articles { title words label author { name loud } } }", pair(list), errors: :any, context: -> { { prefix: "p" } })
    end
  end

  # Readers that aren't plain after all.
  def test_readers_with_code
    upcased = Class.new(Article) { def title = super.upcase }
    singled = articles.each { |it| it.define_singleton_method(:title) { "single" } }
    missing = Class.new { attr_reader :id; def initialize(id) = @id = id; def respond_to_missing?(name, _) = name == :title; def method_missing(*) = "missing" }
    refusing = Class.new(Article) { def respond_to?(name, *) = name != :title && super }
    [articles.map { |it| upcased.new(*it.to_a) }, singled, [missing.new(1)], articles.map { |it| refusing.new(*it.to_a) }].each do |list|
      assert_plan("{ articles { id title } }", pair(list), errors: :any)
    end
  end

  # A proxy that stands for what isn't loaded yet, is asked when graphql-ruby asks it.
  def test_proxies
    log = []
    proxy = Class.new(BasicObject) do
      define_method(:initialize) { |target| @target = target }
      define_method(:method_missing) { |name, *rest, &block| (log << name) && @target.__send__(name, *rest, &block) }
      define_method(:respond_to_missing?) { |*| true }
    end
    assert_plan("{ articles { id title } }", pair(articles.map { |it| proxy.new(it) }), errors: :any)
    refute_empty log
  end

  # What can be the matter with a value.
  VALUES = {
    nil: nil, int: 5, big: 2**31, float: 1.5, nan: Float::NAN, text: "text", empty: "", latin: "\xE9".dup.force_encoding("ISO-8859-1"), bytes: "\xE9".b,
    broken: "\xE9", symbol: :news, list: ["a", :b], nested: [["a"]], object: Class.new { def to_s = "self-made" }.new, hash: { a: 1 },
    time: Time.utc(2020), decimal: BigDecimal("1.5"), yes: true, no: false,
    error: GraphQL::ExecutionError.new("an error"), errors: [GraphQL::ExecutionError.new("one"), GraphQL::ExecutionError.new("two")],
    later: Later.new("later"), later_error: Later.new(GraphQL::ExecutionError.new("late")), later_raise: Later.new(ArgumentError.new("late")),
    raw: GraphQL::Execution::Interpreter::RawValue.new({ "a" => 1 }), later_nil: Later.new(nil), items_later: [Later.new("a"), "b"]
  }.freeze

  class ValueType < Schemas::Base
    graphql_name "CohortValue"
    { string: String, int: Integer, float: Float, boolean: GraphQL::Types::Boolean, id: GraphQL::Types::ID, kind: Kind, stamp: Stamp, strings: [String],
      ints: [Integer, { null: true }], iso: GraphQL::Types::ISO8601DateTime, json: GraphQL::Types::JSON }.each do |name, type|
      { name => true, "#{name}_needed" => false }.each do |field, null|
        field field, type, null: null
        field "#{field}_of_thing", type, null: null, method: :value
        define_method(field) { object.value.is_a?(Proc) ? object.value.call(context) : object.value }
      end
    end
  end

  Valued = Struct.new(:value)
  Reading = Class.new { attr_reader :value; def initialize(value) = @value = value }

  VALUES.each do |name, value|
    define_method("test_value_#{name}") do
      made = schemas({ values: [[ValueType, { null: true }], -> { [Valued.new("1"), Valued.new(value), Valued.new("2")] }] }) do
        lazy_resolve(Later, :get)
        # (There what a scalar raises leaves a job, and ends a list only where its jobs are done inside of it.)
        use GraphQL::Dataloader if GraphQL::VERSION.start_with?("2.5.")
      end
      ValueType.fields.each_key do |field|
        [field, "a: #{field} b: string"].each { |fields| assert_plan("{ values { #{fields} } }", made, errors: :any, context: -> { { stamp: "s" } }) }
      end
    end

    define_method("test_value_#{name}_in_memory") do
      [->(it) { { value: it } }, ->(it) { { "value" => it } }, ->(it) { Hash.new { |*| "default" }.merge(it ? { value: it } : {}) }, ->(it) { Reading.new(it) }].each do |thing|
        made = schemas({ values: [[ValueType, { null: true }], -> { ["1", value].map(&thing) }] }) do
          lazy_resolve(Later, :get)
          use GraphQL::Dataloader if GraphQL::VERSION.start_with?("2.5.")
        end
        ValueType.fields.each_key.grep(/OfThing/).each { |field| assert_plan("{ values { #{field} } }", made, errors: :any, context: -> { { stamp: "s" } }) }
      end
    end
  end

  RAISED = {
    standard: -> { raise ArgumentError, "raised" }, execution: -> { raise GraphQL::ExecutionError, "an error" },
    timeout: -> { raise ::Timeout::Error, "too late" }, unauthorized: -> { raise GraphQL::UnauthorizedError, "no" },
    field: -> { raise GraphQL::UnauthorizedFieldError, "no field" }, missing: -> { nil.nothing }, arguments: -> { "".length(1) },
    record: -> { ::Post.find(-1) }, sql: -> { ::Post.where("1 / (id - id) = 1").count }, skip: ->(context = nil) { context&.skip }
  }.freeze

  RAISED.each do |name, work|
    define_method("test_raised_#{name}") do
      raising = Valued.new(->(context) { work.arity.zero? ? work.call : work.call(context) })
      [[raising], [Valued.new("1"), raising, Valued.new("2")], [raising, raising]].each do |list|
        made = schemas({ values: [[ValueType, { null: true }], -> { list }], needed: [[ValueType], -> { list }] })
        bare = schemas({ values: [[ValueType, { null: true }], -> { list }] }) { error_handlers.clear if respond_to?(:error_handlers) }
        ["{ values { string } }", "{ values { stringNeeded } }", "{ values { a: string b: stringNeeded c: string } }",
         "{ needed { string b: stringNeeded } }", "{ a: values { stringNeeded } b: values { string } }"].each do |query|
          assert_plan(query, made, errors: :any)
          assert_plan(query, bare, errors: :any) unless query.include?("needed")
        end
      end
    end
  end

  # Who waits isn't waited for; and each takes its place among the errors.
  def test_reads_and_failures_among_them
    answers = 6.times.flat_map do |n|
      reading = ->(_) { ::Post.where(id: ..n).count }
      failing = ->(_) { n.odd? ? raise(GraphQL::ExecutionError, "#{n} of #{::Post.where(id: ..n).count}") : n }
      waiting = ->(_) { n == 2 ? nil : ::User.where(id: ..n).pick(:name) || "nobody" }
      [[[:read, n], n % 3 == 1 ? failing : reading], [[:needed, n], waiting]]
    end.to_h
    schemas = pair(articles)
    ["{ articles { read needed } }", "{ articles { needed title read label } }", "{ a: articles { read } b: articles { needed } }",
     "{ articles { count read count2: count author { loud } } }"].each do |query|
      assert_plan(query, schemas, errors: :any, context: -> { { answers: answers, prefix: "p" } })
    end
  end

  def test_one_burst_for_what_all_of_them_read
    schemas = pair(articles)
    query = "{ articles { title count label } }"
    assert_plan(query, schemas)
    assert_round_trips(1) { schemas.last.execute(query) }
  end

  def test_paths
    schemas = pair(articles)
    assert_plan("{ articles { path related { path } } listed { path } }", schemas, context: -> { { related: articles.first(2) } })
  end

  # What a resolver leaves behind is there for those who come after it, also where one of them waits.
  def test_what_is_left_behind
    answers = 6.times.to_h do |n|
      [[:read, n], lambda do |_|
        next (Setting.note = "left behind") && n if n == 1

        n == 4 ? Setting.set(note: "inside") { ::Post.where(id: ..n).count } : ::Post.where(id: ..n).count + Setting.note.to_s.size
      end]
    end
    schemas = pair(articles)
    assert_plan("{ articles { read } after: articles { read } }", schemas, before: -> { Setting.reset }, context: -> { { answers: answers } })
    plain, piped = schemas.map { |schema| Setting.reset && schema.execute("{ articles { read } }", context: { answers: answers }) && Setting.note }
    assert_equal plain, piped
  end

  # In which order resolvers are called, where none waits: under GraphQL::Dataloader as there.
  def test_order_of_calls
    answers = Hash.new { |all, (field, id)| all[[field, id]] = ->(context) { context[:log] << [field, id] && nil } }
    schemas = pair(articles) { use GraphQL::Dataloader }
    ["{ articles { title read label b: read } }", "{ a: articles { read } b: articles { read } }",
     "{ articles { read related { read title related { read } } } }", "{ listed { read related { read } } articles { read } }"].each do |query|
      logs = schemas.map { |schema| [].tap { |log| schema.execute(query, context: { answers: answers, log: log, related: articles.first(2) }) } }
      assert_equal logs.first, logs.last, query
      refute_empty logs.first
    end
  end

  # One ends the list while others are under way.
  def test_dead_lists
    answers = 6.times.flat_map { |n| [[[:needed, n], ->(_) { n == 3 ? nil : ::Post.where(id: ..n).count.to_s }], [[:read, n], ->(_) { n }]] }.to_h
    strict = type("CohortStrict") { field :articles, [ArticleType], null: false; def articles = context[:list] }
    schemas = schemas({ strict: [strict, -> { {} }], stricts: [[strict, { null: true }], -> { [{}, {}] }] })
    ["{ strict { articles { needed read } } }", "{ stricts { articles { read needed } } strict { articles { read } } }"].each do |query|
      assert_plan(query, schemas, errors: :any, context: -> { { answers: answers, list: articles } })
    end
  end

  class UserType < Schemas::Base
    graphql_name "CohortUser"
    field :name, String
    field :loud, String
    field :count, Integer
    field :posts, ["ObjectListsTest::PostType"], null: false
    def loud = object.name.dup.upcase
    def count = object.posts.where(id: 3..).count
  end

  class PostType < Schemas::Base
    graphql_name "CohortPost"
    field :id, ID
    field :title, String
    field :loud, String
    field :author, UserType
    field :editor, UserType, null: false
    field :comments, [Schemas::Comment]
    field :renamed, String
    def loud = object.title.dup.upcase
    def renamed = object.title = "renamed #{object.id}"
  end

  # Records, and theirs; names that a resolver of the same object has changed before.
  def test_records
    schemas = pair(articles)
    ["{ posts { __typename id title loud author { __typename name loud count } comments { id body } } }",
     "{ posts { title renamed t: title author { loud posts { title loud author { name } } } } }",
     "{ posts { loud author { count } editor { loud name } } }", "{ posts { loud editor { count name } } b: posts { author { count } } }"].each do |query|
      2.times { assert_same_answer(query, schemas) }
    end
  end

  # Objects that a monitor, a scope or the application is to see.
  def test_what_isnt_plain_of_a_type
    authorized = Class.new(ArticleType) { graphql_name "CohortAuthorized"; def self.authorized?(object, context) = super && object[:id] != 2 }
    lazily = Class.new(ArticleType) { graphql_name "CohortLazily"; def self.authorized?(object, _) = Later.new(object[:id] != 2) }
    wrapped = Class.new(ArticleType) { graphql_name "CohortWrapped"; def initialize(object, context) = super(object.dup.tap { |it| it[:title] = "wrapped" }, context) }
    scoped = Class.new(ArticleType) { graphql_name "CohortScoped"; def self.scope_items(items, _) = items.first(2) }
    [authorized, lazily, wrapped, scoped].each do |type|
      made = schemas({ articles: [[type, { null: true }], -> { articles }] }) { lazy_resolve(Later, :get) }
      assert_plan("{ articles { id title label author { name loud } } }", made, errors: :any, context: -> { { prefix: "p" } })
    end
  end

  class Loud < GraphQL::Schema::FieldExtension
    def after_resolve(value:, **) = "#{value}!"
  end

  class OwnField < GraphQL::Schema::Field
    def resolve(...) = "#{super}?"
  end

  # Fields of which graphql-ruby does more than call a method.
  def test_what_isnt_plain_of_a_field
    special = type("CohortSpecial") do
      field_class OwnField
      field :own, String, method: :title
      field_class GraphQL::Schema::Field
      field(:extended, String, method: :title) { extension Loud }
      field(:given, String) { argument :size, Integer, required: false, default_value: 3 }
      field :pathed, String, extras: [:path]
      field :keyed, String, hash_key: :title
      field :dug, String, dig: [:title, 0]
      field :backed, String, fallback_value: "fallback"
      field :several, String
      field :checked, String, validates: { allow_null: true }
      field :hidden_method, String, resolver_method: :secret
      def given(size:) = object[:title][0, size]
      def pathed(path:) = path.join(".")
      def several(size = 2) = object[:title][0, size]
      def checked = object[:title]

      private

      def secret = "secret"
    end
    %i[struct hash].each do |kind|
      made = schemas({ articles: [[special], -> { articles(kind: kind) }] })
      special.fields.each_key { |name| assert_plan("{ articles { #{name} } }", made, errors: :any) }
    end
  end

  class Titled < ActiveRecord::Base
    self.table_name = "posts"
    def title = super.upcase
    def respond_to?(name, *) = name != :likes && super
    def likes = super + 1
  end

  # What a record doesn't say that it has, it isn't asked for.
  def test_records_without_what_is_asked_for
    titled = type("CohortTitled") do
      field :id, GraphQL::Types::ID
      field :title, String
      field :backed, String, method: :title, fallback_value: "fallback"
      field :likes, Integer
      field :other, Integer, method: :likes, fallback_value: 5
    end
    schemas = schemas({ few: [[titled], -> { Titled.order(:id).select(:id) }], all: [[titled], -> { Titled.order(:id) }] })
    %w[title backed likes other].product(%w[few all]).each do |field, list|
      plain, *piped = [schemas.first, *[schemas.last] * 2].map { |schema| text_of(schema.execute("{ #{list} { id #{field} } }").to_h) }
      assert_equal [plain] * 2, piped
    end
  end

  # Classes of things may be made for each request.
  def test_classes_without_end
    made = Array.new(40) { |n| ObjectListsTest.const_set("Numbered#{n}", Struct.new(:id, :title)) } + Array.new(5) { Struct.new(:id, :title) }
    schemas = schemas({ articles: [[ArticleType], ->(context) { [context[:made].new(1, "one")] }] })
    made.each do |one|
      answer = assert_same_answer("{ articles { id title } labelled: articles { id label } }", schemas, context: -> { { made: one } })
      assert_equal [{ "id" => "1", "title" => "one" }], answer.dig("data", "articles")
    end
    plans = schemas.last.pipeloader_operations.values.flat_map(&:values).grep(Pipeloader::Operation).map(&:plans)
    known = plans.flat_map { |it| it.instance_variable_get(:@selections).values.flat_map(&:values) }
    assert_operator known.map(&:size).max, :<=, Pipeloader::Operation::LIMIT + 1
    refute_empty known
  end

  Item = Struct.new(:id, :views, :siblings)

  # Things often know one another.
  def test_things_that_change_others
    item = type("CohortItem") do
      field :id, GraphQL::Types::ID
      field :views, Integer
      field :load, String
      def load = object.siblings.each { |it| it.views = it.views.to_i + 7 } && "loaded"
    end
    made = schemas({ items: [[item], -> { Array.new(3) { |n| Item.new(n) }.then { |all| all.each { |it| it.siblings = all } } }] })
    ["{ items { id views load } }", "{ items { load views id } }", "{ items { a: views load views b: load c: views } }"].each { |query| assert_plan(query, made) }
  end

  # (A frozen object has no methods of its own.)
  def test_a_type_that_freezes
    frozen = type("CohortFrozen") do
      field :id, String
      field :failing, String
      def failing = freeze && raise(GraphQL::ExecutionError, "frozen")
    end
    assert_plan("{ articles { id failing } }", schemas({ articles: [[frozen], -> { articles }] }), errors: true)
  end

  class LazyString < String
    def get = "got #{self}"
  end

  def test_strings_of_another_class
    made = schemas({ values: [[ValueType], -> { [Valued.new(LazyString.new("a")), Valued.new([LazyString.new("b")])] }] }) { lazy_resolve(LazyString, :get) }
    assert_plan("{ values { string strings stringOfThing stringsOfThing } }", made, errors: :any)
  end

  # A dataloader that keeps its jobs elsewhere, as AsyncDataloader does.
  class Elsewhere < GraphQL::Dataloader
    def append_job(...) = super(...) # rubocop:disable Lint/UselessMethodDefinition
  end

  def test_a_loader_with_a_queue_of_its_own
    schemas = pair(articles) { use Elsewhere }
    assert_plan("{ articles { title count label author { loud } } }", schemas, context: -> { { prefix: "p" } })
    assert_equal [false, true], [Elsewhere, GraphQL::Dataloader].map { |base| Pipeloader::QueryLoader.over(base, fiber_limit: nil, coalesce: true).new.pipeloader_queues? }
  end

  # Random objects whose fields do random things.
  def test_random
    seed = Integer(ENV.fetch("PIPELOADER_SEED", 4711))
    Integer(ENV.fetch("PIPELOADER_RUNS", 40)).times { |run| assert_random(Random.new(seed + run), "PIPELOADER_SEED=#{seed + run}") }
  end

  # (Some aren't valid JSON.)
  def text_of(answer) = answer.inspect.gsub(/0x[0-9a-fX]{6,}/, "0x")

  WORK = [
    ->(n, _) { n.to_s }, ->(_, _) {}, ->(n, _) { ::Post.where(id: ..n).count.to_s }, ->(n, _) { ::User.where(id: n).pick(:name) },
    ->(n, _) { raise GraphQL::ExecutionError, "error #{n}" }, ->(n, _) { GraphQL::ExecutionError.new("returned #{n}") },
    ->(n, _) { raise ArgumentError, "raised #{n}" }, ->(n, _) { Later.new("later #{n}") }, ->(n, _) { Later.new(nil) && n.to_s },
    ->(n, context) { context[:seen].push(n) && n.to_s }, ->(n, _) { Later.new(GraphQL::ExecutionError.new("late #{n}")) },
    ->(_, context) { context[:current_path].join(".") }, ->(n, _) { ::Post.where(id: n).pick(:title) || raise("none #{n}") }
  ].freeze

  private

  def assert_random(random, message)
    answers = Hash.new { |all, key| all[key] = WORK[random.rand(10) < 6 ? random.rand(4) : random.rand(WORK.size)].then { |work| ->(context) { work.call(key.last, context) } } }
    6.times { |n| %i[read needed].each { |field| answers[[field, n]] } }
    list = articles(kind: %i[struct hash].sample(random: random)).sample(random.rand(1..6), random: random)
    fields = %w[title words tags kind label needed needed count path a:\ title b:\ label __typename author\ {\ name\ loud\ shout\ } people\ {\ loud\ name\ }
                related\ {\ title\ needed\ label\ related\ {\ label\ needed\ } }]
    selected = -> { fields.sample(random.rand(1..5), random: random).join(" ") }
    query = "{ #{Array.new(random.rand(1..2)) { |n| "r#{n}: #{%w[articles articles listed].sample(random: random)} { #{selected.call} }" }.join(" ")} }"
    related = articles.sample(random.rand(0..3), random: random)
    block = random.rand(2).zero? ? proc { use GraphQL::Dataloader } : nil
    made = pair(list, &block)
    plain, *piped = made.values_at(0, 1, 1, 1).map { |schema| text_of(outcome { schema.execute(query, context: { answers: answers, seen: [], prefix: "p", related: related }).to_h }) }
    assert_equal [plain] * 3, piped, "#{message} #{query}"
  end
end
