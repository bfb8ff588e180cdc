# frozen_string_literal: true

require_relative "../support/pages"

# Associations with methods of their own.
class AssociationExtensionsTest < PlanTest
  module Counting
    def doubled = count * 2
    def recent(least = 3) = where(score: least..)
  end

  module Deeper
    include Counting
    private def hidden = 1
  end

  module Concerned
    extend ActiveSupport::Concern
    def concerned = order(:score)
  end

  module Sees
    def self.extended(relation) = relation.where!("score > 2")
    def seen = 1
  end

  module Extends
    def self.extend_object(relation) = super.tap { relation.where!("score > 2") }
  end

  module Overrides
    def records = super.first(1)
    def exec_queries(...) = super.reverse
  end

  class Remark < ActiveRecord::Base
    self.table_name = "comments"
    scope :high, -> { where("score >= 3") }
    scope :by_extension, -> { recent(4) }
    def self.of_the_model = where(score: 1)
  end

  NAMES = {
    block: [{}, proc { def doubled = count * 2 }, true], module: [{ extend: Counting }, nil, true], several: [{ extend: [Counting, Concerned] }, nil, true],
    both: [{ extend: [Concerned] }, proc { def twice = size * 2 }, true], deeper: [{ extend: Deeper }, nil, true], nothing: [{ extend: Module.new }, nil, true],
    overriding: [{ extend: Overrides }, nil, false], sorting: [{}, proc { def order(*) = super(:score) }, false], loading: [{}, proc { def load(...) = super.itself }, false],
    counting: [{}, proc { def count(*) = 7 }, false], privately: [{}, proc { private def exec_queries(...) = super.reverse }, false], missing: [{}, proc { def method_missing(...) = super.itself }, false],
    to_array: [{}, proc { def to_a = super.first(1) }, false], scoped: [{}, proc { def high = where(score: 1) }, false], of_the_model: [{}, proc { def of_the_model = all }, false],
    seeing: [{ extend: Sees }, nil, false], extending: [{ extend: Extends }, nil, false], spawning: [{}, proc { def spawn = super.limit!(1) }, false], resetting: [{}, proc { def reset = super.itself }, false]
  }.freeze

  class Story < ActiveRecord::Base
    self.table_name = "posts"
    NAMES.each { |name, (options, block)| has_many name, -> { order(:id) }, foreign_key: :post_id, class_name: "AssociationExtensionsTest::Remark", **options, &block }
    has_many :scope_extends, -> { order(:id).extending(Overrides) }, foreign_key: :post_id, class_name: "AssociationExtensionsTest::Remark", extend: Counting
    has_many :taggings, foreign_key: :post_id do
      def of_taggings = 1
    end
    has_many :tags, -> { order(:id) }, through: :taggings do
      def names = map(&:name)
    end
    has_and_belongs_to_many :joined, -> { order(:id) }, class_name: "Tag", join_table: "taggings", foreign_key: :post_id, association_foreign_key: :tag_id do
      def records = super.first(1)
    end
    has_and_belongs_to_many :plainly_joined, -> { order(:id) }, class_name: "Tag", join_table: "taggings", foreign_key: :post_id, association_foreign_key: :tag_id do
      def names = map(&:name)
    end
  end

  RemarkType = type("ExtendedRemark") { field :id, Integer; field :score, Integer; field :opaque, String; def opaque = object.body.dup }
  TagType = type("ExtendedTag") { field :name, String }

  StoryType = type("ExtendedStory") do
    field :id, Integer
    field :opaque, String
    def opaque = object.title.dup
    [*NAMES.keys, :scope_extends].each do |name|
      field name, [RemarkType], method_conflict_warning: false
      field :"#{name}_page", RemarkType.connection_type, method: name
      field :"#{name}_count", Integer
      field :"#{name}_high", [RemarkType]
      field :"#{name}_sum", String
      class_eval("def #{name}_count = object.#{name}.count; def #{name}_high = object.#{name}.high.order(:id); def #{name}_sum = object.#{name}.sum(:score).to_s + object.#{name}.map(&:id).inspect", __FILE__, __LINE__)
    end
    field :own, Integer
    field :own_list, [RemarkType]
    field :by_extension, [RemarkType]
    def own = object.block.doubled
    def own_list = object.module.recent(2)
    def by_extension = object.module.by_extension
    %i[tags joined plainly_joined].each { |name| field name, [TagType] }
  end

  def pair
    @pair ||= schemas({ stories: [[StoryType], -> { Story.order(:id) }], few: [[StoryType], -> { Story.order(:id).to_a }], one: [StoryType, -> { Story.find(3) }],
                        first: [[RemarkType], -> { Story.find(3).module }], second: [[RemarkType], -> { Story.find(3).overriding }] })
  end

  FORMS = ["%s { id score }", "%sPage(first: 2) { nodes { id } pageInfo { hasNextPage } }", "%sCount", "%sHigh { id }", "%sSum", "%s { id opaque }"].freeze

  NAMES.each do |name, (_, _, planned)|
    define_method(:"test_#{name}") do
      names = name.to_s.camelize(:lower)
      FORMS.each_with_index do |form, at|
        query = "{ stories { id #{format(form, names)} } }"
        planned && at < 5 ? assert_plan(query) : same(query)
        assert_aside(query, model: Remark) if !planned && at.zero?
        same("{ few { opaque #{format(form, names)} } one { #{format(form, names)} } }")
      end
    end
  end

  def same(query)
    answers = pair.flat_map { |schema| Array.new(3) { text_of(outcome { schema.execute(query).to_h }) } }
    assert_equal 1, answers.uniq.size, answers.uniq.join("\n")
  end

  # What calls one of its methods is graphql-ruby's.
  def test_their_own_methods
    assert_aside("{ stories { own } }", model: Story)
    assert_aside("{ stories { ownList { id } } }", model: Story)
    same("{ stories { byExtension { id } module { id } } few { byExtension { id } opaque } }")
    same("{ stories { own ownList { id opaque } module { id } block { opaque } } few { module { id } own } }")
  end

  def test_a_scope_that_extends
    assert_aside("{ stories { scopeExtends { id } } }", model: Remark)
    FORMS.each { |form| same("{ stories { #{format(form, "scopeExtends")} } few { opaque #{format(form, "scopeExtends")} } }") }
  end

  def test_through_others
    assert_plan("{ stories { tags { name } } }")
    assert_aside("{ stories { joined { name } } }", model: Tag)
    same("{ stories { tags { name } joined { name } opaque plainlyJoined { name } } }")
  end

  def test_returned
    assert_plan("{ first { id score } }", made: [Story])
    same("{ first { id opaque } second { id opaque score } }")
  end
end
