# frozen_string_literal: true

require "digest"
require "weakref"

module Pipeloader
  # What all executions of one operation have taken together, and the bursts of the latest that is shown.
  class RecordedOperation
    # Of its object, without texts.
    BASE = 2_000
    # Associations of which is said how often they were foreseen.
    MOST_AHEAD = 50
    # Longer texts aren't kept; names are cut.
    LONGEST_TEXT = 20_000
    LONGEST_NAME = 200
    private_constant :BASE, :MOST_AHEAD, :LONGEST_TEXT

    class << self
      # The schema by its name: it may be reloaded. Never larger than what is kept anyway.
      #
      # @return [Array<String>] schema, name, text
      def key(queries)
        query, another = queries
        text, name = query.query_string.to_s, query.selected_operation_name.to_s
        return [query.schema.to_s, name, text] unless another || text.bytesize > LONGEST_TEXT || name.size > LONGEST_NAME

        texts = queries.map { |it| it.query_string.to_s }
        texts = [Digest::SHA256.hexdigest(texts.join("\0"))] if texts.sum(&:bytesize) > LONGEST_TEXT
        [query.schema.to_s, queries.map { |it| it.selected_operation_name.to_s }.join(" + ")[0, LONGEST_NAME], *texts]
      end

      # @return [String, nil] nil for one that is too long to be kept
      def text(queries)
        text = queries.map(&:query_string).join("\n\n")
        text if text.bytesize <= LONGEST_TEXT
      end
    end

    attr_reader :id, :text

    # @return [Float] seconds since 1970, when it was executed last
    attr_reader :at

    # @return [Integer] roughly. The key has the text as well, and the label.
    attr_reader :bytes

    # @return [Float, nil] seconds, when it was last shown burst by burst
    attr_reader :shown_at

    def initialize(key, queries)
      @id = Digest::SHA256.hexdigest(key.join("\0"))[0, 16]
      @schema_name = Masked.utf8(key[0])
      @label = Masked.utf8(key[1])
      @kind = queries.one? ? queries.first.selected_operation&.operation_type || "query" : "multiplex"
      @text = self.class.text(queries)
      @bytes = @unseen = BASE + (2 * @text.to_s.bytesize) + (2 * @label.bytesize)
      @executions = @round_trips = @statements = @reads = @rows = @spared = 0
      @waited = @at = 0.0
      @ahead = {} # {"Post.author" => {owners: 25, asked: 23}}
    end

    # @param payload [Hash] of the response's event
    # @param seen [RecordedExecution, nil]
    # @param ahead [Hash, nil] what was read ahead, as @ahead
    def add(payload, seen, ahead)
      remember(payload[:queries].first.schema)
      @executions += 1
      @round_trips += payload[:bursts]
      @statements += payload[:statements]
      @reads += payload[:reads]
      @rows += payload[:rows]
      @spared += [payload[:reads] - payload[:bursts], 0].max
      @waited += payload[:waited] * 1000
      @at = Process.clock_gettime(Process::CLOCK_REALTIME)
      ahead&.each { |name, count| @ahead[name] = sum(@ahead[name], count) if @ahead.key?(name) || @ahead.size < MOST_AHEAD }
      show(seen) if seen
      self
    end

    # @param payload [Hash] of Trial's event
    def tried(payload)
      @trial = { rests: payload[:rests], with: (payload[:seconds_with] * 1000).round(3),
                 without: (payload[:seconds_without] * 1000).round(3) }
    end

    # Milliseconds, except for `at`.
    def to_h
      { id: @id, schema: @schema_name, name: @label, kind: @kind, executions: @executions, round_trips: @round_trips,
        statements: @statements, reads: @reads, rows: @rows, waited: @waited.round(3), saved: @distance&.*(@spared)&.round(3),
        round_trip: @distance&.round(3), trial: @trial, foreseen: @ahead.sum { |_, it| it[:owners] },
        foreseen_and_asked: @ahead.sum { |_, it| it[:asked] }, at: Time.at(@at).utc.strftime("%FT%T.%LZ") }
    end

    # @return [RecordedExecution, nil] the latest that is shown
    attr_reader :shown

    # As #to_h, and what was read ahead.
    def details = { **to_h, ahead: @ahead.map { |name, it| { name: Masked.utf8(name), **it } } }

    # @return [Class, nil] as it was executed by last; nil if it was reloaded since, and is gone
    def schema
      @schema.__getobj__
    rescue WeakRef::RefError
      nil
    end

    def name = (@label unless @label.empty?)

    # What it is called in all revisions of the application: its text may change.
    def lasting_name = "#{@schema_name} #{name || "##{@id}"}"
    def multiplex? = @kind == "multiplex"

    private

    # Weakly: once code is reloaded, the former schema, and all types with it, would stay for as long as this.
    def remember(schema)
      @schema = WeakRef.new(schema) unless @schema && schema.equal?(self.schema)
    end

    def show(seen)
      @distance = seen.distance || @distance
      @shown = seen
      @shown_at = seen.ended
      @bytes = @unseen + seen.bytes
    end

    def sum(before, count) = before ? before.merge(count) { |_, one, other| one + other } : count
  end
end
