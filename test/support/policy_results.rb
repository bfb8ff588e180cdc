# frozen_string_literal: true

require_relative "test_helper"
require "action_policy"

# ActionPolicy keeps the results of the rules that it is inside of in one Array, in a variable of the fiber. Schedulers hand that
# Array on to fibers that begin, if there is one by then: a controller has asked a policy before it executes the query.
class PolicyResultsTest < PipeloaderTest
  RESULTS = :__action_policy_result__

  class CommentPolicy < ActionPolicy::Base
    authorize :user, optional: true
    def show? = ::Comment.where(id: record.id).pick(:score) > 3 || deny!(:low)
  end

  # Allows some posts by a read, some without, and refuses the others.
  class PostPolicy < ActionPolicy::Base
    authorize :user, optional: true
    pre_check :commented

    def commented = record.comments.where("score > 6").exists? ? allow! : nil
    def show? = record.id.even? && record.likes.even? || deny!(:private)
    def read? = ::User.where(id: record.author_id).exists? && record.title != "post 3" || deny!(:unread)
    def nested? = allowed_to?(:read?) && record.comments.to_a.all? { |comment| check?(:show?, comment, with: CommentPolicy) }
    def mapped? = Pipeloader.map(record.comments.to_a) { |comment| allowed_to?(:show?, comment, with: CommentPolicy) }.all?
    def thrown? = Pipeloader.map(record.comments.to_a) { |comment| ::Comment.find(comment.id).score > 3 ? allow! : deny!(:thrown) } && nil
  end

  def setup
    @before, Thread.current[RESULTS] = Thread.current[RESULTS], []
  end

  def teardown
    super
  ensure
    Thread.current[RESULTS] = @before
  end

  # What each rule says of a post.
  def self.told(post, rule)
    policy = PostPolicy.new(post)
    result = policy.apply_r(rule)
    [rule, result.value, result.reasons.details].inspect
  end

  def refute_mixed(...)
    plain, piped = Schemas.resolve(...)
    assert_equal plain, piped
    assert_equal [], Thread.current[RESULTS]
    plain
  end

  def test_objects_of_a_list
    type = Class.new(GraphQL::Schema::Object) do
      graphql_name "PolicyPost"
      field :title, String
      def self.authorized?(post, context) = super && PostPolicy.new(post).apply(:show?)
      def title = object.title
    end
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :posts, [type, { null: true }]
      def posts = ::Post.order(:id).to_a
    end
    plain, piped = Schemas.make(query: query, mutation: nil).map { |schema| schema.execute("{ posts { title } }").to_h }
    assert_equal plain, piped
    assert_equal [true, false], plain["data"]["posts"].map(&:nil?).uniq.sort_by { |it| it ? 0 : 1 }
  end

  %i[show? read? nested? mapped? thrown?].each do |rule|
    define_method(:"test_#{rule.to_s.chop}") do
      values = refute_mixed(12) { |index| PolicyResultsTest.told(::Post.find(index + 1), rule) }
      assert_operator values.uniq.size, :>, 1
    end
  end

  # By fibers that a resolver, or plain Ruby, begins.
  def test_blocks
    posts = ::Post.order(:id).to_a
    rules = %i[show? read? nested? mapped? thrown?]
    serial = Pipeloader.disabled { posts.map { |post| rules.map { |rule| PolicyResultsTest.told(post, rule) } } }
    posts.each { |post| post.association(:comments).reset }
    assert_equal serial, (Pipeloader.map(posts) { |post| rules.map { |rule| PolicyResultsTest.told(post, rule) } })
    refute_mixed(2) { Pipeloader.map(::Post.order(:id)) { |post| rules.map { |rule| PolicyResultsTest.told(post, rule) } } }
    assert_equal [], Thread.current[RESULTS]
  end
end
