# frozen_string_literal: true

module Pipeloader
  # Sees through resolver methods that only ask the record, and what it returns: `def title = object.title` is as plain as no
  # method at all, and what `def hidden = object.comments.where(hidden: true).count` asks of one record can be asked for many.
  # Told by the instructions that Ruby has compiled such a method to; any that it doesn't know make it opaque.
  #
  # Where lines are counted (Coverage) resolver methods are run, since that is what somebody wants to see.
  module Delegation
    CALLS = %i[opt_send_without_block opt_size opt_length opt_empty_p].freeze
    private_constant :CALLS

    class << self
      # @param type [Class] object type
      # @param name [Symbol] of a method of its own
      # @param captured [Captured, nil] of that method
      # @return [Chain, nil] what it asks of the record; nil if it does anything else
      def chain(type, name, captured = nil)
        return unless type.public_method_defined?(name) && Provenance.graphql?(type.instance_method(:object))

        instructions = Bytecode.of(type.instance_method(name)) or return
        chain = of_code(Captured.fold(LocalVariables.written_out(instructions), captured), instructions, type)
        chain if chain&.calls&.any?
      end

      # @param steps [Array<Array, Symbol>] that ask something of `object`, and then of what that returns
      # @param instructions [Bytecode] of the method that they are of
      # @param type [Class] as ContextValue.fold's
      # @return [Chain, nil] as #chain; one without calls where `object` is returned
      def of_code(steps, instructions, type)
        steps = ContextValue.fold(ConstantNames.models(OwnersValues.of_object(ConstantNames.sql(steps))), type)
        contexts = ContextValue.all(steps).to_h { |value| [value, Bytecode::REQUIRED] }
        calls = asked(steps, instructions) unless counted?
        Chain.new(calls, { **instructions.keywords, **contexts }) if calls
      end

      # @param model [Class] of records
      # @param name [Symbol] of a method of theirs
      # @return [Chain, nil] as #chain: what it asks of `self`
      def of_model(model, name)
        return if !Provenance.heirs_have?(model, name) || counted?

        instructions = Bytecode.of(model.instance_method(name), []) or return
        steps = OwnersValues.of_self(ConstantNames.sql(LocalVariables.written_out(instructions)))
        case ConstantNames.models(steps)
        in [[:putself], [:opt_send_without_block, { mid: reader, orig_argc: 0 } => call], *steps, [:leave]]
          calls = calls_of(steps, [Chain::Call.new(reader, [], {})], nil) if Bytecode.on_self?(call)
          Chain.new(calls, {}) if calls
        in [[:model, queried], *steps, [:leave]]
          calls = of_queried(queried, steps, instructions)
          Chain.new(calls, {}) if calls
        else nil
        end
      end

      # @param type [Class] object type of Hashes
      # @param name [Symbol] of a method of its own
      # @return [String, Symbol, nil] the key of the entry that it returns: `object["theme"]`
      def entry(type, name)
        return unless type.public_method_defined?(name) && Provenance.graphql?(type.instance_method(:object)) && !counted?

        case Bytecode.of(type.instance_method(name), [])&.steps
        in [[:putself], [:opt_send_without_block, { mid: :object }], *steps, [:leave]]
          case steps
          in [[:putobject | :putstring, String | Symbol => key], [:opt_aref, *]] then key
          else nil
          end
        else nil
        end
      end

      # Runs one instruction. The stack has all but what the last call has returned: literals, and arguments.
      #
      # @param instructions [Bytecode, nil] of the method whose arguments these may be
      # @return [Object, nil] nil if it isn't known
      def step(step, stack, calls, instructions = nil)
        case step
        in [:putnil] then stack.push(nil)
        in [:putobject | :putstring | :duparray | :duphash, literal] then stack.push(literal)
        in [:putobject_INT2FIX_0_] then stack.push(0)
        in [:putobject_INT2FIX_1_] then stack.push(1)
        in [:getlocal_WC_0, place] then (name = instructions&.parameter(place)) && stack.push(Chain::Parameter.new(name))
        in [:model, model] then stack.push(Chain::Scope.new(model, []))
        in [:of_owner, reader] then stack.push(Chain::OfOwner.new(reader)) if instructions
        in [:context_value, value] then stack.push(Chain::Parameter.new(value)) if instructions
        in [:newarray, size] if stack.size >= size then stack.push(stack.pop(size))
        in [:newhash, size] if stack.size >= size then stack.push(stack.pop(size).each_slice(2).to_h)
        in [name, { mid:, orig_argc: } => call] if (CALLS.include?(name) || operator?(name, calls)) && chained?(call)
          call(mid, orig_argc, call.fetch(:kw_arg, []), stack, calls)
        else nil
        end
      end

      # Runs the instructions of a chain, from what is asked of the record first.
      #
      # @param steps [Array<Array, Symbol>] without the last `leave`
      # @param calls [Array<Chain::Call>] that come before; those that are found are added
      # @param instructions [Bytecode, nil] as for #step
      # @return [Array<Array, Symbol>] the steps from the first that isn't known; none if the chain ends there
      def left(steps, calls, instructions)
        ends = steps.reverse.take_while { |step| step.is_a?(Symbol) }
        steps, stack, safe = steps[0, steps.size - ends.size], [], nil
        last = steps.last(1)
        until steps.empty?
          size = calls.size
          case steps
          in [[:dup], [:branchnil, label], *behind] if ends.include?(label) && stack.empty? && size.positive?
            steps, safe = behind, true
          else
            return steps unless step(steps.first, stack, calls, instructions)

            steps = steps.drop(1)
            calls.last.safe, safe = safe, nil if calls.size > size
          end
        end
        stack.empty? ? [] : last # nobody is given what is there
      end

      private

      # Asked of what a model has answered: `!`, `> 3`. What is asked of an association's answer, a Formula knows.
      def operator?(name, calls) = Class === calls.first&.name && name.start_with?("opt_")

      def chained?(call) = Bytecode.on_object?(call) && !LocalVariables.shared?(call)

      def counted? = Provenance.rubys(:Coverage)&.running?

      # As of `object.comments.where(hidden: true).count`.
      def asked(steps, instructions)
        case steps
        in [[:putself], [:opt_send_without_block, { mid: :object, orig_argc: 0 }], *steps, [:leave]]
          calls_of(steps, [], instructions)
        in [[:model, model], *steps, [:leave]] then of_queried(model, steps, instructions)
        else nil
        end
      end

      # As of `::User.find_by(id: object.author_id)`.
      def of_queried(model, steps, instructions)
        calls = calls_of(steps, [Chain::Call.new(model, [], {})], instructions)
        calls if calls && Chain::OfOwner.all(calls.map(&:to_a)).any?
      end

      # @param calls [Array<Chain::Call>] that come before
      def calls_of(steps, calls, instructions) = (calls if left(steps, calls, instructions).empty?)

      # Everything on the stack must be its argument; otherwise the call isn't the chain's, but may be a scope's.
      def call(name, size, keywords, stack, calls)
        scope = stack[-size - keywords.size - 1] if stack.size > size + keywords.size
        return unless scope.nil? ? stack.size == size + keywords.size : Chain::Scope === scope

        named = keywords.zip(stack.pop(keywords.size)).to_h
        call = Chain::Call.new(name, stack.pop(size), named)
        return unless merges?(call)

        scope ? stack.push(Chain::Scope.new(scope.model, [*stack.pop.calls, call])) : calls.push(call)
      end

      # True if a scope is all that is merged, and is given to nothing else.
      def merges?(call)
        return scopes([call.arguments, call.keywords]).none? unless call.name == :merge

        call.arguments.one? && Chain::Scope === call.arguments.first && call.keywords.empty?
      end

      def scopes(value)
        case value
        when Array, Hash then value.to_a.flat_map { |it| scopes(it) }
        else [value].grep(Chain::Scope)
        end
      end
    end
  end
end
