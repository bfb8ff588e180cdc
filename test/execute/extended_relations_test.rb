# frozen_string_literal: true

require_relative "../support/plans"

# A wrapper returns one relation by several fields. What a module of the relation's says of it must not depend on whether a plan has
# loaded its records.
class ExtendedRelationsTest < PlanTest
  # As Kaminari's total_count, and not Kaminari's.
  module Paged
    def total_count
      return offset_value + @records.length if loaded? && @records.any? && @records.length < limit_value

      except(:offset, :limit, :order).count
    end
  end

  POST = type("Post") { field :title, String }
  PAGE = type("Page") do
    field :collection, [POST]
    def collection = object
    field :total_count, Integer
    field :total_pages, Integer
  end

  def page(value) = schemas({ page: [PAGE, value] })

  def test_a_module_that_looks
    assert_aside "{ page { collection { title } totalCount } }", page(-> { ::Post.order(:id).limit(100).offset(2).extending(Paged) })
    assert_aside "{ page { totalCount collection { title } } }", page(-> { ::Post.order(:id).limit(3).offset(4).extending(Paged) })
  end

  # Whichever way it came to have them.
  def test_an_object_that_looks
    value = -> { ::Post.order(:id).limit(100).offset(2).extend(Paged) }
    assert_aside "{ page { collection { title } totalCount } }", page(value)
    own = -> { ::Post.order(:id).limit(100).offset(2).tap { |it| def it.total_count = loaded? ? 1 : 2 } }
    assert_aside "{ page { collection { title } totalCount } }", page(own)
  end

  def test_a_module_that_does_not
    titled = Module.new { def total_count = map(&:title).size }
    assert_plan "{ page { collection { title } } }", page(-> { ::Post.order(:id).limit(3).extending(titled) })
  end

  # By the gem, which changes all models.
  def test_kaminari
    assert_in_a_process "test/execute/extended_relations_test", <<~'RUBY'
      require "kaminari/activerecord"
      ::Post.include(Kaminari::ActiveRecordModelExtension)
      query = "{ page { collection { title } totalCount totalPages } }"
      test = ExtendedRelationsTest.new("test_kaminari")
      pages = ->(value) { test.page(value) }
      [-> { ::Post.order(:id).page(1).per(5) }, -> { ::Post.order(:id).page(3).per(5) }, -> { ::Post.order(:id).page(99).per(5) }].each do |value|
        assert_plan query, pages.(value)
      end
      [-> { ::Post.order(:id).page(2).per(5).limit(9) }, -> { ::Post.order(:id).page(1).per(100).padding(2) },
       -> { ::Post.order(:id).page(2).per(5).padding(5) }].each do |value|
        assert_aside query, pages.(value)
      end
    RUBY
  end

  # What pagy returns: numbers, and a relation with a limit. As an application's resolver gives them on.
  def test_pagy
    assert_in_a_process "test/execute/extended_relations_test", <<~'RUBY'
      require "pagy"
      page_of = Struct.new(:pagy, :records)
      backend = Class.new { include Pagy::Backend; public :pagy; def params = {} }.new
      meta = ExtendedRelationsTest.type("Meta") { field :count, Integer; field :page, Integer; field :pages, Integer, method: :last; field :next, Integer }
      paginated = ExtendedRelationsTest.type("Paginated") { field :records, [ExtendedRelationsTest::POST]; field :pagy, meta }
      test = ExtendedRelationsTest.new("test_pagy")
      [1, 2, 3].each do |page|
        value = -> { page_of.new(*backend.pagy(::Post.order(:id), page: page, limit: 3)) }
        schemas = test.schemas({ page: [paginated, value] })
        assert_plan "{ page { records { title } pagy { count page pages next } } }", schemas
      end
    RUBY
  end
end
