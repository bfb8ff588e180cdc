# frozen_string_literal: true

module Pipeloader
  # The Settings of queries, as `use Pipeloader, settings:` says. Where that can't be known, each read raises.
  module QuerySettings
    DIFFER = "The queries of a multiplex have different settings: execute them one by one, by `Schema.execute`"
    INNER = "A resolver executes a query whose settings differ from those of its own: execute it before, or after"
    DISABLED = "A schema with `use Pipeloader, settings:` can't be executed without Pipeloader, and so without these: " \
               "take it out of `Pipeloader.disabled { … }`, and leave `Pipeloader.enabled` true for it"
    private_constant :DIFFER, :INNER, :DISABLED

    class << self
      # @param queries [Array<GraphQL::Query>] those of one response
      # @return [Settings, Exception, nil] what each of its reads raises, if they can't be known; nil for none
      def of(queries)
        all = queries.map { |query| asked(query) }.uniq
        all.size > 1 ? all.find { |it| Exception === it } || SettingsError.new(DIFFER) : all.first
      end

      # @param queries [Array<GraphQL::Query>] which a resolver executes as a part of its +response+
      def check_inner(queries, response)
        raise SettingsError, INNER if set?(queries) && !response.under?(of(queries))
      end

      # @param queries [Array<GraphQL::Query>] that are executed without Pipeloader
      def check_disabled(queries)
        raise SettingsError, DISABLED if set?(queries)
      end

      # What `use Pipeloader` was given, if it was used.
      def option(schema, name) = (schema.pipeloader_options[name] if schema.respond_to?(:pipeloader_options))

      private

      def set?(queries) = queries.any? { |query| option(query.schema, :settings) }

      # Once for each query. What the callable itself reads has none.
      def asked(query)
        callable = option(query.schema, :settings) or return
        kept = query.context.namespace(:pipeloader_settings)
        kept.fetch(:settings) do
          kept[:settings] = nil
          kept[:settings] = ask(callable, query)
        end
      end

      def ask(callable, query)
        Settings.from(callable.call(query.context))
      rescue TimedOut
        raise
      rescue GraphQL::ExecutionError => e
        e
      rescue StandardError => e
        error("`settings:` of #{query.schema.name || "a schema"} (#{place_of(callable)}) has failed: #{e.class}: #{e.message}", e)
      ensure
        Settings.forget_cached
      end

      def place_of(callable) = callable.respond_to?(:source_location) ? callable.source_location.join(":") : callable.class.name

      def error(message, cause)
        raise SettingsError, message, cause: cause
      rescue SettingsError => e
        e
      end
    end
  end
end
