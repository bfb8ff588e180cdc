# frozen_string_literal: true

module Pipeloader
  # Scopes whose code shows that they say the same each time: ActiveRecord's clauses with literals.
  #
  #     -> { where(hidden: false).where.not(body: nil).order(:id) }
  #
  # Limits: one that names a constant, a variable or another scope, has a condition or a second statement.
  module FixedScope
    CLAUSES = %i[where not order reorder limit offset distinct].freeze
    LITERALS = %i[putself putnil putobject putobject_INT2FIX_0_ putobject_INT2FIX_1_ putstring duparray duphash newarray newhash
                  leave].freeze
    private_constant :CLAUSES, :LITERALS

    class << self
      # @param klass [Class] of the records
      # @param scope [#call] that a relation of +klass+ is asked
      def fixed?(klass, scope)
        code = Bytecode.of(written(scope), []) if scope.instance_of?(Proc)
        !code.nil? && code.straight? && clauses?(klass, code.steps)
      end

      private

      # ActiveRecord has a block of its own around an association's scope: `proc { instance_exec(&scope) }`.
      def written(scope)
        file, = scope.source_location
        return scope unless file && Provenance.file_of?(ActiveRecord, file) && scope.binding.local_variable_defined?(:scope)

        scope.binding.local_variable_get(:scope)
      end

      # @param steps [Array<Array, Symbol>] without jumps nothing is left out, or comes twice
      def clauses?(klass, steps)
        steps.all? do |name, call|
          name == :opt_send_without_block ? active_records?(klass, call[:mid]) : LITERALS.include?(name)
        end
      end

      def active_records?(klass, name)
        type = name == :not ? ActiveRecord::QueryMethods::WhereChain : klass.relation_delegate_class(ActiveRecord::Relation)
        CLAUSES.include?(name) && !KnownMethods.refined?(name) && Provenance.active_record_alone?(type.instance_method(name))
      end
    end
  end
end
