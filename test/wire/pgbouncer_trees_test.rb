# frozen_string_literal: true

require_relative "pgbouncer_case"
require_relative "../support/plans"

# Trees in one trip through a PgBouncer in transaction mode: what one statement leaves, the next one finds.
class PgbouncerTreesTest < PgbouncerCase
  class Commenter < Gated
    self.table_name = "users"
  end

  class Comment < Gated
    self.table_name = "comments"
    belongs_to :commenter, class_name: "PgbouncerTreesTest::Commenter", optional: true
  end

  class Story < Gated
    self.table_name = "posts"
    has_many :comments, -> { order(:id) }, class_name: "PgbouncerTreesTest::Comment", foreign_key: :post_id
    belongs_to :author, class_name: "PgbouncerTreesTest::Commenter", optional: true
  end

  class UserType < Schemas::Base
    graphql_name "User"
    field :name, String
  end

  class CommentType < Schemas::Base
    graphql_name "Comment"
    field :body, String
    field :commenter, UserType
  end

  class StoryType < Schemas::Base
    graphql_name "Story"
    field :title, String
    field :author, UserType
    field :comments, [CommentType], null: false
  end

  SCHEMAS = PlanTest::Making.then { |making| Object.new.extend(making) }.schemas(
    { stories: [[StoryType], ->(context) { Story.where(id: context[:from]..).order(:id) }] }, pipeloader: { trips: :one }
  )
  QUERY = "{ stories { title author { name } comments { body commenter { name } } } }"

  def test_trees
    assert_trees
    assert_equal [[4]], Array.new(2) { statements }.uniq
  end

  def test_prepared_where_it_follows
    through(Bouncer.new(pool_size: SERVERS, max_prepared_statements: 100), prepared_statements: true) && assert_trees if Bouncer.follows_statements?
  end

  private

  def statements = WireCounter.events("burst.pipeloader") { execute(2) }.map { |it| it[:statements] }

  def execute(from, schema = SCHEMAS.last) = schema.execute(QUERY, context: { from: from }).to_h

  # More threads than the bouncer has servers, each with rows of its own.
  def assert_trees
    expected = (1..12).to_h { |from| [from, execute(from, SCHEMAS.first)] }
    threads = Array.new(4) do |number|
      Thread.new do
        Array.new(15) { |round| (number + round) % 12 + 1 }.reject { |from| execute(from) == expected[from] }
      ensure
        Gated.connection_pool.release_connection
      end
    end
    assert_equal [[]], threads.map(&:value).uniq
  end
end
