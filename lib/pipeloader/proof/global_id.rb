# frozen_string_literal: true

module Pipeloader
  # The `id` of graphql-ruby's Node, which the schema makes of the record's, in one of the ways that graphql-ruby's generator and
  # its guides write:
  #
  #     def self.id_from_object(object, _type, _context) = object.to_gid_param
  #     def self.id_from_object(object, type, _context) = GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.id)
  #
  # The schema's method is called with a record that has just its key.
  class GlobalId < Formula::OfModel
    METHOD = :default_global_id
    ENCODER = %i[GraphQL Schema UniqueWithinType].freeze
    PARAMETERS = %i[req opt].freeze
    private_constant :METHOD, :ENCODER, :PARAMETERS

    class << self
      # @param type [Class] object type
      # @param model [Class] of records
      # @return [GlobalId, nil] nil where it may be anything else
      def of(type, model, schema)
        return unless hosts?(type) && model.primary_key && model.method(:name).owner.equal?(Module)
        return unless PlainModel.of(model).reader(:id).columns?

        method = schema.method(:id_from_object)
        instructions = Bytecode.of(method.unbind, PARAMETERS) if method.parameters.size == 3
        home = schema.ancestors.find { |it| it.singleton_class.equal?(method.owner) }
        new(type, model) if instructions&.straight? && known?(instructions, method.parameters.map(&:last), model, home)
      end

      # True if +field+ is resolved by graphql-ruby's own method of the +type+'s.
      def field?(type, field)
        return false unless field.resolver_method == METHOD && hosts?(type)

        mode = field.respond_to?(:execution_mode) ? field.execution_mode : :direct_send
        mode == :direct_send || (mode == :resolve_each && field.execution_mode_key == METHOD)
      end

      private

      def hosts?(type)
        type.method_defined?(METHOD) && Provenance.graphql_alone?(type.instance_method(METHOD)) &&
          (!type.respond_to?(METHOD) || Provenance.graphql_alone?(type.method(METHOD)))
      end

      # @param home [Class, nil] the schema that has the method; nil where it is a module's
      def known?(instructions, names, model, home)
        object, type, = names
        steps = instructions.steps.map do |name, value|
          name == :getlocal_WC_0 ? [:parameter, instructions.parameter(value)] : [name, value].compact
        end
        constant = steps.take_while { |name, _| name != :parameter }
        case steps.drop(constant.size)
        in [[:parameter, ^object], [:opt_send_without_block, { mid: :to_gid_param, orig_argc: 0 }], [:leave]]
          constant.empty? && gid?(model)
        in [[:parameter, ^type], [:opt_send_without_block, { mid: :graphql_name | :name, orig_argc: 0 }],
            [:parameter, ^object], [:opt_send_without_block, { mid: :id, orig_argc: 0 }],
            [:opt_send_without_block, { mid: :encode, orig_argc: 2 }], [:leave]]
          encoder?(constant, home)
        else false
        end
      end

      # True if it's the gem's, and all records are of that class, which it names.
      def gid?(model)
        return false if PlainModel.of(model).family.members.many?

        folders = Gem.loaded_specs["globalid"]&.full_require_paths or return false
        %i[to_gid_param to_gid to_global_id].all? do |name|
          file, = model.instance_method(name).source_location if model.method_defined?(name)
          file.to_s.start_with?(*folders)
        end
      end

      # True if the steps look up graphql-ruby's constant, of which the modules around have none.
      def encoder?(steps, home)
        return false unless steps.one? && Bytecode.constants(steps).first&.without(:"") == ENCODER

        !shadowed?(home) && Provenance.graphql_alone?(GraphQL::Schema::UniqueWithinType.method(:encode))
      end

      def shadowed?(home)
        home&.name.nil? || [home, *home.module_parents].any? { |it| !it.equal?(Object) && it.const_defined?(:GraphQL, false) }
      end
    end

    def initialize(type, model)
      super(model, nil, [], {}, [])
      of_columns(Array(model.primary_key))
      @type = type
    end

    private

    def work_out(values, _arguments, context) = context.schema.id_from_object(receiver(values, context), @type, context)
  end
end
