# frozen_string_literal: true

module Pipeloader
  # One SELECT that ActiveRecord wants, as it stood when its fiber asked: parked until it is answered, by a result or an
  # error, which ActiveRecord's own code then takes from here (Replay).
  class Read
    # SQL whose result, or effect, may differ when it is sent once instead of twice: functions that we don't know, locks,
    # clocks, statements that write; and whatever could hide such a name from these words (comments, quotes, other
    # alphabets). Only asked where ActiveRecord couldn't tell (raw SQL).
    IMPURE = %r{
      \b(?!(?:and|or|not|in|is|as|on|any|all|some|by|case|when|then|else|exists|from|join|using|over|filter|values|where
            |having|select|union|except|intersect|distinct|with|lateral|between|like|ilike|limit|offset|row|array
            |count|sum|min|max|avg|coalesce|nullif|greatest|least|abs|round|lower|upper|length|cast|extract
            |date_trunc)\b)[a-z_][a-z_0-9$]*+\s*+\(
      |"\s*\(|/\*|--|\bu&|[^\x00-\x7f]
      |\bfor\s+(?:no\s+key\s+update|update|share|key\s+share)\b
      |\b(?:current_(?:catalog|date|role|schema|time|timestamp|user)|localtime|localtimestamp
            |insert|update|delete|merge|into)\b
    }xi

    # {SQL => whether it is free of all that}: reads come in few shapes, and the pattern takes longer than a look-up.
    KNOWN = Bounded.new(1000)
    KNOWN_LENGTH = 2000
    # Longer texts count as impure: to look through them takes long, and longer still in an `IN` of thousands of numbers.
    LONGEST = 20_000
    private_constant :IMPURE, :KNOWN, :KNOWN_LENGTH, :LONGEST

    def self.pure_text?(sql)
      return sql.size <= LONGEST && !IMPURE.match?(sql) if sql.size > KNOWN_LENGTH

      KNOWN.fetch(sql) { KNOWN[sql] = !IMPURE.match?(sql) }
    end

    # The same of a text that won't come again.
    def self.impure?(sql) = sql.size > LONGEST || IMPURE.match?(sql)

    attr_reader :adapter, :text, :sql, :name, :binds, :params, :preparable, :enqueued_at, :cached_as_of

    # The Job that asked for it; nil for a source's fetch.
    attr_accessor :job

    # Until when it may be sent; nil without a limit.
    #
    #: () -> TimeLimit?
    attr_accessor :time_limit

    # True if the time is up: it isn't to be sent, and what is sent needs no answer.
    def late? = !@time_limit.nil? && @time_limit.passed?

    # True if it may become one statement with others of the same SQL.
    attr_writer :coalesces

    def coalesces? = @coalesces && pure?

    # What is to be looked up for its rows in the same round trip; nil for nothing.
    #
    #: () -> Followers?
    attr_accessor :followers

    # When its burst has brought it: the number of that burst in the response, and how long the fiber was parked.
    attr_reader :position, :wait

    # @param text [String] as ActiveRecord has it
    # @param sql [String] as it goes to the server (query transformers applied)
    # @param params [Array] the binds' values, as pg takes them
    # @param prepared [Boolean] whether ActiveRecord would run it as a named prepared statement
    # @param retryable [Boolean] whether ActiveRecord itself holds that it may be run again
    # @param cached_as_of [Integer, nil] how often the query cache, which will keep its result, had been cleared when it was
    #   asked for; nil where none will
    def initialize(adapter:, text:, sql:, name:, binds:, params:, preparable:, prepared:, retryable:, cached_as_of:)
      @adapter = adapter
      @text = text
      @sql = sql
      @name = name
      @binds = binds
      @params = params
      @preparable = preparable
      @prepared = prepared
      @retryable = retryable
      @cached_as_of = cached_as_of
      @pure = nil
      @enqueued_at = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
    end

    def prepared? = @prepared

    # Reads with equal keys are one statement, if both are shareable.
    def key = @params.empty? ? @sql : [@sql, @params]

    # True if one result may answer this one and an equal +read+ before it. The query cache does so anyway, until it is cleared.
    def shareable_with?(read) = pure? || (cached? && @cached_as_of == read.cached_as_of)

    # True if it may be sent once more if the connection broke before it was answered.
    def resendable? = pure?

    def answered? = !@outcome.nil?

    # @param outcome [Statement, Exception] the statement that was answered, or what kept the burst from being sent
    def deliver(outcome, position)
      @outcome = outcome
      @position = position
      @wait = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond) - @enqueued_at
    end

    # It is a level of its own, which nobody waits for.
    def alone(position) = (@position, @wait = position, 0.0)

    # It isn't to be sent any more.
    def withdraw
      @outcome = :withdrawn
    end

    # @return [Statement, nil] nil where the connection itself failed, or nobody waits for it any more
    def statement = (@outcome if @outcome.is_a?(Statement))

    # @return [Exception, nil] a fresh one each time, since fibers may raise it side by side: where it happened, and below that
    #   where the read was asked for
    def failure
      @outcome.dup.tap { |error| error.set_backtrace(@outcome.backtrace + caller(1)) } if @outcome.is_a?(Exception)
    end

    # True if the query cache is to keep its result.
    def cached? = !@cached_as_of.nil?

    # The comments that query transformers have put around it; nil if there are none, or something else is there.
    #
    #: () -> Tags?
    def tags
      @tags = (Tags.around(@text, @sql) unless @text.equal?(@sql)) unless defined?(@tags)
      @tags
    end

    # True if it can be run any number of times, before or after any other read, and nothing comes of it.
    def pure?
      @pure = @retryable || Read.pure_text?(tags ? @text : @sql) if @pure.nil?
      @pure
    end
  end
end
