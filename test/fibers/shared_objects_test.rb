# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/unmixed"
require "kaminari/activerecord/active_record_relation_methods" # and not all of it, which changes all models
require "active_support/core_ext/kernel/reporting"
silence_warnings { require "aasm" }

# Objects that several fields have from one place, and code of gems that changes them for as long as it reads.
class SharedObjectsTest < PipeloaderTest
  include Unmixed

  # -- relations whose `load` isn't ActiveRecord's: Kaminari's reads one more record, to know of a next page -----------------

  # @return [Proc] to make the page's relation
  def page(number, per) = -> { ::Post.order(:id).limit(per).offset((number - 1) * per).extend(Kaminari::PaginatableWithoutCount) }

  TITLES = ->(page) { page.map(&:title) }
  LIMIT = ->(page) { page.limit_value }
  LAST = ->(page) { [page.last_page?, page.limit_value] }

  [[1, 5], [2, 5], [3, 5], [9, 5], [1, 12], [2, 11]].each do |number, per|
    define_method(:"test_without_count_#{number}_of_#{per}") do
      page = page(number, per)
      refute_mixed(page, LIMIT, TITLES, LIMIT, LAST, TITLES, LIMIT)
      refute_mixed(page, ->(it) { [::Post.count, *TITLES[it]] }, ->(it) { [::Post.count, *LAST[it]] }, LIMIT, ->(it) { it.to_a.size })
      refute_mixed(page, TITLES, ->(it) { it.dup.map(&:id) }, ->(it) { it.offset(1).map(&:id) }, ->(it) { it.size })
    end
  end

  def test_a_page_of_an_association
    page = -> { ::Post.find(1).comments.limit(1).extend(Kaminari::PaginatableWithoutCount) }
    refute_mixed(page, ->(it) { it.map(&:body) }, LIMIT, LAST)
  end

  # By other modules, and methods of its own.
  def test_loads_of_others
    marked = Module.new do
      def load
        @marked = true
        super
      ensure
        @marked = false
      end

      def marked? = @marked ? true : false
    end
    makes = [-> { ::Post.order(:id).extend(marked) }, -> { ::Post.order(:id).extending(marked) },
             -> { ::Post.order(:id).tap { |it| it.singleton_class.include(marked); def it.load = (@marked = true) && super.tap { @marked = false } } }]
    makes.each { |make| refute_mixed(make, ->(it) { it.map(&:id) }, ->(it) { it.marked? }, ->(it) { it.map(&:title) }, ->(it) { it.marked? }) }
  end

  # Modules that leave `load` alone change nothing.
  def test_other_modules_park
    bursts = WireCounter.events("burst.pipeloader") do
      Schemas.resolve(3) { |index| ::Post.where(id: index + 1).extend(Kaminari::ActiveRecordRelationMethods).map(&:title) }
    end
    assert_equal [3], (bursts.map { |burst| burst[:reads].size })
  end

  # -- AASM's machine of a record, which says to guards what is asked -------------------------------------------------------

  class Draft < ActiveRecord::Base
    self.table_name = "posts"
    attribute :state, :string, default: "draft"
    include AASM
    aasm(column: :state, enum: false) do
      state :draft, initial: true
      state :published, :hidden, :archived
      event(:publish, guards: %i[comments? publishes?]) { transitions from: :draft, to: :published }
      event(:hide, guards: %i[comments? hides?]) { transitions from: :draft, to: :hidden }
      event(:file) do
        transitions from: :draft, to: :published, guard: -> { !comments? }
        transitions from: :draft, to: :archived, guard: %i[comments? archives?], unless: :hides?
      end
    end

    def comments? = ::Comment.where(post_id: id).exists?
    def publishes? = to?(:published)
    def hides? = to?(:hidden)
    def archives? = to?(:archived)
    def to?(state) = ::User.exists? && [aasm.from_state, aasm.to_state] == [:draft, state]
  end

  def test_transitions
    may = %i[may_publish? may_hide? may_file? may_publish?].map { |name| ->(it) { it.public_send(name) } }
    assert_equal [true] * 4, refute_mixed(-> { Draft.find(1) }, *may)
  end

  def test_states_and_events
    names = ->(list) { list.map(&:name) }
    refute_mixed(-> { Draft.find(2) }, ->(it) { names[it.aasm.events(permitted: true)] }, ->(it) { names[it.aasm.states(permitted: true)] },
                 ->(it) { it.aasm.permitted_transitions }, ->(it) { it.may_hide? }, ->(it) { names[it.aasm.events(permitted: false)] })
  end

  # One list for all records.
  def test_failures
    failures = lambda do |id|
      lambda do |_|
        draft = Draft.new(id: id)
        [draft.may_file?, Draft.aasm.events.find { |it| it.name == :file }.failed_callbacks.size]
      end
    end
    refute_mixed(-> {}, failures[1], failures[0], failures[-1], failures[1])
  end
end
