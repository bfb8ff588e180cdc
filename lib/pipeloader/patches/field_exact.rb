# frozen_string_literal: true

module Pipeloader
  module Patches
    # Extends object types: they say whether their records are read by the columns that a query selects.
    #
    #     class Types::Post < GraphQL::Schema::Object
    #       pipeloader_field_exact!
    #     end
    module FieldExact
      # For this type and those that inherit from it. Without a schema that uses Pipeloader it means nothing.
      #
      #: () -> void
      def pipeloader_field_exact!
        Patches.install_projection
        @pipeloader_field_exact = true
      end

      #: () -> bool
      def pipeloader_field_exact?
        @pipeloader_field_exact ||
          (superclass.respond_to?(:pipeloader_field_exact?) && superclass.pipeloader_field_exact?) || false
      end
    end
  end
end
