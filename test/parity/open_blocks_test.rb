# frozen_string_literal: true

require_relative "../support/test_helper"

# Blocks that are open while others' reads are sent: `scoping`, `Current.set`.
class OpenBlocksTest < PipeloaderTest
  class Now < ActiveSupport::CurrentAttributes
    attribute :user
  end

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

  # An association that a field has loaded stays as that field saw it, in every block that is opened later.
  class Seen < Schemas::Base
    graphql_name "Seen"
    field :author, Schemas::User
    field :comments, [Schemas::Comment]
    field :own_comments, [Schemas::Comment]
    field :opaque_author, "OpenBlocksTest::Opaque", method: :author
    field :opaque_comments, ["OpenBlocksTest::Opaque"], method: :comments
    field :scoped_author, String
    field :scoped_comments, String
    field :reloaded_comments, String

    def own_comments = object.comments.itself

    def scoped_author = ::User.where(id: 0).scoping { ::User.unscoped { object.author&.name } }
    def reloaded_comments = Now.set(user: 7) { object.comments.reload.map(&:body).join(",") }
    def scoped_comments = Now.set(user: 7) { object.comments.map(&:body).join(",") + object.comments.size.to_s }
  end

  class Opaque < Schemas::Base
    field :id, ID
    field :read, Integer
    def read = ::Post.where(id: object.id).count
  end

  class SeenQuery < Schemas::Base
    graphql_name "Query"
    field :posts, [Seen]
    def posts = Scoped.order(:id).limit(3)
  end

  class Scoped < ::Post
    has_many :comments, -> { Now.user ? where(id: 0) : order(:id) }, class_name: "Comment", foreign_key: :post_id,
                                                                     inverse_of: false
    belongs_to :author, -> { Now.user ? where(id: 0) : all }, class_name: "User", inverse_of: false, optional: true
  end

  FIELDS = ["author { name }", "comments { body }", "ownComments { body }", "opaqueAuthor { read }", "opaqueComments { read }",
            "scopedAuthor", "scopedComments"].freeze

  def seen = @seen ||= [false, true].map { |piped| Class.new(GraphQL::Schema) { query(SeenQuery); use(Pipeloader) if piped } }

  def test_what_is_reloaded_in_a_block_is_what_the_block_sees
    ["comments { body }", "ownComments { body }"].each do |field|
      [[field, "reloadedComments", "scopedComments"], ["scopedComments", field, "reloadedComments"]].each do |fields|
        assert_same_answer("{ posts { #{fields.each_with_index.map { |it, index| "f#{index}: #{it}" }.join(" ")} } }", seen)
      end
    end
  end

  def test_what_a_field_has_loaded_stays_so_in_blocks
    FIELDS.permutation(3).each do |fields|
      text = fields.each_with_index.map { |field, index| "f#{index}: #{field}" }.join(" ")
      assert_same_answer("{ posts { #{text} } }", seen)
    end
  end
end
