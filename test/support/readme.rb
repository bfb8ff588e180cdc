# frozen_string_literal: true

# What README's first examples leave out: models, rows, the other types. README's own code is taken from its text.
module Readme
  TEXT = File.read(File.expand_path("../../README.md", __dir__))
  BLOCKS = TEXT.scan(/^```ruby\n(.*?)^```$/m).flatten.freeze
  QUERY = "{ posts(limit: 50) { title author { name } commentCount comments { body commenter { name } } } }"

  # Tables of their own beside whatever the database has.
  class Row < ActiveRecord::Base
    self.abstract_class = true
    def self.table_name = "readme_#{name.demodulize.tableize}"
  end

  class User < Row
  end

  class Comment < Row
    belongs_to :commenter, class_name: "Readme::User"
  end

  class Post < Row
    belongs_to :author, class_name: "Readme::User"
    has_many :comments, -> { order(:id) }, class_name: "Readme::Comment"
  end

  module Types
    class User < GraphQL::Schema::Object
      field :name, String, null: false
    end

    class Author < User
    end

    class Comment < GraphQL::Schema::Object
      field :body, String, null: false
      field :commenter, User, null: false
    end
  end

  class << self
    def create
      connection = Row.lease_connection
      connection.create_table(:readme_users, force: true) { |t| t.string :name }
      connection.create_table(:readme_posts, force: true) { |t| [t.string(:title), t.bigint(:author_id)] }
      connection.create_table(:readme_comments, force: true) { |t| [t.string(:body), t.bigint(:post_id), t.bigint(:commenter_id)] }
      User.insert_all!(Array.new(9) { |i| { name: "user #{i}" } })
      Post.insert_all!(Array.new(12) { |i| { title: "post #{i}", author_id: (i % 9) + 1 } })
      Comment.insert_all!(Array.new(30) { |i| { body: "comment #{i}", post_id: (i % 12) + 1, commenter_id: (i % 7) + 1 } })
    end

    def drop
      %i[readme_users readme_posts readme_comments].each { |name| Row.lease_connection.drop_table(name, if_exists: true) }
    end

    # @param with [Boolean] with README's `use Pipeloader`, or without that line
    # @return [Class] README's schema over README's post type
    def schema(with:)
      home = Module.new
      Readme.const_set(with ? :Piped : :Plain, home)
      home.const_set(:Types, types = Module.new)
      Types.constants.each { |name| types.const_set(name, Types.const_get(name)) }
      home.module_eval(block("class Types::Post"))
      schema = home.module_eval("#{block("class AppSchema").sub(/^ *use Pipeloader\n/) { |line| line if with }}\nAppSchema")
      schema.query(query(types::Post))
      schema
    end

    def block(start) = BLOCKS.find { |code| code.start_with?(start) } || raise("README has no block that begins with #{start}")

    private

    def query(post)
      Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field(:posts, [post], null: false) { argument :limit, Integer }
        def posts(limit:) = Post.order(:id).limit(limit)
      end
    end
  end
end
