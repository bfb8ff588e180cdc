# frozen_string_literal: true

require_relative "example"

module Bench
  module Datasets
    # The example's tables behind types that have plain fields, one that is worked out from them, and one with code of its own.
    class Mixed < Example
      def namespace = "bench_example"

      def define
        super
        require_relative "mixed/schema"
      end

      def types_module = ::Mixed::Types
    end
  end
end
