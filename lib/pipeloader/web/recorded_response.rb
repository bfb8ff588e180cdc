# frozen_string_literal: true

require "digest"

module Pipeloader
  # What one execution has taken, until it is added to its operation's figures: without its queries, and with all that they have
  # made.
  class RecordedResponse
    # Longer texts aren't kept; names are cut.
    LONGEST_TEXT = 20_000
    LONGEST_NAME = 200
    private_constant :LONGEST_TEXT

    class << self
      # The schema by its name: it may be reloaded. Never larger than what is kept anyway.
      #
      # @param queries [Array<GraphQL::Query>]
      # @return [Array<String>] schema, name, text
      def key(queries)
        query, another = queries
        text, name = query.query_string.to_s, query.selected_operation_name.to_s
        return [query.schema.to_s, name, text] unless another || text.bytesize > LONGEST_TEXT || name.size > LONGEST_NAME

        texts = queries.map { |it| it.query_string.to_s }
        texts = [Digest::SHA256.hexdigest(texts.join("\0"))] if texts.sum(&:bytesize) > LONGEST_TEXT
        [query.schema.to_s, queries.map { |it| it.selected_operation_name.to_s }.join(" + ")[0, LONGEST_NAME], *texts]
      end
    end

    attr_reader :key, :schema, :bursts, :statements, :reads, :rows, :waited, :at

    # @return [String, nil] nil for one that is too long to be kept
    attr_reader :text

    # @return [String] "query", "mutation", "subscription" or "multiplex"
    attr_reader :kind

    # @return [RecordedExecution, nil]
    attr_reader :seen

    # @return [Hash, nil] what was read ahead: {"Post.author" => {owners: 25, asked: 23}}
    attr_reader :ahead

    # @param payload [Hash] of the response's event
    def initialize(payload, seen, ahead)
      queries = payload[:queries]
      @key = self.class.key(queries)
      @schema = queries.first.schema
      @kind = queries.one? ? queries.first.selected_operation&.operation_type || "query" : "multiplex"
      @text = text_of(queries)
      @bursts, @statements, @reads, @rows, @waited = payload.values_at(:bursts, :statements, :reads, :rows, :waited)
      @at = Process.clock_gettime(Process::CLOCK_REALTIME)
      @seen = seen
      @ahead = ahead
    end

    private

    def text_of(queries)
      text = queries.one? ? queries.first.query_string : queries.map(&:query_string).join("\n\n")
      text if text.bytesize <= LONGEST_TEXT
    end
  end
end
