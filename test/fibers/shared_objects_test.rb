# frozen_string_literal: true

require_relative "../support/test_helper"
require "kaminari/activerecord/active_record_relation_methods" # and not all of it, which changes all models

# Objects that several fields have from one place, and code of gems that changes them for as long as it reads.
class SharedObjectsTest < PipeloaderTest
  # As SiblingsTest does, of what +make+ returns: once for each of the two runs.
  def refute_mixed(make, *resolvers)
    object = nil
    plain, piped = Schemas.resolve(resolvers.size, before: -> { object = make.call }) { |index| resolvers[index].call(object) }
    assert_equal plain, piped
    plain
  end

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
end
