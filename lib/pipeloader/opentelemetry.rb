# frozen_string_literal: true

require "opentelemetry"
require "pipeloader"

module Pipeloader
  # A span for each burst, once this file is required:
  #
  #     # config/initializers/opentelemetry.rb
  #     require "pipeloader/opentelemetry"
  #
  # Each is a child of the span that was current when the execution began, since it brings what many fields have asked for. So are
  # the spans of fields: OpenTelemetry's context is a fiber's own, and graphql-ruby runs resolvers on fibers of its dataloader.
  #
  #     graphql.execute_multiplex
  #       pipeloader burst   {"pipeloader.position" => 1, "pipeloader.reads" => 53, "pipeloader.statements" => 4, …}
  #
  # Limit: a context that a resolver sets, a sampling decision or baggage, isn't a burst's.
  module OpenTelemetry
    NAME = "pipeloader burst"

    # Keeps the context in which an execution began.
    module Began
      # @return [OpenTelemetry::Context]
      attr_reader :opentelemetry_context

      def initialize(...)
        @opentelemetry_context = ::OpenTelemetry::Context.current
        super
      end
    end

    # Gives the fibers of a dataloader the context in which they are made.
    module Carried
      KEY = :pipeloader_opentelemetry_context
      private_constant :KEY

      def get_fiber_variables = super.merge!(KEY => ::OpenTelemetry::Context.current)

      def set_fiber_variables(variables)
        super
        ::OpenTelemetry::Context.attach(variables.fetch(KEY))
      end
    end
    private_constant :Began, :Carried

    class << self
      # Told by ActiveSupport::Notifications that a burst begins. Several may be underway, each to its own connection.
      #
      # @param payload [Hash] of `burst.pipeloader`
      def start(_event, _id, payload)
        context = ResolverFiber.current&.response&.opentelemetry_context
        payload[:span] = tracer.start_span(NAME, with_parent: context, kind: :client)
      end

      # Told that it is over.
      #
      # @param payload [Hash] of `burst.pipeloader`
      def finish(_event, _id, payload)
        span = payload.delete(:span) or return
        span.add_attributes(attributes(payload)) if span.recording?
        span.finish
      end

      private

      def tracer = ::OpenTelemetry.tracer_provider.tracer("pipeloader", VERSION)

      def attributes(payload)
        figures = { **payload.slice(:position, :statements, :rows), reads: payload[:reads].size }
        { "db.system.name" => "postgresql", **figures.transform_keys { |name| "pipeloader.#{name}" } }
      end
    end

    Response.prepend(Began)
    Loader.prepend(Carried)
    ActiveSupport::Notifications.subscribe(Burst::EVENT, self)
  end
end
