# frozen_string_literal: true

module Pipeloader
  # The code of an object type's `authorized?`, with that of the policies that it asks:
  #
  #     def self.authorized?(object, context) = super && (object.author_id == context[:viewer]&.id || !object.hidden)
  #     def self.authorized?(object, context) = PostPolicy.new(context[:viewer], object).show?
  #     def self.authorized?(object, context) = Pundit.policy!(context[:viewer], object).show?
  #     def self.authorized?(object, context) = PostPolicy.new(object, user: context[:viewer]).apply(:show?)
  #
  # A policy is a class whose `initialize` does nothing but to keep what it is given. Formula proves what the code does.
  #
  # Limits: helper methods of the type; variables; a policy's `super`, constants and methods with arguments.
  class Guard
    # What Formula knows, and so what stands in place of a parameter.
    OBJECT = [[:putself], [:opt_send_without_block, { mid: :object, orig_argc: 0 }]].freeze
    CONTEXT = [[:putself], [:opt_send_without_block, { mid: :context, orig_argc: 0 }]].freeze
    # In place of what is proved by itself.
    PROVED = [:putobject, true].freeze
    NOTHING = [].freeze
    # That it is there is all that is asked of a value.
    TESTED = [:branchif, :label_behind].freeze
    private_constant :OBJECT, :CONTEXT, :PROVED, :NOTHING, :TESTED

    # Something that isn't known; never leaves this class.
    class Unknown < StandardError; end
    private_constant :Unknown

    # What ActionPolicy keeps of what a policy is made with, as it was when that was gone through.
    Applied = Struct.new(:rule, :kept) do
      def over? = ActionPolicyRule.kept(*rule) != kept
    end
    private_constant :Applied

    # @return [Array<#over?>] what it calls of policies, and by `super`: without these nothing is proved
    attr_reader :rests_on

    # @return [PunditPolicy, nil] of the policies that it has Pundit find
    attr_reader :pundit

    # @return [Array<Array>] as they are found
    attr_reader :found

    # @param type [Class] object type
    # @param model [Class, nil] of the records that its objects stand for
    def initialize(type, model = nil)
      @type = type
      @model = model
      @found = []
      @begun = []
      @rests_on = []
      @proved = {}.compare_by_identity # {what a policy has kept => [methods]}
    end

    # @return [Array<Array>, nil] the instructions of each method that is run, where it is one of the type's own; nil where one
    #   does what isn't known
    def bodies
      prove(@type.method(:authorized?))
      @found
    rescue Unknown
      nil
    end

    private

    # A method of the type, and those of its ancestors that it calls by `super`.
    #
    # @param depth [Integer] how many are called before the next one
    def prove(method, depth = 1)
      given = given(method, [OBJECT, CONTEXT])
      called = Watched.new(@type, :authorized?, depth, method.super_method)
      walk(method.unbind, given) { |steps, places| by_super(steps, called, given, places) || by_policy(steps, places) }
    end

    # @return [Hash{Symbol => Array}] of its parameters
    def given(method, values)
      names = method.parameters.filter_map { |kind, name| name if kind == :req }
      unknown unless names.uniq.size == values.size && method.parameters.size == values.size

      names.zip(values).to_h
    end

    # @param given [Hash{Symbol => Array}] the steps of what each parameter is
    # @yield [Array, Proc] steps that begin with what isn't a parameter; what is at a place of the frame
    # @yieldreturn [Array(Array, Array), nil] what is in place of the first ones, and those behind
    def walk(method, given)
      instructions = straight(method)
      places = ->(place) { given.fetch(instructions.parameter(place)) { unknown } }
      left, steps = instructions.steps, []
      until left.empty?
        replaced, behind = parameter(left, places) || yield(left, places)
        steps.concat(replaced || [left.first])
        left = replaced ? behind : left.drop(1)
      end
      @found << steps
    end

    def straight(method)
      instructions = Bytecode.of(method, %i[req])
      instructions&.straight? ? instructions : unknown
    end

    def parameter((step, *behind), places)
      case step
      in [:getlocal_WC_0, place] then [places.call(place), behind]
      in [:setlocal_WC_0, _] then unknown
      else nil
      end
    end

    # @param called [Watched] by it
    def by_super(steps, called, given, places)
      behind = behind_super(steps, given, places) or return
      unknown unless called.found
      @rests_on << called
      return [NOTHING, without_branch(behind)] if Provenance.graphql?(called.found)

      prove(called.found, called.above + 1)
      [[PROVED], behind]
    end

    # @return [Array, nil] the steps behind a `super` with all that is +given+ to the method; nil where `self` isn't asked
    def behind_super(steps, given, places)
      case steps
      in [[:putself], [:getlocal_WC_0, first], [:getlocal_WC_0, second], [:invokesuper, { orig_argc: 2 }, nil], *behind] if
           [first, second].map(&places) == given.values
        behind
      in [[:putself], *] then unknown
      else nil
      end
    end

    # Behind graphql-ruby's own method, which says true.
    def without_branch(steps)
      case steps
      in [[:dup], [:branchunless, _], [:pop], *behind] then behind
      else [PROVED, *steps]
      end
    end

    # @return [Array(Array, Array), nil] nil where no constant is asked for
    def by_policy(steps, places)
      path, = Bytecode.constants(steps.take(1))
      return unless path

      values, behind = arguments(steps.drop(1), places)
      case behind
      in [[_, { mid: :new, orig_argc: } => made], [_, { mid: name, orig_argc: 0 } => call], *behind] if
           orig_argc == values.size && [made, call].all? { |it| plain?(it) }
        of_class(policy(path), name, values)
      in [[_, { mid: :policy | :policy!, orig_argc: 2 } => found], [_, { mid: name, orig_argc: 0 } => call], *behind] if
           values.size == 2 && values.last.equal?(OBJECT) && [found, call].all? { |it| plain?(it) }
        of_class(found_by_pundit(path), name, values)
      in [[_, { mid: :new, kw_arg: names, orig_argc: 1 } => made], *behind] if Bytecode.on_object?(made)
        name, behind = rule(behind)
        of_rule(policy(path), name, values, names)
      else unknown
      end
      [[PROVED], behind]
    end

    # A policy's method +name+, of one that is made with the +values+.
    def of_class(policy, name, values)
      asked(policy, name, kept(gone_through(policy, policy.instance_method(:initialize)), values))
    end

    # A policy's rule +name+, as ActionPolicy applies it.
    def of_rule(policy, name, values, names)
      kept = ActionPolicyRule.kept(policy, name, values, names) || unknown
      @rests_on << Applied.new([policy, name, values, names], kept)
      asked(policy, name, kept)
    end

    def gone_through(policy, method)
      @rests_on << Watched::OfInstances.new(policy, method)
      method
    end

    # @return [Array(Symbol, Array)] what is asked of an ActionPolicy, and the steps behind
    def rule(steps)
      case steps
      in [[:putobject, Symbol => name], [_, { mid: :apply, orig_argc: 1 } => call], *behind] if plain?(call) then [name, behind]
      in [[_, { mid: name, orig_argc: 0 } => call], *behind] if plain?(call) then [name, behind]
      else unknown
      end
    end

    def plain?(call) = Bytecode.on_object?(call) && !call.key?(:kw_arg)

    def found_by_pundit(path)
      @rests_on << (@pundit ||= @model && PunditPolicy.of(ConstantNames.everywhere(path), @model) || unknown)
      @pundit.policy
    end

    # @return [Array(Array<Array>, Array)] the steps of each argument, and those behind
    def arguments(steps, places)
      values = []
      loop do
        case steps
        in [[:getlocal_WC_0, place], [:putobject, Symbol] => key, [:opt_aref, { mid: :[], orig_argc: 1 }] => read, *behind]
          places.call(place).equal?(CONTEXT) || unknown
          values << [*CONTEXT, key, read]
          @found << [*values.last, TESTED] # it is asked, whether or not the policy looks at it
        in [[:getlocal_WC_0, place], *behind] then values << places.call(place)
        else return [values, steps]
        end
        steps = behind
      end
    end

    def policy(path)
      policy = ConstantNames.everywhere(path)
      policy.instance_of?(Class) && Provenance.ruby_makes?(policy) ? policy : unknown
    end

    # @param values [Array<Array>] the steps of what a policy is made with
    # @return [Hash{Symbol => Array}] those of what each of its instance variables is
    def kept(method, values)
      given, kept, stack = given(method, values), {}, []
      instructions = straight(method)
      instructions.steps.each do |step|
        case step
        in [:getlocal_WC_0, place] then stack << given.fetch(instructions.parameter(place)) { unknown }
        in [:dup] then stack << stack.last
        in [:setinstancevariable, variable, *] then kept[variable] = stack.pop
        in [:leave] then nil
        else unknown
        end
      end
      kept
    end

    # Proves a method of a policy's.
    def asked(policy, name, kept)
      method = method_of(policy, name)
      return if (proved = @proved[kept] ||= []).include?(method)

      unknown if @begun.include?(method) # it may go on for ever
      @begun << method
      walk(method, {}) { |steps| of_policy(steps, policy, kept) }
      proved << @begun.pop
    end

    def of_policy(steps, policy, kept)
      case steps
      in [[:getinstancevariable, variable, *], *behind] then [kept.fetch(variable) { unknown }, behind]
      in [[:putself], [:opt_send_without_block, { mid:, orig_argc: 0 } => call], *behind] if Bytecode.simple?(call)
        variable = variable(method_of(policy, mid))
        asked(policy, mid, kept) unless variable
        [variable ? kept.fetch(variable) { unknown } : [PROVED], behind]
      in [[:putself], *] then unknown
      else nil
      end
    end

    def method_of(policy, name)
      method = policy.instance_method(name) if policy.method_defined?(name) || policy.private_method_defined?(name)
      unknown unless method && method.parameters.empty? && !KnownMethods.refined?(name)

      gone_through(policy, method)
    end

    # @return [Symbol, nil] the instance variable that an `attr_reader` reads
    def variable(method)
      return :"@#{method.original_name}" if method.source_location && RubyVM::InstructionSequence.of(method).nil?

      case Bytecode.of(method)&.steps
      in [[:getinstancevariable, variable, *], [:leave]] then variable
      else nil
      end
    end

    def unknown = raise(Unknown)
  end
end
