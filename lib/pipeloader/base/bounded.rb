# frozen_string_literal: true

module Pipeloader
  # A Hash of what is worked out again when it is missing: it is emptied before it has more than +limit+ entries.
  class Bounded < Hash
    def initialize(limit)
      super()
      @limit = limit
    end

    def []=(key, value)
      clear if size >= @limit && !key?(key)
      super
    end
  end
end
