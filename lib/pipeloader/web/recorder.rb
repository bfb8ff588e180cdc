# frozen_string_literal: true

module Pipeloader
  # Hears what executions take, and keeps the sums of each operation. Any thread may execute, and any may ask.
  #
  # Limits: MOST_OPERATIONS operations and MOST_BYTES, estimated; what was executed least recently goes first. An operation's
  # bursts are kept one by one at most every DETAILED_EVERY seconds.
  class Recorder
    MOST_OPERATIONS = 200
    MOST_BYTES = 4_000_000
    DETAILED_EVERY = 0.5
    # Longer texts of operations aren't kept.
    LONGEST_TEXT = 20_000
    SEEN = :pipeloader_web
    private_constant :SEEN

    # @return [Time]
    attr_reader :since

    # True if SQL is kept with its values.
    attr_accessor :binds

    alias inspect to_s

    def initialize
      @lock = Mutex.new
      @binds = false
      forget
    end

    def start
      @subscriptions ||= [
        hear(Burst::EVENT) { |began, ended, payload| burst(began, ended, payload) },
        hear(Counters::RESPONSE) { |*, payload| response(payload) },
        hear(Trial::EVENT) { |*, payload| trial(payload) },
        hear(ReadAhead::EVENT) { |*, payload| ahead(payload) }
      ]
    end

    def stop
      @subscriptions&.each { |it| ActiveSupport::Notifications.unsubscribe(it) }
      @subscriptions = nil
    end

    def running? = !@subscriptions.nil?

    def forget
      @lock.synchronize do
        @operations = {} # {[schema's name, operation's name, text] => RecordedOperation}, what was executed last comes last
        @bytes = @forgotten = 0
        @failure = nil
        @since = Time.now
      end
    end

    #     {since: "2026-…", pid: 12, bytes: 1200, most_bytes: 4000000, forgotten: 0, failure: nil,
    #      operations: as RecordedOperation#to_h}
    def to_h
      @lock.synchronize do
        { since: @since.utc.strftime("%FT%TZ"), pid: Process.pid, recording: running?, bytes: @bytes, most_bytes: MOST_BYTES,
          forgotten: @forgotten, failure: @failure, operations: @operations.each_value.map(&:to_h) }
      end
    end

    # @return [Array(RecordedOperation, Hash), nil] with its #details
    def details(id)
      @lock.synchronize do
        found = @operations.each_value.find { |it| it.id == id }
        [found, found.details(@binds)] if found
      end
    end

    private

    # A failure in here must not fail the response.
    def hear(event)
      ActiveSupport::Notifications.monotonic_subscribe(event) do |_, began, ended, _, payload|
        yield began, ended, payload
      rescue StandardError => e
        @failure = Masked.utf8("#{e.class} (#{e.backtrace&.first})")
      end
    end

    def burst(began, ended, payload)
      query = Response.queries.grep(GraphQL::Query).first or return
      seen(query).burst(began, ended, payload)
    end

    def ahead(payload)
      query = Response.queries.grep(GraphQL::Query).first or return
      seen(query).ahead = payload[:reads]
    end

    def seen(query)
      query.context.namespace(SEEN)[:execution] ||= RecordedExecution.new(due?(query), @binds)
    end

    def due?(query)
      known = @lock.synchronize { @operations[key(Response.queries.grep(GraphQL::Query))] || @operations[key([query])] }
      known&.detailed_at.nil? || now - known.detailed_at >= DETAILED_EVERY
    end

    def response(payload)
      queries = payload[:queries]
      execution = queries.first.context.namespace(SEEN)[:execution]
      change(queries) { |operation| operation.add(payload, execution, now) }
    end

    def trial(payload)
      key = key([payload[:query]])
      @lock.synchronize { @operations[key]&.tried(payload) }
    end

    def change(queries)
      key = key(queries)
      @lock.synchronize do
        operation = @operations.delete(key)
        @bytes -= operation.bytes if operation
        operation ||= RecordedOperation.new(key, queries, kept_text(queries))
        yield operation
        @operations[key] = operation
        @bytes += operation.bytes
        drop_eldest while @operations.size > MOST_OPERATIONS || @bytes > MOST_BYTES
      end
    end

    def drop_eldest
      _, eldest = @operations.shift
      @bytes -= eldest.bytes
      @forgotten += 1
    end

    # The schema by its name: it may be reloaded.
    def key(queries)
      [queries.first.schema.to_s, queries.map { |query| query.selected_operation_name.to_s }.join(" + "),
       *queries.map { |query| short(query.query_string.to_s) }]
    end

    def short(text) = text.bytesize > LONGEST_TEXT ? Digest::SHA256.hexdigest(text) : text

    def kept_text(queries)
      text = queries.map(&:query_string).join("\n\n")
      text if text.bytesize <= LONGEST_TEXT
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
