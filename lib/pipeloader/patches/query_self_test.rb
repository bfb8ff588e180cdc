# frozen_string_literal: true

module Pipeloader
  module Patches
    # The part of SelfTest that is about graphql-ruby.
    module QuerySelfTest
      # Methods that we call or override.
      DATALOADER = %i[run run_fiber yield append_job run_isolated get_fiber_variables].freeze

      # Called when the gem is loaded.
      #
      #: () -> void
      def run_on_graphql
        check_methods(GraphQL::Dataloader, DATALOADER)
        check_methods(GraphQL::Dataloader::Source, %i[run_pending_keys])
        check_methods(GraphQL::Execution::Interpreter::Runtime, %i[continue_value])
        check_methods(ObjectSpace.singleton_class, %i[internal_class_of])
        check_methods(GraphQL::Pagination::RelationConnection, %i[load_nodes limited_nodes has_next_page has_previous_page])
      end

      def run_on_projection
        super
        check_methods(GraphQL::Execution::Interpreter::Runtime, %i[continue_field])
      end

      private

      def hosts = "#{super} with graphql #{GraphQL::VERSION}"

      SelfTest.singleton_class.prepend(self)
    end
  end
end
