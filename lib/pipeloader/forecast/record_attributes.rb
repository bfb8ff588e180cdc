# frozen_string_literal: true

module Pipeloader
  # A record's attributes, without any method of the application's.
  module RecordAttributes
    # @return [ActiveModel::AttributeSet]
    def self.of(record) = record.instance_variable_get(:@attributes)
  end
end
