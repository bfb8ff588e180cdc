# frozen_string_literal: true

module Pipeloader
  # One call of a dataloader's `run`: the dynamic state that its fibers start from, its fibers and what they gather.
  class Run
    attr_reader :response, :base, :field_positions

    # @return [Multiplex::Branch, nil] whose query this executes
    attr_reader :branch

    # Who goes first when fields fail.
    #
    #: () -> Turns
    attr_reader :turns

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    # @param branch [Multiplex::Branch, nil] whose query this executes
    # @param multiplex [Multiplex, nil] of which this runs the branches
    # @param queued [Proc] returns the jobs that nobody has begun
    def initialize(response, branch = nil, multiplex = branch&.multiplex, &queued)
      @response = response
      @branch = branch
      @multiplex = multiplex
      @base = DynamicState.current(response.query_caches)
      @field_positions = Host.current.positions
      @queued = queued
      @over = false
      @assignments = nil
      @steps = 0
      @patience = PATIENCE
      @turns = Turns.new { |running| unfinished(running) }
      @away = {}.compare_by_identity # {ResolverFiber that lets others go on => its Fiber}
      @reserved = {}.compare_by_identity # who has jobs that may never be begun
      @batches = {}.compare_by_identity # {Snapshot => {Lookup => Batch}}: they are being gathered
      @awaited = {}.compare_by_identity # [Batch]s that fibers wait for
      @planned = {}.compare_by_identity # {record => Flight::Planned, the first of its associations that plans are about to load}
      @deferred = {}.compare_by_identity # AssociationRequests that are being gathered
    end

    # It has ended. What was assigned is seen by the code behind it.
    def over
      @over = true
      @planned.values.each(&:withdraw_all)
      left = left?
      Abandonment.of(@away.to_a) { [@batches, @deferred].each(&:clear) } if left
    ensure
      rest = @assignments ? @assignments.all : (@base.known if left)
      rest ? @base.rest_at(rest) : @base.install
    end

    # True if fibers wait that nobody will wake: it ends by an exception.
    def left? = @away.any?

    # The state that the job starts from which +fiber+ is about to begin.
    #
    #: (ResolverFiber) -> Snapshot
    def start(fiber) = @assignments ? @assignments.before(fiber.job) : @base.known

    # @return [Snapshot] what +job+ would start from if it began now
    def start_of(job) = @assignments ? @assignments.before(job) : @base.known

    # True if any job has assigned something that others see.
    def assigned? = !@assignments.nil?

    # Takes note of what +job+ has assigned.
    #
    # @return [Snapshot] how things are after it, as they are from now on between two fibers
    def assign(job, earlier, now)
      return @base.known if @over # a serial run hasn't come to it

      @assignments ||= Assignments.new(@base)
      @assignments.add(job, earlier, now).tap { |after| @base.rest_at(after) }
    end

    def over? = @over || (!@branch.nil? && @branch.over?)

    # Seconds in all that its fibers may wait for threads while no sibling goes on.
    PATIENCE = 0.1
    private_constant :PATIENCE
    attr_accessor :patience

    # How often any of its fibers has got on: begun or ended a job, parked, or got what it was parked for.
    attr_reader :steps

    def step
      @branch&.step
      @steps += 1
    end

    # Yields while +fiber+ lets others go on.
    def away(fiber)
      outer = @away[fiber]
      @away[fiber] ||= Fiber.current
      @multiplex&.count(1) unless outer
      yield
    ensure
      @multiplex&.count(-1) unless outer
      @away.delete(fiber) unless outer
    end

    def fibers_away = @away.size

    # True if too many fibers of a Multiplex wait for others to begin: those of this run go on.
    def crowded?(running = 0) = !@multiplex.nil? && @multiplex.crowded?(running) && (running.positive? || @away.any?)

    # @param known [Snapshot] what an association's scope sees, and which database is read
    # @return [Batch] that is being gathered for +lookup+: by all branches that see the same
    def batch(lookup, known)
      return @branch.run.batch(lookup, @branch.run.base.known) if @branch&.run&.at_rest?

      alike = @batches[known] ||= {}.compare_by_identity
      alike[lookup] ||= Batch.new(lookup) do
        alike.delete(lookup)
        @batches.delete(known) if alike.empty?
      end
    end

    # Yields while a fiber reads +batches+, or waits for other fibers to read them.
    def awaiting(batches)
      @awaited[batches] = true
      yield
    ensure
      @awaited.delete(batches)
    end

    # True if any batch is unread, or has been read and the fiber that waits for it hasn't gone on yet.
    def batches? = @batches.any? || @awaited.any? { |batches, _| batches.all?(&:read?) }

    # @return [Batch, nil] one that whoever sees what was +known+ may read
    def next_batch(known) = @batches[known]&.each_value&.first || (@branch.run.next_own_batch if @branch)

    # As above, for the fiber of a branch.
    def next_own_batch = (next_batch(@base.known) if at_rest?)

    # True if code on this thread sees how things are between two fibers.
    def at_rest? = @base.at_rest?(@base.known)

    # @return [Hash{ActiveRecord::Base => Flight::Planned}]
    attr_reader :planned

    # Takes note of what is asked for, and will be read when more has come to it.
    #
    # @param owners [AssociationRequests]
    def defer(owners) = @deferred[owners] = true

    # They are being read.
    def take_up(owners) = @deferred.delete(owners)

    # True if anything is asked for that isn't a statement yet.
    def behind? = @deferred.any? || @batches.any? || (!@branch.nil? && @branch.run.behind?)

    # Reads that for +fiber+, as far as a serial run would have come to it before.
    def catch_up(fiber)
      @deferred.keys.each { |owners| owners.before(fiber.job).read(fiber, 1) }
      @batches.keys.each do |known|
        fiber.within(known) do
          while (batch = next_batch(known))
            batch.read
          end
        end
      end
      @branch&.run&.catch_up(fiber)
    end

    # @param holder [#reserved] of jobs that may never be begun; whoever adds one, adds it here, too, once a field has failed
    def reserve(holder) = @reserved[holder] = true

    def release(holder) = @reserved.delete(holder)

    # Returns in the turn of +fiber+, of which +error+ is about to leave the response. That an outer transaction is aborted is no
    # news of this field's where a later field's read has done it: that one's exception leaves before, as it would have serially.
    #
    #: (StandardError, ResolverFiber) -> void
    def await_turn_of(error, fiber)
      return if TimedOut === error

      fiber.await_turn
      cause = @response.aborted_by
      return unless cause && error.cause.is_a?(PG::InFailedSqlTransaction)
      return unless fiber.job && fiber.parks? && fiber.job.compare(cause).negative?

      @turns.stand_aside(fiber.job)
      fiber.parking.let_others_go_on { cause.finished? || fiber.parking.saturated? }
    end

    private

    # @return [Array<Job>] every job that isn't done
    def unfinished(running)
      queued = @queued.call.grep(Job) | @reserved.keys.flat_map(&:reserved).reject(&:finished?)
      begun = [running, *@away.keys.filter_map(&:job)].flat_map(&:with_wholes).uniq # a fiber shows the part that it is at
      [*begun, *queued]
    end
  end
end
