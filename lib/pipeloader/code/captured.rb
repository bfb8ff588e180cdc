# frozen_string_literal: true

require "objspace"

module Pipeloader
  # The variables from around a method that `define_method` was given a block for, as far as they are literals:
  #
  #     %i[title body].each { |name| define_method(:"shown_#{name}") { object.public_send(name).strip } }
  #
  # Ruby tells neither the block of such a method nor their names, so the block is looked for among what the method refers to, and
  # the names are those that Ruby's disassembler writes.
  #
  # Limits: variables that are asked for in a block of the method's.
  class Captured
    READ = /^\d+\s+getlocal(?:_WC_[01])?\s+(\w+)@\d+/
    LOCAL = /\Agetlocal(?:_WC_1)?\z/
    LITERALS = [Symbol, String, Integer, NilClass, TrueClass, FalseClass].freeze
    private_constant :READ, :LOCAL, :LITERALS

    class << self
      # @param method [UnboundMethod]
      # @return [Captured, nil] nil where it has none that are literals
      def of(method)
        sequence = RubyVM::InstructionSequence.of(method)
        return unless sequence&.label&.start_with?("block")

        names = names(sequence)
        block = block(method, sequence) if names.any?
        values = block ? values(block.binding, names) : {}
        new(values) if values.any?
      end

      # @param steps [Array<Array, Symbol>] as Bytecode#steps, of a method that is given no blocks for each object
      # @param captured [Captured, nil] of that method
      # @return [Array<Array, Symbol>] the same, with a literal in place of such a variable, and the call that is named in
      #   place of `public_send`
      def fold(steps, captured) = sent(captured ? captured.fold(steps) : steps)

      private

      def sent(steps)
        Bytecode.fold(steps) do |from|
          case from
          in [[:putobject | :putstring, Symbol | String => name],
              [instruction, { mid: :public_send, orig_argc: 1 } => call], *behind]
            called = call.merge(mid: name.to_sym, orig_argc: 0)
            [[instruction, called], behind] if Bytecode.on_object?(call) && KnownMethods.sends?
          else nil
          end
        end
      end

      # @return [Hash{Array => Symbol}] the name of the variable that an instruction reads
      def names(sequence)
        reads = Bytecode.raw(sequence.to_a).grep(Array).select { |name, *| name.start_with?("getlocal") }
        own = sequence.disasm.split(/^== disasm/, 3)[1] # those of blocks inside come behind
        written = own.scan(READ).flatten
        return {} unless reads.size == written.size

        reads.zip(written.map(&:to_sym)).select { |(name, *), _| name.match?(LOCAL) }.to_h
      end

      # @return [Proc, nil]
      def block(method, sequence)
        inside = ObjectSpace.reachable_objects_from(method).grep(ObjectSpace::InternalObjectWrapper)
        blocks = inside.flat_map { |it| ObjectSpace.reachable_objects_from(it) || [] }.grep(Proc)
        blocks.find { |it| RubyVM::InstructionSequence.of(it).equal?(sequence) }
      end

      def values(binding, names)
        names.select { |_, name| binding.local_variable_defined?(name) }
             .transform_values { |name| Variable.new(binding, name, binding.local_variable_get(name)) }
             .select { |_, variable| variable.literal? }
      end
    end

    # As it was found. What else a variable may have, isn't asked: that may have no methods.
    Variable = Struct.new(:binding, :name, :value) do
      def initialize(*)
        super
        self.value = value.dup.freeze if String === value && literal?
      end

      def literal? = LITERALS.any? { |type| type === value && value.instance_of?(type) }

      # True if it is another by now.
      def over?
        now = binding.local_variable_get(name)
        !value.eql?(now) || !now.instance_of?(value.class)
      end
    end
    private_constant :Variable

    #: (Hash[Array[untyped], untyped]) -> void
    def initialize(variables)
      @variables = variables # {instruction => Variable}
    end

    #: (Array[untyped]) -> Array[untyped]
    def fold(steps)
      steps.map { |step| (variable = @variables[step]) ? [:putobject, variable.value] : step }
    end

    # True if one is another by now.
    def over? = @variables.each_value.any?(&:over?)
  end
end
