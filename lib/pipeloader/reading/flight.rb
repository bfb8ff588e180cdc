# frozen_string_literal: true

module Pipeloader
  # Single flight: while one fiber loads an association or a relation, its siblings that ask for the same object wait
  # for it, as they would have found it loaded in a serial run. On a real application's schema, parking without this
  # sent 16 % more statements.
  class Flight
    class << self
      # Runs the block for +object+, alone among the fibers of this response; the others wait until it has landed.
      # +object+ carries its flight in an instance variable, only while it lasts.
      def over(object, fiber)
        while (underway = object.instance_variable_get(:@pipeloader_flight)) && !underway.landed? && !underway.open_to?(fiber)
          return yield if underway.of?(fiber)

          underway.await(fiber)
          # It waits for us, so both go.
          return yield unless underway.landed?
        end
        new(fiber).carry(object) { yield }
      end

      # True if another fiber is loading +object+ right now, and not only about to.
      def elsewhere?(object)
        flight = object.instance_variable_get(:@pipeloader_flight)
        flight.instance_of?(Flight) && !flight.landed? && !flight.of?(ResolverFiber.current)
      end

      # Waits for all who load +object+, or are about to, for an earlier field: it is about to be changed in memory.
      def await_end(object, fiber = ResolverFiber.current)
        awaited = nil
        while fiber && (flight = object.instance_variable_get(:@pipeloader_flight)) && !flight.equal?(awaited)
          fiber.parking.wait_for(flight) if !flight.landed? && flight.before?(fiber)
          awaited = flight
        end
      end
    end

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    def initialize(pilot)
      @pilot = pilot
      @landed = false
    end

    # True if it is +fiber+ that loads.
    def of?(fiber) = @pilot.equal?(fiber)

    # True if that waits for +fiber+.
    def waits_for?(fiber) = @pilot.parking.waits_for?(fiber)

    # True if +fiber+ may load the object, too.
    def open_to?(_fiber) = false

    def response = @pilot.response

    # Whose field it loads for.
    def job = @pilot.job

    # True if a serial run would come to that field before it comes to what +fiber+ is at.
    def before?(fiber) = !job.nil? && !fiber.job.nil? && job.compare_beginning(fiber.job).negative?

    # An abandoned one is over, too: its fiber was parked when the response ended.
    def landed? = @landed || @pilot.abandoned?

    def land
      @landed = true
      @pilot.flight = @outer if @pilot.flight.equal?(self)
    end

    # A cache keeps nothing of the response. An association leaves its flight out, a relation can't.
    def marshal_dump = []
    def marshal_load(_nothing) = @landed = true

    def await(fiber = ResolverFiber.current)
      fiber&.parking&.wait_for(self) unless landed?
    end

    # Yields; who is about to load the object comes back to it then.
    def carry(object)
      planned = object.instance_variable_get(:@pipeloader_flight)
      @objects = object
      take_off
      board(object)
      yield
    ensure
      land
      leave(object, planned)
    end

    # As #carry, for associations that a resolver preloads: those that nobody is loading, or about to load.
    def carry_all(objects)
      @objects = objects.select { |it| !it.loaded? && it.instance_variable_get(:@pipeloader_flight)&.landed? != false }
      take_off
      @objects.each { |it| board(it) }
      yield
    ensure
      land
      @objects&.each { |it| leave(it) }
    end

    # The response is over, and its fiber will never wake.
    def abandon
      @objects.instance_of?(Array) ? @objects.each { |it| leave(it) } : leave(@objects)
      @outer&.abandon
    end

    # As Flight, for the `record` whose association `name` a plan is going to load for a field. A later field that asks for it
    # inside a block of its own (`Current.set { object.comments }`) waits, as it would find it loaded: else that block's records
    # would become the earlier field's. Who sees what that field sees may load it.
    module Planned
      # The run's next one for the same record.
      attr_accessor :next_planned

      # The run tells the association when that is first asked for.
      #
      #: (Run) -> void
      def announce(run)
        @run = run
        @landed = false
        @next_planned = run.planned[record]
        run.planned[record] = self
        record.association(name).instance_variable_set(:@pipeloader_flight, self) if record.association_cached?(name)
      end

      # It is loaded, or won't be.
      def withdraw
        return if @run.nil? || @landed

        @landed = true
        unlink
        return unless record.association_cached?(name)

        association = record.association(name)
        flight = association.instance_variable_get(:@pipeloader_flight)
        association.remove_instance_variable(:@pipeloader_flight) if flight.equal?(self)
      end

      # And those of the same record behind it.
      def withdraw_all
        following = @next_planned
        withdraw
        following&.withdraw_all
      end

      def of?(_fiber) = false
      def waits_for?(_fiber) = false
      def open_to?(fiber) = fiber.at_rest? || !before?(fiber)
      def response = @run.response
      def landed? = @landed || @run.over?
      def before?(fiber) = job.nil? || fiber.job.nil? || job.compare_beginning(fiber.job).negative?

      def await(fiber = ResolverFiber.current)
        fiber.parking.wait_for(self) unless fiber.nil? || landed? || open_to?(fiber)
      end

      # @return [Planned, nil] this one, or another of the same record
      def for(name) = name == self.name ? self : @next_planned&.for(name)

      private

      def unlink
        before, planned = nil, @run.planned[record]
        before, planned = planned, planned.next_planned until planned.equal?(self)
        return before.next_planned = @next_planned if before

        @next_planned ? @run.planned[record] = @next_planned : @run.planned.delete(record)
      end
    end

    private

    def take_off
      @outer, @pilot.flight = @pilot.flight, self
    end

    def board(object) = object.instance_variable_set(:@pipeloader_flight, self)

    def leave(object, outer = nil)
      return unless object.instance_variable_get(:@pipeloader_flight).equal?(self)
      return object.instance_variable_set(:@pipeloader_flight, outer) if outer && !outer.landed?

      object.remove_instance_variable(:@pipeloader_flight)
    end
  end
end
