# frozen_string_literal: true

# As an API that serves what it has read from a file at boot.
module Articles
  Record = Struct.new(:id, :title, :slug, :words, :related_articles)

  RELATED = Array.new(50) { |n| Record.new(n + 100, "Related #{n}", "related-#{n}", n * 37, []) }.freeze
  ALL = Array.new(20) { |n| Record.new(n, "Article #{n}", "article-#{n}", n * 101, RELATED) }.freeze

  class Article < GraphQL::Schema::Object
    field :id, ID, null: false
    field :title, String, null: false
    field :slug, String, null: false
    field :words, Integer, null: false
    field :related_articles, [Article], null: false
  end

  class Query < GraphQL::Schema::Object
    field :articles, [Article], null: false

    def articles = ALL
  end
end
