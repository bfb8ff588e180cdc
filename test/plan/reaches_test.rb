# frozen_string_literal: true

require_relative "../support/plans"

# Resolver methods that ask an associated record for something: `object.author&.name`.
class ReachesTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:reach_posts) { |t| t.string :title; t.bigint :author_id; t.bigint :editor_id; t.string :about_type; t.bigint :about_id }
    create_table(:reach_people) { |t| t.string :name; t.integer :age; t.bigint :boss_id; t.boolean :hidden, null: false, default: false; t.string :type; t.jsonb :extra; t.decimal :rate; t.integer :rank, limit: 2; t.string :mood }
    create_table(:reach_members) { |t| t.string :type; t.string :kind; t.string :name }
    create_table(:reach_homes) { |t| t.string :city; t.bigint :person_id; t.datetime :built_at }
  end

  class Person < ActiveRecord::Base
    self.table_name = "reach_people"
    belongs_to :boss, class_name: "ReachesTest::Person", optional: true
    has_one :home, -> { order(:id) }, class_name: "ReachesTest::Home", foreign_key: :person_id
    has_many :posts, class_name: "ReachesTest::Post", foreign_key: :author_id
    alias_attribute :label, :name
    enum :rank, { low: 0, high: 1, top: 1 }, suffix: true
    enum :mood, { glad: "g", sad: "s" }
    def loud = name.upcase
    def fine? = glad? && !low_rank?
  end

  class Chief < Person; end

  class Ghost < ActiveRecord::Base
    self.table_name = "reach_homes"
    alias_attribute :name, :city
    after_initialize { self.city = "nowhere" }
  end

  class Hollow < ActiveRecord::Base
    self.table_name = "reach_people"
    self.inheritance_column = nil
    def present? = age > 20
  end

  class Member < ActiveRecord::Base
    self.table_name = "reach_members"
  end

  class Odd < Member
    def ! = true
    def nil? = true
  end

  # As Member, but for its heir.
  class Even < ActiveRecord::Base
    self.table_name = "reach_members"
    self.inheritance_column = :kind
  end

  class Home < ActiveRecord::Base
    self.table_name = "reach_homes"
    belongs_to :person, class_name: "ReachesTest::Person"
  end

  class Post < ActiveRecord::Base
    self.table_name = "reach_posts"
    belongs_to :author, class_name: "ReachesTest::Person", optional: true
    belongs_to :editor, -> { where(hidden: false) }, class_name: "ReachesTest::Person", optional: true
    belongs_to :ghost, class_name: "ReachesTest::Ghost", optional: true, foreign_key: :author_id
    belongs_to :about, polymorphic: true, optional: true
    belongs_to :writer, class_name: "ReachesTest::Person", optional: true, foreign_key: :author_id
    belongs_to :unsure, -> { where("hidden") }, class_name: "ReachesTest::Person", optional: true, foreign_key: :editor_id
    belongs_to :hollow, class_name: "ReachesTest::Hollow", optional: true, foreign_key: :author_id
    belongs_to :even, class_name: "ReachesTest::Even", optional: true, foreign_key: :author_id
    belongs_to :family, class_name: "ReachesTest::Member", optional: true, foreign_key: :author_id
    def writer = super || Person.new(name: "new")
    delegate :name, to: :author, prefix: true, allow_nil: true
    delegate :name, to: :author, prefix: :sure
    delegate :age, :rate, to: :editor, allow_nil: true
    delegate :loud, to: :author, allow_nil: true
    def loud_title = title.upcase
    def signed = [title, author&.name || "nobody", editor&.boss&.name].join(" by ")

    def code
      return author.name if about_type.nil?
      return editor&.name if id.even?

      author&.boss&.rank
    end

    def kind = author&.glad? ? "glad" : (editor&.low_rank? ? "low" : loud_title)
    def counting = author&.posts&.size.to_s
    def selfsame = author ? author.name : "none"
    def one_of_them = (author || editor)&.name
    def unscoped_writer = writer.name
    def self_made(...) = author.name(...)
  end

  Person.insert_all!((1..5).map { |id| { id: id, name: "person #{id}", age: id * 10, boss_id: (id - 1 if id > 2), hidden: id == 2, type: (Chief.name if id.odd?), rate: id.quo(3), rank: [0, 1, nil][id % 3], mood: ["g", "s", nil, "?"][id % 4] } })
  Member.insert_all!((1..5).map { |id| { id: id, name: "member #{id}", type: (Odd.name if id.odd?) } })
  Home.insert_all!((1..3).map { |id| { city: "city #{id}", person_id: id + 1, built_at: Time.utc(2000 + id) } })
  Post.insert_all!((1..8).map { |id| { id: id, title: "post #{id}", author_id: (id % 6 unless id == 6), editor_id: (id % 3) + 1, about_type: Person.name, about_id: 1 } })

  class PostType < Schemas::Base
    graphql_name "ReachPost"
    field :id, Integer
  end

  # A resolver method's code, and what is to become of it: true where a plan does it.
  METHODS = {
    safe: ["object.author&.name", true],
    unsafe: ["object.author.name", true],
    further: ["object.author&.boss&.name", true],
    far: ["object.author&.boss&.home&.city&.upcase", true],
    mixed: ["object.author&.boss.name", false],
    default: ["object.author&.name || object.title", true],
    text: ["[object.title, \"by \#{object.author&.name}\", \"\#{object.author&.age} \#{object.author&.boss&.name}\"].join(\" \")", true],
    several: ['[object.author&.name, object.editor&.name, object.author&.home&.city].compact.join(" ")', true],
    condition: ['object.editor&.hidden ? "hidden" : object.author&.name.to_s', true],
    scope: ["object.editor&.name", true],
    alias: ["object.author&.label", true],
    number: ["(object.author&.age.to_i + 1).to_s", true],
    time: ["object.author&.home&.built_at&.year.to_s", true],
    decimal: ["object.author&.rate.to_s", true],
    key: ["object.author&.id.to_s", true],
    asked: ['object.author&.name == context[:name] ? "mine" : "not"', true],
    record: ["object.author.to_s.size.to_s", false],
    present: ['object.author.present? ? object.author.name : "none"', true],
    blank: ['object.author.blank? ? "none" : object.title', true],
    itself: ["object.author ? object.author.name : nil", true],
    unless: ['return "none" unless object.author; object.author.name + object.title', true],
    not: ["(!object.author).to_s", true],
    nil: ["object.editor.nil?.to_s", true],
    and: ["object.author && object.author.name", true],
    tests: ['(object.author && object.editor ? object.title : "one is missing") + (object.author ? "!" : "?")', true],
    or: ["(object.author || object.editor).to_s.size.to_s", false],
    either: ["(object.author || object.editor)&.name", true],
    either_safe: ["(object.author || object.editor).name", true],
    either_further: ["(object.editor || object.author)&.boss&.name", true],
    either_twice: ['"\#{(object.author || object.editor)&.name} \#{object.author&.age} \#{(object.unsure || object.author)&.age}"', true],
    either_default: ['(object.author || object.editor)&.name || "none"', true],
    either_there: ['(object.author || object.editor) ? "one" : "none"', true],
    either_itself: ["(object.author || object.editor).inspect.size.to_s", false],
    either_or_new: ['(object.author || Person.new(name: "new")).name', false],
    either_or_column: ["(object.author || object.title).to_s.size.to_s", false],
    either_of_an_heir: ["(object.family || object.author)&.name", false],
    either_or_third: ["(object.author || object.editor || object.unsure)&.name", false],
    either_kept: ["who = object.author || object.editor; who&.name", false],
    there: ["object.author.then { |it| it ? 1 : 2 }.to_s", false],
    ghostly: ['object.ghost ? "boo" : nil', false],
    unsure: ['object.unsure ? "there" : nil', true],
    hollow: ['object.hollow.present? ? "there" : "hollow"', false],
    hollow_and_more: ['object.hollow.present? ? object.hollow.name : "hollow"', false],
    of_an_heir: ['object.family.nil? ? "none" : object.family.name', false],
    not_of_an_heir: ["(!object.family).to_s", false],
    without_heirs: ['object.even.nil? ? "none" : object.even.name', true],
    about: ['object.about ? "there" : "nothing"', false],
    between: ["object.author&.boss ? object.author.boss.name : nil", false],
    variable: ["author = object.author; author ? author.name : nil", true],
    loud: ["object.author&.loud", true],
    itself_loud: ["[object.loud_title, object.title, object.author&.boss&.loud].inspect", true],
    predicate: ["object.author&.hidden?.to_s", true],
    enum: ["object.author&.mood.to_s", true],
    enumerated: ["[object.author&.glad?, object.author&.high_rank?].inspect", true],
    renamed: ["object.author&.top_rank?.to_s", true],
    fine: ["object.author&.fine?.to_s", true],
    twofold: ["[object.author&.glad?, object.author&.sad?, object.author&.mood].inspect", true],
    named: ["object.author&.name?.to_s", false],
    many: ["object.author&.posts&.size.to_s", false],
    list: ["object.author&.posts&.title.to_s", false],
    initialized: ["object.ghost&.name", false],
    polymorphic: ["object.about&.name", false],
    overridden: ["object.writer.name", false],
    missing: ["object.author&.no_such_thing", false],
    json: ["object.author&.extra.to_s", true],
    changed: ['object.author&.name&.<<("!")', false],
    assigned: ["object.author&.update(name: \"x\") && nil", false],
    loop: ["n = object.title; n = n.chop while n.size > 3; object.author&.name.to_s + n", false]
  }.freeze

  METHODS.each do |name, (code, _)|
    PostType.field name, String
    PostType.class_eval("def #{name} = (#{code})", __FILE__, __LINE__)
  end
  PostType.field :opaque, String
  PostType.class_eval { def opaque = object.title.dup.concat((context.dig(:mark) || "!")) }

  def pair = @pair ||= schemas({ posts: [[PostType], -> { Post.order(:id).where(id: 1..5) }], all: [[PostType], -> { Post.order(:id) }], array: [[PostType], -> { Post.order(:id).to_a }] })

  METHODS.each do |name, (_, plain)|
    define_method(:"test_#{name}") do
      2.times do
        query = "{ posts { id #{name.to_s.camelize(:lower)} } }"
        answer = plain ? assert_plan(query) : assert_aside(query, model: Post, errors: :any)
        assert(answer["data"]["posts"].any? { |it| it[name.to_s.camelize(:lower)] }) if plain
        beside = "{ all { opaque #{name.to_s.camelize(:lower)} id } array { #{name.to_s.camelize(:lower)} } }"
        assert_equal(*pair.map { |schema| text_of(outcome { schema.execute(beside).to_h }) })
      end
    end
  end

  # An association that is both kept and tested, of which a projection wants to know what that asks for.
  def test_record_beside_a_test
    person = type("Person") { field :name, String }
    of = type("Tested") do
      field :author, person
      def author
        found = object.author
        found if object.author.nil? || object.title
      end
    end
    schemas = schemas({ posts: [[of], -> { Post.order(:id) }] }, pipeloader: { field_exact: true })
    query = "{ posts { author { name } } }"
    3.times { assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute(query).to_h }) }) }
  end

  # An enum's predicate as a field's method; and what a record in memory has, valid or not.
  def test_predicates
    of = type("Moody") do
      field :glad, GraphQL::Types::Boolean, method: :glad?
      field :hidden, GraphQL::Types::Boolean, method: :hidden?
      field :high, GraphQL::Types::Boolean, method: :top_rank?
      field :fine, GraphQL::Types::Boolean, method: :fine?
      field :told, String
      field :opaque, String
      def told = object.glad? ? "glad" : object.low_rank?.to_s
      def opaque = object.name.dup
    end
    loose = Class.new(ActiveRecord::Base) { self.table_name = "reach_people"; self.inheritance_column = nil; def self.name = "Loose"; enum(:rank, { low: 0, high: 1 }, validate: true, suffix: true) }
    schemas = schemas({ people: [[of], -> { Person.order(:id) }], array: [[of], -> { Person.order(:id).to_a.each { |it| it.mood = "sad" if it.id == 4 } }],
                        loose: [[type("Loose") { field :low, GraphQL::Types::Boolean, method: :low_rank? }], -> { loose.order(:id).to_a.each { |it| it.rank = "neither" if it.id == 3 } }] })
    assert_plan "{ people { glad high told hidden } }", schemas
    assert_plan "{ people { fine } }", schemas
    ["{ people { opaque glad hidden high told } array { glad high told hidden } }", "{ array { opaque glad told fine hidden } loose { low } }"].each do |query|
      3.times { assert_equal(*schemas.map { |schema| text_of(schema.execute(query).to_h) }) }
    end
  end

  # What ActiveSupport's `delegate` has written.
  PostType.field :author_name, String
  PostType.field :sure_name, String
  PostType.field :age, Integer
  PostType.field :rate, String
  PostType.field :by_delegate, String, resolver_method: :delegated
  PostType.class_eval { def delegated = object.author_name }
  PostType.field :loudly, String, method: :loud
  PostType.field :self_made, String
  %i[signed code kind counting selfsame one_of_them unscoped_writer].each { |name| PostType.field name, String, method: name }

  def test_delegate
    assert_plan "{ posts { authorName sureName age rate byDelegate } }"
    assert_plan "{ all { authorName age byDelegate } }"
    assert_aside "{ all { sureName } }", model: Post, errors: true
    assert_plan "{ posts { loudly } }"
    %w[signed code kind selfsame oneOfThem].each { |name| assert_plan "{ all { id #{name} } }" }
    assert_plan "{ array { signed code kind selfsame oneOfThem } }", made: [Post]
    %w[counting unscopedWriter].each { |name| assert_aside "{ all { id #{name} } }", model: Post, errors: :any }
    assert_aside "{ posts { selfMade } }", model: Post
    assert_aside "{ posts { opaque authorName sureName } }", model: Post
  end

  # With `allow_nil`, nil is asked what it knows itself; and records may be asked what Structs have.
  class Aged < ActiveRecord::Base
    self.table_name = "reach_people"
    self.inheritance_column = nil
    def to_s = name
    def to_a = [name, age]
  end

  class Signed < ActiveRecord::Base
    self.table_name = "reach_posts"
    belongs_to :author, class_name: "ReachesTest::Aged", optional: true
    delegate :to_s, to: :author, prefix: true, allow_nil: true
    delegate :to_a, :name, to: :author, prefix: :its
  end

  def test_delegate_of_what_nil_answers
    signed = type("Signed") do
      field :author_to_s, String
      field :its_to_a, String
      field :its_name, String
    end
    schemas = schemas({ all: [[signed], -> { Signed.order(:id) }], some: [[signed], -> { Signed.where.not(author_id: nil).order(:id) }] })
    assert_plan "{ some { authorToS itsName } }", schemas
    ["{ all { authorToS } }", "{ some { itsToA authorToS } }"].each do |query|
      3.times { assert_equal(*schemas.map { |schema| text_of(schema.execute(query).to_h) }) }
    end
  end

  # A method of another record is seen when it is defined anew.
  def test_defined_anew
    3.times { assert_plan("{ posts { id loud fine itselfLoud } }") }
    Person.class_eval { alias_method :former_loud, :loud; undef_method :loud; def loud = "#{name}!" }
    3.times { assert_plan("{ posts { id loud fine itselfLoud } }") }
  ensure
    Person.class_eval { undef_method :loud; alias_method :loud, :former_loud; undef_method :former_loud }
  end

  # An association whose record isn't there is one that graphql-ruby has to report.
  def test_nothing_there
    assert_aside "{ all { unsafe } }", model: Post, errors: true
    assert_plan "{ all { safe default text several } }"
  end

  # One burst for each step, and the columns that are asked for.
  def test_bursts
    query = "{ posts { far scope } }"
    pair.last.execute(query)
    bursts = WireCounter.events("burst.pipeloader") { pair.last.execute(query) }.map { |it| it[:reads].map { |read| read.text[/SELECT "reach\S+( "reach\S+)*/].scan(/"(\w+)",?(?= |\z)/).flatten.join(" ") } }
    assert_equal [["author_id editor_id id"], ["boss_id id type", "id name type"], ["id type"], ["city id"]],
                 bursts.map { |it| it.map { |words| words.split.sort.join(" ") }.sort }
  end

  # What somebody has changed in memory is what there is.
  def test_records_in_memory
    roots = { posts: [[PostType], -> { Post.order(:id).where(id: 1..5).to_a.each { |post| post.author_id = 1 if post.id == 2 } }],
              loaded: [[PostType], -> { Post.order(:id).where(id: 1..5).includes(:author).each { |post| post.author.name = "changed" if post.author } }] }
    schemas = schemas(roots)
    2.times { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ posts { safe further } loaded { safe further } }").to_h) }) }
  end
end
