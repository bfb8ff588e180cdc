# frozen_string_literal: true

require_relative "projection_case"

class LeftAloneTest < ProjectionCase
  module Extension
    def titles = map(&:title)
  end

  class Keyless < ActiveRecord::Base
    self.table_name = "genres_works"
    self.primary_key = nil
    def title = "#{genre_id} #{work_id}"
  end

  RELATIONS = {
    custom_select: -> { ::Work.select("works.*, upper(title) AS loud").order(:id) },
    group: -> { ::Work.group(:id).order(:id) },
    having: -> { ::Work.group(:id).having("count(*) = 1").order(:id) },
    distinct: -> { ::Work.distinct.order(:id) },
    from: -> { ::Work.from("(SELECT * FROM works WHERE id < 5) works").order(:id) },
    joins_that_select: -> { ::Work.joins(:writer).select("works.*, writers.name AS by").order(:id) },
    eager_load: -> { ::Work.eager_load(:writer).order(:id) },
    references: -> { ::Work.includes(:writer).references(:writers).order(:id) },
    sql: -> { ::Work.find_by_sql("SELECT * FROM works ORDER BY id") },
    lock: -> { ::Work.lock.order(:id) },
    extending: -> { ::Work.extending(Extension).order(:id) },
    order_by_number: -> { ::Work.order(2, :id) },
    order_by_position_in_a_node: -> { ::Work.order(Arel.sql("3").desc.nulls_last) },
    order_by_name_of_joined_tables: -> { ::Work.joins("JOIN works more ON more.id = works.id").order("body DESC") },
    with: -> { ::Work.with(early: ::Work.where(id: ..5)).joins("JOIN early ON early.id = works.id").order(:id) },
    none: -> { ::Work.none },
    contradiction: -> { ::Work.where(id: []) },
    array: -> { ::Work.order(:id).to_a },
    async: -> { ::Work.order(:id).load_async },
    keyless: -> { Keyless.order(:genre_id, :work_id) }
  }.freeze

  RELATIONS.each do |name, relation|
    define_method("test_#{name}") do
      pair = schemas do
        field :specials, [TITLED], null: false
        define_method(:specials) { relation.call }
      end
      assert_same_answer("{ specials { title } }", pair)
      assert_equal(*pair.map { |schema| sql { execute("{ specials { title } }", schema) } })
    end
  end

  # Rows of one table each: a join only says which.
  def test_joins_and_preloads_are_narrowed
    pair = schemas do
      field :joined, [Library::Work], null: false
      field :preloaded, [Library::Work], null: false
      def joined = ::Work.joins(:writer).where(writers: { id: 1.. }).order(:id)
      def preloaded = ::Work.preload(:cover, reviews: :writer).includes(:reviewer).order(:id)
    end
    assert_reads({ "works" => %w[id type title] }, "{ joined { title } }", pair)
    assert_reads({ "works" => %w[id type title reviewer_id], "covers" => [nil], "reviews" => [nil], "writers" => [nil] },
                 "{ preloaded { title } }", pair)
  end

  def test_preloads_that_ask_their_records
    pair = schemas do
      field :preloaded, [Library::Work], null: false
      def preloaded = ::Work.preload(:same_title_reviews).order(:id)
    end
    assert_reads({ "works" => [nil] }, "{ preloaded { body } }", pair)
  end

  def test_the_resolvers_relation_stays_what_it_was
    counts = []
    pair = schemas do
      field :specials, [Library::Work], null: false
      field :probe, String
      def specials = context[:works] = ::Work.order(:id)
      define_method(:probe) { counts << context[:works].then { |it| [it.count, it.select_values, it.to_sql, it.where(id: 1).first.attributes, it.pluck(:body), it.sum(:price)] } && "done" }
    end
    plain, exact = pair.map { |schema| sql { execute("{ specials { title } probe }", schema) } }
    assert_equal(*counts)
    # What is made of it, is the application's own.
    made = plain.grep(/WHERE/)
    assert_equal 1, made.size
    assert_includes exact, made.first
  end
end
