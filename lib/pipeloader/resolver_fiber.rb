# frozen_string_literal: true

module Pipeloader
  # The fiber that resolvers run on, as Pipeloader sees it: it may park, and it has dynamic state of its own.
  #
  # Found by `Thread.current[]`, which is fiber-local: a thread or an Enumerator#next fiber that a resolver starts
  # doesn't see it, so that its reads go at once.
  class ResolverFiber
    KEY = :pipeloader_fiber

    class << self
      #: () -> ResolverFiber?
      def current = Thread.current[KEY]

      # Runs the block as one job of +loader+ on the current fiber.
      def occupy(loader)
        return yield unless loader.pipeloader_response

        outer = Thread.current[KEY]
        fiber = outer&.loader.equal?(loader) ? outer : (Thread.current[KEY] = new(loader))
        fiber.begin_job
        yield
      ensure
        # A job that runs inside another's (a mutation field under AsyncDataloader) is not the end of the outer one.
        fiber&.end_job
        Thread.current[KEY] = outer unless outer.nil?
      end
    end

    # The Read that ActiveRecord is working on, if its burst brought it.
    attr_reader :replaying

    attr_reader :loader, :response

    def initialize(loader)
      @loader = loader
      @response = loader.pipeloader_response
      @base = loader.pipeloader_base
      @state = nil
      @jobs = 0
      @without_parking = 0
      @replaying = @replay = nil
      @waiting_for = nil
    end

    # Jobs begin and end with no block of user code open, so what differs from the start is there to stay
    # (`Current.user = …`) and is handed on to the fibers that start later. See DynamicState.
    def begin_job
      return unless (@jobs += 1) == 1

      unless @state&.current?(@base)
        @state = @base.fork
        @state.install
      end
    end

    def end_job
      return unless (@jobs -= 1).zero?

      @state.settle(@base)
      @response.leave(self)
    end

    # Lets the other fibers go on, under their own dynamic state.
    def away
      @state.capture
      yield
    ensure
      @state.install
    end

    #: () -> bool
    def parks? = @without_parking.zero?

    def without_parking
      @without_parking += 1
      yield
    ensure
      @without_parking -= 1
    end

    # Runs ActiveRecord's own code for a read that has been answered.
    def replay(read)
      @replaying = @replay = read
      yield
    ensure
      @replaying = @replay = nil
    end

    # What the next `with_raw_connection` of this fiber hands to ActiveRecord, once.
    #
    #: () -> Read?
    def take_replay
      read, @replay = @replay, nil
      read
    end

    # Returns when +read+ is answered. If other fibers can go on meanwhile they do, and the first of all that wakes
    # sends the level for everybody; where this one must not park, it sends what is gathered along with its own.
    #
    #: (Read) -> void
    def park(read)
      level = @response.gather(read, self)
      @loader.yield(nil) if parks?
      until read.answered?
        level.busy? ? @loader.yield(nil) : level.send_off
      end
    end

    # Waits until the flight of another fiber has landed. Where that fiber waits for this one, there is no waiting:
    # both read, as they would one after the other.
    def wait_for(flight)
      return if flight.pilot.equal?(self) || !parks? || flight.pilot.waits_for?(self)

      @waiting_for = flight.pilot
      @loader.yield(nil) until flight.landed?
    ensure
      @waiting_for = nil
    end

    def waits_for?(fiber)
      pilot = self
      while (pilot = pilot.waiting_for)
        return true if pilot.equal?(fiber)
      end
      false
    end

    protected

    attr_reader :waiting_for
  end
end
