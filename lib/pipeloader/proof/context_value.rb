# frozen_string_literal: true

module Pipeloader
  # What a resolver method asks of the query's context, and then of what is there, by methods without arguments:
  #
  #     object.likes.exists?(user_id: context[:viewer].id)
  #     object.author_id == current_user&.id                # def current_user = context.fetch(:current_user)
  #
  # What it asks of an ExecutionState is one, too, or of the environment: `Current.user&.id`, `ENV.fetch("HOST")`.
  #
  # What there is, and whether asking for it does anything else, ContextAnswer says.
  class ContextValue
    # safe: of `&.`, as all behind it are
    Call = Struct.new(:name, :safe)

    # How a key is asked for. by: :[], :fetch or :key?; otherwise: what `fetch` is given for where there is none, in an Array
    Way = Struct.new(:by, :otherwise) do
      # True if it raises where there is no such key.
      def needs? = by == :fetch && otherwise.empty?

      # @return [Object] what the +context+ says
      def ask(context, key) = context.public_send(by, key, *otherwise)

      def to_s_of(key) = by == :[] ? "[#{key.inspect}]" : ".#{by}(#{[key, *otherwise].map(&:inspect).join(", ")})"
    end
    PLAIN = Way.new(:[], []).freeze

    # What graphql-ruby itself puts there, other for each field.
    OTHERS = %i[current_object current_arguments current_field current_path].freeze
    # Through how many methods it is looked for.
    LEVELS = 10
    private_constant :Way, :PLAIN, :OTHERS, :LEVELS

    class << self
      # @param steps [Array<Array, Symbol>] as Bytecode#steps
      # @param type [Class, nil] object type whose method they are of; nil for a model's, which has no context
      # @return [Array<Array, Symbol>] the same, with [:context_value, ContextValue] in place of all that is such a value
      def fold(steps, type)
        Bytecode.fold(steps) do |from|
          value, behind = taken(from, type)
          [[:context_value, value], behind] if value
        end
      end

      # @return [Array<ContextValue>] those of folded +steps+
      def all(steps) = steps.filter_map { |name, value| value if name == :context_value }

      private

      # @return [Array(ContextValue, Array), nil] what is asked at the beginning of the +steps+, and those behind
      def taken(steps, type, levels = LEVELS)
        source, calls, behind, way, helpers = begun(steps, type, levels)
        return unless source

        more, behind = called(behind)
        [new(source, calls + more, truth?(behind), way, helpers.to_a), behind]
      end

      # @return [Array(Object, Array, Array, Way, Array), nil] #source, #calls, the steps behind, #way and #helpers
      def begun(steps, type, levels)
        case steps
        in [[:putself], [:opt_send_without_block, { mid: :context, orig_argc: 0 }], [:putobject, Symbol => key], *behind]
          way, behind = way(behind)
          [key, [], behind, way] if way && !OTHERS.include?(key) && graphqls?(type)
        in [[:opt_getconstant_path, path], [:opt_send_without_block, { mid:, orig_argc: 0 } => call], *behind] if alone?(call)
          state = ExecutionState.of(path, mid)
          [state, [], behind, nil] if state
        in [[:opt_getconstant_path, [:ENV] | [:"", :ENV] => path], [:putobject | :putstring, String => name], *behind]
          way, behind = way(behind)
          variable = EnvironmentVariable.of(path, name, way) if way
          [variable, [], behind, nil] if variable
        in [[:putself], [:opt_send_without_block, { mid:, orig_argc: 0 } => call], *behind] if !%i[context object].include?(mid)
          helper = helper(type, mid, levels - 1) if type && levels.positive? && Bytecode.simple?(call)
          [helper.source, helper.calls, behind, helper.way, helper.helpers] if helper
        else nil
        end
      end

      # @return [Array(Way, Array), nil] how the key before the +steps+ is asked for, and the steps behind that
      def way(steps)
        case steps
        in [[:opt_aref, { mid: :[], orig_argc: 1 }], *behind] then [PLAIN, behind]
        in [[:opt_send_without_block, { mid: :fetch | :key? => by, orig_argc: 1 } => call], *behind] if alone?(call)
          [Way.new(by, []), behind]
        in [[:putnil] | [:putobject | :putstring, String | Integer | true | false] => literal,
            [:opt_send_without_block, { mid: :fetch, orig_argc: 2 } => call], *behind] if alone?(call)
          [Way.new(:fetch, [literal[1]]), behind]
        else nil
        end
      end

      # A scalar may have no `context`.
      def graphqls?(type) = type&.method_defined?(:context) && Provenance.graphql?(type.instance_method(:context))

      # @return [ContextValue, nil] what a method of the type's returns
      def helper(type, name, levels)
        return unless type.method_defined?(name) || type.private_method_defined?(name)

        method = type.instance_method(name)
        instructions = Bytecode.of(method) if method.parameters.empty?
        value, behind = taken(instructions.steps, type, levels) if instructions&.straight?
        value.tap { |it| it.helpers << Watched::OfInstances.new(type, method) } if behind == [[:leave]]
      end

      def called(steps)
        calls = []
        loop do
          case steps
          in [[:opt_send_without_block, { mid:, orig_argc: 0 } => call], *behind] if alone?(call)
            calls << Call.new(mid, false)
            steps = behind
          in [[:dup], [:branchnil, label], *behind]
            safe, behind = safe(behind, label)
            return [calls, steps] unless safe

            return [calls + safe, behind]
          else return [calls, steps]
          end
        end
      end

      # @return [Array(Array<Call>, Array), nil] the calls up to the +label+, or up to a `leave` where that is all behind it
      def safe(steps, label)
        calls = steps.lazy.map { |step| safe_call(step) }.take_while(&:itself).to_a
        return if calls.empty?

        case steps.drop(calls.size)
        in [^label, *behind] then [calls, behind]
        in [[:leave], *] => behind if behind.each_cons(2).include?([label, [:leave]]) then [calls, behind]
        else nil
        end
      end

      def safe_call(step)
        case step
        in [:opt_send_without_block, { mid:, orig_argc: 0 } => call] then Call.new(mid, true) if alone?(call)
        else nil
        end
      end

      def alone?(call) = Bytecode.on_object?(call) && !call.key?(:kw_arg)

      # True if it's only asked whether it's there.
      def truth?(behind)
        case behind
        in [[:branchif | :branchunless, _], *] | [[:opt_not, _], *] | [[:dup], [:branchunless, _], [:pop], *] then true
        else false
        end
      end
    end

    # @return [Symbol, ExecutionState, EnvironmentVariable] a key of the context, or what else is asked
    attr_reader :source

    # @return [Array<Call>] what is called of the value, and of what that returns
    attr_reader :calls

    # @return [Way, nil] how a key is asked for
    attr_reader :way

    # @return [Array<Watched::OfInstances>] methods of the type's that say so
    attr_reader :helpers

    # "context[:viewer]&.id"
    def to_s
      source = @way ? "context#{@way.to_s_of(@source)}" : @source
      "#{source}#{@calls.map { |call| "#{"&" if call.safe}.#{call.name}" }.join}"
    end
    alias inspect to_s

    # @param truth [Boolean] whether it's only asked if it is there
    # @param way [Way, nil] of a key
    def initialize(source, calls, truth, way, helpers)
      @source = source
      @calls = calls
      @truth = truth
      @way = way
      @helpers = helpers
    end

    def truth? = @truth

    # True if one of its helpers is another by now.
    def over? = @helpers.any?(&:over?)
  end
end
