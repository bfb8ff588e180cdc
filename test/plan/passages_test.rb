# frozen_string_literal: true

require_relative "../support/plans"

# Records, and numbers, that are found through a record: `object.author&.boss`.
class PassagesTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:passage_posts) { |t| t.string :title; t.bigint :author_id; t.bigint :editor_id }
    create_table(:passage_people) { |t| t.string :name; t.bigint :boss_id; t.boolean :hidden, null: false, default: false }
  end

  class Person < ActiveRecord::Base
    self.table_name = "passage_people"
    belongs_to :boss, class_name: "PassagesTest::Person", optional: true
    has_many :staff, -> { order(:id) }, class_name: "PassagesTest::Person", foreign_key: :boss_id
    has_many :posts, class_name: "PassagesTest::Post", foreign_key: :author_id, inverse_of: :author
    has_one :first_post, -> { order(:id) }, class_name: "PassagesTest::Post", foreign_key: :author_id
    scope :seen, -> { where(hidden: false) }
    def chief = boss&.boss
    def colleagues = boss&.staff&.seen
    def given_boss = boss
  end

  class Post < ActiveRecord::Base
    self.table_name = "passage_posts"
    belongs_to :author, class_name: "PassagesTest::Person", optional: true, inverse_of: :posts
    belongs_to :editor, -> { seen }, class_name: "PassagesTest::Person", optional: true
    belongs_to :about, polymorphic: true, optional: true, foreign_key: :author_id, foreign_type: :title
    belongs_to :writer, class_name: "PassagesTest::Person", optional: true, foreign_key: :author_id
    belongs_to :waking, class_name: "PassagesTest::Waking", optional: true, foreign_key: :author_id
    def writer = super || Person.new
    def head = author&.boss
    def heads_posts = head&.posts&.order(:id)
  end

  class Waking < ActiveRecord::Base
    self.table_name = "passage_people"
    belongs_to :boss, class_name: "PassagesTest::Person", optional: true
    after_find { self.name = "woken" }
  end

  Person.insert_all!((1..7).map { |id| { id: id, name: "person #{id}", boss_id: { 2 => 1, 3 => 1, 4 => 2, 5 => 99, 6 => 4, 7 => 6 }[id], hidden: id == 2 } })
  Post.insert_all!((1..9).map { |id| { id: id, title: "post #{id}", author_id: { 8 => nil, 9 => 77 }.fetch(id, id), editor_id: (id % 4) + 1 } })

  PersonType = Class.new(Schemas::Base) { graphql_name "PassagePerson" }
  PostType = Class.new(Schemas::Base) { graphql_name "PassagePost" }
  PersonType.class_eval do
    field :id, Integer
    field :name, String
    field :boss, PersonType
    field :posts, [PostType]
    field :chief, PersonType
    field :colleagues, [PersonType]
    field :opaque, String
    def opaque = object.name.dup.concat((context.dig(:mark) || "!"))
  end

  # {name => [type, code, what is selected of it, whether a plan does it]}
  FIELDS = {
    boss: [PersonType, "object.author&.boss", "{ id name }", true],
    boss_of_all: [PersonType, "object.author.boss", "{ id name }", :some],
    further: [PersonType, "object.author&.boss&.boss", "{ id boss { name } }", true],
    further_and_sure: [PersonType, "object.author&.boss.boss", "{ id }", :any],
    of_some: [PersonType, "object.editor&.boss", "{ name }", true],
    staff: [[PersonType], "object.author&.boss&.staff", "{ id name }", true],
    staff_of_some: [[PersonType], "object.author&.staff&.seen&.order(:id)", "{ id }", true],
    staff_by_argument: [[PersonType], "object.author&.staff&.limit(2)", "{ id name }", true],
    count: [Integer, "object.author&.staff&.count", "", true],
    exists: [GraphQL::Types::Boolean, "object.author&.boss&.staff&.exists?(hidden: true)", "", true],
    first: [PersonType, "object.author&.staff&.first", "{ id }", true],
    one: [PostType, "object.author&.first_post", "{ id title }", true],
    there_and_back: [[PostType], "object.author&.posts&.order(:id)", "{ id title boss { id } }", true],
    back: [[PostType], "object.author&.boss&.posts&.order(:id)", "{ id author { id boss { id } } }", :any],
    by_model: [PersonType, "object.head", "{ id name }", true],
    by_model_further: [PersonType, "object.author&.chief", "{ id name }", true],
    list_by_model: [[PostType], "object.heads_posts", "{ id }", true],
    colleagues: [[PersonType], "object.author&.colleagues", "{ id }", true],
    behind_a_safe_method: [PersonType, "object.head.boss", "{ id }", false],
    list_behind_a_safe_method: [[PersonType], "object.author.chief.staff", "{ id }", false],
    count_behind_a_safe_method: [Integer, "object.heads_posts.count", "", false],
    safely_behind_a_safe_method: [PersonType, "object.head&.boss", "{ id }", true],
    given: [PersonType, "object.author&.given_boss", "{ id }", true],
    with_opaque: [PersonType, "object.author&.boss", "{ id opaque }", false],
    needed: [[PersonType], "object.author&.staff || []", "{ id }", false],
    branch: [PersonType, "object.author ? object.author.boss : nil", "{ id }", false],
    kept: [PersonType, "object.author&.boss.tap(&:itself)", "{ id }", false],
    of_a_block: [[PersonType], "object.author&.staff&.select { |it| it.id > 3 }", "{ id }", false],
    overridden: [PersonType, "object.writer&.boss", "{ id }", false],
    woken: [PersonType, "object.waking&.boss", "{ id }", false],
    unknown: [PersonType, "object.author&.nobody", "{ id }", false],
    many: [PersonType, "object.author&.staff&.boss", "{ id }", false],
    arguments: [PersonType, "object.author&.boss(1)", "{ id }", false],
    polymorphic: [PersonType, "object.about&.boss", "{ id }", false],
    wrong: [[PersonType], "object.author&.boss", "{ id }", false],
    single: [PersonType, "object.author&.staff", "{ id }", false]
  }.freeze

  PostType.class_eval do
    field :id, Integer
    field :title, String
    field :author, PersonType
    field :opaque, String
    def opaque = object.title.dup.concat((context.dig(:mark) || "!"))
    FIELDS.each do |name, (returned, code)|
      field name, returned
      class_eval("def #{name} = (#{code})", __FILE__, __LINE__)
    end
    field :limited, [PersonType], null: false do
      argument :limit, Integer, required: false, default_value: 1
    end
    def limited(limit: 1) = object.author&.staff&.limit(limit)
    field :certain, PersonType, null: false, resolver_method: :boss
    field :paged, PersonType.connection_type, resolver_method: :staff
  end

  def pair
    @pair ||= schemas({ posts: [[PostType], -> { Post.order(:id) }], some: [[PostType], -> { Post.order(:id).where(id: 1..7) }], array: [[PostType], -> { Post.order(:id).to_a }],
                        one: [PostType, -> { Post.find(4) }],
                        loaded: [[PostType], -> { Post.order(:id).includes(author: :boss).each { |post| post.author&.name = "changed"; post.author&.boss&.name = "changed" } }] })
  end

  FIELDS.each do |name, (_, _, selected, planned)|
    define_method(:"test_#{name}") do
      field = "#{name.to_s.camelize(:lower)} #{selected}"
      2.times do
        case planned
        when true then assert_plan("{ posts { id #{field} } }")
        when :some then assert_plan("{ some { id #{field} } }")
        when :any then assert_equal(*pair.map { |schema| text_of(outcome { schema.execute("{ posts { id #{field} } }").to_h }) })
        else assert_aside("{ posts { id #{field} } }", model: Post, errors: :any)
        end
        ["{ posts { opaque #{field} id } }", "{ array { #{field} } one { it: #{field} } }", "{ loaded { #{field} author { name } } }", "{ posts { author { name } #{field} twice: #{field} } }"].each do |beside|
          assert_equal(*pair.map { |schema| text_of(outcome { schema.execute(beside).to_h }) })
        end
      end
    end
  end

  def test_arguments_and_null
    assert_aside("{ posts { id limited(limit: 2) { id } } }", model: Post, errors: :any)
    assert_plan("{ some { id limited(limit: 2) { id } limited2: limited { id name } } }")
    ["{ posts { certain { id } } }", "{ one { certain { id } paged(first: 1) { nodes { id } } } }", "{ some { limited(limit: null) { id } } }"].each do |query|
      3.times { assert_equal(*pair.map { |schema| text_of(outcome { schema.execute(query).to_h }) }, query) }
    end
  end

  # One burst for each step, with no more than keys of what is passed through.
  def test_bursts
    query = "{ posts { further { name } count } }"
    3.times { pair.last.execute(query) }
    bursts = WireCounter.events("burst.pipeloader") { pair.last.execute(query) }.map { |it| it[:statements] }
    assert_equal [1, 2, 2, 1], bursts
    sent = WireCounter.events("sql.active_record") { pair.last.execute(query) }.map { |it| it[:sql] }
    assert_empty sent.grep(/"passage_people"\.\*/)
  end
end
