# frozen_string_literal: true

require_relative "../support/plans"

# What resolver methods ask of CurrentAttributes and of the locale is plain as long as nobody's code would run.
class ExecutionStatesTest < PlanTest
  # A name that GraphQL::Current has, too.
  class Current < ActiveSupport::CurrentAttributes
    attribute :reader, :greeting
    attribute :spelled, :late
    def spelled = super.to_s.upcase
  end

  class Defaults < ActiveSupport::CurrentAttributes
    attribute :given, default: 2
  end

  class Prepended < ActiveSupport::CurrentAttributes
    attribute :prefix, default: "x"
  end
  LOG = []

  class Computing < ActiveSupport::CurrentAttributes
    attribute :made, default: -> { LOG << :made && 3 }
  end

  module Others
    class Current < ActiveSupport::CurrentAttributes
      attribute :ambiguous
    end
  end
  Current.attribute :ambiguous

  class Reader < ActiveRecord::Base
    self.table_name = "users"
  end

  COMMENT = type("Comment") { field :body, String }
  PLAIN = { mine: "Boolean", title_for: String, locale: String, given: Integer, only: String, either: String, several: Integer, latest: COMMENT, bodies: [COMMENT] }.freeze
  OPAQUE = { made: Integer, spelled: String, ambiguous: String, zone: String, handed: String, missing: String }.freeze

  POST = type("Post") do
    field :title, String
    { **PLAIN, **OPAQUE }.each { |name, type| field name, type }
    field :opaque, String
    field :late, String
    field :prefixed, String
    def mine = object.author_id == Current.reader&.id
    def title_for = "#{object.title}, #{Current.greeting}"
    def locale = "#{object.title} #{I18n.locale}"
    def given = object.id + Defaults.given
    def only = Current.greeting
    def either = person ? Current.greeting.to_s : object.title
    def person = Current.reader
    def several = object.comments.where("score >= ?", Defaults.given).where(commenter_id: Current.reader).count
    def latest = object.comments.where(commenter_id: Current.reader&.id).order(:id).last
    def bodies = object.comments.where(commenter_id: Current.reader).order(:id)

    def made = object.id + Computing.made
    def spelled = "#{object.title} #{Current.spelled}"
    def ambiguous = "#{object.title} #{Current.ambiguous}"
    def zone = "#{object.title} #{Time.zone}"
    def handed = "#{object.title} #{I18n.locale.then(&:to_s)}"
    def missing = "#{object.title} #{Current.nobody}"
    def opaque = context[:do].call(object).to_s
    def prefixed = "#{object.title} #{Prepended.prefix}"
    def late = "#{object.title} #{Current.late}"
  end
  AUTHOR = type("Author") do
    field :name, String
    field :posts, [POST], resolver_method: :their_posts
    def their_posts = object.posts.order(:id)
  end

  class Query < Schemas::Base
    field :posts, [POST]
    field :users, [AUTHOR]
    field :assigned, [POST]
    field :within, [POST]
    def posts = Post.order(:id).limit(5)
    def users = User.order(:id).limit(3)

    def assigned
      Current.greeting = "assigned"
      Current.reader = Reader.new(id: 1) # without a read: whoever begins meanwhile sees none of it
      posts
    end

    # A read while the block is open: another field's level is sent from inside it.
    def within
      Current.set(greeting: "within") { I18n.with_locale(:de) { Comment.order(:id).first && posts.to_a } }
    end
  end

  def setup
    super
    I18n.available_locales = %i[en de]
  end

  def pair(&block) = make(query: Query, &block)

  def teardown
    super
    [Current, Defaults, Computing].each(&:reset)
    I18n.available_locales = nil
    LOG.clear
  end

  def select(*names) = names.map { |it| it.to_s.camelize(:lower).then { |name| name.match?(/latest|bodies/) ? "#{name} { body }" : name } }.join(" ")
  def as(id, greeting = "hello") = -> { Current.reset && Current.assign(reader: id && Reader.find(id), greeting: greeting) }
  Current.define_singleton_method(:assign) { |values| values.each { |name, value| public_send("#{name}=", value) } }

  def assert_current(text, before, schemas = pair, **options) = assert_plan(text, schemas, made: [Reader], before: before, **options)
  def assert_opaque(text, before, schemas = pair, **options) = assert_aside(text, schemas, before: before, errors: :any, **options)

  def test_plain_ones
    schemas = pair
    [as(3), as(nil, nil), as(1, " x ")].each { |before| assert_current("{ posts { #{select(*PLAIN.keys)} } }", before, schemas) }
  end

  def test_one_statement_for_all
    schema = pair.last
    as(3).call
    assert_round_trips(2) { schema.execute("{ posts { title mine several } }") }
  end

  def test_opaque_ones
    OPAQUE.each_key { |name| assert_opaque("{ posts { #{select(name)} } }", as(3)) }
    assert_opaque("{ posts { titleFor } }", -> { Current.greeting = Object.new.tap { |it| def it.to_s = "own" } })
  end

  def test_locales
    I18n.with_locale(:de) { assert_current("{ posts { locale } }", as(3)) }
    config = I18n.config
    [Class.new(I18n::Config) { def locale = (LOG << :locale) && super }, Class.new(I18n::Config) { def default_locale = (LOG << :default) && :de }].each do |own|
      I18n.config = own.new
      assert_opaque("{ posts { locale } }", as(3))
    end
  ensure
    I18n.config = config if config
  end

  # Its reader is ActiveSupport's as the plan is made, and the application's later.
  def test_readers_that_are_defined_anew
    schemas = pair
    text = "{ posts { late } }"
    assert_current(text, -> { Current.late = "late" }, schemas)
    Current.class_eval { def late = "#{super}r" }
    assert_opaque(text, -> { Current.late = "late" }, schemas)
  end

  def test_singleton_readers
    schemas = pair
    assert_current("{ posts { prefixed } }", as(3), schemas)
    Prepended.singleton_class.prepend(Module.new { def prefix = LOG.empty? ? super : "y" })
    assert_opaque("{ posts { prefixed } }", as(3), schemas)
  end

  unless Engine::NEXT # where a plain schema's earlier fields see it, too: docs/internals.md
    def test_what_later_fields_assign
      assert_same("{ posts { titleFor mine } assigned { titleFor mine } more: posts { titleFor mine latest { body } } }")
      assert_same("{ users { name posts { titleFor latest { body } } } assigned { titleFor } }")
    end
  end

  def test_what_other_fields_assign
    ["{ assigned { titleFor } users { posts { titleFor mine several } } }",
     "{ users { posts { titleFor locale bodies { body } } } within { titleFor locale title } more: users { posts { titleFor locale } } }",
     "{ within { titleFor locale } posts { titleFor locale latest { body } } }"].each { |text| assert_same(text) }
  end

  def test_beside_opaque_fields_that_assign
    count = ->(post) { Current.greeting = "#{post.id} #{Current.greeting}"[0, 9] }
    turn = ->(post) { Current.reader = Reader.new(id: post.id % 3) }
    ["{ posts { opaque titleFor only } }", "{ posts { titleFor opaque mine several latest { body } } }", "{ users { posts { mine opaque titleFor bodies { body } } } }"].each do |text|
      [count, turn].each { |it| assert_same(text, context: { do: it }) }
    end
  end

  def assert_same(text, context: {})
    schemas = pair
    3.times do
      answers = schemas.map do |schema|
        as(3).call
        [text_of(schema.execute(text, context: context.dup).to_h), Current.greeting, Current.reader&.id, I18n.locale]
      end
      assert_equal(*answers, text)
    end
  end
end
