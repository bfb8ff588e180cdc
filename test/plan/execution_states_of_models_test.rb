# frozen_string_literal: true

require_relative "../support/plans"

# Methods of models that ask CurrentAttributes and the locale: as if the resolver methods that call them did so.
class ExecutionStatesOfModelsTest < PlanTest
  class Session < ActiveSupport::CurrentAttributes
    attribute :reader, :greeting
    attribute :shouted
    def shouted = super.to_s.upcase
  end

  class Reader < ActiveRecord::Base
    self.table_name = "users"
    def greeted? = Session.greeting == "hello"
  end

  class Person < ActiveRecord::Base
    self.table_name = "users"
    has_many :docs, -> { order(:id) }, class_name: "ExecutionStatesOfModelsTest::Doc", foreign_key: :author_id
    def me? = id == Session.reader&.id
  end

  class Doc < ActiveRecord::Base
    self.table_name = "posts"
    self.inheritance_column = nil
    belongs_to :author, class_name: "ExecutionStatesOfModelsTest::Person", optional: true
    def mine? = author_id == Session.reader&.id
    def mine = mine?
    def greeted = "#{title}, #{Session.greeting}"
    def localized = "#{title} #{I18n.locale}"
    def by_helper = shown(Session.greeting)
    def either = reader_there? ? Session.greeting.to_s : title
    def named = "#{title} #{Session.reader&.name}"
    def shown_to_all? = Session.greeting != "none"

    def by_viewer = viewer&.id
    def viewer = Session.reader
    def shouted = "#{title} #{Session.shouted}"
    def zoned = "#{title} #{Time.zone}"
    def asked = "#{title} #{Session.reader&.greeted?}"
    def redefined = "#{title} #{Session.greeting}"

    private

    def shown(text) = "#{title}: #{text.to_s.upcase}"
    def reader_there? = Session.reader ? true : false
  end

  OF_MODEL = { mine: "Boolean", greeted: String, localized: String, by_helper: String, either: String, named: String }.freeze
  OF_TYPE = { is_mine: "Boolean", text: String, of_me: "Boolean", others: Integer, with_context: String }.freeze
  OPAQUE = { by_viewer: Integer, shouted: String, zoned: String, asked: String }.freeze
  DOC = type("SessionDoc") do
    field :id, Integer
    field :title, String
    field :redefined, String
    field :opaque, String
    { **OF_MODEL, **OF_TYPE, **OPAQUE }.each { |name, type| field name, type }
    def is_mine = object.mine?
    def text = object.mine? ? object.greeted.upcase : "#{object.title} (#{object.localized})"
    def of_me = object.author&.me? || false
    def others = object.author ? object.author.id : -1
    def with_context = "#{context[:word]} #{object.greeted}"
    def opaque = context[:do].call(object).to_s
  end
  PERSON = type("SessionPerson") do
    field :name, String
    field :docs, [DOC]
    field :own, Integer
    field :titles, String
    field :me, "Boolean", method: :me?
    def own = object.docs.count { |it| it.mine? }
    def titles = object.docs.select(&:mine?).map(&:greeted).join(";")
  end
  GUARDED = type("SessionGuarded") do
    field :title, String
    def self.authorized?(object, _context) = object.shown_to_all?
  end
  EDGE = Class.new(GraphQL::Types::Relay::BaseEdge) do
    graphql_name "SessionDocEdge"
    node_type DOC
    field :heading, String
    def heading = object.node.greeted
  end
  PAGES = Class.new(GraphQL::Types::Relay::BaseConnection) { graphql_name "SessionDocConnection"; edge_type EDGE }

  class Query < Schemas::Base
    field :docs, [DOC]
    field :guarded, [GUARDED]
    field :people, [PERSON]
    field :assigned, [DOC]
    field :pages, PAGES
    def docs = Doc.order(:id).limit(5)
    def guarded = docs
    def pages = Doc.order(:id)
    def people = Person.order(:id).limit(3)

    def assigned
      Session.greeting = "assigned"
      Session.reader = Reader.new(id: 1)
      docs
    end
  end

  PAIR = make(query: Query)

  def setup
    super
    I18n.available_locales = %i[en de]
  end

  def teardown
    super
    Session.reset
    I18n.available_locales = nil
  end

  def as(id, greeting = "hello")
    lambda do
      Session.reset
      Session.reader = id && Reader.find(id)
      Session.greeting = greeting
    end
  end

  def select(names) = names.map { |it| it.to_s.camelize(:lower) }.join(" ")
  def assert_current(text, before = as(3), **options) = assert_plan(text, PAIR, made: [Reader], before: before, **options)
  def assert_opaque(text, before = as(3), model: Doc, **options) = assert_aside(text, PAIR, model: model, before: before, errors: :any, **options)

  def assert_same(text, context: {})
    3.times do
      answers = PAIR.map do |schema|
        as(3).call
        [text_of(outcome { schema.execute(text, context: context.dup).to_h }), Session.greeting, Session.reader&.id]
      end
      assert_equal(*answers, text)
    end
  end

  def test_plain_ones
    [as(3), as(nil, nil), as(1, " x ")].each do |before|
      assert_current("{ docs { #{select(OF_MODEL.keys)} } }", before)
      assert_current("{ docs { #{select(OF_TYPE.keys)} } }", before, context: { word: "well" })
      assert_current("{ people { name me own titles docs { mine text } } }", before)
    end
  end

  def test_opaque_ones
    OPAQUE.each_key { |name| assert_opaque("{ docs { #{select([name])} } }") }
    assert_opaque("{ docs { greeted } }", -> { Session.greeting = Object.new.tap { |it| def it.to_s = "own" } })
    assert_opaque("{ docs { text } }", -> { Session.greeting = Object.new.tap { |it| def it.to_s = "own" } })
    assert_opaque("{ people { titles } }", -> { Session.greeting = Object.new.tap { |it| def it.to_s = "own" }; Session.reader = Reader.find(1) }, model: Person)
  end

  def test_locales
    I18n.with_locale(:de) { assert_current("{ docs { localized text } }") }
    config = I18n.config
    I18n.config = Class.new(I18n::Config) { def locale = super.to_s.to_sym }.new
    assert_opaque("{ docs { text } }")
  ensure
    I18n.config = config if config
  end

  def test_guards
    assert_current("{ guarded { title } }")
    2.times { assert_same("{ guarded { title } }") }
    answers = PAIR.map { |schema| as(3, "none").call && text_of(outcome { schema.execute("{ guarded { title } }").to_h }) }
    assert_equal(*answers)
    assert_opaque("{ guarded { title } }", -> { Session.greeting = Object.new.tap { |it| def it.!=(_) = true } })
  end

  # Nobody verifies there what nodes ask.
  def test_edges
    assert_same("{ pages(first: 2) { edges { heading node { greeted } } } }")
    assert_current("{ pages(first: 2) { edges { cursor node { greeted mine } } } }")
  end

  unless Engine::NEXT # where a plain schema's earlier fields see it, too: docs/internals.md
    def test_what_later_fields_assign
      assert_same("{ docs { greeted mine text } assigned { greeted isMine } more: docs { greeted mine text } }")
      assert_same("{ people { name own titles docs { text } } assigned { greeted } }")
    end
  end

  def test_what_earlier_fields_assign
    assert_same("{ assigned { greeted text } people { own titles docs { mine localized } } }")
  end

  def test_beside_opaque_fields_that_assign
    count = ->(doc) { Session.greeting = "#{doc.id} #{Session.greeting}"[0, 9] }
    turn = ->(doc) { Session.reader = Reader.new(id: doc.id % 3) }
    ["{ docs { opaque greeted text mine isMine } }", "{ docs { greeted opaque mine ofMe text } }", "{ people { docs { mine opaque text } } }"].each do |text|
      [count, turn].each { |it| assert_same(text, context: { do: it }) }
    end
  end

  # One plan, of many who ask at once.
  def test_users_in_threads
    text = "{ docs { mine text greeted } people { own titles me } }"
    expected = (1..4).to_h { |id| as(id, "hello #{id}").call && [id, text_of(PAIR.first.execute(text).to_h)] }
    3.times { as(1).call && PAIR.last.execute(text) }
    answers = (1..4).map { |id| Thread.new { ActiveRecord::Base.connection_pool.with_connection { as(id, "hello #{id}").call && text_of(PAIR.last.execute(text).to_h) } } }.map(&:value)
    assert_equal expected.values, answers
  end

  def test_methods_that_are_defined_anew
    assert_current("{ docs { redefined } }")
    Doc.class_eval { silence_redefinition_of_method(:redefined) && def redefined = "#{title} #{Session.greeting.then(&:to_s)}!" }
    assert_opaque("{ docs { redefined } }")
  end

  # What a model calls `context` isn't a query's.
  class Letter < ActiveRecord::Base
    self.table_name = "posts"
    self.inheritance_column = nil
    def context = { word: "letter's" }
    def worded = "#{title} #{context[:word]}"
  end

  def test_no_context
    letter = type("SessionLetter") { field :title, String; field :worded, String }
    schemas = schemas({ letters: [[letter], -> { Letter.order(:id) }] })
    assert_aside("{ letters { worded } }", schemas, model: Letter, context: { word: "query's" })
  end
end
