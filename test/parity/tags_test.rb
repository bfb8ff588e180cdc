# frozen_string_literal: true

require_relative "../support/pages"
require_relative "../support/query_log_tags"

# Under whose name a read is logged: as query log tags say it, and to those who ask GraphQL::Current when they hear of it.
class TagsTest < PlanTest
  Story = PageTest::Story
  Remark = PageTest::Remark

  class ProfileType < Schemas::Base
    graphql_name "TaggedProfile"
    field :bio, String
  end

  class UserType < Schemas::Base
    graphql_name "TaggedUser"
    field :name, String
    field :profile, ProfileType
    field :posts, ["TagsTest::PostType"], null: false
  end

  class LoudUserType < Schemas::Base
    graphql_name "LoudUser"
    field :loud, String
    field :profile, ProfileType
    def loud = object.name.dup.upcase
  end

  class RemarkType < Schemas::Base
    graphql_name "TaggedRemark"
    field :id, ID
    field :body, String
    field :commenter, UserType
  end

  class LoudRemarkType < Schemas::Base
    graphql_name "LoudRemark"
    field :loud, String
    field :commenter, UserType
    field :loud_commenter, LoudUserType, method: :commenter
    def loud = object.body.dup.upcase
  end

  class PostType < Schemas::Base
    graphql_name "TaggedPost"
    field :title, String
  end

  class TagType < Schemas::Base
    graphql_name "TaggedTag"
    field :name, String
  end

  class StoryType < Schemas::Base
    graphql_name "TaggedStory"
    field :id, ID
    field :title, String
    field :author, UserType
    field :same_author, UserType, method: :author
    field :asked_author, UserType
    field :comments, [RemarkType], null: false
    field :remarks, RemarkType.connection_type, null: false, method: :comments
    field :tags, [TagType], null: false
    field :top, [RemarkType], null: false do
      argument :limit, Integer, required: false
    end
    field :newest, RemarkType
    field :comments_count, Integer
    field :score_of, Integer do
      argument :least, Integer
    end
    field :commented, Boolean
    def asked_author = object.author
    def top(limit: 2) = object.comments.reorder(score: :desc, id: :asc).limit(limit)
    def newest = object.comments.reorder(id: :desc).first
    def comments_count = object.comments.count
    def score_of(least:) = object.comments.where(score: least..).sum(:score)
    def commented = object.comments.exists?
  end

  class LoudStoryType < StoryType
    graphql_name "LoudTaggedStory"
    field :loud, String
    field :loud_author, LoudUserType, method: :author
    field :asked_loud_author, LoudUserType
    field :loud_comments, [LoudRemarkType], null: false, method: :comments
    field :loud_newest, LoudRemarkType
    field :likers, Integer
    field :opaque_author, UserType
    field :opaque_comments, [RemarkType], null: false
    field :hand_made, String
    field :sourced, PostType
    def loud = object.title.dup.upcase
    def asked_loud_author = object.author

    def loud_newest = object.comments.reorder(id: :desc).first
    def likers = object.comments.where(score: context[:least]..).count
    def opaque_author = object.then(&:author)
    def opaque_comments = object.comments.where(score: context[:least]..)
    def hand_made = "#{context[:least]}#{object.author&.name}"
    def sourced = dataload_record(::Post, object.id)
  end

  class QueryType < Schemas::Base
    graphql_name "Query"
    field :stories, [StoryType], null: false
    field :story, StoryType
    field :loud, [LoudStoryType], null: false
    field :loud_story, LoudStoryType
    field :array, [StoryType], null: false
    field :pages, StoryType.connection_type
    field :loud_pages, LoudStoryType.connection_type
    field :count, Integer
    def stories = Story.order(:id)
    def story = Story.find(3)
    def loud = Story.order(:title, :id)
    def loud_story = Story.find(3)
    def array = Story.order(:id).to_a
    def pages = Story.order(:id)
    def loud_pages = Story.order(:id)
    def count = Story.where(likes: 3..).count
  end

  QUERIES = {
    "list" => "{ stories { id title } }",
    "association of a list" => "{ stories { id author { name } } }",
    "associations below one another" => "{ stories { author { name profile { bio } posts { title } } comments { body commenter { profile { bio } } } tags { name } } }",
    "of one record" => "{ story { author { name profile { bio } } comments { body commenter { name } } } }",
    "of an Array" => "{ array { author { name profile { bio } } comments { body } } }",
    "chains" => "{ stories { top { body commenter { name } } newest { body commenter { name } } few: top(limit: 1) { id } } }",
    "chains of one record" => "{ story { top { body commenter { name } } newest { body commenter { name } } } }",
    "methods that only ask" => "{ stories { askedAuthor { name profile { bio } } } }",
    "methods that only ask, of preloads" => "{ loud { loud askedLoudAuthor { loud } } }",
    "calculations" => "{ stories { commentsCount commented scoreOf(least: 3) other: scoreOf(least: 5) } }",
    "calculations of one record" => "{ story { commentsCount commented scoreOf(least: 3) } }",
    "connection" => "{ pages(first: 3) { edges { cursor node { id author { name } comments { body } } } } }",
    "connection's nodes" => "{ pages(first: 3) { nodes { id author { name } } } }",
    "page info behind" => "{ pages(first: 3) { nodes { id } pageInfo { endCursor } } }",
    "connections of a list" => "{ stories { remarks(first: 2) { edges { node { body commenter { name } } } } } }",
    "connections of one record" => "{ story { remarks(first: 2) { nodes { body commenter { name } } } } }",
    "connections of a connection" => "{ pages(first: 3) { edges { node { remarks(first: 2) { nodes { body commenter { name } } } } } } }",
    "preloads" => "{ loud { loud loudAuthor { loud profile { bio } } loudComments { loud loudCommenter { loud } } } }",
    "preloads of one record" => "{ loudStory { loud loudAuthor { loud profile { bio } } loudComments { loud loudCommenter { loud } } } }",
    "plain below code" => "{ loud { loud author { name profile { bio } } comments { body commenter { name } } newest { body } commentsCount top { id } } }",
    "pages below code" => "{ loud { loud remarks(first: 2) { edges { node { body commenter { name } } } } } }",
    "code" => "{ loud { likers handMade opaqueAuthor { name profile { bio } } opaqueComments { body commenter { name } } loudNewest { loud } } }",
    "a source" => "{ loud { loud sourced { title } author { name } } }",
    "all at once" => "{ count stories { author { name } newest { body } } loud { loud author { name profile { bio } } likers loudComments { loud commenter { name } } sourced { title } } " \
                     "loudPages(first: 2) { nodes { loud commentsCount author { name } } } }",
    "named" => "query Named { stories { author { name } } loud { loud author { name } } }"
  }.freeze

  # The line of a resolver method that waits for a read. (Those of tests are behind it.)
  LINE = __LINE__
  SOURCE = lambda do
    frame = caller_locations.find { |it| it.path == __FILE__ && it.lineno < LINE }
    "#{frame.base_label}, line #{frame.lineno}" if frame
  end

  TAGS = { current_graphql_operation: -> { GraphQL::Current.operation_name }, current_graphql_field: -> { GraphQL::Current.field&.path },
           current_dataloader_source: -> { GraphQL::Current.dataloader_source_class },
           source_location: SOURCE }.freeze

  include QueryLogTags

  def log_tags = [TAGS]

  # Without forecasts: what these read has no resolver method among its callers, see below.
  def pair(pipeloader: {}, dataloader: GraphQL::Dataloader, &block)
    make(query: QueryType, pipeloader: { forecast: false, **pipeloader }) do
      use(dataloader) if dataloader
      class_eval(&block) if block
    end
  end

  # @return [Array<Array(String, String, String)>] table, tags, and what a subscriber finds when it is told
  def told(schema, *queries)
    told, sent = [], []
    on_sql = lambda do |*, payload|
      next if payload[:cached] || %w[SCHEMA TRANSACTION].include?(payload[:name])

      told << [table(payload[:sql]), tags(payload[:sql]), GraphQL::Current.field&.path, SOURCE.call].map(&:to_s)
    end
    on_burst = ->(*, payload) { sent.concat(payload[:reads].map(&:sql)) }
    ActiveSupport::Notifications.subscribed(on_sql, "sql.active_record") do
      ActiveSupport::Notifications.subscribed(on_burst, "burst.pipeloader") do
        schema.multiplex(queries.map { |query| { query: query, context: { least: 3 } } })
      end
    end
    assert_nil GraphQL::Current.field
    assert_equal [], sent.map { |sql| [table(sql), tags(sql)] } - told.map { |it| it.first(2) }, "as it was sent"
    # While a source loads, whoever reads takes along what others ask for: below its own resolver method.
    told.each { |it| it[1] = it[1].sub(/,?source_location:.*/, ""); it.pop } if queries.any? { |query| query.include?("sourced") }
    told.uniq.sort
  end

  def table(sql) = sql[/FROM "(\w+)"/, 1].to_s
  def tags(sql) = sql[%r{/\*(.*)\*/}, 1].to_s

  def assert_told(query, schemas: pair)
    plain = told(schemas.first, query)
    3.times { assert_equal_lists plain, told(schemas.last, query), query }
  end

  def assert_equal_lists(expected, actual, message)
    assert_equal [], actual - expected, "#{message}: besides"
    assert_equal [], expected - actual, "#{message}: missing"
  end

  QUERIES.each do |name, query|
    name = name.gsub(/\W/, "_")
    define_method(:"test_#{name}") { assert_told(query) }
    define_method(:"test_#{name}_exact") { assert_told(query, schemas: pair(pipeloader: { field_exact: true })) }
    # (Without a dataloader graphql-ruby goes depth first, but to the same fields.)
    define_method(:"test_#{name}_without_dataloader") { assert_told(query, schemas: pair(dataloader: nil)) } unless query.include?("sourced")
  end

  def test_forecasts_name_the_field_that_asks
    schemas = pair(pipeloader: { forecast: true })
    ["code", "all at once"].each do |name|
      plain, *piped = [schemas.first, *[schemas.last] * 4].map { |schema| fields_of_statements(schema, QUERIES.fetch(name)) }
      piped.each { |fields| assert_equal plain, fields, name }
    end
  end

  # @return [Array<String>] as the tags of what was sent name them
  def fields_of_statements(schema, query)
    sent = []
    on_sql = ->(*, payload) { sent << payload[:sql] unless payload[:cached] || %w[SCHEMA TRANSACTION].include?(payload[:name]) }
    ActiveSupport::Notifications.subscribed(on_sql, "sql.active_record") { schema.execute(query, context: { least: 3 }) }
    sent.map { |sql| [table(sql), tags(sql)[/current_graphql_field:([\w.]+)/, 1]] }.uniq.sort_by(&:to_s)
  end

  def test_in_a_transaction
    QUERIES.each_value { |query| Post.transaction { assert_told(query) } }
  end

  def test_in_the_query_cache
    QUERIES.each_value do |query|
      assert_told(query, schemas: pair.each { |schema| schema.define_singleton_method(:multiplex) { |*given, **options| ActiveRecord::Base.cache { super(*given, **options) } } })
    end
  end

  def test_without_plans
    QUERIES.each_value { |query| assert_told(query, schemas: pair(pipeloader: { compile: false })) }
  end

  # (Of several queries that one fiber has been at, graphql-ruby names the first one's field, whichever is read for: not where plans read.)
  def test_several_queries
    QUERIES.values_at("associations below one another", "chains", "connections of a list", "connections of one record").permutation(2) do |queries|
      names = queries.flat_map { |query| told(pair.first, query) }.map { |it| it[2] }.grep_v(/\AQuery/)
      assert_equal [], names - told(pair.last, *queries).map { |it| it[2] }, queries
    end
  end

  # Fields that share a statement: the first that asked.
  def test_the_first_of_several
    query = "{ stories { again: sameAuthor { name } author { name } } }"
    schema = pair.last
    3.times { assert_equal [["posts", "Query.stories"], ["users", "TaggedStory.sameAuthor"]], told(schema, query).map { |it| it.values_at(0, 2) } }
  end
end
