# frozen_string_literal: true

module Pipeloader
  # What the gem aasm does to each record that is made: it gives those without a state the initial one. Which columns have states,
  # models have told it, and no instruction shows. So its `after_initialize` is known by name.
  module StateMachines
    CALLBACK = :aasm_ensure_initial_state
    # What it calls, of the record and of its class.
    CALLED = %i[aasm_column_is_blank? aasm attribute_names].freeze
    TYPES = [ActiveModel::Type::String, ActiveModel::Type::ImmutableString, ActiveRecord::Type::Text, ActiveModel::Type::Integer,
             ActiveRecord::Enum::EnumType].freeze
    private_constant :TYPES

    class << self
      # @param called [Array<UnboundMethod>] the callback, and what it calls
      # @return [Array<String>, nil] as #columns; nil also where it isn't known what is done to a record
      def known_columns(model, called)
        columns = columns(model) if own?(model, called)
        columns if columns&.all? { |column| TYPES.include?(model.type_for_attribute(column).class) }
      end

      # @return [Array<Array, Symbol>] steps of a SymbolicExecution that do the same
      def steps(columns)
        [*columns.flat_map { |column| ask(column.to_sym) }, [:putnil], [:leave], :without_state, [:unknown]]
      end

      # @return [Array<String>, nil] those of its columns that have states; nil where it has no machines
      def columns(model)
        names = ::AASM::StateMachineStore.fetch(model, true)&.machine_names
        names&.map { |name| model.aasm(name).attribute_name.to_s }&.intersection(model.attribute_names)
      end

      private

      # Without a state is what is nil, or empty.
      def ask(name)
        [[:ask, name], [:branchunless, :without_state],
         [:ask, name], [:putstring, ""], [:call, :==, 1], [:branchif, :without_state]]
      end

      def own?(model, called)
        Provenance.rubygem?(:AASM) &&
          [*called, model.method(:aasm), ::AASM::StateMachineStore.method(:fetch)].all? do |method|
            Provenance.of_gem?(:AASM, method) || Provenance.active_record?(method)
          end
      end
    end
  end
end
