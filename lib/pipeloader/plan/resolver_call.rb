# frozen_string_literal: true

module Pipeloader
  # Something that is written under a key of the response, and is the same under any other.
  module Keyed
    # @return [String] in the response
    attr_reader :key

    # @return [Keyed] for another place in the response
    def under(key) = key == @key ? self : dup.tap { |it| it.key = key }

    protected

    attr_writer :key
  end

  # A field for which graphql-ruby calls one method, and does nothing else that anyone could see. It's called directly. What it
  # returns is written if it is a scalar or an enum value that can be; else graphql-ruby goes on with it. A lazy value, and what
  # the method has raised, graphql-ruby is given in the method's stead.
  class ResolverCall
    NONE = [].freeze
    NO_ARGUMENTS = GraphQL::Execution::Interpreter::Arguments::EMPTY
    NO_KEYWORDS = {}.freeze

    # Of an object of the type, in place of its record. When a method has raised an ArgumentError, graphql-ruby asks the object
    # for that method, to see which arguments it takes. The record's takes none, as `itself`: no other is called here.
    module Asked
      def method(_name) = super(:itself)
    end
    private_constant :NONE, :NO_ARGUMENTS, :NO_KEYWORDS, :Asked

    # True if what is returned is nobody's but Ruby's.
    def self.known?(value)
      case value
      when String then value.instance_of?(String)
      when Integer, true, false, nil, Float, Symbol then true
      when Array then value.instance_of?(Array) && value.all? { |item| known?(item) }
      end
    end

    include Keyed

    # @param plain [PlainField]
    # @param model [Class] of the objects' records, or things
    # @return [ResolverCall, nil] nil where there is more to be done
    def self.of(key, plain, model) = (new(key, plain) if plain.calls_alone?(model))

    def initialize(key, plain)
      @key = key
      @plain = plain
      @field = field = plain.field
      @of_type = plain.of_type? # else it's the record's
      @name = @of_type ? field.resolver_method : field.method_sym
      @coercion = (Coercion.new(field.type) if Coercion.objection(field.type).nil?)
    end

    # True if a trace that measures fields is to be told of it.
    def measured? = @coercion.nil?

    # As a Plan's entries.
    def formulas = @coercion ? @coercion.formulas : NONE

    # @param result [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] of the object
    # @param nodes [GraphQL::Language::Nodes::Field, Array<GraphQL::Language::Nodes::Field>] that select it
    # @return [Boolean] whether no code of the application's has run, or none since it was seen what the method has left
    def call(runtime, result, nodes)
      return true if result.graphql_dead

      runtime.pipeloader_calls(result, @key)
      object = result.graphql_application_value
      object = object.object unless @of_type
      return leave_alone(runtime, result, nodes) unless answers?(object)

      state = take_position(runtime, result)
      begin
        value = object.public_send(@name)
      rescue StandardError, ScriptError => e
        return leave(runtime, result, nodes) { raise e }
      end
      return false if write(value, result, runtime)
      return leave(runtime, result, nodes) { value } if @coercion || runtime.lazy?(value)

      runtime.pipeloader_continue(value, @field, nodes, result, @key, NO_ARGUMENTS, state)
    end

    private

    # True unless the type has got the method since, or has lost it, or it's a column that wasn't read.
    def answers?(object) = @plain.of_type? == @of_type && (@of_type || object.respond_to?(@name))

    def take_position(runtime, result)
      state = runtime.get_current_runtime_state
      state.current_field = @field
      state.current_arguments = NO_ARGUMENTS
      state.current_result_name = @key
      state.current_result = result
      state
    end

    # @return [Boolean] false where it isn't known what becomes of it
    def write(value, result, runtime)
      return false unless @coercion && ResolverCall.known?(value)

      value = @coercion.of_attribute(value, runtime.context) unless @coercion.as_it_is?(value)
      result.set_leaf(@key, value) unless result.graphql_dead
      true
    rescue DoesNotFit
      false
    end

    def leave_alone(runtime, result, nodes)
      runtime.evaluate_selection(@key, nodes, result)
      false
    end

    # To graphql-ruby.
    #
    # @yield what the method has done
    def leave(runtime, result, nodes, &outcome)
      object = result.graphql_application_value.clone(freeze: false)
      object.extend(Asked) unless @of_type
      once(object, @field.resolver_method, &outcome)
      runtime.pipeloader_resolve(@field, object, Array(nodes), result, @key, NO_KEYWORDS, NO_ARGUMENTS)
      false
    end

    # Ruby's cache of methods that are called by name would keep this one, and with it the object, its context, and the block's
    # variables: those of the last thousand requests.
    def once(object, name)
      object.define_singleton_method(name) do
        singleton_class.remove_method(name)
        yield
      end
    end
  end
end
