# frozen_string_literal: true

require_relative "../support/answers"

# Pipeloader.map's own scheduler does what it needs of GraphQL::Dataloader: both are asked the same.
class SchedulerTest < AnswerTest
  # Takes a block, as every version does.
  class Dataloader < GraphQL::Dataloader
    def append_job(job = nil, &block) = job ? super(&job) : super(&block)
  end

  # @yieldparam run [#append_job, #yield, #run]
  # @yieldparam log [Array]
  def assert_alike(limit = nil)
    logs = [Pipeloader::Scheduler.new(limit ? limit - 3 : 4096), Dataloader.new(fiber_limit: limit)].map do |run|
      log = []
      yield run, log
      log
    end
    assert_equal(*logs)
    logs.first
  end

  # Jobs that log when they begin, and each time that they go on; and the jobs that they append.
  def tree(run, log, name, depth)
    run.append_job(lambda do
      log << [:begin, name]
      2.times do |i|
        tree(run, log, "#{name}#{i}", depth - 1) if depth.positive?
        run.yield
        log << [:on, name, i]
      end
    end)
  end

  def test_order
    log = assert_alike { |run, log| 3.times { |i| tree(run, log, i.to_s, 2) } && run.run }
    assert_equal [%w[0 1 2], 3 * 7 * 3], [log.first(3).map(&:last), log.size]
  end

  def test_jobs_that_do_not_park_share_a_fiber
    log = assert_alike do |run, log|
      fibers = []
      3.times { run.append_job(-> { fibers << Fiber.current }) }
      run.run
      log << fibers.uniq.size
    end
    assert_equal [1], log
  end

  def test_a_limit
    log = assert_alike(6) { |run, log| 9.times { |i| tree(run, log, i.to_s, 0) } && run.run }
    assert_equal [%i[begin] * 3, :on], [log.first(3).map(&:first), log[3].first]
  end

  def test_an_exception_leaves
    log = assert_alike do |run, log|
      3.times { |i| tree(run, log, i.to_s, 0) }
      run.append_job(-> { raise KeyError, "no" })
      log << assert_raises(KeyError) { run.run }.message
    end
    assert_equal [[:begin, "0"], [:begin, "1"], [:begin, "2"], "no"], log
  end

  # Each fiber begins with those of who has called `run`.
  def test_variables
    Thread.current[:scheduler_test] = "around"
    assert_alike do |run, log|
      2.times { |i| run.append_job(-> { log << Thread.current[:scheduler_test] << (Thread.current[:scheduler_test] = i) << run.yield << Thread.current[:scheduler_test] }) }
      run.run
      log << Thread.current[:scheduler_test]
    end
  ensure
    Thread.current[:scheduler_test] = nil
  end

  # But not with what says that it may park, or collects an argument's work, or ActionPolicy's list of results.
  def test_variables_that_are_a_fibers_own
    keys = [Pipeloader::ResolverFiber::KEY, Pipeloader::ArgumentGroup::KEY, Pipeloader::Waiting::KEY, :pipeloader_work,
            :__action_policy_result__]
    assert_equal keys.sort, Pipeloader::Loader.unshared.sort
    own = [Pipeloader::ArgumentGroup::KEY, :pipeloader_work]
    own.each { |key| Thread.current[key] = [] }
    assert_equal [[nil, nil]] * 2, (Pipeloader.map([1, 2]) { own.map { |key| Thread.current[key] } })
  ensure
    own.each { |key| Thread.current[key] = nil }
  end
end
