# frozen_string_literal: true

require_relative "../support/test_helper"

# It is known where a model's reads go, for as long as ActiveRecord would find the same pool.
class KnownPoolTest < PipeloaderTest
  class Apart < ActiveRecord::Base
    self.abstract_class = true
  end

  class ApartPost < Apart
    self.table_name = "posts"
  end

  def setup
    super
    Apart.connects_to shards: { default: { writing: TestDatabase.hash, reading: TestDatabase.hash }, other: { writing: TestDatabase.hash } }
  end

  def teardown
    [%i[writing default], %i[reading default], %i[writing other]].each do |role, shard|
      ActiveRecord::Base.connection_handler.remove_connection_pool(Apart.name, role: role, shard: shard)
    end
    super
  end

  # Never different from what ActiveRecord says.
  def assert_known(current, known, model = ApartPost)
    assert_equal current, known.current?
    assert_equal current, known.pool.equal?(model.connection_pool)
  end

  def test_roles_and_shards
    known = Pipeloader::KnownPool.new(ApartPost)
    assert_known(true, known)
    Apart.connected_to(role: :reading) do
      assert_known(false, known)
      reading = Pipeloader::KnownPool.new(ApartPost)
      assert_known(true, reading)
      Apart.connected_to(role: :writing, shard: :other) { assert_known(false, reading) }
      assert_known(true, reading)
    end
    Apart.connected_to(role: :writing, shard: :other) { assert_known(false, known) }
    assert_known(true, known)
  end

  def test_another_thread_has_roles_of_its_own
    known = Pipeloader::KnownPool.new(ApartPost)
    Apart.connected_to(role: :reading) do
      Thread.new { assert_equal known.pool, Pipeloader::KnownPool.new(ApartPost).pool }.join
      refute_predicate known, :current?
    end
  end

  def test_another_pool_in_its_place
    known = Pipeloader::KnownPool.new(ApartPost)
    Apart.remove_connection
    refute_predicate known, :current?
    Apart.establish_connection(TestDatabase.hash)
    assert_known(false, known)
    assert_known(true, Pipeloader::KnownPool.new(ApartPost))
  end

  # A class that gets a pool of its own, beside the one it had.
  def test_a_pool_of_its_own
    model = Class.new(Apart) do
      self.table_name = "posts"
      def self.name = "OwnPost"
    end
    known = Pipeloader::KnownPool.new(model)
    model.establish_connection(TestDatabase.hash)
    assert_known(false, known, model)
  ensure
    model.remove_connection
  end

  def test_another_handler
    known = Pipeloader::KnownPool.new(Post)
    handler = ActiveRecord::Base.connection_handler
    ActiveRecord::Base.connection_handler = ActiveRecord::ConnectionAdapters::ConnectionHandler.new
    refute_predicate known, :current?
  ensure
    ActiveRecord::Base.connection_handler = handler
  end
end
