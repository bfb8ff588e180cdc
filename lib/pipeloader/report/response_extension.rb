# frozen_string_literal: true

module Pipeloader
  # Adds what an execution has taken to its response, where somebody asks for it (see ExtensionHeader) and the schema's option
  # `extensions` says so:
  #
  #     {"data": …, "extensions": {"pipeloader": {"round_trips": 2, "statements": 3, "rows": 31, "reads": 22, "milliseconds": 4.9,
  #      "levels": [{"reads": 1, "statements": 1, "rows": 10, "milliseconds": 1.2}, …]}}}
  #
  # The queries of a multiplex have the same figures. What a resolver executes is a part of its own execution, whose response the
  # application has for itself.
  class ResponseExtension
    NAME = "pipeloader"
    ASKED = :pipeloader_extension_asked
    # By the thread; under :fiber isolation by the fiber that executes, as others go on in its thread while it waits (Falcon). See
    # Response#context.
    LISTENING = Listening.new(Burst::EVENT) { ActiveSupport::IsolatedExecutionState.context }
    private_constant :NAME, :ASKED

    # What went between two waits, to all connections.
    Level = Struct.new(:reads, :statements, :rows, :began, :ended) do
      def milliseconds = ((ended - began) * 1000).round(3)
      def to_h = { "reads" => reads, "statements" => statements, "rows" => rows, "milliseconds" => milliseconds }
    end
    private_constant :Level

    class << self
      # Yields. What begins meanwhile on this fiber says what it has taken, or doesn't.
      def asked(on: true)
        outer, Thread.current[ASKED] = Thread.current[ASKED], on
        yield
      ensure
        Thread.current[ASKED] = outer
      end

      # Yields to execute.
      #
      # @yieldreturn [Array<GraphQL::Query::Result>]
      # @return [Array<GraphQL::Query::Result>] the same
      def around(schema, &)
        return yield unless Thread.current[ASKED] && Pipeloader.main_ractor?

        on?(schema.pipeloader_options[:extensions]) ? asked(on: false) { new.around(&) } : yield
      end

      # @param option [Boolean, nil] nil for where applications are developed
      def on?(option)
        return option unless option.nil?

        defined?(::Rails) && ::Rails.respond_to?(:env) && ::Rails.env.to_s == "development"
      end
    end

    def initialize
      @levels = {} # {position of its bursts => Level}
    end

    alias inspect to_s

    def around(&)
      LISTENING.during(method(:burst), &).each { |result| add(result) if GraphQL::Query::Result === result }
    end

    private

    def burst(_event, began, ended, _id, payload)
      level = @levels[payload[:position]] ||= Level.new(0, 0, 0, began, ended)
      level.reads += payload[:reads].size
      level.statements += payload[:statements]
      level.rows += payload[:rows]
      level.ended = [level.ended, ended].max
    end

    # Beside what the application has there.
    def add(result)
      response = result.to_h
      return unless response.is_a?(Hash) && !response.frozen?

      response["extensions"] = { **response["extensions"].to_h, NAME => figures(result.query) }
    end

    def figures(query)
      bursts = query.context.namespace(:pipeloader)[:bursts] or return { "enabled" => false }
      levels = @levels.each_value.map(&:to_h)
      { "round_trips" => bursts, **%w[statements rows reads].to_h { |it| [it, levels.sum { |level| level[it] }] },
        "milliseconds" => levels.sum { |it| it["milliseconds"] }.round(3), "levels" => levels }
    end
  end
end
