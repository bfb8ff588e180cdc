# frozen_string_literal: true

require_relative "pipeloader"

module Bench
  # Only the columns that were asked for.
  class PipeloaderExact < Pipeloader
    called "pipeloader-exact", "`use Pipeloader` with field_exact"

    def missing = ("this Pipeloader has no field_exact" unless possible?)

    private

    def require_gems
      super
      ::Pipeloader.field_exact = true if possible?
    end

    def possible? = ::Pipeloader.respond_to?(:field_exact=)
  end
end
