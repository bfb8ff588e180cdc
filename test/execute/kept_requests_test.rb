# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/plan_types"

# A response over, nothing leads to its request: whatever its fields have done, and whether or not its text came before.
class KeptRequestsTest < PlanTest
  Request = Class.new

  # Keeps what it has loaded.
  class Page < GraphQL::Pagination::Connection
    def nodes = @nodes ||= items.limit(2).to_a
    def has_next_page = nodes.size == 2
    def has_previous_page = false
    def cursor_for(item) = item.id.to_s
  end

  class PostType < Schemas::Base
    graphql_name "KeptPost"
    field :title, String
    field :refused, String
    field :missing, String, null: false
    field :loaded, String
    field :asked, String
    field :other, String
    field :comments, ["PlanTypes::Comment"]
    def refused = raise(GraphQL::ExecutionError, "#{object.id} is refused")
    def missing = object.title.size > 3 ? nil : object.title
    def loaded = dataload_record(User, object.author_id)&.name
    def asked = "#{context[:request].class} #{object.comments.to_a.size}"
    def other = User.find(object.author_id + context[:more]).name
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :posts, [PostType]
    field :page, PostType.connection_type
    field(:post, PostType) { argument :id, GraphQL::Types::ID }
    def posts = Post.order(:id).limit(3)
    def page = Page.new(Post.order(:id))
    def post(id:) = Post.find(id)
  end

  class Mutation < Schemas::Base
    graphql_name "Mutation"
    field :touch, PostType
    def touch = Post.order(:id).first.tap { |post| post.update!(body: post.body) }
  end

  DOCUMENTS = {
    plain: "{ posts { title comments { body } } }", refused: "{ posts { title refused comments { body } } }", nulls: "{ posts { title missing } }",
    sources: "{ posts { loaded title } }", opaque: "{ posts { asked other } }", connection: "{ page { nodes { title asked } edges { cursor } pageInfo { hasNextPage } } }",
    raising: "{ post(id: 99999) { title } }", mutation: "mutation { touch { title comments { body } } }", invalid: "{ nope }"
  }.freeze

  DOCUMENTS.each do |name, text|
    define_method(:"test_#{name}") do
      schema = Schemas.make(query: Query, mutation: Mutation) { orphan_types(PlanTypes::User, PlanTypes::Post) }.last
      20.times do |number|
        [text, text.sub("{", "{ a#{number}: __typename ")].each do |one|
          outcome { schema.execute(one, context: { request: Request.new, more: number % 2 }).to_h }
        end
      end
      2.times { GC.start }
      assert_operator ObjectSpace.each_object(Request).count, :<=, 6 # what the stack still holds
    end
  end
end
