# frozen_string_literal: true

require_relative "../support/test_helper"

# Blocks that are open while others' reads are sent: `scoping`, `Current.set`.
class OpenBlocksTest < PipeloaderTest
  class Post < ::Post
    # Each asks the server for something before it says what it wants.
    has_many :asked, -> { asking.order(:id) }, class_name: "Comment", foreign_key: :post_id, inverse_of: false
    has_many :asked_again, -> { asking.order(id: :desc) }, class_name: "Comment", foreign_key: :post_id, inverse_of: false

    def self.asking = connection.execute("SELECT 1") && all
  end

  class Holder < Schemas::Base
    field :asked, [Schemas::Comment]
    field :asked_again, [Schemas::Comment]
    field :scoped, String

    def scoped
      ::Comment.where(id: 0).scoping { ::Comment.connection.execute("SELECT 1") && ::Comment.count.to_s }
    end
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :posts, [Holder]
    def posts = Post.order(:id).limit(3)
  end

  ::Comment.define_singleton_method(:asking) { connection.execute("SELECT 1") && all }

  def test_a_block_is_open_while_what_was_asked_for_before_is_read
    schemas = [false, true].map { |piped| Class.new(GraphQL::Schema) { query(Query); use(Pipeloader) if piped } }
    assert_same_answer("{ posts { asked { body } askedAgain { body } scoped } }", schemas)
    assert_same_answer("{ posts { asked { body } askedAgain { body } a: scoped b: scoped asked { id } } }", schemas)
  end

  class Current < ActiveSupport::CurrentAttributes
    attribute :least
  end

  class Scored < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { where("score >= ?", Current.least || 0) }
  end

  class Story < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, -> { order(:id) }, class_name: "OpenBlocksTest::Scored", foreign_key: :post_id, inverse_of: false
    has_one :last_comment, -> { order(id: :desc) }, class_name: "OpenBlocksTest::Scored", foreign_key: :post_id, inverse_of: false
  end

  class ScoredType < Schemas::Base
    graphql_name "Scored"
    field :id, ID
    field :loud, String
    def loud = "#{context.dig(:nothing)}#{object.score}!"
  end

  class StoryType < Schemas::Base
    graphql_name "Story"
    field :comments, [ScoredType]
    field :last_comment, ScoredType
    field :many, String
    field :one, String
    field :many_later, String
    def many = Current.set(least: 4) { object.comments.map(&:id).join(" ") }
    def one = Current.set(least: 4) { object.last_comment&.id.to_s }
    def many_later = ::User.count && many
  end

  class Stories < Schemas::Base
    graphql_name "Query"
    field :stories, [StoryType]
    field(:story, StoryType) { argument :id, Integer }
    def stories = Story.order(:id).limit(4)
    def story(id:) = Story.find(id)
  end

  STORIES = [false, true].map { |piped| Class.new(GraphQL::Schema) { query(Stories); use(Pipeloader) if piped } }

  # What a block reads doesn't become an earlier field's; it finds that field's records, if records were made for it.
  ["comments { loud } many", "comments { id loud } many", "comments { loud } manyLater", "comments { loud } a: many b: many comments { id }",
   "lastComment { loud } one", "lastComment { loud } a: one b: one", "comments { loud } lastComment { loud } one many",
   "many comments { loud }", "one lastComment { id }"].each do |below|
    define_method("test_association_of_an_earlier_field_#{below.scan(/\w+/).join("_")}") do
      ["{ stories { #{below} } }", "{ story(id: 1) { #{below} } }", "{ a: story(id: 1) { #{below} } b: story(id: 4) { #{below} } }"].each do |query|
        3.times { assert_same_answer(query, STORIES) }
      end
    end
  end

  # There it reads what it sees. See docs/internals.md.
  ["comments { id } many", "lastComment { id } one", "comments { id } manyLater"].each do |below|
    define_method("test_association_of_a_plain_field_#{below.scan(/\w+/).join("_")}") do
      plain, piped = STORIES.map { |schema| schema.execute("{ stories { #{below} } }").to_h.dig("data", "stories") }
      field = plain.first.keys.first
      assert_equal plain.map { |it| it[field] }, piped.map { |it| it[field] }
    end
  end
end
