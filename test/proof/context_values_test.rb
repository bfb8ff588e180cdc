# frozen_string_literal: true

require_relative "../support/plans"
require "delegate"

# Resolver methods that ask the query's context for plain values, or for a record's columns, are plain as long as that is what is
# there; whatever else is there is graphql-ruby's.
class ContextValuesTest < PlanTest
  class Viewer < ActiveRecord::Base
    self.table_name = "users"
    alias_attribute :title, :name
    def initial = name[0].to_s
    def popular? = Post.where(author_id: id).count > 1
    def nothing = nil
  end

  # What an application's base class has.
  class Base < Schemas::Base
    def current_user = context[:viewer]
    def memo = @memo ||= context[:viewer]
    def given(name = :viewer) = context[name]

    def needed_user = context.fetch(:viewer)

    private

    def viewer_id = current_user&.id
    def shown(text) = context.fetch(:shouting, false) ? text.upcase : text.strip
  end

  USER = type("User") { field :name, String }
  COMMENT = type("Comment") { field :body, String }

  PLAIN = {
    mine: "Boolean", mine_too: "Boolean", mine_privately: "Boolean", greeting: String, either: String, anonymous: "Boolean", named: String,
    initial: String, length: Integer, listed: "Boolean", only: String, both: String, needed: "Boolean", needed_too: String, fetched: "Boolean", fallback: String, shouted: String, keyed: "Boolean"
  }.freeze
  CHAINS = { scored: Integer, scored_by_id: Integer, any: "Boolean", several: Integer, limited: Integer, by_record: Integer, by_needed: Integer, by_fallback: Integer, latest: COMMENT, bodies: [COMMENT] }.freeze
  OPAQUE = { remembered: "Boolean", handed: "Boolean", handed_on: String, made: String, path: String, dynamic: "Boolean", stored: "Boolean", compared: "Boolean" }.freeze

  POST = type("Post", Base) do
    field :title, String
    field :author, USER
    { **PLAIN, **CHAINS, **OPAQUE }.each { |name, type| field name, type }
    field :paged, COMMENT.connection_type
    field :hits, Integer do
      argument :least, Integer, required: false
    end
    field :opaque, String

    def mine = object.author_id == context[:viewer]&.id
    def mine_too = current_user ? object.author_id == current_user.id : nil
    def mine_privately = object.author_id == viewer_id
    def greeting = "#{object.title} for #{context[:name]}"
    def either = context[:name] || object.title
    def anonymous = !context[:viewer]
    def named = context[:viewer] && context[:viewer].name.upcase
    def initial = context[:viewer]&.initial
    def length = context[:name].to_s.length + object.id
    def listed = context[:ids].include?(object.id)
    def only = context[:name]
    def needed = object.author_id == needed_user&.id
    def needed_too = context.fetch(:name)
    def fetched = object.author_id == context.fetch(:viewer, nil)&.id
    def fallback = "#{context.fetch(:name, "nobody")} #{context.fetch(:nickname, "none").strip} #{context.fetch(:nickname, 7)}"
    def shouted = shown(object.title)
    def keyed = context.key?(:name) && !context.key?(:nickname)
    def by_fallback = object.comments.where(commenter_id: context.fetch(:commenter, 3)).count
    def by_needed = object.comments.where(commenter_id: needed_user&.id).count
    def both = "#{context[:viewer]&.title}#{context[:name]&.strip}"

    def scored = object.comments.where(commenter_id: context[:viewer].id).count
    def scored_by_id = object.comments.where(commenter_id: viewer_id).count
    def any = object.comments.exists?(commenter_id: context[:viewer]&.id)
    def several = object.comments.where(commenter_id: context[:ids]).count
    def limited = object.comments.where("score > ?", context[:least]).size
    def by_record = object.comments.where(commenter_id: context[:viewer]).count
    def latest = object.comments.where(commenter_id: viewer_id).order(:id).last
    def bodies = object.comments.where(commenter_id: context[:ids]).order(:id)
    def paged = object.comments.where(commenter_id: context[:ids]).order(:id)
    def hits(least: 1) = object.comments.where("score >= ?", least).where(commenter_id: context[:ids]).count

    def remembered = object.author_id == memo&.id
    def handed = object.author_id == given&.id
    def handed_on = context.fetch(:nickname, object.title)
    def made = context.fetch(:nickname) { "made" }
    def path = "#{object.id}#{context[:current_path]}"
    def dynamic = object.author_id == context[object.title.to_sym]
    def stored = object.author_id == (context[:stored] = 7)
    def compared = context[:viewer] == object.author_id

    def opaque = context[:do].call(object, context).to_s
  end

  def schemas(&block) = super({ posts: [[POST], -> { Post.order(:id).limit(6) }], post: [POST, -> { Post.order(:id).first }] }, &block)

  def schemas_at(type) = PlanTest.instance_method(:schemas).bind_call(self, { posts: [[type], -> { Post.order(:id).limit(6) }] })

  def viewer = Viewer.order(:id).third

  def query(*names) = "{ posts { #{names.map { |it| it.to_s.camelize(:lower) }.join(" ")} } }"

  def assert_aside(text, schemas = schemas(), **options) = super

  def assert_context(text, context, schemas = schemas(), **options)
    assert_plan(text, schemas, context: -> { context.dup }, made: [Viewer, User], **options)
  end

  def test_formulas
    schemas = schemas()
    [{ viewer: viewer, name: " you ", ids: [1, 2] }, { viewer: nil, name: nil, ids: [] }, { viewer: Viewer.first, name: "é", ids: [3] }].each do |context|
      assert_context(query(*PLAIN.keys), context, schemas)
    end
  end

  def test_chains
    schemas = schemas()
    text = "{ posts { #{(CHAINS.keys - %i[latest bodies]).map { |it| it.to_s.camelize(:lower) }.join(" ")} hits hits2: hits(least: 3) latest { body } bodies { body } paged(first: 2) { nodes { body } } } }"
    [viewer, Viewer.first, viewer].each { |it| assert_context(text, { viewer: it, ids: [it.id, 2], least: 2 }, schemas) }
  end

  def test_one_statement_for_all
    schema = schemas.last
    viewer = viewer()
    trips = assert_round_trips(2) { schema.execute(query(:title, :scored, :mine), context: { viewer: viewer }) }
    assert_equal [1, 1], trips.map(&:size)
  end

  # A value's method with a text, but no other object's.
  def test_times
    record = Class.new(Viewer) { def self.name = "ContextValuesTest::Zoned"; def in_time_zone(zone) = "#{self.class} in #{zone}" }
    post = type("Timed", Base) { field :at, String; def at = "#{object.title} #{context[:at].in_time_zone("Europe/London")}" }
    schemas = schemas_at(post)
    [Time.utc(2024, 7, 1), Date.new(2024, 7, 1), "2024-07-01 12:00"].each { |at| assert_context("{ posts { at } }", { at: at }, schemas) }
    [record.new, Struct.new(:name) { def in_time_zone(zone) = "#{name} #{zone}" }.new("n")].each do |at|
      assert_aside("{ posts { at } }", schemas_at(post), context: { at: at })
    end
  end

  # Who isn't there raises, as it does.
  def test_nobody
    schemas = schemas()
    assert_aside(query(:scored), schemas, context: {}, errors: true)
    assert_context(query(:scored_by_id, :any, :mine, :anonymous), {}, schemas)
    assert_aside(query(:title, :listed), schemas, context: {}, errors: true)
  end

  # What must be there, and isn't, raises; nil is there.
  def test_what_is_needed
    schemas = schemas()
    %i[needed by_needed needed_too].each { |name| assert_aside(query(:title, name), schemas, context: {}, errors: :any) }
    assert_context(query(:title, :needed, :needed_too, :by_needed), { viewer: nil, name: nil }, schemas)
    context = Class.new(GraphQL::Query::Context) { def fetch(key, *) = key == :name ? "own" : super }
    others = schemas { context_class(context) }
    assert_aside(query(:needed_too), others, context: { name: "n" })
    assert_context(query(:only), { name: "n" }, others)
  end

  # What may be missing: another value is in its place.
  def test_what_may_be_missing
    schemas = schemas()
    text = query(:title, :fetched, :fallback, :shouted, :keyed, :by_fallback)
    [{}, { name: nil, viewer: nil, commenter: nil }, { nickname: "ny", shouting: true, commenter: viewer, viewer: viewer }].each { |it| assert_context(text, it, schemas) }
    assert_aside(query(:title, :fallback), schemas, context: { nickname: Object.new }, errors: :any)
    context = Class.new(GraphQL::Query::Context) do
      def fetch(key, *) = key == :nickname ? "own" : super
      def key?(key) = key == :name || super
    end
    others = schemas { context_class(context) }
    %i[fallback keyed].each { |name| assert_aside(query(name), others, context: { name: "n" }) }
  end

  # One of values is a value, unless it has code for what isn't there, or is of another class.
  def test_hashes
    schemas = schemas()
    [{ 1 => true, 3 => [nil, { "a" => 1.5 }] }, {}].each { |ids| assert_context(query(:listed), { ids: ids }, schemas) }
    [Hash.new { |hash, key| hash[key] = 1 }, Hash.new(1), Class.new(Hash)[1, 2], { 1 => viewer }, { viewer => 1 }].each do |ids|
      assert_aside(query(:listed), schemas(), context: { ids: ids }, errors: :any)
    end
  end

  Named = Struct.new(:id, :name) do
    def initial = name[0]
  end

  class Decorated < SimpleDelegator
    def id = 1
  end

  # What isn't plain is asked by graphql-ruby, for each object.
  def test_others_that_are_there
    counted = Class.new { attr_reader :id }.new
    [Named.new(3, "x"), Decorated.new(viewer), counted, { id: 3 }, viewer.tap { |it| it.define_singleton_method(:id) { 1 } }, ->(*) { 3 }].each do |other|
      %i[mine any].each { |name| assert_aside(query(name), context: { viewer: other }, errors: :any) }
    end
    assert_aside(query(:greeting), context: { name: viewer }, errors: :any)
    assert_aside(query(:greeting), context: { name: Class.new(String).new("x") })
    assert_aside(query(:listed), context: { ids: Set[1] })
    assert_aside(query(:listed), context: { ids: [Object.new] })
  end

  # Its `!` may be anything.
  def test_others_are_there_or_not
    contrary = Class.new { def ! = true }.new
    [Object.new, contrary].each { |other| assert_aside(query(:anonymous), context: { viewer: other }) }
    assert_context(query(:anonymous), { viewer: viewer })
  end

  def test_methods_that_read
    text = "{ posts { popular } }"
    post = type("Post", Base) do
      field :popular, "Boolean"
      def popular = context[:viewer].popular? && object.id > 1
    end
    assert_aside(text, PlanTest.instance_method(:schemas).bind_call(self, { posts: [[post], -> { Post.order(:id) }] }), context: { viewer: viewer })
  end

  def test_what_is_not_in_memory
    narrowed = Viewer.select(:name).third
    assert_context(query(:mine), { viewer: narrowed }) # its id is nil
    assert_aside(query(:title, :initial), context: { viewer: Viewer.select(:id).third }, errors: :any)
    changed = viewer.tap { |it| it.name = "changed" }
    assert_context(query(:named, :initial), { viewer: changed, name: "x" })
    assert_context(query(:mine, :scored), { viewer: Viewer.new(name: "new") })
  end

  def test_opaque_ones
    OPAQUE.each_key { |name| assert_aside(query(name), context: -> { { viewer: viewer } }) }
  end

  def test_a_context_of_the_applications
    own = Class.new(GraphQL::Query::Context) { def [](key) = key == :name ? "own" : super }
    assert_aside(query(:greeting), schemas { context_class(own) })
    harmless = Class.new(GraphQL::Query::Context)
    assert_context(query(:greeting), { name: "x" }, schemas { context_class(harmless) })
  end

  def test_a_method_context_of_the_types
    post = type("Post", Base) do
      field :greeting, String
      def context = { name: object.title }
      def greeting = "#{object.id} #{context[:name]}"
    end
    assert_aside("{ posts { greeting } }", PlanTest.instance_method(:schemas).bind_call(self, { posts: [[post], -> { Post.order(:id) }] }))
  end

  # -- calls that raise, and code of the application's ---------------------------------------------------------------------

  GUARDED = type("Guarded", Base) do
    field :title, String
    field :guarded, String
    field :stripped, String
    field :up, String
    field :third, String
    field :number, Integer
    field :ordered, [COMMENT]
    field :offsetted, [COMMENT]
    field :raw, [COMMENT]
    field :scored, Integer
    def guarded = context[:admin] ? "#{object.title} #{context[:name].upcase}" : object.title
    def stripped = "#{object.id}#{context[:name].strip}"
    def up = "#{object.id}#{context[:name]&.upcase}"
    def third = object.id > 9999 ? context[:viewer].third : object.title
    def number = object.id + context[:number].round
    def ordered = object.comments.order(context[:order])
    def offsetted = object.comments.order(:id).offset(context[:order])
    def raw = object.comments.where(context[:order]).order(:id)
    def scored = object.comments.where(score: context[:order]).count
  end

  class Spelled < Viewer
    def third = name[100].upcase
    def has_attribute?(name) = LOG << name && super
  end
  LOG = []

  def guarded
    query = type("Query") do
      field :posts, [GUARDED]
      field :none, [GUARDED]
      def posts = Post.order(:id).limit(4)
      def none = Post.none
    end
    make(query: query)
  end

  # The same answer and errors, and the same calls of the application's code.
  def assert_guarded(text, &context)
    schemas = guarded
    3.times do
      plain, piped = schemas.map { |schema| [outcome { schema.execute(text, context: context.call).to_h }, LOG.dup.tap { LOG.clear }] }
      assert_equal text_of(plain.first), text_of(piped.first), text
      assert_equal plain.last, piped.last, text
    end
  end

  def test_calls_that_raise
    [{}, { name: nil }, { name: 3 }, { name: [] }, { name: "x" }, { admin: true }, { admin: true, name: Date.new(2024) }].each do |context|
      ["{ posts { guarded } }", "{ none { stripped } }", "{ posts { title stripped } }", "{ posts { up guarded } }"].each { |text| assert_guarded(text) { context.dup } }
    end
    [Float::NAN, Float::INFINITY, nil, "x", 1.5].each { |number| assert_guarded("{ posts { title number } }") { { number: number } } }
    assert_guarded("{ posts { title third } }") { { viewer: Viewer.first } }
    assert_guarded("{ posts { title third } }") { { viewer: Spelled.first } }
  end

  def test_arguments_that_nobody_takes
    [true, BigDecimal("NaN"), Float::NAN, Float::INFINITY, [], ["a", nil], :id, Date.new(2024), { id: :desc }, 1..2, "id DESC", "pipeloader_1 = 1", "pipeloader_n = 1", nil, 2**70, "\0", "\xff"].each do |order|
      %w[ordered offsetted raw].each { |name| assert_guarded("{ posts { title #{name} { body } } }") { { order: order } } }
      assert_guarded("{ posts { title scored } }") { { order: order } }
    end
  end

  class Masked < SimpleDelegator
    def class = __getobj__.class
    def upcase = (LOG << :upcase) && "M#{LOG.size}"
  end

  class Woken < BasicObject
    def method_missing(name, *arguments) = LOG.push(name) && "x".public_send(name, *arguments)
    def respond_to_missing?(*) = true
  end

  class Filling < Hash
    def [](key) = LOG.push(key) && super
    def key?(key) = LOG.push(key) && super
  end

  def test_code_of_the_applications
    own = lambda do
      { name: (+"x").tap { |it| it.define_singleton_method(:upcase) { (LOG << :own) && "U#{LOG.size}" } } }
    end
    [own, -> { { name: Masked.new("x") } }, -> { { name: Woken.new } }, -> { Filling.new.merge!(name: "x") }, -> { { name: BasicObject.new } }].each do |context|
      ["{ posts { up } }", "{ posts { guarded } }", "{ none { up } }", "{ posts { up guarded title } }"].each { |text| assert_guarded(text, &context) }
    end
    schema = Spelled.first
    assert_guarded("{ posts { third } }") { { viewer: schema } }
  end

  # -- what other fields put there -----------------------------------------------------------------------------------------

  def both(document, context = {}, times = 3)
    schemas = schemas()
    times.times do
      answers = schemas.map { |schema| schema.execute(document, context: context.transform_values { |it| it.is_a?(Proc) ? it : it.dup }).to_h }
      assert_equal text_of(answers.first), text_of(answers.last)
    end
  end

  def test_a_field_of_an_object_before_assigns
    count = ->(_, context) { context[:name] = context.fetch(:name, "a").succ }
    ["opaque greeting", "greeting opaque", "title greeting opaque only", "greeting opaque scoredById either"].each do |selected|
      both("{ posts { #{selected} } }", { do: count })
      both("{ post { #{selected} } posts { #{selected} } }", { do: count })
    end
    turn = ->(post, context) { context[:ids] = [post.id] }
    both("{ posts { several opaque listed bodies { body } paged { nodes { body } } hits } }", { do: turn, ids: [1] })
    both("{ posts { title several opaque } }", { do: turn, ids: [1] })
  end

  def test_scopes
    scope = ->(post, context) { context.scoped_set!(:name, post.title) }
    both("{ posts { opaque greeting author { name } } }", { do: scope, name: "x" })
    query = type("Query") do
      field :posts, [POST]
      field :others, [POST]
      def posts
        context.scoped_set!(:name, "scoped")
        Post.order(:id).limit(3)
      end

      def others = Post.order(:id).limit(2)
    end
    assert_aside("{ posts { greeting } others { greeting } }", make(query: query), context: { name: "x" })
    # (On Next it would be seen by `others`, which wait meanwhile, with a resolver or without.)
    assert_aside("{ others { greeting } posts { greeting } }", make(query: query), context: { name: "x" }) unless Engine::NEXT
  end

  def test_a_root_that_assigns
    query = type("Query") do
      field :posts, [POST]
      def posts
        context[:name] = "assigned"
        Post.order(:id).limit(3)
      end
    end
    assert_context("{ posts { greeting } more: posts { only greeting } }", { name: "x" }, make(query: query))
  end

  def test_each_execution_has_its_own
    schema = schemas.last
    names = Array.new(5) { |i| schema.execute(query(:greeting, :scored), context: { name: i.to_s, viewer: Viewer.order(:id).offset(i).first }).to_h }
    assert_equal 5, names.uniq.size
    threads = Array.new(4) { |i| Thread.new { Array.new(20) { schema.execute(query(:only), context: { name: i.to_s }).to_h.dig("data", "posts").map { |it| it["only"] }.uniq } } }
    assert_equal Array.new(4) { |i| [[i.to_s]] }, threads.map { |it| it.value.uniq }
  end

  def test_explain
    explained = Pipeloader.explain(schemas.last, query(:title, :mine), context: { viewer: viewer }).to_s
    assert_match(/posts: compiled\n  title: compiled\n  mine: compiled/, explained)
  end
end
