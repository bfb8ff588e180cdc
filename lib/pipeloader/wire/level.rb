# frozen_string_literal: true

module Pipeloader
  # All reads parked between two moments when no fiber can go on, a burst for each connection that they are for.
  class Level
    attr_reader :response, :position

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    def initialize(response, position)
      @response = response
      @position = position
      @bursts = {}.compare_by_identity # {adapter => Burst}
      @sending = Mutex.new
    end

    def <<(read)
      burst = @bursts[read.adapter] ||= Burst.new(read.adapter, self)
      read.adapter.pipeloader_session.gather(burst)
      burst << read
    end

    # Sends every read that has no answer yet: all bursts before any is waited for. Usually all are answered then. Where
    # an interrupt, or the bound on bytes held, left some out, the next of their fibers that wakes calls this again.
    #
    # Under a fiber scheduler others go on while this one waits for the server: they stand in line here, and have their
    # answers when they get in.
    #
    # @raise [Transactions::Failed]
    #
    #: () -> void
    def send_off
      @sending.synchronize do
        @response.close_level(self)
        # Always in one order: two threads may share two connections (transactional tests), and each has a lock.
        bursts = @bursts.values.select(&:pending?).sort_by { |burst| burst.adapter.object_id }
        @response.waiting { (lanes = @response.lanes) ? lanes.run(bursts) : Burst.run(bursts) }
      end
      @response.stop_if_failed
    end
  end
end
