# frozen_string_literal: true

require_relative "plans"

# Relay connections at all places where one may be: of an association, below objects that have to exist, at the root.
class PageTest < PlanTest
  class Story < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id, class_name: "PageTest::Remark"
    has_many :bare, -> { order(:score, :id) }, foreign_key: :post_id, class_name: "PageTest::Remark"
    has_many :limited, -> { order(:id).limit(3) }, foreign_key: :post_id, class_name: "PageTest::Remark"
    has_many :taggings, foreign_key: :post_id
    has_many :tags, through: :taggings
    has_many :commenters, -> { order(:id) }, through: :comments, source: :commenter
  end

  class Writer < ActiveRecord::Base
    self.table_name = "users"
    has_many :stories, -> { order(:id) }, foreign_key: :author_id, class_name: "PageTest::Story"
  end

  class Remark < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :story, foreign_key: :post_id, class_name: "PageTest::Story", optional: true
    belongs_to :commenter, class_name: "User", optional: true
    scope :scored, ->(least = 3) { where("score >= ?", least) }
  end

  COMMENTER = Class.new(Schemas::Base) { graphql_name "Commenter"; field :name, String; field :posts, [Class.new(Schemas::Base) { graphql_name "Written"; field :title, String }] }
  Comment = Class.new(Schemas::Base) do
    graphql_name "Remark"
    field :id, GraphQL::Types::ID
    field :body, String
    field :score, Integer
    field :commenter, COMMENTER
  end

  ALL = "__typename edges { __typename at: cursor node { __typename id body commenter { name } } } " \
        "pageInfo { __typename hasNextPage hasPreviousPage startCursor endCursor }"
  NODES = "nodes { id } pageInfo { hasNextPage endCursor }"

  # @param options [Hash] of the field of an association, root_options: of that of the root, field_class: of both
  # @param root [Proc] what the root's resolver returns; it may take the context
  def make_schemas(comment = Comment, connection: comment.connection_type, root_options: {}, options: {}, root: -> { Remark.order(:id) }, pipeloader: {}, schema: proc {}, field_class: nil, &body)
    story = type("Story") do
      field_class(field_class) if field_class
      field :id, GraphQL::Types::ID
      field :comments, connection, **options
      class_exec(&body) if body
    end
    loud = type("LoudStory", story) { field :loud, String; def loud = object.title.dup.upcase }
    query = type("Query") do
      field_class(field_class) if field_class
      field :stories, [story], null: false
      field :story, story
      field :loud, [loud], null: false
      field :many, connection, connection: true, **root_options
      field :connected, story.connection_type, connection: true
      define_method(:stories) { Story.order(:id) }
      define_method(:story) { Story.find(3) }
      define_method(:loud) { Story.order(:id) }
      define_method(:many) { root.arity == 1 ? root.call(context) : root.call }
      define_method(:connected) { Story.order(:id) }
    end
    make(query: query, pipeloader: pipeloader, &schema)
  end

  # @return [Array<String>] queries that have the connection at each place
  def forms(given, below)
    it = "comments#{given} { #{below} }"
    ["{ stories { id #{it} } }", "{ story { #{it} } }", "{ loud { loud #{it} } }", "{ many#{given} { #{below} } }",
     "{ connected(first: 4) { nodes { id #{it} } pageInfo { hasNextPage } } }", "{ connected { edges { cursor node { #{it} } } } }"]
  end

  def cursor(number) = Base64.urlsafe_encode64(number.to_s, padding: false)

  # @return [Array<Class>] schemas of authors, with connections of stories and of these ones' comments
  def nested_schemas
    comment = type("Inner") { field :body, String }
    story = type("Nested") { field :title, String; field :comments, comment.connection_type, connection: true }
    author = type("Author") { field :name, String; field :stories, story.connection_type, connection: true }
    schemas({ authors: [[author], -> { Writer.order(:id) }] })
  end

  # The same answer, whoever gives it.
  def text_of_both(query, schemas = pair, **options)
    plain, piped = schemas.map { |schema| text_of(outcome { schema.execute(query, **options.transform_values { |it| it.is_a?(Proc) ? it.call : it.dup }).to_h }) }
    at = (0...plain.size).find { |index| plain[index] != piped[index] } || plain.size
    from = [at - 60, 0].max
    assert plain == piped, "#{query[0, 400]}\n      plain  …#{plain[from, 260]}\n      piped  …#{piped[from, 260]}"
    plain
  end
end
