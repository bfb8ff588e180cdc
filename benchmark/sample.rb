# frozen_string_literal: true

module Bench
  # What one answer cost: seconds on the clock, of the client's and of the server's CPU, and objects allocated.
  Sample = Struct.new(:wall, :cpu, :server, :allocations) do
    class << self
      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      # All contenders begin with a clean heap; the collections that an answer causes itself are its own cost.
      def take(contender)
        GC.start
        allocations = GC.stat(:total_allocated_objects)
        server = server_time(contender)
        cpu = cpu_time
        start = now
        contender.answer
        wall = now - start
        cpu = cpu_time - cpu
        new(wall, cpu, (server_time(contender) - server if server), GC.stat(:total_allocated_objects) - allocations)
      end

      private

      def cpu_time = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

      # Of the backend at the other end, in seconds. Linux counts it to the nanosecond; elsewhere, and for a server on
      # another machine, it isn't known.
      def server_time(contender)
        File.read("/proc/#{contender.backend}/schedstat").to_i / 1e9
      rescue SystemCallError
        nil
      end
    end
  end
end
