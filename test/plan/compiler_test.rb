# frozen_string_literal: true

require_relative "../support/plans"

# Plans as Ruby code.
class CompilerTest < PlanTest
  class Comment < Schemas::Base
    graphql_name "BuiltComment"
    field :id, ID, null: false
    field :body, String
    field :score, Integer
  end

  class Post < Schemas::Base
    graphql_name "BuiltPost"
    field :id, ID, null: false
    field :title, String, null: false
    field :comments, [Comment], null: false
    field :page, Comment.connection_type, null: false, method: :comments
  end

  def pair = schemas({ posts: [[Post], -> { ::Post.order(:id) }] })

  # How many were made by each of four executions.
  def made(query, schemas = pair)
    GC.disable
    4.times.map do
      before = ObjectSpace.each_object(Pipeloader::Compiler).count
      assert_same_answer(query, schemas)
      ObjectSpace.each_object(Pipeloader::Compiler).count - before
    end
  ensure
    GC.enable
  end

  def test_the_second_time = assert_equal([0, 1, 0, 0], made("{ posts { title comments { body score } } }"))
  def test_pages_below = assert_equal([0, 2, 0, 0], made("{ posts { title page { nodes { body } } } }"))

  def test_not_too_much
    query = "{ posts { id #{Array.new(Pipeloader::Compiler::MOST) { |n| "a#{n}: title" }.join(" ")} } }"
    assert_equal [0, 0, 0, 0], made(query)
  end

  # Names that mean something in Ruby, also the names of its variables.
  def test_names
    names = %w[v0 r b0 h0 x rows row branch context values nil self end lambda raise UTF_8 __typename__ _ String BEGIN]
    assert_equal [0, 1, 0, 0], made("{ posts { #{names.map { |name| "#{name}: title" }.join(" ")} comments { #{names.map { |name| "#{name}: body" }.join(" ")} } } }")
  end
end
