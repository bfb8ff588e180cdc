# frozen_string_literal: true

require_relative "../support/answers"

# A relation that several fields share is read once, where each read would bring other rows.
class VolatileRelationsTest < AnswerTest
  class Post < GraphQL::Schema::Object
    graphql_name "VolatilePost"
    field :id, Integer
    field :title, String
    field :picked, [Post]

    def picked = context[:below] ||= ::Post.order(Arel.sql("random()")).limit(2)
  end

  class Query < GraphQL::Schema::Object
    field :pick, [Post]
    field :posts, [Post]
    field :counted, [Post]
    field :joined, [Post]

    def pick = context[:pick] ||= ::Post.order("random()").limit(3)
    def posts = ::Post.order(:id).limit(4)
    def counted = context[:counted] ||= ::Post.where("nextval('volatile_relations') > 0 AND id = 1")
    def joined = context[:joined] ||= ::Post.joins("JOIN users ON users.id = posts.author_id AND random() < 0.5")
  end

  def setup
    super
    ::Post.connection.execute("DROP SEQUENCE IF EXISTS volatile_relations; CREATE SEQUENCE volatile_relations")
  end

  def teardown
    ::Post.connection.execute("DROP SEQUENCE volatile_relations")
    super
  end

  def schemas = Schemas.make(query: Query, mutation: nil)

  [["{ a: pick { id } b: pick { id title } }", 2], ["{ a: joined { id } b: joined { id title } }", 2], ["{ posts { picked { id } } }", 4]].each_with_index do |(text, times), index|
    define_method(:"test_rows_are_the_same_#{index}") do
      schemas.each do |schema|
        4.times do
          rows = lists(schema.execute(text).to_h["data"])
          assert_equal times, rows.size
          assert_equal 1, rows.uniq.size, rows.inspect
        end
      end
    end
  end

  def test_a_sequence_advances_once
    values = schemas.map do |schema|
      Array.new(3) do
        schema.execute("{ a: counted { id } b: counted { id } c: counted { title } }").to_h
        ::Post.connection.select_value("SELECT last_value FROM volatile_relations")
      end
    end
    assert_equal [[1, 2, 3], [4, 5, 6]], values
  end

  # What is steady is read as before.
  def test_compiled
    [::Post.all, ::Post.where(id: [1, 2]), ::Post.where(id: 1..3), ::Post.where(author_id: nil), ::Post.order(likes: :desc), ::Post.where("likes > ?", 3),
     ::Post.order("likes, lower(title)"), ::Post.joins(:author).where(title: "Zoë"), ::Post.where("title = ?", "f(x)").annotate("by hand"),
     ::Post.where(id: 1).or(::Post.where(title: "g(x)")), ::Post.select(:id, "likes + 1 AS more"), ::User.find(1).posts, ::Post.where(author_id: ::User.where(id: 1))].each { |it| assert Pipeloader::SteadyRows.of?(it), it.to_sql }
    [::Post.order("random()"), ::Post.where("random() < ?", 3), ::Post.where(author_id: ::User.where("random() < 1")),
     ::Post.where(id: 1).or(::Post.where("random() < 1")), ::Post.joins("JOIN users ON random() < 1"), ::Post.select("random() AS id"),
     ::Post.from("(SELECT * FROM posts WHERE random() < 1) posts")].each { |it| refute Pipeloader::SteadyRows.of?(it), it.to_sql }
  end

  private

  # The ids of each list.
  def lists(data)
    case data
    when Hash then data.values.flat_map { |it| lists(it) }
    when Array then data.first&.key?("id") || data.empty? ? [data.map { |it| it["id"] }] : data.flat_map { |it| lists(it) }
    end
  end
end
