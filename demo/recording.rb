# frozen_string_literal: true

module Demo
  # One wait for the server. Times in milliseconds after the run's beginning; reads: { "Track Load" => 12, "Artist Load" => 3 }.
  # position: the level's whose burst it was, nil for a statement that went alone.
  Trip = Struct.new(:start, :finish, :statements, :reads, :position, keyword_init: true) do
    def ms = finish - start
  end

  # One run of a query: what it answered, how long it took, and its trips to the server. wire: round trips that a proxy in
  # between has counted, nil without one.
  Recording = Struct.new(:answer, :ms, :trips, :wire, keyword_init: true) do
    def statements = trips.sum(&:statements)

    def round_trips = wire || trips.size
  end

  # Makes Recordings by listening to what ActiveRecord and Pipeloader say they send.
  class Recorder
    # Statements that aren't the application's own.
    FOREIGN = %w[SCHEMA TRANSACTION].freeze

    # Yields, and takes what the block returns for the answer.
    def self.record(&block) = new.record(&block)

    def initialize
      @trips = []
    end

    def record
      answer = ms = nil
      listen("sql.active_record", :statement) do
        listen("burst.pipeloader", :burst) do
          @began = now
          answer = yield
          ms = now - @began
        end
      end
      Recording.new(answer: answer, ms: ms, trips: @trips.sort_by(&:start))
    end

    private

    def listen(event, method, &block)
      taker = ->(_name, start, finish, _id, payload) { send(method, start * 1000 - @began, finish * 1000 - @began, payload) }
      ActiveSupport::Notifications.subscribed(taker, event, monotonic: true, &block)
    end

    # A parked read's event is told apart by its key :pipeloader; its burst is counted already.
    def statement(start, finish, payload)
      return if payload[:cached] || payload.key?(:pipeloader) || FOREIGN.include?(payload[:name])

      @trips << Trip.new(start: start, finish: finish, statements: 1, reads: { name(payload[:name]) => 1 })
    end

    def burst(start, finish, payload)
      @trips << Trip.new(start: start, finish: finish, statements: payload[:statements], position: payload[:position],
                         reads: payload[:reads].map { |read| name(read.name) }.tally)
    end

    def name(name) = name || "SQL"

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
  end
end
