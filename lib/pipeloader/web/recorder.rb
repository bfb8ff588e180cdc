# frozen_string_literal: true

module Pipeloader
  # Hears what executions take, and keeps the sums of each operation. Any thread may execute, and any may ask.
  #
  # Most executions cost it a look at the clock, and one call when they are over (see Counters.recorder). What they have taken is
  # added up AT_ONCE together, which takes a fraction of the time that it takes one by one. Bursts are heard of only
  # for an execution that is shown burst by burst: of an operation at most one every SHOWN_EVERY seconds, and of all at most
  # MOST_SHOWN in a second.
  #
  # Limits: MOST_OPERATIONS operations and MOST_BYTES, estimated; what was executed least recently goes first.
  class Recorder
    MOST_OPERATIONS = 200
    MOST_BYTES = 4_000_000
    SHOWN_EVERY = 0.5
    MOST_SHOWN = 10
    AT_ONCE = 32
    SEEN = :pipeloader_web
    private_constant :AT_ONCE, :SEEN

    # Hears of bursts. While it is silent, and nobody else listens, their events aren't made.
    class Bursts
      def initialize(recorder)
        @recorder = recorder
      end

      # As ActiveSupport asks before an event is made.
      def silenced?(_event) = @recorder.idle? || @recorder.showing.nil?

      def call(_event, began, ended, _id, payload) = @recorder.burst(began, ended, payload)
    end
    private_constant :Bursts

    # @return [Time]
    attr_reader :since

    # True if SQL is kept with its values.
    attr_accessor :binds

    # @param store [RevisionStore, nil] where figures are kept beyond the process
    def history=(store)
      @history_lock.synchronize { @history, @revisions = store, nil }
    end

    alias inspect to_s

    def initialize
      @lock = Mutex.new
      @history_lock = Mutex.new # taken with and without the other
      @binds = false
      @underway = 0 # executions that are shown
      forget
    end

    def start
      @subscriptions ||= [
        ActiveSupport::Notifications.monotonic_subscribe(Burst::EVENT, Bursts.new(self)),
        hear(Trial::EVENT) { |payload| trial(payload) },
        hear(ReadAhead::EVENT) { |payload| namespace&.store(:ahead, payload[:reads]) }
      ]
      Counters.recorder = self
    end

    def stop
      @subscriptions&.each { |it| ActiveSupport::Notifications.unsubscribe(it) }
      @subscriptions = nil
      Counters.recorder = nil if Counters.recorder.equal?(self)
    end

    def running? = !@subscriptions.nil?

    def forget
      @lock.synchronize do
        @responses = Thread::Queue.new # RecordedResponses that are yet to be added up
        @operations = {} # {[schema's name, operation's name, text] => RecordedOperation}
        @bytes = @forgotten = 0
        @second = @shown = 0
        @failure = nil
        @since = Time.now
      end
    end

    #     {since: "2026-…", pid: 12, bytes: 1200, most_bytes: 4000000, forgotten: 0, failure: nil, revision: "3f2a91c",
    #      operations: as RecordedOperation#to_h, each with `change` as Revisions#change}
    def to_h
      add_up
      look_back
      @lock.synchronize do
        { since: @since.utc.strftime("%FT%TZ"), pid: Process.pid, recording: running?, bytes: @bytes, most_bytes: MOST_BYTES,
          forgotten: @forgotten, failure: @failure, revision: revisions&.name,
          operations: @operations.each_value.map { |it| told(it) } }
      end
    end

    # @return [Array(RecordedOperation, Hash), nil] with its figures, text, and latest timeline. Texts are masked here, while
    #   responses go on.
    def details(id)
      add_up
      found, figures, shown = @lock.synchronize do
        @operations.each_value.find { |it| it.id == id }&.then { |it| [it, it.details.merge(told(it)), shown(it)] }
      end
      return unless found

      text = found.text && (@binds ? Masked.utf8(found.text) : Masked.graphql(found.text))
      [found, { **figures, text: text, last: shown&.to_h }]
    end

    # @param id, statement [String] as #details tells them
    # @return [QueryPlan, nil] of a statement of the operation's latest timeline
    def plan(id, statement)
      @lock.synchronize { @operations.each_value.find { |it| it.id == id }&.then { |it| shown(it) } }&.plan(statement)
    end

    # An execution begins, or goes on: graphql-ruby before 2.5.12 runs its dataloader once more for lazy values.
    #
    # @param query [GraphQL::Query] its first one
    # @return [RecordedExecution, nil] that #over gets; nil where it isn't shown
    def begun(query)
      guarded do
        kept = query.context.namespace(SEEN)
        kept[:showing] = (RecordedExecution.new(@binds) if allowed? && due?) unless kept.key?(:showing)
        kept[:showing]&.tap { @lock.synchronize { @underway += 1 } }
      end
    end

    # It is over for now, or an exception has ended it.
    #
    # @param seen [RecordedExecution]
    def over(seen)
      guarded do
        @lock.synchronize { @underway -= 1 }
        seen.ended = now
      end
    end

    # True if no execution is shown that is underway.
    def idle? = @underway.zero?

    # @return [RecordedExecution, nil] the execution that is underway, if it is shown burst by burst
    def showing = guarded { namespace&.fetch(:showing, nil) }

    # An execution has succeeded, after it was over.
    #
    # @param payload [Hash] of the response's event
    def response(payload)
      guarded do
        kept = payload[:queries].first.context.namespace(SEEN)
        @responses << RecordedResponse.new(payload, *kept.values_at(:showing, :ahead))
        add_up if kept[:showing] || @responses.size >= AT_ONCE
      end
    end

    # @param began, ended [Float] seconds
    # @param payload [Hash] of Burst's event
    def burst(began, ended, payload)
      guarded { showing&.burst(began, ended, payload) }
    end

    private

    def hear(event)
      ActiveSupport::Notifications.monotonic_subscribe(event) { |_, _, _, _, payload| guarded { yield payload } }
    end

    # A failure in here must not fail the response.
    def guarded
      yield
    rescue StandardError => e
      @failure = Masked.utf8("#{e.class} (#{e.backtrace&.first})")
      nil
    end

    # Which revision runs, is known for sure when the application has booted.
    #
    # @return [Revisions, nil] nil where nothing is kept beyond the process
    def revisions
      return @revisions if @revisions || @history.nil?

      @history_lock.synchronize { @revisions ||= @history && Revision.current&.then { |name| Revisions.new(@history, name) } }
    end

    # What other processes have written, before somebody looks.
    def look_back
      kept = revisions or return
      guarded do
        @lock.synchronize { @operations.values }.each { |it| note_compiled(kept, it) }
        kept.write
      end
    end

    def note_compiled(revisions, operation)
      name = operation.lasting_name
      return if operation.multiplex? || operation.text.nil? || revisions.compiled?(name)

      schema = operation.schema or return
      states = FieldStates.tally(schema, operation.text, operation.name)
      revisions.compiled(name, states.fetch("compiled", 0), states.values.sum)
    rescue StandardError # of the schema's own code, which isn't asked again
      revisions.compiled(name, 0, 0)
    end

    # @return [RecordedExecution, nil] its latest; nil, too, while it has values that aren't shown any more
    def shown(operation) = (operation.shown if @binds || !operation.shown&.binds)

    def told(operation) = { **operation.to_h, change: revisions&.change(operation.lasting_name) }

    # What this keeps with the execution that is underway.
    def namespace = Response.queries.find { |it| GraphQL::Query === it }&.context&.namespace(SEEN)

    def due?
      key = RecordedResponse.key(Response.queries.grep(GraphQL::Query))
      shown_at = @lock.synchronize { @operations[key]&.shown_at }
      shown_at.nil? || now - shown_at >= SHOWN_EVERY
    end

    # Asked before anything else is looked at, and without the lock: threads that ask at once may be one too many, which does no
    # harm.
    def allowed?
      second = Process.clock_gettime(Process::CLOCK_MONOTONIC, :second)
      @second, @shown = second, 0 if second != @second
      (@shown += 1) <= MOST_SHOWN
    end

    def trial(payload)
      add_up
      key = RecordedResponse.key([payload[:query]])
      @lock.synchronize { @operations[key]&.tried(payload) }
    end

    # All that is known of by now.
    def add_up
      @lock.synchronize do
        @responses.size.times { guarded { add(@responses.pop) } }
      end
      guarded { revisions&.write_if_due }
    end

    def add(response)
      operation = @operations[response.key] ||= RecordedOperation.new(response).tap { |it| @bytes += it.bytes }
      before = operation.bytes
      operation.add(response)
      @bytes += operation.bytes - before
      drop_eldest while @operations.size > MOST_OPERATIONS || @bytes > MOST_BYTES
      revisions&.executed(operation.lasting_name, response)
    end

    def drop_eldest
      key, eldest = @operations.min_by { |_, operation| operation.at }
      @operations.delete(key)
      @bytes -= eldest.bytes
      @forgotten += 1
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
