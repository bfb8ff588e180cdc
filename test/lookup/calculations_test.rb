# frozen_string_literal: true

require_relative "../support/plans"

# Resolver methods that ask an association of the record's for a number, or whether there is something: asked for all records by
# one statement.
class CalculationsTest < PlanTest
  class Chapter < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :post, class_name: "CalculationsTest::Book"
    enum :score, { low: 0, mid: 5, high: 9 }, scopes: false, instance_methods: false
    attribute :doubled, :integer
    alias_attribute :writer_id, :commenter_id
    scope :scored, ->(least = 3) { where("score >= ?", least) }
    scope :written, -> { where.not(commenter_id: nil) }
    def self.own = where("score > 3")
    default_scope { where("comments.id > 2") }
  end

  class Book < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :chapters, foreign_key: :post_id, class_name: "CalculationsTest::Chapter"
    has_many :comments, foreign_key: :post_id
    has_many :sorted, -> { order(score: :desc).limit(2) }, foreign_key: :post_id, class_name: "Comment"
    has_many :commenters, -> { distinct }, through: :comments
    has_many :taggings, foreign_key: :post_id
    has_many :tags, through: :taggings
    has_many :attachments, as: :attachable
    has_and_belongs_to_many :marks, class_name: "Tag", join_table: "taggings", foreign_key: :post_id, association_foreign_key: :tag_id
    has_many :extended, foreign_key: :post_id, class_name: "Comment" do
      def count = 17
    end
    has_many :grouped, -> { group(:score).order(:score) }, foreign_key: :post_id, class_name: "Comment"
    has_many :its_own, ->(book) { where(score: ..book.likes) }, foreign_key: :post_id, class_name: "Comment"
    has_many :replies, foreign_key: :post_id, class_name: "CalculationsTest::Reply"
    has_many :counted, foreign_key: :post_id, counter_cache: :likes, class_name: "CalculationsTest::Counted"
  end

  class Reply < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :comment, foreign_key: :id, class_name: "CalculationsTest::Chapter"
    attribute :score, :string
  end

  class Counted < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :book, foreign_key: :post_id, counter_cache: :likes, class_name: "CalculationsTest::Book"
  end

  # {name => [type, resolver method]}: asked for all posts at once
  ASKED = {
    by_public_send: [Integer, -> { def it = object.comments.public_send(:count) }],
    count: [Integer, -> { def it = object.comments.count }],
    count_of_all: [Integer, -> { def it = object.comments.count(:all) }],
    count_of_a_column: [Integer, -> { def it = object.comments.count(:commenter_id) }],
    count_of_sql: [Integer, -> { def it = object.comments.count("DISTINCT commenter_id") }],
    count_as_text: [String, -> { def it = object.comments.count }],
    count_as_id: [ID = GraphQL::Types::ID, -> { def it = object.comments.count }],
    count_as_float: [Float, -> { def it = object.comments.count }],
    distinct: [Integer, -> { def it = object.comments.distinct.count(:commenter_id) }],
    size: [Integer, -> { def it = object.comments.size }],
    size_of_some: [Integer, -> { def it = object.comments.where(score: 5).size }],
    size_of_the_limited: [Integer, -> { def it = object.sorted.size }],
    count_of_the_limited: [Integer, -> { def it = object.sorted.count }],
    count_up_to: [Integer, -> { def it = object.comments.limit(3).count }],
    count_from: [Integer, -> { def it = object.comments.offset(1).limit(2).count }],
    exists: [GraphQL::Types::Boolean, -> { def it = object.comments.exists? }],
    exists_with_text: [GraphQL::Types::Boolean, -> { def it = object.comments.exists?(["score > 7"]) }],
    exists_with_value: [GraphQL::Types::Boolean, -> { def it = object.comments.exists?(["score > ?", 7]) }],
    exists_with_keywords: [GraphQL::Types::Boolean, -> { def it = object.comments.exists?(score: 7) }],
    exists_with_hash: [GraphQL::Types::Boolean, -> { def it = object.comments.exists?({ score: [7, 8] }) }],
    exists_with_id: [GraphQL::Types::Boolean, -> { def it = object.comments.exists?(3) }],
    any: [GraphQL::Types::Boolean, -> { def it = object.comments.any? }],
    any_of_some: [GraphQL::Types::Boolean, -> { def it = object.comments.where(score: 7).any? }],
    empty: [GraphQL::Types::Boolean, -> { def it = object.comments.empty? }],
    empty_of_some: [GraphQL::Types::Boolean, -> { def it = object.comments.where("score > 3").empty? }],
    none: [GraphQL::Types::Boolean, -> { def it = object.comments.none? }],
    maximum: [Integer, -> { def it = object.comments.maximum(:score) }],
    maximum_of_text: [String, -> { def it = object.comments.maximum("body") }],
    maximum_of_sql: [Integer, -> { def it = object.comments.maximum("score + length(body)") }],
    minimum: [Integer, -> { def it = object.comments.minimum(:commenter_id) }],
    minimum_of_an_alias: [Integer, -> { def it = object.chapters.minimum(:writer_id) }],
    maximum_of_an_enum: [Integer, -> { def it = object.chapters.maximum(:score) }],
    sum: [Integer, -> { def it = object.comments.sum(:score) }],
    average: [Float, -> { def it = object.comments.average(:score) }],
    average_as_text: [String, -> { def it = object.comments.where("score > 3").average("score") }],
    average_of_an_enum: [String, -> { def it = object.chapters.average(:score) }],
    average_of_marked_sql: [String, -> { def it = object.comments.average(Arel.sql("score / 3.0")) }],
    average_of_sql: [String, -> { def it = object.comments.average("score / 3.0") }],
    unscope: [Integer, -> { def it = object.comments.order(:id).limit(2).unscope(:order, :limit).count }],
    many_to_many: [Integer, -> { def it = object.marks.count }],
    sum_of_ids: [Integer, -> { def it = object.comments.sum(:commenter_id) }], # (numeric, to the server)
    sum_with_the_table: [Integer, -> { def it = object.comments.where("comments.score > 3").sum("comments.score") }],
    maximum_of_an_enum_with_the_table: [Integer, -> { def it = object.chapters.maximum("comments.score") }],
    minimum_through_with_the_table: [String, -> { def it = object.commenters.minimum("users.name") }],
    sum_of_sql: [Integer, -> { def it = object.comments.sum("length(body)") }],
    sum_of_fractions: [Float, -> { def it = object.comments.sum("score / 3.0") }],
    sum_as_text: [String, -> { def it = object.comments.sum("score / 3.0") }],
    where: [Integer, -> { def it = object.comments.where(score: 2..6).where.not(commenter_id: nil).count }],
    where_in: [Integer, -> { def it = object.comments.where(score: [1, 2, nil, 5]).count }],
    rewhere: [Integer, -> { def it = object.comments.where(score: 1).rewhere(score: 5).count }],
    order: [Integer, -> { def it = object.comments.order(id: :desc).reorder(:score).count }],
    joins: [Integer, -> { def it = object.comments.joins(:commenter).count }],
    left_joins: [Integer, -> { def it = object.comments.left_joins(:commenter).where(users: { id: nil }).count }],
    scope: [Integer, -> { def it = object.chapters.written.count }],
    scope_with_default: [Integer, -> { def it = object.chapters.scored.count }],
    scope_with_argument: [Integer, -> { def it = object.chapters.scored(7).written.count }],
    default_scope: [Integer, -> { def it = object.chapters.count }],
    through: [Integer, -> { def it = object.tags.count }],
    through_distinct: [Integer, -> { def it = object.commenters.count }],
    polymorphic: [Integer, -> { def it = object.attachments.count }],
    maximum_of_text_as_number: [Integer, -> { def it = object.comments.maximum(:body) }],
    lines: [Integer, lambda {
      def it
        object
          .comments
          .count
      end
    }]
  }.freeze

  # … and these as ever.
  LEFT = {
    block: [Integer, -> { def it = object.comments.count { |comment| comment == context } }],
    any_with_a_block: [GraphQL::Types::Boolean, -> { def it = object.comments.any? { |comment| comment == context } }],
    any_with_a_pattern: [GraphQL::Types::Boolean, -> { def it = object.comments.any?(Comment) }],
    length_of_the_included: [Integer, -> { def it = object.comments.includes(:commenter).length }],
    loaded: [Integer, -> { def it = object.comments.load.size }],
    of_an_object: [Integer, -> { def it = object.comments.where(score: object.likes).count }],
    constant: [Integer, -> { def it = object.comments.where(score: Integer::MAX).count rescue 3 }],
    own_method: [Integer, -> { def it = object.chapters.own.count }],
    method_of_an_extension: [Integer, -> { def it = object.extended.count }],
    unscoped_where: [Integer, -> { def it = object.comments.unscope(:where).count }],
    having: [String, -> { def it = object.comments.group(:score).having("COUNT(*) > 1").order(:score).count }],
    group: [String, -> { def it = object.comments.group(:score).order(:score).count }],
    grouped: [String, -> { def it = object.grouped.count }],
    of_its_own: [Integer, -> { def it = object.its_own.count }],
    of_a_cached_counter: [Integer, -> { def it = object.counted.size }],
    none: [Integer, -> { def it = object.comments.none.count }],
    contradiction: [Integer, -> { def it = object.comments.where(score: []).count }],
    limit_of_none: [Integer, -> { def it = object.comments.limit(0).count }],
    exists_never: [GraphQL::Types::Boolean, -> { def it = object.comments.exists?(false) }],
    unscoped_key: [Integer, -> { def it = object.comments.rewhere(post_id: 1).count }],
    volatile: [Integer, -> { def it = object.comments.where("random() >= 0").count }],
    lock: [Integer, -> { def it = object.comments.lock.count }],
    includes: [Integer, -> { def it = object.comments.eager_load(:commenter).count }],
    writes: [Integer, -> { def it = object.comments.where("score < 0").delete_all }],
    a_record: [Integer, -> { def it = object.author.posts.count rescue 0 }],
    column_of_another: [Integer, -> { def it = object.comments.joins(:commenter).maximum("users.id") }],
    column_of_an_association_named_as_the_table: [Integer, -> { def it = object.replies.maximum("comments.score") }],
    alias_with_the_table: [Integer, -> { def it = object.chapters.maximum("comments.writer_id") }],
    column_that_there_is_not: [Integer, -> { def it = object.comments.maximum(:nothing) }],
    column_of_marked_sql: [Integer, -> { def it = object.chapters.maximum(Arel.sql("comments.score")) }],
    column_of_a_schema: [Integer, -> { def it = object.chapters.maximum("public.comments.score") }],
    sum_of_several: [String, -> { def it = object.comments.sum("score), (7") }],
    count_of_several: [Integer, -> { def it = object.comments.count("score), (7") }],
    list: [[Integer], -> { def it = object.comments.count }],
    bad_sql: [Integer, -> { def it = object.comments.where("nothing = 3").count }],
    arguments: [Integer, -> { argument_of_it; def it(**) = object.comments.count }]
  }.freeze

  class Type < Schemas::Base
    def self.argument_of_it = own_fields["it"].argument(:more, Integer, required: false)
  end

  def self.schemas_of(test, (returned, body))
    book = test.type("Book", Type) { field :it, returned; class_exec(&body); field :id, GraphQL::Types::ID }
    loud = test.type("LoudBook", book) { field :loud, String; def loud = object.title.dup.upcase }
    author = test.type("Author") { field :name, String; field :books, [book] }
    posts = -> { Book.order(:id) }
    test.schemas({ books: [[book], posts], book: [book, -> { Book.find(3) }], loud: [[loud], posts], authors: [[author], -> { Writer.order(:id) }] })
  end

  class Writer < ActiveRecord::Base
    self.table_name = "users"
    has_many :books, -> { order(:id) }, foreign_key: :author_id, class_name: "CalculationsTest::Book"
  end

  QUERIES = { "{ books { id it } }" => 2, "{ loud { id loud it t: it } }" => 2, "{ authors { name books { it id } } }" => 3 }.freeze

  ASKED.each do |name, form|
    define_method(:"test_#{name}") do
      schemas = self.class.schemas_of(self, form)
      QUERIES.each do |query, statements|
        assert_plan(query, schemas, made: [Book], errors: :any)
        next if Engine::NEXT && query.include?("loud")

        assert_equal statements, WireCounter.events("sql.active_record") { schemas.last.execute(query) }.size, query
      end
      assert_plan("{ book { it } }", schemas, made: [Book], errors: :any)
    end
  end

  def test_average_rounded
    schemas = self.class.schemas_of(self, [Float, -> { def it = object.comments.where("score > 3").average(:score)&.fdiv(3)&.round(2) }])
    ["{ books { id it } }", "{ book { it } }"].each { |query| assert_plan(query, schemas, made: [Book]) }
  end

  LEFT.each do |name, form|
    define_method(:"test_left_#{name}") do
      schemas = self.class.schemas_of(self, form)
      QUERIES.each_key { |query| assert_plan(query, schemas, aside: Book, errors: :any) }
    end
  end
end
