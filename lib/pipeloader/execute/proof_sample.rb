# frozen_string_literal: true

module Pipeloader
  # Which executions are proved, and who hears of what differs: as `Pipeloader.proof` says. See DoubleCheck, and docs/proof.md.
  class ProofSample
    NAMES = %i[sample on_difference values].freeze
    ALLOWED = "proof must be nil, or { sample: a part of all executions from 0 to 1, on_difference: callable, " \
              "values: true or false }"
    private_constant :NAMES, :ALLOWED

    # To what a thread sends.
    LISTENING = Listening.new(Burst::EVENT, "sql.active_record") { Thread.current }

    @random = Random.new # as an application may count on the sequence of its own

    class << self
      # @return [Hash, nil] as Pipeloader.proof= takes it
      attr_reader :given

      # @raise [ArgumentError]
      def given=(value)
        raise ArgumentError, "#{ALLOWED}; got #{value.inspect}" unless value.nil? || fits?(value)

        @given = value.dup.freeze
        @sample = (new(**value) if value && value.fetch(:sample, 0).positive?)
        LISTENING.subscribe if @sample
      end

      # True if some may be proved.
      def any? = !@sample.nil?

      # @return [ProofSample, nil] nil for an execution that isn't proved
      def chosen = @sample && (@sample if @random.rand < @sample.part)

      private

      def fits?(value)
        value.is_a?(Hash) && (value.keys - NAMES).empty? && Options.part?(value.fetch(:sample, 0)) &&
          (value[:on_difference].nil? || value[:on_difference].respond_to?(:call)) && [nil, true, false].include?(value[:values])
      end
    end

    # @return [Numeric] of all executions
    attr_reader :part

    def initialize(sample:, on_difference: nil, values: false)
      @part = sample
      @on_difference = on_difference || ->(difference) { Notice.warn(difference.to_s) }
      @values = values || false
    end

    # Proves what was executed, and tells of each query that was answered differently. What fails here is a line in the log.
    #
    # @param check [DoubleCheck]
    # @param breaks [Boolean] whether the breaker opens for its operation
    def take(check, breaks)
      check.differences(@values).each do |query, difference|
        Pipeloader.breaker.open!(difference.schema, query, difference.reason) if breaks
        tell(difference)
      end
    rescue TimedOut
      raise
    rescue StandardError, ScriptError => e
      Notice.warn("a proof has failed: #{told(e)}")
    end

    private

    def tell(difference)
      @on_difference.call(difference)
    rescue TimedOut
      raise
    rescue StandardError, ScriptError => e
      Notice.warn("`on_difference` has failed: #{told(e)}")
    end

    def told(error) = "#{error.class}: #{error.message} (#{error.backtrace&.first})"
  end
end
