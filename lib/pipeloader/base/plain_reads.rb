# frozen_string_literal: true

module Pipeloader
  # Counts what adapters read where no Pipeloader is there, if somebody wants to know.
  module PlainReads
    KEY = :pipeloader_reads
    Counted = Struct.new(:reads)
    private_constant :KEY, :Counted

    class << self
      # Called where an adapter is about to read.
      def count = Thread.current[KEY]&.then { |counted| counted.reads += 1 }

      # @yieldparam counted [#reads] how many the block has led to so far
      def counting
        outer, Thread.current[KEY] = Thread.current[KEY], counted = Counted.new(0)
        yield counted
      ensure
        Thread.current[KEY] = outer
      end
    end
  end
end
