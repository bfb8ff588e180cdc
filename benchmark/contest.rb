# frozen_string_literal: true

require "etc"
require_relative "turns"
require_relative "parity"

module Bench
  # One workload: entries start, must give the same answer, are counted, and take turns at each distance. The result is
  # plain data, see #run.
  class Contest
    AT_ONCE = Etc.nprocessors

    # entries: the first one's answer is the measure. address: of the server, with the workload's namespace.
    def initialize(workload, entries, address, settings, progress)
      @workload = workload
      @entries = entries
      @address = address
      @settings = settings
      @progress = progress
      @absent = {} # {"name" => "why"}
      @lock = Mutex.new
    end

    # {workload:, answer_bytes:, absent: {name => why},
    #  entries: {name => {round_trips:, statements:, bytes_to_server:, bytes_to_client:, peak:,
    #                     samples: {rtt => [[wall, cpu, server, allocations], …]}}}}
    def run
      start
      load
      figures = count
      samples = far_first.to_h { |rtt| [rtt, time(rtt)] }
      remember_peaks(figures)
      figures.each { |name, figure| figure[:samples] = @settings[:rtts].to_h { |rtt| [rtt, samples[rtt].fetch(name, [])] } }
      { workload: @workload.name, answer_bytes: @answer_bytes, absent: @absent, entries: figures }
    ensure
      @stations&.each_value(&:stop)
    end

    private

    # The nearest distance comes last: each contender connects through its proxy once, and then directly.
    def far_first = @settings[:rtts].sort.reverse

    def start
      @stations = {}
      @entries.each { |entry| @stations[entry.name] = entry.start(@workload, @address) }
    end

    # All at once, as they are many.
    def load
      say "loading #{@stations.size} contenders"
      @stations.each_value { |station| station.worker.start_loading }
      @stations.each { |name, station| without(name) { station.worker.loaded[:missing] } }
    end

    # Whoever can't run here, or fails, is left out, which the report says. (But not the measure.)
    def without(name)
      why = yield
    rescue Worker::Failed => e
      raise if name == @entries.first.name
      why = e.message
    ensure
      leave_out(name, why) if why
    end

    def leave_out(name, why)
      station = @lock.synchronize do
        @absent[name] = why
        @stations.delete(name)
      end
      station.stop
    end

    # Yields each station, as many at once as there are processors: for what isn't timed.
    def prepare(step)
      say step
      queue = @stations.to_a.each_with_object(Thread::Queue.new) { |each, waiting| waiting << each }.close
      threads = Array.new(AT_ONCE) do
        Thread.new do
          Thread.current.report_on_exception = false
          while (name, station = queue.pop)
            without(name) { yield(name, station) && nil }
          end
        end
      end
      threads.each(&:join)
    end

    # Compares the answers, and reads off the wire what each costs: one after the other, or a burst might be sent in two parts.
    def count
      prepare("connecting") { |_, station| uncounted? ? station.connect_near : station.connect_far(Station::COUNTING_RTT) }
      parity = Parity.new
      figures = {}
      @stations.dup.each do |name, station|
        say "comparing answers, counting round trips", name
        without(name) do
          answer, cost = look(station)
          parity.check(name, answer)
          figures[name] = cost and nil
        end
      end
      @answer_bytes = parity.bytes
      figures
    end

    # With ten thousand posts naive would take minutes to be counted.
    def uncounted? = @settings[:uncounted]

    def look(station) = uncounted? ? [station.worker.answer, {}] : station.count

    def time(rtt)
      seconds = {}
      prepare("RTT #{label(rtt)} ms: warming up") do |name, station|
        seconds[name] = rtt.zero? ? station.connect_near : station.connect_far(rtt)
      end
      turns = Turns.new(seconds, **@settings.slice(:budget, :least, :most))
      take(turns, rtt)
    end

    def take(turns, rtt)
      samples = turns.runs.transform_values { [] }
      turns.each do |round, names|
        say "RTT #{label(rtt)} ms", "round #{round + 1} of #{turns.rounds}"
        names.each do |name|
          without(name) { (samples[name] << @stations[name].worker.sample.to_a) && nil } if @stations[name]
        end
      end
      samples
    end

    def remember_peaks(figures)
      prepare("measuring memory") do |name, station|
        station.connect_near
        figures[name][:peak] = station.worker.peak
      end
    end

    def label(rtt) = rtt.to_s.delete_suffix(".0")

    def say(step, detail = nil) = @progress.say("#{@workload.name}: #{step}", detail)
  end
end
