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
    private_constant :BASE, :MOST_AHEAD

    attr_reader :id, :text

    # @return [Float] seconds since 1970, when it was executed last
    attr_reader :at

    # @return [Integer] roughly. The key has the text as well, and the label.
    attr_reader :bytes

    # @return [Float, nil] seconds, when it was last shown burst by burst
    attr_reader :shown_at

    # @param first [RecordedResponse] of it
    def initialize(first)
      key = first.key
      @id = Digest::SHA256.hexdigest(key.join("\0"))[0, 16]
      @schema_name = Masked.utf8(key[0])
      @label = Masked.utf8(key[1])
      @kind = first.kind
      @text = first.text
      @bytes = @unseen = BASE + (2 * @text.to_s.bytesize) + (2 * @label.bytesize)
      @executions = @round_trips = @statements = @reads = @rows = @spared = 0
      @waited = @at = 0.0
      @ahead = {} # {"Post.author" => {owners: 25, asked: 23}}
    end

    # @param response [RecordedResponse]
    def add(response)
      remember(response.schema)
      @executions += 1
      @round_trips += response.bursts
      @statements += response.statements
      @reads += response.reads
      @rows += response.rows
      @spared += [response.reads - response.bursts, 0].max
      @waited += response.waited * 1000
      @at = response.at
      response.ahead&.each { |name, count| @ahead[name] = sum(@ahead[name], count) if room?(name) }
      show(response.seen) if response.seen
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

    def room?(name) = @ahead.key?(name) || @ahead.size < MOST_AHEAD

    def sum(before, count) = before ? before.merge(count) { |_, one, other| one + other } : count
  end
end
