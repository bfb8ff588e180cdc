# frozen_string_literal: true

module Pipeloader
  # What one of an enum's predicates asks:
  #
  #     enum :status, { draft: 0, published: 1 }     # published? is true for "published"
  class EnumPredicate
    METHODS = ActiveRecord::Enum.const_get(:EnumMethods)
    ASKED = "_for_database"
    private_constant :METHODS, :ASKED

    # Stands in for a record, and hears what the predicate asks of it: `status_for_database == 1`.
    class Probe
      attr_reader :asked, :value

      def method_missing(name, ...)
        @asked = name
        self
      end

      def ==(other)
        @value = other
        false
      end
    end
    private_constant :Probe

    class << self
      # @param model [Class] of records
      # @param name [Symbol] of a method of theirs
      # @return [EnumPredicate, nil]
      def of(model, name)
        return unless name.end_with?("?") && Provenance.heirs_have?(model, name)

        method = model.instance_method(name)
        return unless method.owner.instance_of?(METHODS) && Provenance.active_record?(method)

        method.bind_call(probe = Probe.new)
        return unless probe.asked&.end_with?(ASKED) && read_by?(model, probe.asked)

        attribute = probe.asked.name.delete_suffix(ASKED)
        return unless enum?(model, attribute)

        new(model, attribute, probe.value)
      end

      private

      def read_by?(model, name)
        [model, *model.descendants].each(&:define_attribute_methods).all? do |it|
          Provenance.attributes?(it, name) && Provenance.active_record?(it.instance_method(:attribute_for_database))
        end
      end

      def enum?(model, attribute)
        return false unless model.columns_hash.key?(attribute) && model.defined_enums.key?(attribute)

        type = model.attribute_types.fetch(attribute)
        type.instance_of?(ActiveRecord::Enum::EnumType) && Cast.known?(type.subtype)
      end
    end

    # @return [String] that it asks
    attr_reader :column

    # @param value what the database has where the predicate is true
    def initialize(model, attribute, value)
      @column = attribute
      type = model.attribute_types.fetch(attribute)
      @labels = [nil, *model.defined_enums.fetch(attribute).keys].to_h { |label| [label, type.serialize(label) == value] }
    end

    # @param label [String, nil] the enum's value
    # @raise [DoesNotFit] where it is no label: the database's value would tell
    def true_for?(label) = @labels.fetch(label) { raise DoesNotFit }
  end
end
