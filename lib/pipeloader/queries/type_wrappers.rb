# frozen_string_literal: true

module Pipeloader
  # Looks through graphql-ruby's type wrappers.
  module TypeWrappers
    # @return [Class] the type itself, where null may stand or not
    def self.nullable(type) = type.non_null? ? type.of_type : type

    # @return [Class] what a list of this type contains; the type itself if it is no list
    def self.item(type)
      type = nullable(type)
      type.list? ? nullable(type.of_type) : type
    end
  end
end
