# frozen_string_literal: true

module Pipeloader
  # Keeps the figures true that Rails shows of a request, "Completed 200 OK … (ActiveRecord: 46.0ms (10 queries, 0 cached))": how
  # long it waited for bursts, and how many statements they sent. ActiveRecord counts its events by itself, in a registry: one
  # for each read, whose duration is what it takes to make a result of rows that are there.
  #
  # Limit: the registry is private to ActiveRecord. Where it isn't what is known here, its figures are left alone.
  module RuntimeFigures
    # As in ActiveRecord's registry.
    UNCOUNTED = %w[SCHEMA TRANSACTION].freeze
    private_constant :UNCOUNTED

    class << self
      # Yields to wait for the server. All of that time counts, once: what ActiveRecord has counted meanwhile (a read that goes
      # alone, BEGIN, a connection that is made) is a part of it.
      def waiting
        return yield unless (figures = current)

        before = figures.sql_runtime
        began = now
        begin
          yield
        ensure
          figures.sql_runtime = before + (now - began)
        end
      end

      # Yields within another event of ActiveRecord's, whose duration has all time in it.
      def within_event
        return yield unless (figures = current)

        before = figures.sql_runtime
        begin
          yield
        ensure
          figures.sql_runtime = before
        end
      end

      # @param statements [Integer] that were sent
      def count(statements)
        figures = current
        figures.queries_count += statements if figures
      end

      # Yields for ActiveRecord to tell of a read, which it counts, and which was counted with its burst. Other fibers may go on
      # meanwhile, if a subscriber reads.
      #
      # @param payload [Hash] of `sql.active_record`
      def counted(payload)
        yield
      ensure
        count(-1) unless UNCOUNTED.include?(payload[:name])
      end

      private

      # @return [Object, nil] nil where nobody wants to know: ActiveRecord counts when its registry is first asked for
      def current
        return if ActiveRecord.autoload?(:RuntimeRegistry)

        registry = ActiveRecord::RuntimeRegistry
        figures = registry.respond_to?(:stats) ? registry.stats : registry # ActiveRecord 8.1
        figures if figures.respond_to?(:queries_count=) && figures.respond_to?(:sql_runtime=)
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
    end
  end
end
