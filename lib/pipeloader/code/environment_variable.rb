# frozen_string_literal: true

module Pipeloader
  # What an application asks of the process's environment: `ENV["HOST"]`, `ENV.fetch("HOST", "localhost")`.
  class EnvironmentVariable
    # @param path [Array<Symbol>] as of Bytecode.constants
    # @param way [ContextValue::Way] how it is asked for
    # @return [EnvironmentVariable, nil] nil where the constant may be another one
    def self.of(path, name, way) = (new(name, way) if ConstantNames.everywhere(path).equal?(ENV))

    def initialize(name, way)
      @name = name
      @way = way
    end

    # "ENV[\"HOST\"]"
    def to_s = "ENV#{@way.to_s_of(@name)}"
    alias inspect to_s

    # @return [String, nil, Object] what it is now
    # @raise [DoesNotFit] where there is none that is needed, or somebody else's code would run
    def read
      raise DoesNotFit if (@way.needs? && !ENV.key?(@name)) || !Provenance.core_alone?(ENV.method(@way.by))

      @way.ask(ENV, @name)
    end
  end
end
