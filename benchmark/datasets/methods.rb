# frozen_string_literal: true

require_relative "example"

module Bench
  module Datasets
    # The example's tables behind types whose every field is a method that asks the record.
    class Methods < Example
      def namespace = "bench_example"

      def define
        super
        require_relative "methods/schema"
      end

      def types_module = ::Methods::Types
    end
  end
end
