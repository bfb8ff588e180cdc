# frozen_string_literal: true

# What bin/web-screenshots shows: a small application whose queries are executed again and again, and the page, on Puma.
require "json"
require "tmpdir"
require_relative "private_cluster"
require "pipeloader"
require "pipeloader/web"
require "puma"
require "puma/server"

module WebApp
  class Author < ActiveRecord::Base
    self.table_name = "authors"
    has_many :posts, -> { order(:id) }, class_name: "WebApp::Post"
  end

  class Post < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "WebApp::Author"
    has_many :comments, -> { order(:id) }, class_name: "WebApp::Comment"
  end

  class Comment < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :post, class_name: "WebApp::Post"
    belongs_to :author, class_name: "WebApp::Author"
  end

  class AuthorType < GraphQL::Schema::Object
    graphql_name "Author"
    field :name, String, null: false
    field :posts, ["WebApp::PostType"], null: false
    field :badge, String, null: false

    def badge = Comment.where(author_id: object.id).count > 20 ? "regular" : "guest"
  end

  class CommentType < GraphQL::Schema::Object
    graphql_name "Comment"
    field :body, String, null: false
    field :author, AuthorType, null: false
  end

  class PostType < GraphQL::Schema::Object
    graphql_name "Post"
    field :title, String, null: false
    field :author, AuthorType, null: false
    field :comments, [CommentType], null: false
    field :excerpt, String, null: false

    def excerpt = ActiveSupport::Inflector.titleize(object.title).first(20)
  end

  class QueryType < GraphQL::Schema::Object
    graphql_name "Query"
    field :posts, [PostType], null: false
    field :authors, [AuthorType], null: false

    def posts = Post.order(:id).limit(25)
    def authors = Author.order(:id)
  end

  class Schema < GraphQL::Schema
    def self.name = "BlogSchema"
    def self.to_s = name
    query(QueryType)
    use Pipeloader
  end

  QUERIES = {
    "query Feed { posts { title excerpt author { name badge } comments { body author { name badge } } } }" => 24,
    "query Titles { posts { title author { name } } }" => 40,
    "query Authors { authors { name badge posts { title comments { body } } } }" => 12,
    "query Threads { posts { title comments { body author { name } } } }" => 16,
    "{ authors { name } }" => 8,
    # What looks like markup is text.
    "query Odd { posts { title } } # <script>document.title = 'broken'</script>" => 3
  }.freeze

  # As the page keeps it: before the latest deploy, feeds took a round trip more.
  HISTORY = {
    "8c04d3e7a1f2" => {
      "began" => 1_764_342_000.0,
      "operations" => {
        "BlogSchema Feed" => { "executions" => 912, "round_trips" => 4560, "statements" => 9302, "compiled" => 6, "fields" => 10 }
      }
    }
  }.freeze

  class << self
    # @yieldparam address [String] of the page
    def serve(&) = Dir.mktmpdir { |folder| served(folder, &) }

    def call(env)
      mounted = env["PATH_INFO"].delete_prefix("/pipeloader")
      Pipeloader::Web.call({ **env, "SCRIPT_NAME" => "/pipeloader", "PATH_INFO" => mounted })
    ensure
      ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
    end

    private

    def served(folder)
      prepare("#{folder}/history.json")
      executed = Thread.new { loop { execute(1) && sleep(0.5) } }
      server = Puma::Server.new(method(:call), nil, min_threads: 2, max_threads: 4, log_writer: Puma::LogWriter.null)
      port = server.add_tcp_listener("127.0.0.1", 0).addr[1]
      server.run
      yield "http://127.0.0.1:#{port}/pipeloader"
    ensure
      executed&.kill
      server&.stop(true)
    end

    def prepare(history)
      ActiveRecord::Base.establish_connection(PrivateCluster.connection_hash)
      ActiveRecord::Migration.suppress_messages { create_tables }
      Author.insert_all!((1..12).map { |id| { name: "Author #{id}" } })
      Post.insert_all!((1..40).map { |id| { title: "a post on topic #{id}", author_id: (id % 12) + 1 } })
      Comment.insert_all!((1..300).map { |id| { body: "Comment #{id}", post_id: (id % 40) + 1, author_id: (id % 12) + 1 } })
      Pipeloader::Web.authorize = :host
      Pipeloader::Web.explain = true
      Pipeloader.revision = "b7719f05c2de"
      File.write(history, JSON.generate(HISTORY))
      Pipeloader::Web.history = history
      execute
    end

    def create_tables
      ActiveRecord::Schema.define do
        create_table(:authors, force: true) { |t| t.string :name }
        create_table(:posts, force: true) { |t| [t.string(:title), t.integer(:author_id, index: true)] }
        create_table(:comments, force: true) { |t| [t.string(:body), t.integer(:post_id, index: true), t.integer(:author_id, index: true)] }
      end
    end

    def execute(times = nil) = QUERIES.each { |text, often| (times || often).times { Schema.execute(text) } }
  end
end
