# frozen_string_literal: true

module Pipeloader
  # A record's attributes, without any code of the application's: none of its methods is called, and no default worked out.
  module RecordAttributes
    class << self
      # @return [Array<String>]
      def names(record) = of(record).keys

      # @return what it is; nil where a default or a type of the application's own would say so
      def value(record, name)
        attribute = of(record)[name]
        attribute.value if AssociationRead.constant_type?(attribute) && !default?(attribute)
      end

      private

      # @return [ActiveModel::AttributeSet]
      def of(record) = record.instance_variable_get(:@attributes)

      # The record would keep what its default is now.
      def default?(attribute) = attribute.is_a?(ActiveModel::Attribute::UserProvidedDefault)
    end
  end
end
