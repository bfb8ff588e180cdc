# frozen_string_literal: true

module Pipeloader
  # The code that decides whether a field is resolved, where it looks at nothing but the field and the context:
  #
  #     def authorized?(object, arguments, context) = super && (!@admins || context[:viewer]&.admin?)            # a field class's
  #     def resolve(object:, arguments:, context:) = (super if field.roles.any? { |it| context.dig(:roles, it) }) # an extension's
  #
  # Formula proves what the code does.
  #
  # Limits: constants that aren't literals, but for errors of graphql-ruby's; helper methods that are given anything else than
  # what it is given itself.
  class FieldGuard < Guard
    AUTHORIZING = %i[object arguments context].freeze
    # What an extension's `resolve` may take.
    RESOLVING = ["object:, arguments:, context:", "object:, arguments:, context:, **rest", "arguments:, context:, **rest",
                 "context:, **rest", "object: nil, objects: nil, arguments:, context:"].freeze
    # How it goes on.
    GIVEN_ON = ["super", "super(object: object, arguments: arguments, context: context)", "yield(object, arguments)"].freeze
    KINDS = %i[req key keyreq keyrest].freeze
    AREF = [:opt_aref, { mid: :[], orig_argc: 1 }].freeze
    EXTENSION = GraphQL::Schema::FieldExtension
    # `case` asks `===` of what isn't self, by the same instruction.
    NAME = /\A[a-z_]/
    private_constant :AUTHORIZING, :RESOLVING, :GIVEN_ON, :KINDS, :AREF, :EXTENSION, :NAME

    # Where code stands. host: whose method. roles: {name of a parameter of that => what it is}. above: how many of its name are
    # called before it; nil of a helper method. blocks: in how many of its blocks, from the outside, what is looked at is
    Scope = Struct.new(:host, :roles, :above, :code, :blocks) do
      def receiver = host.receiver

      # @return [Symbol, nil] which of the method's parameters a step asks, or assigns; nil if it's a variable of its own
      def role((step, place))
        return unless %i[getlocal_WC_0 setlocal_WC_0].include?(step)

        name = code.parameter(place)
        name && roles.fetch(name, :unknown)
      end
    end
    private_constant :Scope

    class << self
      # @param steps [Array<Array, Symbol>]
      # @yield [Array] a step that asks a local variable
      # @return [Array<Array, Symbol>] the same, with the block's values in place of these; a `super` that has run has a name, and
      #   is to have none
      def normal(steps)
        steps.map do |step|
          case step
          in [:getlocal_WC_0, _] then yield(step)
          in [:invokesuper, call, *rest] then [:invokesuper, call.except(:mid), *rest]
          else step
          end
        end
      end

      # @return [Array<Array>] the steps of each way to go on
      attr_reader :going_on

      private

      def compiled(parameters, text)
        steps = RubyVM::InstructionSequence.compile("def resolve(#{parameters}) = #{text}").to_a.last.flatten(1)
        body = steps.find { |it| Array(it)[9] == :method }
        normal(Bytecode.new(body, nil).steps[..-2]) { |_, place| body[10][Bytecode.place(body, place)] }
      end
    end

    # Compiled when it is loaded, as what Bytecode compiles.
    @going_on = [*["super", "super(object, arguments, context)"].map { |it| compiled(AUTHORIZING.join(", "), it) },
                 *RESOLVING.map { |it| compiled(it, "super") },
                 *GIVEN_ON.drop(1).map { |it| compiled(RESOLVING.first, it) }].freeze

    # @return [Array<Watched>] all that is called
    attr_reader :watched

    # @return [Array<Array(Object, Symbol)>] instance variables that are asked
    attr_reader :variables

    # @param field [GraphQL::Schema::Field]
    def initialize(field)
      super(nil)
      @field = field
      @watched = []
      @variables = []
      @proved = []
    end

    # @param extensions [Array<GraphQL::Schema::FieldExtension>]
    # @return [Array<Array>, nil] as Guard.bodies
    def bodies(extensions)
      [@field.method(:authorized?), *extensions.map { |it| it.method(:resolve) }].each { |it| enter(it, 0) }
      @found
    rescue Unknown
      nil
    end

    # True if it asks the context by `dig`.
    def digs? = @digs || false

    private

    # Proves what graphql-ruby calls, or what that calls by `super`.
    def enter(method, above)
      watch(method, above)
      run(Scope.new(method, roles(method), above)) unless given_by_graphql?(method)
    end

    def given_by_graphql?(method) = [GraphQL::Schema::Field, EXTENSION].include?(method.owner) && Provenance.graphql?(method)

    def roles(method)
      return method.parameters.map(&:last).zip(AUTHORIZING).to_h if method.name == :authorized?

      method.parameters.to_h { |kind, name| [name, kind == :keyrest ? :rest : name] }
    end

    def run(scope)
      method = scope.host
      return if @proved.include?([method, scope.roles])

      unknown if @begun.include?(method)
      @begun << method
      scope.code = Bytecode.of(method, KINDS)
      scope.code&.straight? ? walk(scope) : unknown
      @proved << [@begun.pop, scope.roles]
    end

    def watch(method, above = 0)
      it = Watched.new(method.receiver, method.name, above, method)
      @watched << it unless @watched.include?(it)
    end

    def walk(scope)
      method = scope.host
      left, steps, scope.blocks = scope.code.steps, [], 0
      left = ConstantNames.fold(left, method.unbind) unless method.owner.singleton_class?
      until left.empty?
        scope.blocks += { block: 1, given: -1 }.fetch(left.first.first, 0) if left.first.is_a?(Array)
        replaced, left = taken(left, scope)
        steps.concat(replaced)
      end
      @found << steps
    end

    # @return [Array(Array, Array)] what is in place of the first steps, and those behind
    def taken(steps, scope)
      case steps
      in [[:putself], *] then going_on(steps, scope) || of_self(steps, scope)
      in [[:getlocal_WC_0, _], *] then of_local(steps, scope) || going_on(steps, scope) || unknown
      in [[:setlocal_WC_0, _] => step, *behind] then scope.role(step) ? unknown : [[step], behind]
      in [[:getinstancevariable, name, *], *behind] then [[variable_of(scope.receiver, name)], behind]
      in [[_, { mid: :raise, orig_argc: 1 | 2 } => call], *behind] if Bytecode.on_self?(call) then [NOTHING, behind]
      in [[:opt_send_without_block, { mid: NAME } => call], *] if Bytecode.on_self?(call) then unknown # given an error's class
      in [step, *behind] then [[step], behind]
      end
    end

    # By `super`, or to what an extension is before.
    def going_on(steps, scope)
      return if scope.above.nil? || scope.blocks.positive?

      given = FieldGuard.going_on.find { |it| it == FieldGuard.normal(steps.take(it.size)) { |step| scope.role(step) } } or return
      behind = steps.drop(given.size)
      return go_on_in_class(behind, scope) if scope.host.name == :authorized?

      unknown unless behind.first == [:leave]
      above(scope) if given.last.first == :invokesuper
      [[PROVED], behind]
    end

    def go_on_in_class(behind, scope)
      given_by_graphql?(above(scope)) ? [NOTHING, without_branch(behind)] : [[PROVED], behind]
    end

    # @return [Method]
    def above(scope)
      method = scope.host.super_method or unknown
      enter(method, scope.above + 1)
      method
    end

    # What is asked of the context, and variables that are none of the parameters.
    def of_local((step, *behind), scope)
      case scope.role(step)
      when nil then [[step], behind]
      when :context then of_context(behind, scope)
      end
    end

    # `context.dig(:roles, role)` asks as `context[:roles]` does, and then that.
    def of_context(steps, scope)
      case steps
      in [[:putobject, Symbol] => key, [:opt_aref, { mid: :[] }] => call, *behind] then [[*CONTEXT, key, call], behind]
      in [[:putobject, Symbol] => key, step, [:opt_send_without_block, { mid: :dig, orig_argc: 2 } => call], *behind] if
           Bytecode.on_object?(call)
        @digs = true
        [[*CONTEXT, key, AREF, simple(step, scope), [:opt_send_without_block, { **call, orig_argc: 1 }]], behind]
      else unknown
      end
    end

    # A value that is one step.
    def simple(step, scope)
      case step
      in [:putobject | :putstring | :block_parameter, _] then step
      in [:getlocal_WC_0 | :getinstancevariable, *] then taken([step], scope).first.first
      else unknown
      end
    end

    # What is called of the field, or of the extension.
    def of_self(steps, scope)
      case steps
      in [[:putself], [:opt_getconstant_path, path], *behind] if raises?(path, scope) then [[PROVED], behind]
      in [[:putself], [_, { mid: :field, orig_argc: 0 } => call], [_, { mid:, orig_argc: 0 } => asked], *behind] if
           [call, asked].all? { |it| Bytecode.simple?(it) } && field?(scope.receiver)
        [[asked_of(@field, mid)], behind]
      else of_helper(steps.drop(1), scope)
      end
    end

    # True if that is what `field` is.
    def field?(extension)
      return false if !(EXTENSION === extension) || KnownMethods.refined?(:field)

      watch(method = extension.method(:field))
      Provenance.graphql?(method) && extension.instance_variable_get(:@field).equal?(@field)
    end

    # @param steps [Array<Array, Symbol>] behind `self`
    def of_helper(steps, scope)
      given = steps.take_while { |step| step.is_a?(Array) && scope.role(step) }
      case steps.drop(given.size)
      in [[:opt_send_without_block, { mid:, orig_argc: } => call], *behind] if orig_argc == given.size && Bytecode.simple?(call)
        [[asked_of(scope.receiver, mid, given.map { |step| scope.role(step) })], behind]
      else unknown
      end
    end

    # @param given [Array<Symbol>] what its parameters are
    def asked_of(receiver, name, given = NOTHING)
      unknown if !receiver.respond_to?(name, true) || KnownMethods.refined?(name)
      method = receiver.method(name)
      names = method.parameters.filter_map { |kind, it| it if kind == :req }
      unknown unless names.uniq.size == given.size && method.parameters.size == given.size

      watch(method)
      variable = variable(method) if given.empty?
      variable ? variable_of(receiver, variable) : run(Scope.new(method, names.zip(given).to_h))
      PROVED
    end

    def variable_of(receiver, name)
      @variables |= [[receiver, name]]
      PROVED
    end

    # True if it is an error of graphql-ruby's that is raised.
    def raises?(path, scope)
      error = ConstantNames.everywhere(path)
      return false unless error.instance_of?(Class) && error <= GraphQL::Error && !KnownMethods.refined?(:raise)

      Provenance.graphql?(error.instance_method(:initialize)) &&
        [error.method(:new), error.method(:exception), scope.receiver.method(:raise)].all? { |it| it.source_location.nil? }
    end
  end
end
