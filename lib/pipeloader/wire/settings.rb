# frozen_string_literal: true

module Pipeloader
  # What must be true of a connection while it works for one response: PostgreSQL's settings, custom ones too.
  #
  # They are set before each statement, under its Sync, so in its own transaction: nothing is left behind for whoever uses the
  # connection next, and a setting that the server refuses is the statement's error. Names and values are parameters.
  class Settings
    # Where the values are kept that a transaction had before, until it gets them back.
    OUTER = "pipeloader.outer_"
    TEXTS = [String, Symbol, Integer, Float, true, false].freeze
    # Milliseconds, as PostgreSQL has them.
    LONGEST = (2**31) - 1
    private_constant :OUTER, :TEXTS, :LONGEST

    class << self
      # @param values [Hash{String => String, Symbol, Integer, Float, Boolean, Time, nil}] nil leaves a setting as it is; a Time
      #   is the milliseconds until then
      # @return [Settings, nil] nil for none
      # @raise [ArgumentError] that says what to return instead
      def from(values)
        raise ArgumentError, %(it must return a Hash like { "app.tenant_id" => 1 }, not #{values.class}) unless values.is_a?(Hash)

        known = values.compact.to_h { |name, value| [text(name, "a name"), Time === value ? value.to_time : text(value, name)] }
        new(known) if known.any?
      end

      # @param settings [Settings, Exception, nil] an exception where they can't be known
      # @return [Settings, nil]
      def known!(settings) = Exception === settings ? raise(settings.dup) : settings

      # Query caches don't know under which settings something was read.
      def forget_cached = ActiveRecord::Base.clear_query_caches_for_current_thread

      # Ends a transaction that was being begun, or the connection if the server may still begin it.
      #
      #: (PG::Connection) -> void
      def give_up(connection)
        case connection.transaction_status
        when PG::PQTRANS_IDLE then nil
        when PG::PQTRANS_INERROR then connection.async_exec("ROLLBACK").clear
        else CancelRequest.close(connection)
        end
      end

      private

      def text(value, name)
        raise ArgumentError, "#{name} must be a String, not #{value.class}" unless TEXTS.any? { |type| type === value }

        text = String.new(value.to_s)
        raise ArgumentError, "#{name} must be text" if !text.valid_encoding? || text.b.include?("\0")

        text.freeze
      end
    end

    alias inspect to_s # values may be secret

    # @param values [Hash{String => String, Time}]
    def initialize(values)
      @values = values
    end

    def eql?(other) = other.is_a?(Settings) && values.eql?(other.values)
    alias == eql?
    def hash = values.hash

    # Without the values, which may be secret.
    def names = @values.keys

    # What goes before a statement, and after it, under its Sync: each SQL with its parameters.
    #
    # @param outer [Boolean] whether a transaction is open, which then gets back what it had
    # @return [Array(Array<Array>, Array<Array>)]
    def around(outer) = outer ? [[entering], [leaving]] : [[setting], []]

    # In a transaction that has just begun.
    #
    #: (PG::Connection) -> void
    def begin_on(connection) = connection.exec_params(*setting).clear

    # Yields in a transaction that gets back what it had. In one that has failed nothing is read. Interrupts come in only while
    # the server is waited for: in between the transaction has settings that nobody knows of.
    #
    #: [T] (PG::Connection) { () -> T } -> T
    def within(connection)
      return yield if connection.transaction_status == PG::PQTRANS_INERROR

      Thread.pipeloader_host_handle_interrupt(CancelRequest::WHILE_WAITING) do
        connection.exec_params(*entering).clear
        yield
      ensure
        leave(connection)
      end
    end

    protected

    attr_reader :values

    private

    #   SELECT set_config($1, $2, true), set_config($3, $4, true)
    def setting = [@setting ||= "SELECT #{sets}", pairs]

    #   SELECT set_config('pipeloader.outer_1', coalesce(current_setting($1, true), ''), true), set_config($1, $2, true)
    def entering = [@entering ||= "SELECT #{keeps}, #{sets}", pairs]

    # The last one first, as the role may be the first.
    #
    #   SELECT set_config($1, current_setting('pipeloader.outer_1'), true)
    def leaving
      @leaving ||= begin
        sets = (1..@values.size).map { |number| "set_config($#{number}, current_setting('#{OUTER}#{number}'), true)" }
        ["SELECT #{sets.reverse.join(", ")}", @values.keys]
      end
    end

    def sets = each_number { |number| "set_config($#{(number * 2) - 1}, $#{number * 2}, true)" }

    def keeps
      each_number { |number| "set_config('#{OUTER}#{number}', coalesce(current_setting($#{(number * 2) - 1}, true), ''), true)" }
    end

    def each_number(&) = (1..@values.size).map(&).join(", ")

    def pairs = @values.flat_map { |name, value| [name, Time === value ? until_then(value) : value] }

    # PostgreSQL takes 0 for no limit.
    def until_then(time) = ((time - Time.now) * 1000).ceil.clamp(1, LONGEST).to_s

    def leave(connection)
      CancelRequest.clear(connection)
      (left = connection.exec_params(*leaving)).clear if connection.transaction_status == PG::PQTRANS_INTRANS
    ensure
      over = [PG::PQTRANS_INERROR, PG::PQTRANS_UNKNOWN].include?(connection.transaction_status)
      CancelRequest.close(connection) unless left || over
    end
  end
end
