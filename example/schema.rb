# frozen_string_literal: true

require "active_record"
require "graphql"
require "json"
require "graphql/schema" # before GraphQL::Schema::Object is touched: the other way round fails in graphql 2.5 and later

# Two ordinary GraphQL APIs over ordinary models, for the scripts in this folder. Nothing here knows about Pipeloader.
#
#   ActiveRecord::Base.establish_connection(PrivateCluster.connection_hash)
#   Example.seed(ActiveRecord::Base.lease_connection)
#   Example.build_schema(Pipeloader).execute(Example::NARROW)
#
# The data is made so that plain resolvers cost what they cost in the description of the original: NARROW 290 round trips
# for 25 posts and 594 for 50, WIDE 164.
module Example
  NARROW = <<~GRAPHQL
    query Narrow($limit: Int = 25) {
      posts(limit: $limit) { title author { name } comments { body commenter { name } } }
    }
  GRAPHQL

  WIDE = <<~GRAPHQL
    query Wide($limit: Int = 12) {
      issues(limit: $limit) {
        title
        assignee { name team { name } }
        creator { name }
        project { name lead { name } team { name } }
        parent { title }
        comments { body author { name } }
      }
    }
  GRAPHQL

  # ActiveRecord asks the module. Names that nobody else has: the tables are dropped and made anew.
  def self.table_name_prefix = "example_"

  class Team < ActiveRecord::Base
  end

  class User < ActiveRecord::Base
    belongs_to :team
  end

  class Author < ActiveRecord::Base
    has_many :posts
  end

  class Post < ActiveRecord::Base
    belongs_to :author
    has_many :comments, -> { order(:id) }
  end

  class Comment < ActiveRecord::Base
    belongs_to :post
    belongs_to :commenter, class_name: "Example::User"
  end

  class Project < ActiveRecord::Base
    belongs_to :team
    belongs_to :lead, class_name: "Example::User"
  end

  class Issue < ActiveRecord::Base
    belongs_to :assignee, class_name: "Example::User", optional: true
    belongs_to :creator, class_name: "Example::User"
    belongs_to :project
    belongs_to :parent, class_name: "Example::Issue", optional: true
    has_many :comments, -> { order(:id) }, class_name: "Example::IssueComment"
  end

  class IssueComment < ActiveRecord::Base
    belongs_to :issue
    belongs_to :author, class_name: "Example::User"
  end

  # The GraphQL side. Types may be shared by any number of schemas.
  module Types
    class Team < GraphQL::Schema::Object
      field :name, String, null: false
    end

    class User < GraphQL::Schema::Object
      field :name, String, null: false
      field :team, Team, null: false
    end

    class Author < GraphQL::Schema::Object
      field :name, String, null: false
    end

    class Comment < GraphQL::Schema::Object
      field :body, String, null: false
      field :commenter, User, null: false
    end

    class Post < GraphQL::Schema::Object
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, [Comment], null: false
    end

    class Project < GraphQL::Schema::Object
      field :name, String, null: false
      field :team, Team, null: false
      field :lead, User, null: false
    end

    class IssueComment < GraphQL::Schema::Object
      field :body, String, null: false
      field :author, User, null: false
    end

    class Issue < GraphQL::Schema::Object
      field :title, String, null: false
      field :assignee, User
      field :creator, User, null: false
      field :project, Project, null: false
      field :parent, Issue
      field :comments, [IssueComment], null: false
    end

    class Query < GraphQL::Schema::Object
      field :posts, [Post], null: false do
        argument :limit, Integer, required: true
      end
      field :issues, [Issue], null: false do
        argument :limit, Integer, required: true
      end

      def posts(limit:) = Example::Post.order(:id).limit(limit)
      def issues(limit:) = Example::Issue.order(:id).limit(limit)
    end
  end

  # A new schema class with these plugins, e.g. build_schema(Pipeloader) or build_schema([Pipeloader, {fiber_limit: 100}]).
  def self.build_schema(*plugins, query: Types::Query)
    Class.new(GraphQL::Schema) do
      self.query(query)
      plugins.each { |plugin, options| use(plugin, **options.to_h) }
    end
  end

  # Makes the tables and fills them, each time with the same rows.
  def self.seed(connection) = Seed.new(connection).run

  class Seed
    TABLES = {
      teams: [],
      users: %i[team],
      authors: [],
      posts: %i[author],
      comments: %i[post commenter],
      projects: %i[team lead],
      issues: %i[assignee creator project parent],
      issue_comments: %i[issue author],
    }.freeze
    TEXT = { posts: :title, comments: :body, issues: :title, issue_comments: :body }.freeze # :name elsewhere
    WORDS = %w[amber basalt cedar delta ember fjord garnet heron iris juniper kelp lichen meadow nectar onyx pine].freeze

    # How many comments the first so many posts and issues have together: what makes the number of round trips.
    POST_COMMENTS = { 25 => 239, 50 => 493, 200 => 2_000 }.freeze
    ISSUE_COMMENTS = { 12 => 75, 60 => 300 }.freeze

    def initialize(connection)
      @connection = connection
      @random = Random.new(42)
    end

    def run
      @connection.transaction do
        make_tables
        insert(:teams, 12) { {} }
        insert(:users, 500) { { team_id: any(12) } }
        insert(:authors, 100) { {} }
        insert(:posts, 200) { { author_id: any(100) } }
        insert_for_each(:comments, POST_COMMENTS) { |post| { post_id: post, commenter_id: any(500) } }
        insert(:projects, 20) { { team_id: any(12), lead_id: any(500) } }
        insert(:issues, 60) { |issue| issue_keys(issue) }
        insert_for_each(:issue_comments, ISSUE_COMMENTS) { |issue| { issue_id: issue, author_id: any(500) } }
      end
      TABLES.each_key { |table| @connection.execute("ANALYZE #{name(table)}") }
    end

    private

    def make_tables
      TABLES.each_key { |table| @connection.drop_table(name(table), if_exists: true) }
      TABLES.each do |table, references|
        @connection.create_table(name(table)) do |t|
          t.string TEXT.fetch(table, :name), null: false
          references.each { |reference| t.references reference }
        end
      end
    end

    # One issue in six has no assignee, one in three no parent.
    def issue_keys(issue)
      { assignee_id: (any(500) if issue % 6 != 0), creator_id: any(500), project_id: any(20),
        parent_id: (any(issue - 1) if issue % 3 != 1) }
    end

    def insert(table, count) = insert_rows(table, (1..count).map { |id| { **text(table, id), **yield(id) } })

    def insert_for_each(table, totals)
      id = 0
      insert_rows(table, deal(totals).flat_map.with_index(1) do |count, owner|
        Array.new(count) { { **text(table, id += 1), **yield(owner) } }
      end)
    end

    # Totals of the first so many owners, as {25 => 239, 50 => 493}, to a number for each owner.
    def deal(totals)
      owners = sum = 0
      totals.flat_map do |upto, total|
        counts = Array.new(upto - owners, 1)
        (total - sum - counts.size).times { counts[@random.rand(counts.size)] += 1 }
        owners, sum = upto, total
        counts
      end
    end

    # The tables are new, so that the rows' ids are 1, 2, 3 …
    def insert_rows(table, rows)
      values = rows.map { |row| "(#{row.values.map { |value| @connection.quote(value) }.join(", ")})" }
      @connection.execute("INSERT INTO #{name(table)} (#{rows.first.keys.join(", ")}) VALUES #{values.join(", ")}")
    end

    def text(table, id)
      column = TEXT.fetch(table, :name)
      words = Array.new(column == :body ? 12 : 2) { WORDS.sample(random: @random) }
      { column => "#{words.join(" ").capitalize} #{id}" }
    end

    def any(count) = @random.rand(1..count)

    def name(table) = "#{Example.table_name_prefix}#{table}"
  end
end
