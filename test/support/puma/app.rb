# frozen_string_literal: true

# What test/wire/fork_test.rb has Puma serve: /plain and /piped answer the GraphQL query that is posted to them, by a schema
# without Pipeloader and by one with it; /boot says which start of the server answers; /worker which process.
require "json"
require "pg"
require "securerandom"
require "pipeloader"

ActiveRecord::Base.establish_connection(JSON.parse(ENV.fetch("PIPELOADER_PUMA_DATABASE")))

class Audits < ActiveRecord::Base
  self.abstract_class = true
  establish_connection(JSON.parse(ENV.fetch("PIPELOADER_PUMA_SECOND")))
end

module PumaApp
  class Post < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, -> { order(:id) }, class_name: "PumaApp::Comment"
  end

  class Comment < ActiveRecord::Base
    self.table_name = "comments"
  end

  class Audit < Audits
    self.table_name = "audits"
  end

  class PostType < GraphQL::Schema::Object
    field :title, String
    field :comments, [String], null: false
    field :audits, [String], null: false
    field :body, String

    def comments = object.comments.map(&:body)
    def audits = Audit.where(post_id: object.id).order(:id).pluck(:note)
    def body = object.body.to_s * 1000
  end

  class QueryType < GraphQL::Schema::Object
    field :post, PostType do
      argument :id, ID
    end
    field :posts, [PostType], null: false
    field :locked, String do
      argument :key, Int
    end
    field :failing, String

    def post(id:) = Post.find_by(id: id)
    def posts = Post.order(:id)
    def locked(key:) = Post.with_connection { |connection| connection.select_value("SELECT 'locked' FROM pg_advisory_xact_lock(#{key})") }

    def failing
      Post.where("likes / 0 = 1").first
    rescue ActiveRecord::StatementInvalid => e
      raise GraphQL::ExecutionError, e.message
    end
  end

  class Plain < GraphQL::Schema
    query(QueryType)
  end

  class Piped < GraphQL::Schema
    query(QueryType)
    use Pipeloader, breaker: false
  end

  BOOT = SecureRandom.hex

  # A connection that has been used for bursts, and stays leased, when the workers are forked.
  Post.lease_connection
  2.times { Piped.execute("{ a: post(id: 1) { title comments audits } b: post(id: 2) { title } }") }

  def self.call(env)
    text = case env["PATH_INFO"]
           when "/boot" then BOOT
           when "/worker" then Process.pid.to_s
           when "/plain", "/piped"
             schema = env["PATH_INFO"] == "/plain" ? Plain : Piped
             JSON.generate(schema.execute(env["rack.input"].read).to_h)
           end
    [200, { "content-type" => "application/json" }, [text]]
  ensure
    # As Rails' executor does at the end of a request.
    ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
  end
end
