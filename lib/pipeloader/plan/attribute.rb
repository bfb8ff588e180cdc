# frozen_string_literal: true

module Pipeloader
  # A value that a thing other than a record has, in place of a column: graphql-ruby gets it without any code of the
  # application's.
  class Attribute
    # @param plain [PlainField] a leaf
    # @param model [Class] of the things
    # @return [Attribute, nil] nil where there is code, or more to be done
    def self.of(key, plain, model)
      return entry(key, plain) if model.equal?(Hash)

      new(key, plain.field) if plain.calls_alone?(model) && !plain.of_type? && codeless?(model, plain.field.method_sym)
    end

    def self.entry(key, plain)
      return Entry.new(key, plain.field) if plain.reads_entry?

      names = plain.entry_names
      NamedEntry.new(key, plain.field, names) if names
    end
    private_class_method :entry

    # True if a method is an `attr_reader`, or for a member of a Struct or Data.
    def self.codeless?(model, name)
      method = model.instance_method(name)
      return RubyVM::InstructionSequence.of(method).nil? if method.source_location

      owner = method.owner
      VALUES.any? { |values| owner < values } && owner.members.include?(name)
    end
    private_class_method :codeless?

    # Ruby 3.1 has no Data.
    VALUES = [Struct, Provenance.rubys(:Data)].compact.freeze
    private_constant :VALUES

    include Keyed

    alias inspect to_s

    def initialize(key, field)
      @key = key
      @name = field.method_sym
      @coercion = Coercion.new(field.type)
    end

    # @return [Symbol] what the field's values are, as Coercion has it
    def kind = @coercion.kind

    # As a Plan's other entries.
    def formulas = @coercion.formulas

    # @return [String] Ruby code that reads it of the thing in a variable
    def code(variable) = @name.match?(/\A[a-z_]\w*\z/) ? "#{variable}.#{@name}" : "#{variable}.public_send(#{@name.inspect})"

    # As Plan::Leaf's: the row is the thing itself.
    def build(thing, _branch, context) = of_record(thing, nil, context)

    # As Plan::Leaf's.
    def of_record(thing, _columns, context)
      value = read(thing)
      ResolverCall.known?(value) ? @coercion.of_attribute(value, context) : raise(DoesNotFit)
    end

    # @return what the thing has
    # @raise [DoesNotFit] where that isn't known
    def read(thing) = thing.public_send(@name)

    # One that is another thing, or a list of such, of which something is selected.
    class Things
      NONE = [].freeze
      private_constant :NONE

      attr_reader :key

      alias inspect to_s

      # @param nodes [Array<GraphQL::Language::Nodes::Field>] where it is selected
      def initialize(key, attribute, field, nodes, operation)
        @key = key
        @attribute = attribute
        @nullable = !field.type.non_null?
        @type = TypeWrappers.item(field.type)
        @list = TypeWrappers.nullable(field.type).list?
        @node = nodes.first
        @selections = nodes.one? ? nodes.first.selections : nodes.flat_map(&:selections)
        @operation = operation
      end

      # As Plan::Leaf's.
      def build(thing, frame, context) = of_attribute(value(thing, frame), context)

      # Their own plan is asked for when they come.
      def formulas = NONE

      # As Coercion's.
      def of_attribute(value, context)
        return if @nullable && nil.equal?(value)
        return write([value], context).first unless @list

        Array === value && value.instance_of?(Array) && value.empty? ? [] : write(value, context)
      end

      private

      def value(thing, _frame) = @attribute.read(thing)

      def write(things, context) = @operation.plans.write_things(things, @type, @selections, @node, context)
    end

    # What a record's JSON column has.
    class Document < Things
      # @param index [Integer] where in a row the column is
      # @param cast [Cast] of its values
      def initialize(key, index, cast, field, nodes, operation)
        super(key, nil, field, nodes, operation)
        @index = index
        @cast = cast
      end

      private

      def value(row, frame) = frame.coerced? ? row[@index] : @cast.call(row[@index])
    end

    # Of a Hash, under the field's name.
    class Entry < Attribute
      def initialize(key, field)
        super
        @string = field.method_str
      end

      # A nil isn't known to be there.
      def code(variable) = "#{variable}.fetch(#{@name.inspect}, nil)"

      def read(hash) = hash.fetch(@name) { hash.fetch(@string) { hash.default_proc && raise(DoesNotFit) } }
    end

    # Of a Hash, under another name.
    class NamedEntry < Entry
      # @param names [Array] one, or the second where there is no first
      def initialize(key, field, names)
        super(key, field)
        @name, @string = names.values_at(0, -1)
      end

      # Another String may be meant, where it matters which.
      def code(variable) = "(#{variable}.compare_by_identity? ? nil : #{super})"

      def read(hash)
        raise DoesNotFit if hash.compare_by_identity?

        hash.fetch(@name) { hash.fetch(@string) { raise DoesNotFit if hash.default_proc || !hash.default.nil? } }
      end
    end
  end
end
