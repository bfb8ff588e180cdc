# frozen_string_literal: true

require_relative "../support/answers"

# A field writes, or changes a record in memory, while siblings load what it changes.
class WritesInFlightTest < AnswerTest
  class Post < GraphQL::Schema::Object
    graphql_name "FlownPost"

    def self.opaque(name, &block)
      field name, String
      define_method(name) { "#{instance_exec(&block)}#{context.dig(:nothing)}" }
    end

    opaque(:author_name) { object.author&.name }
    opaque(:editor_name) { object.editor&.name }
    opaque(:bodies) { object.comments.order(:id).map(&:body).join(",") }
    opaque(:comment_bodies) { object.comments.map(&:body).sort.join(",") }
    opaque(:waits) { ::Tag.count && nil }

    opaque(:hand_over) do
      ::Post.transaction do
        object.update!(author: context[:viewer])
        name = object.author.name
        object.update!(title: "for #{name}")
        name
      end
    end
    opaque(:assigned) do
      ::Tag.count
      object.author = context[:viewer]
      object.save!
      object.author.name
    end
    opaque(:created) { object.create_author!(name: "made").name }
    opaque(:created_inside) { ::Post.transaction { object.create_author!(name: "made") && object.save! && object.author.name } }
    opaque(:commented) { ::Post.transaction { object.comments.create!(body: "new") && object.comments.map(&:body).sort.join(",") } }
    opaque(:nested) { object.update!(comments_attributes: [{ body: "new" }]) && object.comments.map(&:body).sort.join(",") }
    opaque(:renewed) { ::User.where(id: object.author_id).update_all("name = name || '!'") && object.reload_author.name }
    opaque(:reset) { ::User.where(id: object.author_id).update_all("name = name || '!'") && object.reset_author && object.author.name }
    opaque(:later_renewed) { ::Tag.count && ::User.where(id: object.author_id).update_all("name = name || '!'") && object.reload_author.name }
    opaque(:touched) { ::User.where(id: object.author_id).update_all("name = name || '?'") && object.author.name }
    opaque(:listed) { context[:posts].map(&:title).join(",") }
    opaque(:relisted) { ::Post.update_all("title = title || '!'") && context[:posts].reload.map(&:title).join(",") }
    opaque(:removed) { object.comments.destroy(::Comment.where(post_id: object.id).order(:id).first) && object.comments.map(&:body).sort.join(",") }
    opaque(:relisted_inside) { ::Post.transaction { ::Post.update_all("title = title || '!'") && context[:posts].reload.map(&:title).join(",") } }
    opaque(:listed_late) { ::Tag.count && ::Tag.where(id: 1).count && context[:posts].map(&:title).join(",") }
    opaque(:loaded) { object.association(:author).load_target&.name }
    opaque(:cleared) { object.update!(author: nil) && object.author.inspect }
  end

  # Accepts comments with it.
  class Writable < ::Post
    self.table_name = "posts"
    def self.name = "Post"
    accepts_nested_attributes_for :comments
  end

  class Query < GraphQL::Schema::Object
    field :post, Post
    def post = context[:post] ||= Writable.find(1)
  end

  PAIRS = %w[authorName].product(%w[handOver assigned created createdInside renewed reset touched laterRenewed cleared]) +
          %w[bodies commentBodies].product(%w[commented nested removed]) + %w[loaded].product(%w[handOver renewed cleared]) +
          [%w[listed relisted], %w[editorName handOver]]

  PAIRS.each do |names|
    [names, ["waits", *names], [*names, "waits"]].each do |fields|
      define_method(:"test_#{fields.join("_")}") { assert_equal(*outcomes(fields)) }
    end
    # The later field may have read before the earlier one wrote, but what is written stays.
    define_method(:"test_rows_of_#{names.reverse.join("_")}") { assert_equal(*outcomes(names.reverse).map { |all| all.map(&:last) }) }
  end

  # A relation has one list of records: who was loading it shows those that were loaded anew.
  def test_a_relation_that_is_loaded_anew_in_a_transaction
    lists = outcomes(%w[listed relistedInside listedLate]).map { |all| all.map { |answer, _| answer.dig("data", "post").slice("relistedInside", "listedLate") } }
    assert_equal(*lists)
    assert_match(/!/, lists.first.first["listedLate"])
  end

  private

  # @return [Array(Array, Array)] the answers, and what is in the tables then
  def outcomes(fields)
    Schemas.make(query: Query, mutation: nil, pipeloader: { forecast: fields.size == 2 }).map do |schema|
      Array.new(2) do
        context = { viewer: ::User.find(7), posts: ::Post.order(:id).limit(3) }
        restoring { [schema.execute("{ post { #{fields.join(" ")} } }", context: context).to_h, rows] }
      end
    end
  end

  def rows
    [::Post.order(:id).pluck(:id, :title, :author_id), ::User.order(:id).pluck(:id, :name), ::Comment.order(:id).pluck(:id, :post_id, :body)]
  end
end
