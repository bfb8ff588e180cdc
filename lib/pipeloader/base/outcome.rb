# frozen_string_literal: true

module Pipeloader
  # A block's return value, or its error.
  Outcome = Struct.new(:returned, :error) do
    def self.of
      new(yield, nil)
    rescue TimedOut
      raise
    rescue StandardError => e
      new(nil, e)
    end

    # As .of, of code of the application's.
    def self.of_block
      new(yield, nil)
    rescue TimedOut
      raise
    rescue StandardError, ScriptError, SystemExit, SystemStackError => e
      new(nil, e)
    end

    def value = error ? raise(error) : returned
  end
end
