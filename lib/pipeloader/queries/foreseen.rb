# frozen_string_literal: true

module Pipeloader
  # To be rescued where rows are read before their fields have come to be resolved: errors from casting, or from the server, or
  # because what came has no place. Whoever reads gives up then, so that graphql-ruby itself meets and reports them.
  module Foreseen
    ERRORS = [DoesNotFit, ArgumentError, TypeError, RangeError, EncodingError, ActiveRecord::ActiveRecordError, SettingsError,
              GraphQL::ExecutionError].freeze
    private_constant :ERRORS

    class << self
      def ===(error) = ERRORS.any? { |it| it === error } && !interrupted?(error)

      # True if somebody has interrupted this thread by an error of ActiveRecord's, as Timeout.timeout can: no server has said so.
      def interrupted?(error) = error.is_a?(ActiveRecord::StatementInvalid) && error.cause.nil?
    end
  end
end
