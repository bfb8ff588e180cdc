# frozen_string_literal: true

module Pipeloader
  # The comments that query transformers put around an SQL text (ActiveRecord::QueryLogs, Marginalia). They say who asks, and
  # nothing of what is asked for: whether a read is pure, and what the server says of it, is a matter of the text alone.
  #
  # Limits: transformers that change the text; comments within comments; hints (`/*+ … */`).
  class Tags
    COMMENT = %r{\s|/\*(?!\+)(?:(?!/\*|\*/).)*+\*/|--[^\r\n]*+[\r\n]}m
    BEFORE = /\A(?:#{COMMENT})*+\z/
    AFTER = /\A(?:#{COMMENT})*+(?:--[^\r\n]*+)?\z/
    private_constant :COMMENT, :BEFORE, :AFTER

    # @param text [String] as ActiveRecord has it
    # @param sql [String] what transformers have made of it
    # @return [Tags, nil] nil if they have done more than to put comments around it
    def self.around(text, sql)
      at = sql.index(text) or return
      before, after = sql[0, at], sql[(at + text.size)..]
      return unless before.valid_encoding? && after.valid_encoding?

      new(text, before, after) if BEFORE.match?(before) && AFTER.match?(after)
    end

    # @return [String] without them
    attr_reader :text

    def initialize(text, before, after)
      @text = text
      @before = before
      @after = after
    end

    # @return [Array<String>] what is before, and what behind
    def key = [@before, @after]

    def on(sql) = "#{@before}#{sql}#{@after}"
  end
end
