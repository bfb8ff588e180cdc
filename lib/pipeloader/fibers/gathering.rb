# frozen_string_literal: true

module Pipeloader
  # Blocks of plain Ruby that read together, outside of GraphQL and inside its resolvers: Tasks, each a job on a fiber that may
  # park. A Task begins when the one before it has parked, so what Tasks read comes level by level.
  #
  # What others could notice, a write or a message, a Task does in its turn: when all before it have ended. What it assigns
  # (`Current.user = …`) ends with it.
  #
  # Limits: a Task may have read before an earlier one writes. A write can't wait for its turn where its fiber mustn't park: in a
  # lock, in a fiber or a thread of the block's own.
  class Gathering
    # Idle turns after which those who wait for Tasks wait for one another.
    PATIENCE = 100
    CYCLE = "Tasks wait for one another, or for a lock that whoever waits for them holds"
    OVER = "the block of Pipeloader.gather is over: ask for all that it reads, and for its values, inside of it"
    ELSEWHERE = "a Task that hasn't ended can't be waited for in another thread, or in a Fiber of your own: ask for its value " \
                "where the block of Pipeloader.gather runs, and hand that on"
    private_constant :PATIENCE, :CYCLE, :OVER, :ELSEWHERE

    class << self
      # Knows what blocks will ask of the values that they are called with: ReadAhead, with graphql-ruby; nil where nobody does.
      attr_accessor :foresight

      # Yields a Gathering, of which all Tasks have ended when this returns.
      #
      # @param stops [Boolean] whether none begins any more, and none goes on, when one has failed
      # @return what the block returns
      def open(stops: false, &block)
        fiber = ResolverFiber.current
        if fiber.nil? ? !Pipeloader.main_ractor? || Pipeloader.disabled? : !possible?(fiber)
          new(nil, stops).around(&block)
        elsif fiber && joins?(fiber)
          new(fiber, stops).around(&block)
        else
          apart(stops, &block)
        end
      end

      # As Pipeloader.map, of +values+ as #each takes them.
      def map(values, **told, &block)
        Gathering.open(stops: true) { |gathering| gathering.each(values, **told, &block) }.map(&:value)
      end

      # Not where a lock is held, or a transaction is the resolver's own.
      def possible?(fiber) = fiber.parks? && !fiber.response.in_new_transaction? && !Pipeloader.disabled?

      private

      # True if Tasks may be the loader's own jobs, so that their levels are the response's: it begins jobs now, and no block is
      # open whose state they would need.
      def joins?(fiber) = fiber.fetch.nil? && fiber.at_rest? && fiber.pinned.nil? && fiber.loader.pipeloader_queues?

      # By a run of its own, which begins with the state of the code around.
      def apart(stops, &block)
        Pipeloader.prepare
        loader = TaskLoader.new(**Pipeloader.defaults.slice(:fiber_limit, :coalesce, :forecast, :trips, :lanes))
        task = Task.new(new(nil), -> { Host.current.apart { new(ResolverFiber.current, stops).around(&block) } })
        loader.run(task)
        task.value
      end
    end

    # @param fiber [ResolverFiber, nil] that waits for the Tasks; nil where each is done where it is asked for
    def initialize(fiber, stops = false)
      @fiber = fiber
      @loader = fiber&.loader
      @parent = fiber&.job
      @task = fiber&.task
      @stops = stops
      @tasks = []
      @waiting = [] # those that nobody has begun
      @open = 0 # how many haven't ended
      @over = false
    end

    alias inspect to_s

    # Yields itself, and returns when all Tasks have ended.
    #
    # @return what the block returns
    def around
      outer, @fiber.gathering = @fiber.gathering, self if @fiber
      outcome = Outcome.of_block { yield self }
      wait
      @task&.go_on
      @tasks.find(&:unclaimed?)&.value unless outcome.error
      outcome.value
    ensure
      close
      @fiber.gathering = outer if @fiber
    end

    # Has the block done, side by side with what follows.
    #
    #: [T] () { () -> T } -> Task[T]
    def async(&work)
      raise ArgumentError, "async needs a block" unless work
      raise ThreadError, OVER if @over

      Task.new(self, work).tap { |task| add([task]) }
    end

    # @param site [Proc, Array<String>] by which it is known what will be asked, if it isn't the block
    # @param subjects [Array] of what that is asked, if it isn't +values+
    # @return [Array<Task>] one for each of +values+
    def each(values, site: nil, subjects: values, &work)
      Gathering.foresight&.come_to_block(subjects, site || work) if values.any? && queues?
      tasks = values.zip(subjects).map { |value, subject| Task.new(self, -> { work.call(value) }, subject) }
      add(tasks)
      tasks
    end

    # Begins the next Task, on this fiber; called by the loader, which finds this in its queue.
    #
    # @param at_rest [Boolean] whether the fiber is known to be
    def call(at_rest: false)
      task = @waiting.shift or return
      task.at_rest = at_rest
      @loader.pipeloader_put_first(self) if @waiting.any?
      @loader.pipeloader_job(task, @parent, part: true).call
    end

    # Returns when all Tasks have ended, or one has failed of which no other may go on.
    def wait = wait_until(ResolverFiber.current, @waiting) { @open.zero? }

    # Returns when +task+ has ended.
    #
    # @raise [ThreadError] if it never will
    def wait_for(task)
      fiber = ResolverFiber.current
      wait_until(fiber, [task]) { task.ended? } if fiber && @loader
      fiber&.task&.go_on
      raise ThreadError, over? ? OVER : ELSEWHERE unless task.ended?
    end

    # True if nobody wants to know any more.
    def over? = @over || (!@task.nil? && @task.over?)

    # True if Tasks fail in their turns.
    def stops? = @stops

    # A Task has ended.
    def ended(outcome)
      @open -= 1
      @over = true if @stops && outcome&.error
    end

    private

    # Lets Tasks begin and go on until the block says so. Where no fiber can begin, as all others may be waiting just so, this one
    # begins the next Task itself.
    #
    # @param awaited [Array<Task>]
    def wait_until(fiber, awaited)
      idle, steps = 0, nil
      until over? || yield
        raise ThreadError, CYCLE if idle > PATIENCE
        next begin_in_a_row if begins?(awaited)
        next call if help?(fiber, awaited)

        @loader.pipeloader_sleep do
          idle = steps == (steps = fiber.steps) ? idle + 1 : 0
          idle > PATIENCE || over? || yield || begins?(awaited) || help?(fiber, awaited)
        end
      end
    end

    # Who waits for all begins them in any case, which takes no other fiber as long as none parks; but not where they would see
    # what its block has changed, nor deep inside others.
    def begins?(awaited) = awaited.equal?(@waiting) && @waiting.any? && queues? && !@fiber.deep?

    # Each leaves the state as it has found it, so that nobody has to look at it before the next one.
    def begin_in_a_row
      call(at_rest: true) while @waiting.any? && !over? && Gathering.possible?(@fiber)
    end

    def help?(fiber, awaited) = fiber.parking.saturated? && awaited.any? { |task| @waiting.include?(task) }

    def add(tasks)
      @tasks.concat(tasks)
      @open += tasks.size
      return tasks.each { |task| task.call unless @over } unless queues?

      @fiber.response.gathers = true
      @loader.pipeloader_put_last(self) if @waiting.empty?
      @waiting.concat(tasks)
    end

    # Not where a block is open that a Task would be in the middle of.
    def queues? = !@fiber.nil? && ResolverFiber.current.equal?(@fiber) && @fiber.at_rest? && Gathering.possible?(@fiber)

    # Nothing of the Tasks is left that a serial run wouldn't have come to.
    def close
      @over = true
      @waiting.clear
      return unless @open.positive?

      @fiber ? @fiber.away { @tasks.each(&:cancel) } : @tasks.each(&:cancel)
    end
  end
end
