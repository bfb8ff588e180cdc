# frozen_string_literal: true

module Pipeloader
  # Spreads a level's slow reads over connections of their pool that are free: a connection runs one statement after the other,
  # so ten of 10 ms take 100 ms over one, and 30 ms over four.
  #
  #     use Pipeloader, lanes: 4                                       # connections at most, the response's own among them
  #     use Pipeloader, lanes: { most: 4, declared: /\bpg_sleep\(/ }   # declared reads count as slow, whatever they call
  #
  # Only where another connection answers the same: in no transaction but a ReadTransaction, on a session that nothing has
  # changed, if every read of the burst is pure or declared. Nobody waits for a connection because of it: it takes what is free,
  # leaves one, and gives back all when the level ends.
  #
  # Limits: a function that changes its session isn't seen, see SQLText.changes_session?.
  class Lanes
    # Milliseconds from which on a read is slow.
    SLOW = 5.0

    DEFAULTS = { most: 4, declared: [] }.freeze
    private_constant :SLOW, :DEFAULTS

    class << self
      # @param option [Integer, Hash, nil] what `use Pipeloader` was given
      # @return [Lanes, nil] nil where there is nothing to spread
      # @raise [ArgumentError]
      def of(option)
        given = { **DEFAULTS, **(option.is_a?(Hash) ? option : { most: option || 1 }) }
        most, declared = given[:most], Array(given[:declared])
        unless given.size == 2 && most.is_a?(Integer) && most.positive? && declared.all?(Regexp)
          raise ArgumentError, "lanes must be an Integer >= 1, or { most: 4, declared: [/\\bpg_sleep\\(/] }, " \
                               "got #{option.inspect}"
        end

        new(most, declared) if most > 1
      end
    end

    #: (Integer, Array[Regexp]) -> void
    def initialize(most, declared)
      @most = most
      @declared = Regexp.union(declared) if declared.any?
    end

    # Sends them, and at the same time what of them goes by lanes. Interrupts come in while it waits, and at no other time:
    # no lane is left out of its pool.
    #
    #: (Array[Burst]) -> void
    def run(bursts)
      lanes = []
      Thread.pipeloader_host_handle_interrupt(CancelRequest::WHILE_WAITING) do
        bursts.each { |burst| spread(burst, lanes) }
        Burst.run(bursts + lanes.select(&:pending?))
      ensure
        Thread.pipeloader_host_handle_interrupt(CancelRequest::UNINTERRUPTED) { give_back(lanes) }
      end
    end

    private

    # @param lanes [Array<Lane>] gets those that it takes
    def spread(burst, lanes)
      slow = slow_reads(burst)
      return if slow.size < 2

      times = slow.map(&:first)
      # No more than it takes to be done when the slowest one is.
      wanted = [@most, slow.size, (times.sum / times.max).ceil].min
      ready = ready_lanes(burst, wanted - 1, lanes)
      share_out(slow, ready) if ready.any? && share_snapshot(burst, ready)
    end

    # @return [Boolean] whether the lanes would read what the burst does
    def share_snapshot(burst, lanes)
      exporter = burst.export_snapshot
      lanes.each { |lane| lane.read_in_snapshot_of(exporter) } if exporter
      exporter != false
    end

    # @return [Array<Array(Float, Array<Read>)>] milliseconds, and reads that one statement may answer
    def slow_reads(burst)
      reads = burst.unanswered
      return [] unless reads.size > 1 && burst.lends? && reads.all? { |read| read.pure? || declared?(read) }

      reads.group_by { |read| read.pure? || read.cached? ? read.key : read }.each_value.filter_map do |equal|
        known = burst.server_times.known(equal.first.text) || 0.0
        [[known, SLOW].max, equal] if known >= SLOW || declared?(equal.first)
      end
    end

    def declared?(read) = !@declared.nil? && @declared.match?(read.text)

    # A connection that has yet to be made takes longer than many a slow read, so there is one of those at most.
    #
    # @return [Array<Lane>] up to +count+ of them
    def ready_lanes(burst, count, lanes)
      ready = []
      made = false
      while ready.size < count && (lane = take(burst, lanes))
        new = !lane.connected?
        break if (new && made) || !lane.ready?

        made ||= new
        ready << lane
      end
      ready
    end

    # @return [Lane, nil]
    def take(burst, lanes)
      Thread.pipeloader_host_handle_interrupt(Object => :never) do
        adapter = burst.adapter.pool.pipeloader_spare
        Lane.new(adapter, burst).tap { |lane| lanes << lane } if adapter
      end
    end

    # Those that take longest first, each to whoever has least to do; the burst keeps its own share.
    def share_out(slow, lanes)
      loads = [nil, *lanes].map { |lane| [0.0, [], lane] }
      slow.sort_by { |ms, _| -ms }.each do |ms, reads|
        load = loads.min_by(&:first)
        load[0] += ms
        load[1].concat(reads)
      end
      loads.each { |_, reads, lane| lane&.borrow(reads) }
    end

    # All of them, even if one raises.
    def give_back(lanes)
      lanes.shift.give_back until lanes.empty?
    ensure
      give_back(lanes) unless lanes.empty?
    end
  end
end
