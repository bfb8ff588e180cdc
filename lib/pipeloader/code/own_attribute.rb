# frozen_string_literal: true

module Pipeloader
  # What a model's own method asks of an attribute of its record, whatever methods of that name say:
  #
  #     def title = self[:title].presence || "untitled"
  #     def title = super.strip
  #
  # Limits: `id`, which is the key by whichever name; arguments and blocks of `super`.
  module OwnAttribute
    READERS = %i[[] read_attribute].freeze
    private_constant :READERS

    class << self
      # @param steps [Array<Array, Symbol>] as Bytecode#steps
      # @param model [Class] of records
      # @param method [UnboundMethod] of the model's, of which they are
      # @return [Array<Array, Symbol>] the same, with [:attribute, "title"] in place of all that is such a question
      def fold(steps, model, method)
        Bytecode.fold(steps) do |from|
          column, behind = asked(from, model, method)
          [[:attribute, column], behind] if column
        end
      end

      private

      # @return [Array(String, Array), nil] the column that is asked at the beginning of the +steps+, and those behind
      def asked(steps, model, method)
        case steps
        in [[:putself], [:putobject | :putstring, Symbol | String => name], [_, { mid:, orig_argc: 1 } => call], *behind] if
            READERS.include?(mid) && Bytecode.simple?(call)
          column = column(model, name.to_s)
          [column, behind] if column && reads?(model)
        in [[:putself], [:invokesuper, { orig_argc: 0 }, nil], *behind]
          [method.original_name.name, behind] if above?(model, method)
        else nil
        end
      end

      # @return [String, nil] nil where heirs have another by that name
      def column(model, name)
        name, *others = [model, *model.descendants].map { |it| it.attribute_aliases.fetch(name, name) }.uniq
        name if others.empty? && name != "id" && model.columns_hash.key?(name)
      end

      def reads?(model)
        READERS.none? { |name| KnownMethods.refined?(name) } &&
          Provenance.active_record_alone_in?([model, *model.descendants], READERS)
      end

      # True if ActiveRecord has generated the method above for the column of that name.
      def above?(model, method)
        model.define_attribute_methods
        name = method.original_name.name
        return false unless column(model, name) == name && !Provenance.of_another_attribute?(model, name)

        Provenance.generated?(method.super_method)
      end
    end
  end
end
