# frozen_string_literal: true

require_relative "../support/test_helper"

# What the owner of an association may notice when a plan reads for it.
class AssociationRequestsTest < PipeloaderTest
  ActiveRecord::Schema.define do
    create_table(:owner_shelves) { |t| t.string :title; t.boolean :open; t.integer :books_count, null: false, default: 0; t.bigint :parent_id }
    create_table(:owner_books) { |t| t.string :title; t.bigint :shelf_id }
  end

  class Shelf < ActiveRecord::Base
    self.table_name = "owner_shelves"
    has_many :books, -> { where(title: "b").order(:id) }, class_name: "AssociationRequestsTest::Book"
    has_many :all_books, -> { order(:id) }, class_name: "AssociationRequestsTest::Book", foreign_key: :shelf_id
    has_one :child, -> { order(:id) }, class_name: "AssociationRequestsTest::Shelf", foreign_key: :parent_id
  end

  class Book < ActiveRecord::Base
    self.table_name = "owner_books"
    belongs_to :shelf, class_name: "AssociationRequestsTest::Shelf", counter_cache: :books_count
  end

  # Asks for a column when it comes into being.
  class Asking < Shelf
    has_many :tomes, -> { order(:id) }, class_name: "AssociationRequestsTest::Book", foreign_key: :shelf_id
    after_initialize { title.upcase if open? }
  end

  Shelf.reset_column_information
  Shelf.insert_all!([1, 2, 3].map { |n| { id: n, title: "shelf #{n}", open: n.odd?, books_count: n % 3, parent_id: (n - 1 if n > 1) } })
  Book.insert_all!([{ title: "a", shelf_id: 1 }, { title: "b", shelf_id: 2 }, { title: "c", shelf_id: 2 }])

  BookType = Class.new(GraphQL::Schema::Object) do
    graphql_name "Book"
    field :title, String
    field :loud, String
    def loud = [object.title].each(&:upcase!).join
  end

  ShelfType = Class.new(GraphQL::Schema::Object) do
    graphql_name "Shelf"
    field :title, String
    field :books, [BookType]
    field :all_books, [BookType]
    field :bare, String
    field :bare_parent, String
    def bare = object.books.empty?.to_s
    def bare_parent = "#{object.child&.title} #{object.books.empty?}"
  end

  AskingType = Class.new(GraphQL::Schema::Object) do
    graphql_name "Asking"
    field :title, String
    field :tomes, [BookType]
  end

  QueryType = Class.new(GraphQL::Schema::Object) do
    graphql_name "Query"
    field :shelves, [ShelfType]
    field :asking, [AskingType]
    def shelves = Shelf.order(:id)
    def asking = Asking.order(:id)
  end

  def assert_same_answers(query)
    [{ compile: true }, { compile: false }].each do |options|
      plain, piped = Schemas.make(query: QueryType, mutation: nil, pipeloader: options).map do |schema|
        Array.new(3) { schema.execute(query).to_h.to_json }
      end
      assert_equal plain, piped, options.inspect
      assert_equal 3, JSON.parse(piped.last)["data"].values.first.size
    end
  end

  # To a scoped association it isn't known how many it has: until it is loaded, its counter cache says so.
  def test_a_counter_cache_beside_resolvers_that_ask_it
    assert_same_answers("{ shelves { title books { title } bareParent } }")
    assert_same_answers("{ shelves { bare books { title } } }")
    assert_same_answers("{ shelves { books { title } bare } }")
    assert_same_answers("{ shelves { title books { title } } }")
    assert_same_answers("{ shelves { title books { loud } bareParent } }")
    assert_same_answers("{ shelves { books { title loud } bare } }")
  end

  def test_a_callback_that_asks_for_a_column
    assert_same_answers("{ asking { tomes { title } } }")
    assert_same_answers("{ asking { title tomes { title } } }")
  end
end
