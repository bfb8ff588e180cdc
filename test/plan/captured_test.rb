# frozen_string_literal: true

require_relative "../support/plans"

# Methods made by `define_method`, with variables from around their blocks.
class CapturedTest < PlanTest
  class Story < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
    %w[1 2].each { |ending| define_method(:"ends_with_#{ending}?") { title.end_with?(ending) } }
    { summary: 4, teaser: 2 }.each { |name, size| define_method(name) { "#{name}: #{shortened(size)}" } }
    def shortened(size) = title[0, size]
    changed = "before"
    define_method(:later) { "#{changed} #{title}" }
    define_singleton_method(:change) { |text| changed = text }
  end

  # {name => [type, whether a plan does it]}
  FIELDS = {
    shown_title: [String, true], shown_body: [String, true], comments_number: [Integer, true], author_name: [String, true],
    limited: [Integer, true], ends_with: ["Boolean", true], summary: [String, true], teaser: [String, true], later: [String, true],
    by_constant: [String, true], now: [String, true], unnamed: [String, false], in_a_block: [String, false], private_one: [String, false]
  }.freeze

  class StoryType < Schemas::Base
    graphql_name "CapturedStory"
    FIELDS.each { |name, (type, _)| field name, type == "Boolean" ? GraphQL::Types::Boolean : type, **(name == :ends_with ? { method: :ends_with_1? } : {}) }

    %i[title body].each { |name| define_method(:"shown_#{name}") { object.public_send(name).strip.presence || "none" } }
    ["comments"].each { |name| define_method(:"#{name}_number") { object.public_send(name).count } }
    [[:author, :name]].each { |one, other| define_method(:"#{one}_#{other}") { object.public_send(one)&.public_send(other) } }
    [2].each { |id| define_method(:limited) { object.comments.where(id: id).count } }
    word = "now"
    define_method(:now) { "#{word} #{object.title}" }
    define_singleton_method(:say) { |text| word = text }
    [String].each { |type| define_method(:unnamed) { "#{type} #{object.title}" } }
    [4].each { |size| define_method(:in_a_block) { [object.title].map { |it| it[0, size] }.first } }
    [:shortened].each { |name| define_method(:private_one) { object.public_send(name, 3) } }
    CAPTURED_NAME = :title
    [nil].each { |none| define_method(:by_constant) { object.public_send(CAPTURED_NAME) || none } }
  end

  def pair = @pair ||= schemas({ stories: [[StoryType], -> { Story.order(:id) }] })

  FIELDS.each do |name, (_, plain)|
    define_method(:"test_#{name}") do
      selected = name.to_s.camelize(:lower)
      plain ? assert_plan("{ stories { #{selected} } }") : assert_aside("{ stories { #{selected} } }", model: Story)
    end
  end

  def test_all_at_once = assert_aside("{ stories { #{FIELDS.keys.map { |it| it.to_s.camelize(:lower) }.join(" ")} } }", model: Story)

  # A variable that is assigned anew counts from then on, as of a method's and as of a model's.
  def test_assigned_anew
    assert_plan("{ stories { now later } }")
    StoryType.say("then")
    Story.change(after = +"after")
    assert_plan("{ stories { now later } }")
    after << " all"
    assert_plan("{ stories { now later } }")
  ensure
    StoryType.say("now")
    Story.change("before")
  end

  def test_another_value_asks_for_something_else
    chosen = :title
    type = Class.new(Schemas::Base) do
      graphql_name "CapturedChoice"
      field :chosen, String
      define_method(:chosen) { object.public_send(chosen)&.to_s }
    end
    pair = schemas({ stories: [[type], -> { Story.order(:id) }] })
    %i[title body id title].each do |name|
      chosen = name
      assert_plan("{ stories { chosen } }", pair)
    end
  end

  # What is asked of the database, too: of an association by a chain, of one that is chosen by its name, and of a model.
  def test_another_value_asks_the_database_for_something_else
    id = 2
    name = :comments
    comment = type("CapturedRemark") { field :id, Integer }
    story = type("CapturedAsking") do
      field :number, Integer
      field :some, [comment]
      field :named, [comment]
      field :found, comment
      field :pages, comment.connection_type
      field :word, String
      define_method(:number) { object.comments.where(id: id).count }
      define_method(:some) { object.comments.where(id: id) }
      define_method(:named) { object.public_send(name) }
      define_method(:found) { Comment.find_by(post_id: object.id, id: id) }
      define_method(:pages) { object.public_send(name) }
      define_method(:word) { object.public_send(id == 2 ? :title : :body) }
    end
    pair = schemas({ posts: [[story], -> { Post.order(:id) }], paged: [story.connection_type, -> { Post.order(:id) }] })
    fields = ["number", "some { id }", "named { id }", "found { id }", "pages(first: 2) { nodes { id } }", "number word"]
    [[2, :comments], [5, :top_comments], [nil, :comments]].each do |it|
      id, name = it
      fields.each do |field|
        assert_same_twice("{ posts { #{field} } }", pair)
        assert_same_twice("{ paged(first: 3) { nodes { #{field} } } }", pair)
      end
    end
  end

  # Between the fields of one execution, also where the second has yet to be looked at.
  def test_assigned_anew_by_a_mutation
    id, name = 1, :title
    story = type("CapturedChanging") do
      field :number, Integer
      field :word, String
      define_method(:number) { object.comments.where(id: id).count }
      define_method(:word) { object.public_send(name) }
    end
    mutation = type("CapturedMutation") do
      field(:set, [story]) { argument :id, Integer; argument :name, String }
      define_method(:set) { |id:, name:| change(id, name) }
      define_method(:change) { |to, by| (id, name = to, by.to_sym) && Post.order(:id) }
    end
    pair = schemas({ posts: [[story], -> { Post.order(:id) }] }, mutation: mutation)
    assert_same_twice(<<~GRAPHQL, pair)
      mutation {
        a: set(id: 1, name: "title") { number word }
        b: set(id: 2, name: "body") { ...Selected }
        c: set(id: 3, name: "title") { ...Selected }
      }
      fragment Selected on CapturedChanging { number word }
    GRAPHQL
  end

  # It may have no methods, or be another String's equal that does something else.
  def test_assigned_what_is_no_literal
    value = "x"
    story = type("CapturedOdd") do
      field :title, String
      define_method(:title) { value == "x" ? object.title : "#{value.upcase} #{object.title}" }
    end
    pair = schemas({ stories: [[story], -> { Story.order(:id) }] })
    odd = [Class.new(BasicObject) { def ==(_) = true }.new, Class.new(String) { def upcase = raise(GraphQL::ExecutionError, "odd") }.new("y")]
    ["x", odd.first, "y", odd.last, SimpleDelegator.new("y")].each do |it|
      value = it
      assert_same_twice("{ stories { title } }", pair)
    end
  end

  # The plan of another type's field by that name, by the same block.
  def test_blocks_that_are_shared
    makers = %i[title body].map { |name| proc { "#{name}: #{object.public_send(name)}" } }
    both = Module.new { define_method(:shared, &makers.last) }
    base = type("CapturedBase") { field :one, String; field :two, String; define_method(:one, &makers.first); define_method(:two, makers.last); alias_method :three, :two; field :three, String }
    heir = Class.new(base) { graphql_name "CapturedHeir"; include both; field :shared, String; define_method(:one) { super() }; define_method(:two, &makers.first) }
    pair = schemas({ base: [[base], -> { Story.order(:id) }], heir: [[heir], -> { Story.order(:id) }] })
    %w[one two three].each { |name| assert_same_twice("{ base { #{name} } heir { #{name} shared } }", pair) }
  end

  # Somebody's own says something else.
  def test_a_public_send_of_the_models_own
    loud = Class.new(ActiveRecord::Base) do
      self.table_name = "posts"
      def self.name = "CapturedLoud"
      def public_send(name, ...) = name == :title ? "loud" : super
    end
    assert_same_twice("{ stories { shownTitle } }", schemas({ stories: [[StoryType], -> { loud.order(:id) }] }))
  end
end
