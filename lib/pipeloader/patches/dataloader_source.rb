# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Dataloader::Source
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a source's `fetch` runs on a fiber that graphql-ruby spawns for sources, by a private
    #   method that differs between dataloaders. All of them come through here.
    # Falls through when:: the source belongs to a dataloader without Pipeloader.
    module DataloaderSource
      def run_pending_keys
        fiber = ResolverFiber.of(@dataloader) if @dataloader.is_a?(Loader)
        return super unless fiber

        outer = fiber.begin_job(nil)
        begin
          FieldPosition.nowhere { super }
        ensure
          fiber.end_job(outer)
        end
      end
    end
  end
end
