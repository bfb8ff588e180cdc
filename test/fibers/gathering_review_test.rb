# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../support/fiber_scheduler"

# What a review of Pipeloader.map and Pipeloader.gather has found.
class GatheringReviewTest < AnswerTest
  # When a block has failed, those behind it don't go on with what they have read either.
  def test_no_block_goes_on_behind_one_that_failed
    failures = { raise: -> { raise KeyError }, throw: -> { throw :out }, stop: -> { raise StopIteration } }
    failures.each do |name, failure|
      logs = [->(&block) { (1..4).each(&block) }, ->(&block) { Pipeloader.map(1..4, &block) }].map do |map|
        log = []
        begin
          catch(:out) do
            map.call do |id|
              Post.find(id)
              failure.call if id == 2
              log << id
            end
          end
        rescue KeyError, StopIteration
          log << :rescued
        end
        log
      end
      assert_equal(*logs, name)
    end
  end

  # `ensure` of a block that is ended may read, several times.
  def test_ensure_reads_to_its_end
    log = []
    assert_raises(KeyError) do
      Pipeloader.map(1..3) do |id|
        Post.find(id)
        raise KeyError if id == 1

        Post.count
      ensure
        log << [id, Comment.where(post_id: id).count, Post.find(id).id] if id > 1
      end
    end
    assert_equal((2..3).map { |id| [id, Comment.where(post_id: id).count, id] }, log)
  end

  # The session is left as the last block leaves it.
  def test_settings_in_turn
    change = {
      set: ->(name) { Post.connection.execute("SET application_name = '#{name}'") },
      search_path: ->(name) { Post.connection.schema_search_path = "#{name}, public" }
    }
    change.each do |name, set|
      logs = [->(&block) { [1, 2].map(&block) }, ->(&block) { Pipeloader.map([1, 2], &block) }].map do |map|
        log = []
        map.call do |id|
          Post.find(id)
          2.times { |n| Post.find(n + 2).comments.count } if id == 1
          set.call("a#{id}")
          log << id
        end
        log << Post.connection.select_value("SHOW #{name == :set ? :application_name : name}")
      end
      assert_equal(*logs, name)
    end
  ensure
    Post.connection.execute("RESET application_name")
    Post.connection.schema_search_path = "public"
  end

  # Those that have ended are looked at once, though the one that waits for them comes last of all.
  def test_turns_meet_a_finished_job_once
    asked = 0
    finished = Pipeloader::Job.instance_method(:finished?)
    counting = Module.new { define_method(:finished?) { (asked += 1) && finished.bind_call(self) } }
    costs = [100, 300].map do |count|
      Pipeloader::Job.prepend(counting)
      asked = 0
      Pipeloader.map(1..count) do |id|
        Post.find(1)
        Post.where(id: -id).update_all(likes: 1)
      end
      asked
    end
    assert_operator costs.last, :<, 10 * 300, costs
  ensure
    counting.send(:remove_method, :finished?)
  end

  # Under a fiber scheduler, as Falcon's.
  def test_under_a_scheduler
    expected = (1..3).map { |id| Post.find(id).comments.count }
    results = []
    isolation = ActiveSupport::IsolatedExecutionState.isolation_level
    ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
    FiberScheduler.run do
      2.times do
        Fiber.schedule do
          ActiveRecord::Base.connection_pool.with_connection { results << Pipeloader.map(1..3) { |id| sleep(0.01) && Post.find(id).comments.count } }
        end
      end
    end
    assert_equal [expected] * 2, results
  ensure
    ActiveSupport::IsolatedExecutionState.isolation_level = isolation
  end
end
