# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/query_log_tags"

# ActiveRecord keeps the comment of query log tags, where the application has it cached: no block of the application's is open then.
class CachedTagsTest < PipeloaderTest
  include QueryLogTags

  QUERY = "{ posts { title author { name } comments { body } lastComment { body } commentsCount } }"

  def log_tags = [{ tenant: ->(context) { context[:tenant] }, worker: 7 }]

  def setup
    super
    take_first_alias
    @cached_before = ActiveRecord::QueryLogs.cache_query_log_tags
    ActiveRecord::QueryLogs.cache_query_log_tags = true
  end

  def teardown
    ActiveRecord::QueryLogs.cache_query_log_tags = @cached_before
    ActiveRecord::QueryLogs.clear_cache
    super
  end

  # @return [Array<Integer>] how many round trips it takes without cached tags, and with them, as the first of a request
  def trips(&block)
    [false, true].map do |cached|
      ActiveRecord::QueryLogs.cache_query_log_tags = cached
      ActiveRecord::QueryLogs.clear_cache
      WireCounter.trips([], &block).size
    end
  end

  def test_a_query
    [Schemas.parked, Schemas.pair].each do |schemas|
      2.times { schemas.last.execute(QUERY) }
      assert_equal(*trips { assert_same_answer(QUERY, [schemas.last, schemas.last]) })
    end
  end

  def test_outside_of_graphql
    posts = ::Post.order(:id).limit(8).to_a
    read = -> { Pipeloader.map(posts) { |post| [::User.find_by(id: post.author_id)&.name, ::Comment.where(post_id: post.id).count] } }
    2.times { read.call }
    assert_equal(*trips(&read))
  end

  # Also where blocks that change them are open while fields wait.
  def test_each_read_has_the_tags_of_its_own_field
    texts = Schemas.pair.map do |schema|
      ActiveRecord::QueryLogs.clear_cache
      sent = WireCounter.events("sql.active_record") do
        Class.new(schema) { query(TENANTS) }.execute("{ first: tenant(id: 1) none: tenant second: tenant(id: 2) }").to_h
      end
      sent.map { |it| it[:sql][%r{/\*.*\*/}] }.sort
    end
    assert_equal ["/*worker:7*/", "/*tenant:1,worker:7*/", "/*tenant:2,worker:7*/"].flat_map { |it| [it] * 2 }.sort, texts.first
    assert_equal(*texts)
  end

  TENANTS = Class.new(Schemas::Base) do
    graphql_name "Query"
    field :tenant, Integer do
      argument :id, Integer, required: false
    end
    def tenant(id: nil) = id ? ActiveSupport::ExecutionContext.set(tenant: id) { count + count } : count + count
    def count = ::Post.where("likes > ?", 3).count
  end
end
