# frozen_string_literal: true

module Pipeloader
  # Executes a query as graphql-ruby does without a dataloader. Sources work all the same, as they do with Pipeloader; each is
  # asked at once.
  class PlainLoader < GraphQL::Dataloader::NullDataloader
    WITH = GraphQL::Dataloader.instance_method(:with)
    private_constant :WITH

    alias inspect to_s

    def initialize(*)
      super
      clear_cache
      @asks_sources = false
    end

    # True if a source was asked for anything: Pipeloader would have gathered that.
    def asks_sources? = @asks_sources

    def with(...) = WITH.bind_call(self, ...)

    def yield(source)
      @asks_sources = true
      source.run_pending_keys
    end

    def queue_pending_source(_source) = nil

    def clear_cache = @source_cache = Hash.new { |cache, source| cache[source] = {} }.compare_by_identity
  end
end
