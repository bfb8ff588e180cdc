# frozen_string_literal: true

module Pipeloader
  # What operations have taken by revision of the application, in all processes: what the latest deploy has changed.
  #
  #     {"3f2a91c" => {"began" => 1764342000.0, "operations" => {"AppSchema Feed" => {"executions" => 12, "round_trips" => 36,
  #      "statements" => 40, "compiled" => 9, "fields" => 11}}}}
  #
  # Limits: MOST revisions, of each MOST_OPERATIONS operations. What a process has recorded since it last wrote is lost when it
  # ends.
  class Revisions
    MOST = 3
    MOST_OPERATIONS = 200
    # Seconds between two writes while nobody looks.
    EVERY = 10
    SUMS = %w[executions round_trips statements].freeze
    # Of the schema, as it is now.
    STATES = %w[compiled fields].freeze
    private_constant :SUMS, :STATES

    # @param store [RevisionStore]
    # @param name [String] of the revision that runs
    def initialize(store, name)
      @store = store
      @name = name
      @lock = Mutex.new
      @turn = Mutex.new # of who writes
      @kept = {}
      @more = {} # as one revision's operations: what isn't written yet
      @due = now + EVERY
    end

    attr_reader :name

    # An operation was executed.
    #
    # @param key [String] that it has in all revisions
    # @param response [RecordedResponse]
    def executed(key, response)
      note(key) { |it| merge(it, { "executions" => 1, "round_trips" => response.bursts, "statements" => response.statements }) }
    end

    # Doesn't wait for other processes.
    def write_if_due = (write(wait: false) if now >= @due)

    # So many of its fields are compiled.
    def compiled(key, count, fields) = note(key) { |it| it.merge("compiled" => count, "fields" => fields) }

    # @return [Boolean] whether #compiled was told of it
    def compiled?(key) = @lock.synchronize { [@more, ours(@kept)].any? { |it| it.dig(key, "fields") } }

    # Writes what is new, unless somebody else is about to. What can't be written is left for the next time.
    #
    # @param wait [Boolean] whether for other processes that write
    def write(wait: true)
      return unless @turn.try_lock

      begin
        @due = now + EVERY
        more = @lock.synchronize { @more.tap { @more = {} } }
        kept = @store.change(wait) { |all| added(all, more) }
        @lock.synchronize { @kept = kept } if kept
      ensure
        take_back(more) if more && !kept
        @turn.unlock
      end
    end

    # @return [Hash, nil] {before: {revision: "3f2a91c", executions: 12, …}, now: {…}}, of the other revision that began last and
    #   had the operation
    def change(key)
      kept = @lock.synchronize { @kept }
      now = ours(kept)[key] or return
      before = kept.except(@name).select { |_, it| it["operations"].key?(key) }.max_by { |_, it| it["began"] } or return

      { before: told(before.first, before.last["operations"][key]), now: told(@name, now) }
    end

    private

    def note(key)
      @lock.synchronize { @more[key] = yield(@more[key] || {}) if @more.key?(key) || @more.size < MOST_OPERATIONS }
    end

    def take_back(more)
      @lock.synchronize do
        @more = more.merge(@more) { |_, one, other| merge(one, other) }.first(MOST_OPERATIONS).to_h
      end
    end

    # What is kept may be somebody's who wrote it differently: then it begins anew.
    def added(all, more)
      add(all, more)
    rescue NoMethodError, TypeError, KeyError, ArgumentError
      add({}, more)
    end

    def add(all, more)
      began, operations = (all[@name] || { "began" => Time.now.to_f, "operations" => {} }).fetch_values("began", "operations")
      operations = operations.merge(more) { |_, one, other| merge(one, other) }.to_a.last(MOST_OPERATIONS).to_h
      kept = all.except(@name).max_by(MOST - 1) { |_, it| Float(it.fetch("began")) }.to_h
      all = { **kept, @name => { "began" => Float(began), "operations" => operations } }
      all.each_value { |it| check(it.fetch("operations")) }
    end

    def check(operations)
      raise TypeError unless operations.each_value.all? { |it| it.values.all?(Numeric) }
    end

    def merge(one, other)
      { **SUMS.to_h { |it| [it, one.fetch(it, 0) + other.fetch(it, 0)] }, **one.slice(*STATES), **other.slice(*STATES) }
    end

    def ours(kept) = kept.dig(@name, "operations") || {}
    def told(name, figures) = { revision: name, **figures.slice(*SUMS, *STATES).transform_keys(&:to_sym) }
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
