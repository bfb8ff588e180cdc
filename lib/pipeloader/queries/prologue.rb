# frozen_string_literal: true

module Pipeloader
  # What a query with Settings does before its jobs, or after them: analyzers, visibility, tracers. It reads as ActiveRecord does,
  # but under these Settings.
  class Prologue
    # Whether this thread executes queries. Fibers may belong to others, and new threads inherit what fibers know.
    EXECUTES = :pipeloader_executes
    DATALOADER = "A schema with `use Pipeloader, settings:` can't be executed by another dataloader, and so without these: " \
                 "take `dataloader:` out of the context, and put it into the schema by `use GraphQL::Dataloader`"
    private_constant :EXECUTES, :DATALOADER

    class << self
      # Yields to execute queries on this thread.
      #
      # @param context [Hash] of their multiplex
      # @raise [SettingsError] if that says by what they are to be executed, other than Pipeloader
      def around(context)
        raise SettingsError, DATALOADER unless context[:dataloader].nil? || Loader === context[:dataloader]

        Settings.forget_cached
        executing { yield }
      ensure
        Settings.forget_cached
      end

      # @return [Prologue, nil] of the queries that are executed here; nil if they have no Settings
      def current
        return if !Thread.current.thread_variable_get(EXECUTES) || (queries = Response.queries).all?(&:executed?)

        settings = QuerySettings.of(queries)
        new(settings) if settings
      end

      private

      def executing
        outer = Thread.current.thread_variable_get(EXECUTES)
        Thread.current.thread_variable_set(EXECUTES, true)
        yield
      ensure
        Thread.current.thread_variable_set(EXECUTES, outer)
      end
    end

    # @param settings [Settings, Exception]
    def initialize(settings)
      @settings = settings
    end

    alias inspect to_s

    # As Response's.
    def settings = Settings.known!(@settings)
    def settings? = true

    # @return [Integer] any transaction may be the caller's
    def meet(_adapter) = 1
  end
end
