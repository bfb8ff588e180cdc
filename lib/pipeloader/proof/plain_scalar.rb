# frozen_string_literal: true

module Pipeloader
  # Proves what a scalar or an enum makes of a value: its `coerce_result` is graphql-ruby's, or the application's and does no more
  # than to work something out from the value, as a Formula.
  #
  #     def self.coerce_result(value, _context) = value.to_s.upcase
  #
  # Limits: `super`; anything asked of the context.
  class PlainScalar
    # Kept with the type, as PlainField: what a method has been compiled to is looked at once.
    #
    # @param type [Class] named type of a field
    def self.of(type)
      return new(type) if type.frozen?

      home = type.singleton_class
      known = home.instance_variable_get(:@pipeloader_scalar)
      known&.current? ? known : home.instance_variable_set(:@pipeloader_scalar, new(type))
    end

    # @return [String, nil] why its values can't be had without graphql-ruby; nil if they can
    attr_reader :objection

    # @return [Formula, nil] what its own `coerce_result` is; nil where that is graphql-ruby's
    attr_reader :formula

    def initialize(type)
      @type = type
      @method = type.method(:coerce_result) if type.kind.leaf?
      @formula = Formula.of_scalar(type) if own?
      @objection = objection_to_values unless @formula
    end

    # True if its methods are as they were. An objection passes only where another `coerce_result` is defined.
    def current? = @method.nil? || (@type.method(:coerce_result) == @method && !@formula&.over?)

    private

    def own? = !@method.nil? && !Provenance.graphql?(@method)

    def objection_to_values
      return "#{@type.graphql_name} is no scalar or enum" unless @method

      "`coerce_result` on #{@method.owner.inspect}" if own?
    end
  end
end
