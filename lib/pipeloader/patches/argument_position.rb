# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Schema::Field
    # Since:: graphql 2.5.2
    # Why no public seam does it:: arguments are coerced by jobs. Without a dataloader these are done where they are asked for:
    #   that is what `context[:current_path]` says to `prepare`, and the path of an error.
    # Falls through when:: the loader isn't ours, or extends one under which they are done later, too.
    module ArgumentPosition
      def coerce_arguments(parent_object, values, context, &block)
        loader = context.dataloader
        return super unless block && loader.is_a?(Loader) && loader.pipeloader_depth_first?

        loader.pipeloader_do_here(self) { super }
        nil
      end
    end
  end
end
