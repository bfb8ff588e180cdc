# frozen_string_literal: true

require "digest"

module Pipeloader
  # What all executions of one operation have taken together, and the bursts of the latest.
  class RecordedOperation
    # Of its object, without texts.
    BASE = 2_000
    # Associations of which is said how often they were foreseen.
    MOST_AHEAD = 50
    private_constant :BASE, :MOST_AHEAD

    attr_reader :id, :text

    # @return [Class] as it was executed by last: it may have been reloaded
    attr_reader :schema

    # @return [Float] seconds, when it was last shown burst by burst
    attr_reader :detailed_at

    # @param text [String, nil] nil for one that is too long to be kept
    def initialize(key, queries, text)
      @id = Digest::SHA256.hexdigest(key.join("\0"))[0, 16]
      @label = Masked.utf8(key[1])
      @kind = queries.one? ? queries.first.selected_operation&.operation_type || "query" : "multiplex"
      @text = text
      @executions = @round_trips = @statements = @reads = @rows = 0
      @waited = @saved = 0.0
      @ahead = {} # {"Post.author" => {owners: 25, asked: 23}}
    end

    # @param payload [Hash] of the response's event
    # @param seen [RecordedExecution, nil]
    # @param now [Float] seconds
    def add(payload, seen, now)
      @schema = payload[:queries].first.schema
      @executions += 1
      @round_trips += payload[:bursts]
      @statements += payload[:statements]
      @reads += payload[:reads]
      @waited += payload[:waited] * 1000
      @at = Time.now
      see(payload, seen, now) if seen
    end

    # @param payload [Hash] of Trial's event
    def tried(payload)
      @trial = { rests: payload[:rests], with: (payload[:seconds_with] * 1000).round(3),
                 without: (payload[:seconds_without] * 1000).round(3) }
    end

    def bytes = BASE + (2 * @text.to_s.bytesize) + @label.bytesize + @last_bytes.to_i

    # Milliseconds, except for `at`.
    def to_h
      { id: @id, schema: Masked.utf8(@schema.to_s), name: @label, kind: @kind, executions: @executions, round_trips: @round_trips,
        statements: @statements, reads: @reads, rows: @rows, waited: @waited.round(3), saved: (@saved.round(3) if @distance),
        round_trip: @distance&.round(3), trial: @trial, foreseen: @ahead.sum { |_, it| it[:owners] },
        foreseen_and_asked: @ahead.sum { |_, it| it[:asked] }, at: @at.utc.strftime("%FT%T.%LZ") }
    end

    # @param binds [Boolean] whether values are shown that are written into its text
    def details(binds)
      text = @text && (binds ? Masked.utf8(@text) : Masked.graphql(@text))
      { **to_h, text: text, last: @last, ahead: @ahead.map { |name, it| { name: Masked.utf8(name), **it } } }
    end

    def name = (@label unless @label.empty?)
    def multiplex? = @kind == "multiplex"

    private

    def see(payload, seen, now)
      @rows += seen.rows
      @distance = seen.distance || @distance
      @saved += [payload[:reads] - payload[:bursts], 0].max * @distance if @distance
      seen.ahead.each { |name, count| @ahead[name] = sum(@ahead[name], count) if @ahead.key?(name) || @ahead.size < MOST_AHEAD }
      return unless seen.detailed?

      @detailed_at = now
      @last = seen.timeline(now)
      @last_bytes = seen.bytes
    end

    def sum(before, count) = before ? before.merge(count) { |_, one, other| one + other } : count
  end
end
