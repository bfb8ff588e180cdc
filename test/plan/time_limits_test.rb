# frozen_string_literal: true

require_relative "../support/plans"

# Plans below GraphQL::Schema::Timeout, which looks at the clock when a field begins.
class TimeLimitsOfPlansTest < PlanTest
  # That says how long, and notes whom it has stopped.
  class Noting < GraphQL::Schema::Timeout
    def max_seconds(query) = query.context[:seconds]
    def handle_timeout(error, query) = query.context[:told] << error.message
  end

  class CommentType < Schemas::Base
    graphql_name "LimitedComment"
    field :body, String
    field :loud, String
    def loud = object.body.to_s.dup.concat("!")
  end

  class PostType < Schemas::Base
    graphql_name "LimitedPost"
    field :title, String
    field :comments, [CommentType]
    field :loud, String
    def loud = object.title.dup.concat("!")
  end

  def posts = Post.order(:id)
  def slow = Post.order(:id).where("pg_sleep(0.01) IS NOT NULL")
  def roots = { posts: [[PostType], -> { posts }], page: [PostType.connection_type, -> { posts }], slow: [[PostType], -> { slow }] }
  def pair = @pair ||= schemas(roots) { use Noting }

  def text(schema, query, seconds)
    outcome { schema.execute(query, context: context = { seconds: seconds, told: [] }).to_h.merge("told" => context[:told]) }
  end

  def test_what_is_plain_is_compiled_in_time
    assert_plan("{ posts { title comments { body __typename } } }", pair, context: { seconds: 60, told: [] })
    assert_plan("{ posts { title } }", pair, context: { seconds: false, told: [] })
    assert_plan("{ page(first: 3) { nodes { title comments { body } } pageInfo { hasNextPage } } }", pair, context: { seconds: 60, told: [] })
    assert_aside("{ posts { title loud comments { body } } }", pair, context: { seconds: 60, told: [] })
    assert_aside("{ posts { title comments { body loud } } }", pair, context: { seconds: 60, told: [] }, made: [Comment])
  end

  def test_too_late_before
    ["{ posts { title comments { body } } }", "{ posts { title loud } page(first: 2) { nodes { title } } }"].each do |query|
      4.times { assert_equal(*pair.map { |schema| text(schema, query, -1) }) }
      assert_equal "Timeout on Query.posts", text(pair.last, query, -1)["told"].first
    end
  end

  # The field that is at it ends, and none below it begins.
  def test_too_late_behind
    ["{ slow { title comments { body } } }", "{ slow { title comments { body loud } } posts { title } }"].each do |query|
      3.times do
        plain, piped = pair.map { |schema| text(schema, query, 0.03) }
        assert_equal plain.except("told"), piped.except("told")
        assert_equal plain["told"], piped["told"] unless Engine::NEXT && query.include?("posts") # side by side `posts` has begun
        assert_includes piped["errors"].map { |it| it["message"] }, "Timeout on LimitedPost.title"
        assert_equal 1, piped["told"].size
      end
    end
  end

  # A monitor measures fields beside it: nobody knows in which order they look.
  def test_with_a_monitor
    monitored = schemas(roots) do
      use Noting
      trace_with(GraphQL::Tracing::ActiveSupportNotificationsTrace) if GraphQL::Tracing::ActiveSupportNotificationsTrace.method_defined?(:begin_execute_field)
    end
    assert_same_twice("{ posts { title comments { body } } }", monitored, context: { seconds: 60, told: [] })
  end

  def test_who_looks_at_each_field_does_so_still
    seen = []
    watching = Module.new do
      define_method(:begin_execute_field) { |field, *rest| (seen << field.path) && super(field, *rest) }
      define_method(:execute_field) { |**told, &block| (seen << told[:field].path) && super(**told, &block) }
    end
    watched = schemas(roots) do
      use Noting
      trace_with(watching)
    end
    counts = watched.map { |schema| seen.clear && schema.execute("{ posts { title } }", context: { seconds: 60, told: [] }) && seen.dup }
    assert_equal(*counts)
  end
end
