# frozen_string_literal: true

module Pipeloader
  # Executes a query as graphql-ruby does without a dataloader. With Pipeloader sources work all the same, and so they do here;
  # but each is asked at once. A schema of which a resolver has asked a source never gets this loader again.
  class PlainLoader < GraphQL::Dataloader::NullDataloader
    WITH, CLEAR = %i[with clear_cache].map { |name| GraphQL::Dataloader.instance_method(name) }
    private_constant :WITH, :CLEAR

    # @param schema [Class] with Pipeloader
    # @return [GraphQL::Dataloader] by which it is executed without
    def self.for(schema)
      serves?(schema) ? new { schema.pipeloader_sourced = true } : base_of(schema).new
    end

    # True if a +schema+ has no dataloader of its own.
    def self.serves?(schema) = base_of(schema) <= GraphQL::Dataloader::NullDataloader

    # The application's own method may say what it is.
    def self.base_of(schema)
      loader = schema.dataloader_class
      loader < Loader ? loader.pipeloader_base : loader
    end
    private_class_method :base_of

    alias inspect to_s

    # @yield where a source is asked
    def initialize(&sourced)
      super
      @sourced = sourced
      @source_cache = Hash.new { |cache, source| cache[source] = {} }.compare_by_identity
      @requested = []
    end

    def with(...)
      @sourced.call
      WITH.bind_call(self, ...)
    end

    def yield(source = nil) = source&.run_pending_keys

    def queue_pending_source(source) = @requested << source

    def run(...)
      super
      @requested.shift.run_pending_keys while @requested.any?
    end

    def clear_cache = CLEAR.bind_call(self)
  end
end
