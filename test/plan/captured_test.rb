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
