# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../support/unmixed"

# A record that several fields share has one list of errors, and one context of validation.
class ValidationsTest < AnswerTest
  include Unmixed

  class Draft < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, foreign_key: :post_id
    validate { errors.add(:title, "is taken") if ::Tag.where(name: title).exists? || ::Post.where(title: title).where.not(id: id).exists? }
    validate(on: :publish) { errors.add(:body, "is short #{validation_context}") if ::Comment.where(post_id: [id, 1]).exists? }
    validates :title, uniqueness: true
    validates_associated :comments
  end

  # No record, but has validations.
  class Form
    include ActiveModel::Validations
    attr_accessor :title

    validate { errors.add(:title, "is taken") if ::Post.where(title: title).exists? }
    validate(on: :publish) { errors.add(:base, "is short") if ::Comment.exists? }
  end

  DRAFT = -> { Draft.find(1) }

  def test_contexts
    publishable, valid = ->(it) { it.valid?(:publish) }, ->(it) { it.valid? }
    assert_equal [false, true, false], refute_mixed(DRAFT, publishable, valid, publishable)
    assert_equal [true, false, true], refute_mixed(DRAFT, valid, ->(it) { it.validate(:publish) }, ->(it) { !it.invalid? })
  end

  def test_messages
    taken = -> { Draft.new(title: "post 1") }
    messages = ->(it) { [it.validate, it.errors.full_messages] }
    said = refute_mixed(taken, messages, messages, messages)
    assert_equal [[false, ["Title is taken", "Title has already been taken"]]], said.uniq
    refute_mixed(DRAFT, messages, ->(it) { [it.validate(:publish), it.errors.full_messages] }, messages)
  end

  def test_errors
    taken = -> { Draft.new(title: "post 1") }
    refute_mixed(taken, *Array.new(3) { ->(it) { it.validate! rescue $!.message } }, ->(it) { it.save! rescue $!.message })
  end

  def test_what_is_no_record
    form = -> { Form.new.tap { |it| it.title = "post 1" } }
    messages = ->(context) { ->(it) { [it.valid?(context), it.errors.full_messages] } }
    short, taken = [false, ["Title is taken", "is short"]], [false, ["Title is taken"]]
    assert_equal [short, taken, short], refute_mixed(form, messages[:publish], messages[nil], messages[:publish])
  end

  if ActiveModel.version >= Gem::Version.new("8.0")
    def test_frozen
      assert_equal [false, true], refute_mixed(-> {}, *["post 1", "none"].map { |title| ->(_) { Form.new.tap { |it| it.title = title }.freeze.valid? } })
    end
  end

  # What several records ask goes together.
  def test_records_of_their_own
    forms = Array.new(3) { |index| Form.new.tap { |it| it.title = "post #{index * 9}" } }
    assert_equal [1, [true, false, true]], [bursts { @said = Pipeloader.map(forms, &:valid?) }.size, @said]
  end

  # What was read for others before goes along.
  def test_reads_of_siblings_go_along
    bursts = WireCounter.events("burst.pipeloader") do
      Schemas.resolve(3) { |index| index == 2 ? Form.new.valid? : ::Post.where(id: index).count }
    end
    assert_equal 3, bursts.sum { |burst| burst[:reads].size }
  end
end
