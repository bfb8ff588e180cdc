# frozen_string_literal: true

module Bench
  # A worker with its way to the server: directly, or through a proxy of its own, so that no other's connections slow it.
  class Station
    COUNTING_RTT = 5 # ms: so far away that a burst is sent whole before its first answer is back

    attr_reader :worker

    def initialize(worker, address)
      @worker = worker
      @address = address
    end

    # Both return how long a run takes there, once it is warm. Without a proxy it is TCP, too.
    def connect_near
      @far = false
      @near ||= begin
        @worker.connect(@address)
        @worker.warm
      end
    end

    def connect_far(rtt)
      proxy.rtt = rtt
      @worker.connect(@address.merge(host: proxy.host, port: proxy.port)) unless @far
      @near = nil
      @far = true
      @worker.warm
    end

    # Of one that is COUNTING_RTT away. The connection isn't used further, as ActiveRecord knows that we looked at it.
    #
    # @return [Array(String, Hash)] the answer, and {round_trips:, bytes_to_server:, bytes_to_client:, statements:}
    def count
      answer = nil
      cost = proxy.count { answer = @worker.answer }
      @far = false # the next distance needs another connection
      [answer, { **cost.slice(:round_trips, :bytes_to_server, :bytes_to_client), statements: @worker.statements }]
    end

    def stop
      @worker.stop
      @proxy&.stop
    end

    private

    def proxy = @proxy ||= LatencyProxy.start("#{@address[:host]}:#{@address[:port]}")
  end
end
