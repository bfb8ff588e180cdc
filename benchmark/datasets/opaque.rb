# frozen_string_literal: true

require_relative "example"

module Bench
  module Datasets
    # The example's tables behind types whose every field is a method with code of its own.
    class Opaque < Example
      def namespace = "bench_example"

      def define
        super
        require_relative "opaque/schema"
      end

      def types_module = ::Opaque::Types
    end
  end
end
