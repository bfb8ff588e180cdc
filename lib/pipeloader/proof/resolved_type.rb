# frozen_string_literal: true

module Pipeloader
  # Which object type a union's or an interface's `resolve_type` says that records of a class are, where it looks at nothing else:
  #
  #     def self.resolve_type(object, _context) = object.is_a?(Car) ? Types::Car : Types::Bike
  #     def self.resolve_type(_type, object, _context) = "Types::#{object.class.name}".constantize    # the schema's
  #
  # Told by the instructions that Ruby has compiled it to: it calls only methods of CALLS and KnownMethods::NAMES, of constants
  # (modules and Hashes) and of what comes from these, and does not look at the context. Whatever it may call of a record besides
  # asking for its class, the record that it's given for all others refuses.
  #
  # Limits: blocks, helper methods, columns, tables that aren't constants.
  class ResolvedType
    # What tells the class of a record.
    ASKING = %i[is_a? kind_of? instance_of? class].freeze
    CALLS = (ASKING + %i[name to_s inspect === == != ! [] fetch constantize safe_constantize demodulize const_get raise]).freeze
    # What is called of a class for no more than its name.
    NAMING = %i[name to_s].freeze
    STEPS = %i[
      nop pop dup dupn swap topn setn adjuststack putnil putself putobject putstring duparray leave
      jump branchif branchunless branchnil opt_case_dispatch concatstrings objtostring anytostring setlocal_WC_0 newarray
    ].freeze
    CONSTANTS = %i[getconstant opt_getconstant_path].freeze
    private_constant :ASKING, :CALLS, :NAMING, :STEPS, :CONSTANTS

    # A constant of ours would give it a name.
    @schemas = GraphQL::Schema.singleton_class.const_get(:ResolveTypeWithType)

    class << self
      # @return [Module] in which graphql-ruby asks a type before its schema
      attr_reader :schemas
    end

    # @param type [Class, Module] a union or an interface
    # @return [String, nil] why it may look at something else; nil if it doesn't
    attr_reader :objection

    def initialize(schema, type)
      @schema = schema
      @type = type
      @calls = []
      @objection = "`resolve_type` of #{type.graphql_name} may look at more than a record's class" unless told_by_class?
    end

    # @param model [Class] of records
    # @return [Class, nil] the object type; nil where there is none, or who asks may not see it
    def of(model)
      return unless ASKING.all? { |name| Provenance.active_record?(model.instance_method(name)) }
      return unless known?(model, @named ? NAMING : @calls)

      record = refusing(model)
      type, value = @schema.resolve_type(@type, record, nil)
      type if value.equal?(record) && type.is_a?(Class) && type.kind.object? && seen?(type)
    rescue StandardError, ScriptError # graphql-ruby meets it where there are such records
      nil
    end

    private

    # @return [Method, nil] the application's that graphql-ruby asks
    def asked
      method = @schema.method(:resolve_type)
      return unless method.owner.equal?(ResolvedType.schemas)
      return @type.method(:resolve_type) if @type.respond_to?(:resolve_type)

      method = method.super_method while method&.owner.equal?(ResolvedType.schemas)
      method unless method.nil? || Provenance.graphql?(method)
    end

    # The context is its last parameter.
    def told_by_class?
      method = asked or return false
      instructions = Bytecode.of(method.unbind, %i[req])
      return false unless instructions&.straight?

      steps, context = instructions.steps, method.parameters.last&.last
      @named = steps.each_cons(2).all? { |step, behind| called(step) != :class || NAMING.include?(called(behind)) }
      steps.all? { |step| step.is_a?(Symbol) || harmless?(step) { |place| instructions.parameter(place) == context } } &&
        [@type, method.receiver, *constants(steps, method)].all? { |host| known?(host) }
    end

    def called(step) = (step.grep(Hash).first&.fetch(:mid) if step.is_a?(Array))

    # @yield [Integer] where in the frame a local variable is
    # @yieldreturn [Boolean] whether it is the context
    def harmless?((name, *rest))
      return !yield(rest.first) if name == :getlocal_WC_0

      calls = rest.grep(Hash)
      return STEPS.include?(name) || CONSTANTS.include?(name) if calls.empty?

      @calls |= calls.map { |call| call[:mid] }
      calls.all? { |call| Bytecode.simple?(call) && (CALLS.include?(call[:mid]) || KnownMethods.callable?(call[:mid])) }
    end

    # @return [Array] all that the constants may stand for; nil for one that isn't found
    def constants(steps, method)
      Bytecode.constants(steps).flat_map { |path| ConstantNames.of(path, method).presence || [nil] }
    end

    # True if it always answers alike when one of these methods is called, and does nothing of the application's own.
    def known?(constant, calls = @calls)
      case constant
      when Hash then constant.instance_of?(Hash) && constant.frozen? && constant.default_proc.nil?
      when Module then calls.all? { |name| !constant.respond_to?(name, true) || of_modules?(constant.method(name)) }
      end
    end

    # Of what others call of a class, `count` is a query.
    def of_modules?(method)
      return true if Provenance.ruby?(method)

      CALLS.include?(method.name) && (Provenance.active_record?(method) || Provenance.graphql?(method))
    end

    # @return [ActiveRecord::Base] a record that tells its class, and nothing else
    def refusing(model)
      record = model.allocate
      (@calls - ASKING).each { |name| record.define_singleton_method(name) { |*| Kernel.raise(DoesNotFit) } }
      record
    end

    # True if everybody does.
    def seen?(type)
      @schema.pipeloader_all_types.members(@type).include?(type) && Provenance.graphql?(@schema.method(:visible?)) &&
        Provenance.of_host?(type.method(:visible?), GraphQL::Schema::Member::BaseDSLMethods) &&
        @type.type_membership_class.equal?(GraphQL::Schema::TypeMembership)
    end
  end
end
