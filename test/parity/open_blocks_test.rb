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
end
