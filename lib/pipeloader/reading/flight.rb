# frozen_string_literal: true

module Pipeloader
  # Single flight: while one fiber loads an association or a relation, its siblings that ask for the same object wait
  # for it, as they would have found it loaded in a serial run. (On a real application's schema, parking without this
  # sent 16 % more statements.)
  class Flight
    class << self
      # Runs the block for +object+, alone among the fibers of this response; the others wait until it has landed.
      # +object+ carries its flight in an instance variable, only while it lasts.
      def over(object, fiber)
        while (underway = object.instance_variable_get(:@pipeloader_flight)) && !underway.landed?
          return yield if underway.pilot.equal?(fiber)

          underway.await(fiber)
          # It waits for us, so both go.
          return yield unless underway.landed?
        end
        new(fiber).carry(object) { yield }
      end
    end

    attr_reader :pilot

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    def initialize(pilot)
      @pilot = pilot
      @landed = false
    end

    # An abandoned one is over, too: its fiber was parked when the response ended.
    def landed? = @landed || @pilot.abandoned?

    def land = @landed = true

    def await(fiber = ResolverFiber.current)
      fiber&.parking&.wait_for(self) unless landed?
    end

    def carry(object)
      object.instance_variable_set(:@pipeloader_flight, self)
      yield
    ensure
      @landed = true
      object.remove_instance_variable(:@pipeloader_flight) if object.instance_variable_get(:@pipeloader_flight).equal?(self)
    end
  end
end
