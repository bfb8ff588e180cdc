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

    # Both return how long a run takes there. (Without a proxy it is TCP, too.)
    def connect_near
      @far = false
      @near ||= @worker.connect(@address)
    end

    def connect_far(rtt)
      go_through_proxy
      proxy.rtt = rtt
      @worker.warm(least: 1, most: 2)
    end

    # Warmed up without the distance, as that takes less time.
    def go_through_proxy
      proxy.rtt = 0
      @worker.connect(@address.merge(host: proxy.host, port: proxy.port)) unless @far
      @near = nil
      @far = true
    end

    # [the answer, {round_trips:, bytes_to_server:, bytes_to_client:, statements:}]. The connection isn't used further, as
    # ActiveRecord knows that we looked at it.
    def count
      go_through_proxy
      answer = @worker.answer
      proxy.rtt = COUNTING_RTT
      cost = proxy.count { @worker.answer }
      proxy.rtt = 0
      @far = false # it is connected anew
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
