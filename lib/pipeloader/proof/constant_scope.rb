# frozen_string_literal: true

module Pipeloader
  # A scope that says the same each time, so that it needn't be asked: all that its block does is to call query methods of
  # ActiveRecord's with literals, and those that are compared with attributes are cast by types of ActiveModel's.
  #
  #     has_many :comments, -> { where(hidden: false).order(:id) }
  #
  # Limits: joins, constants, and times, which depend on the zone.
  class ConstantScope
    METHODS = %i[where not order reorder reverse_order limit offset distinct].freeze
    STEPS = %i[putself putnil putobject putobject_INT2FIX_0_ putobject_INT2FIX_1_ putstring duparray leave].freeze
    TYPES = [*%i[BigInteger Boolean Decimal Float ImmutableString Integer String].map { |it| ActiveModel::Type.const_get(it) },
             ActiveRecord::Type::Text].freeze
    private_constant :METHODS, :STEPS, :TYPES

    class << self
      # @param scope [Proc] of an association
      # @param model [Class] whose relation it is asked of
      #
      #: (Proc, singleton(ActiveRecord::Base)) -> bool
      def is?(scope, model)
        known = scope.instance_variable_get(:@pipeloader_constant)
        known = keep(scope, model) if known.nil?
        known && known.holds?(model)
      end

      private

      def keep(scope, model)
        return false if scope.frozen?

        scope.instance_variable_set(:@pipeloader_constant, of(scope, model) || false)
      end

      # @return [ConstantScope, nil]
      def of(scope, model)
        steps = Bytecode.of(written(scope), [])&.steps
        return unless steps && steps.last == [:leave] && steps.all? { |step| constant?(step) }

        calls = steps.flat_map { |step| step.grep(Hash).select { |it| it.key?(:mid) } }
        hashes = steps.filter_map { |name, literals| literals if name == :duphash }
        new(model, calls.map { |it| it[:mid] }.uniq, [*calls.flat_map { |it| it[:kw_arg].to_a }, *hashes.flat_map(&:keys)].uniq)
      end

      # ActiveRecord has its own block around one without parameters.
      def written(scope)
        around = Provenance.active_records?(scope) && scope.binding.local_variable_defined?(:scope)
        around ? scope.binding.local_variable_get(:scope) : scope
      end

      def constant?(step)
        case step
        in [:opt_send_without_block, { mid: } => call] then METHODS.include?(mid) && Bytecode.with_keywords?(call)
        in [:duphash, literals] then literals.values.grep(Hash).empty?
        in [name, *] then STEPS.include?(name)
        else false
        end
      end
    end

    # @param names [Array<Symbol>] of the methods that it calls
    # @param attributes [Array<Symbol>] that it says something of
    def initialize(model, names, attributes)
      types = [model.relation_delegate_class(ActiveRecord::Relation), ActiveRecord::QueryMethods::WhereChain]
      @model = model
      @found = types.product(names).filter_map { |type, name| [type, type.instance_method(name)] if type.method_defined?(name) }
      @attributes = attributes.to_h { |name| [name.to_s, model.type_for_attribute(name.to_s)] }
      @constant = @found.all? { |_, method| Provenance.active_record_alone?(method) } &&
                  @attributes.each_value.all? { |type| TYPES.include?(type.class) }
    end

    # True if it is one, and all that it calls is what it was. Of another model's relation it may say something else.
    def holds?(model)
      @constant && @model.equal?(model) && @found.all? { |type, method| type.instance_method(method.name) == method } &&
        @attributes.all? { |name, type| @model.type_for_attribute(name).equal?(type) }
    end
  end
end
