# frozen_string_literal: true

require_relative "../support/plans"

# Scopes that needn't be asked, as they say the same each time; and those that must be.
class ConstantScopesTest < PlanTest
  LIMIT = 3

  class Zoned < ActiveRecord::Type::Integer; end

  def self.value = 3
  def self.many = [1]

  CONSTANT = [
    -> { order(:id) }, -> { order(id: :desc) }, -> { order("score DESC, id") }, -> { where(score: 3) }, -> { where(score: [3, 5]) }, -> { where(score: nil) },
    -> { where(body: "comment 3") }, -> { where("score > 3") }, -> { where("score > ?", 3).limit(2) }, -> { where.not(score: 1).reorder(:score) },
    -> { where(score: 1, body: "b").distinct }, -> { order(:id).reverse_order.offset(1) }, -> { where({ "score" => 3 }) }, -> { where(score: 2..) }
  ].freeze

  ASKED = [
    -> { where(score: ConstantScopesTest.value) }, -> { limit(LIMIT) }, -> { where("created_at > ?", Time.now) }, -> { where(created_at: "2020-01-01 10:00") },
    -> { where(shifted: 3) }, -> { joins(:post) }, -> { where(post: { id: 1 }) }, -> { order(*ConstantScopesTest.many) }, -> { where(score: value) }, -> { unknown },
    -> { where(unknown: 1) }, -> { order(Arel.sql("id")) }, -> { where(score: 1).or(where(score: 2)) }, -> { where(score: 1) if rand > 2 }, -> { merge(where(score: 1)) },
    -> { where(score: 1).tap { |it| } }, -> { limit(1 + 1) }, -> { where("score > #{1 + 1}") }, -> { extending(Module.new) }, :itself.to_proc,
    -> { where(score: 1).then(&:itself) }, -> { @memo ||= where(score: 1) }, -> { x = 1; where(score: x) }, proc { |_post| order(:id) }
  ].freeze

  MODEL = Class.new(ActiveRecord::Base) do
    self.table_name = "comments"
    def self.name = "ConstantScopesTest::Model"
    attribute :shifted, Zoned.new
    attribute :created_at, :datetime
  end

  def test_constant
    CONSTANT.each { |scope| assert_equal [true, true], [constant?(scope), constant?(scope)], source(scope) }
  end

  def test_asked
    ASKED.each { |scope| assert_equal [false, false], [constant?(scope), constant?(scope)], source(scope) }
  end

  # As they are when an association has them.
  def test_of_associations
    post = Class.new(ActiveRecord::Base) { self.table_name = "posts" }
    [*CONSTANT, *ASKED].each_with_index do |scope, index|
      next if scope.arity.abs > 0

      post.has_many :"comments#{index}", scope, anonymous_class: MODEL, foreign_key: :post_id
      found = post.reflect_on_association(:"comments#{index}").scopes.map { |it| Pipeloader::ConstantScope.is?(it, MODEL) }
      assert_equal [CONSTANT.include?(scope)], found, source(scope)
    end
  end

  # Somebody opens what it calls, or gives an attribute another type.
  def test_until_something_changes
    scope = -> { where(score: 3).order(:id) }
    model = Class.new(ActiveRecord::Base) { self.table_name = "comments" }
    assert Pipeloader::ConstantScope.is?(scope, model)
    model.attribute :score, Zoned.new
    refute Pipeloader::ConstantScope.is?(scope, model)

    refute Pipeloader::ConstantScope.is?(scope, MODEL), "another model's"

    scope = -> { order(:id) }
    another = Class.new(ActiveRecord::Base) { self.table_name = "comments" }
    assert Pipeloader::ConstantScope.is?(scope, another)
    another.relation_delegate_class(ActiveRecord::Relation).define_method(:order) { |*| super(:score) }
    refute Pipeloader::ConstantScope.is?(scope, another)
  end

  private

  def constant?(scope) = Pipeloader::ConstantScope.is?(scope, MODEL)
  def source(scope) = scope.source_location.to_a.join(":") + RubyVM::InstructionSequence.of(scope)&.disasm.to_s.lines.grep(/send/).join
end
