# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Dataloader::Source
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a source's `fetch` runs on a fiber that graphql-ruby spawns for sources, by a private
    #   method that differs between dataloaders. All of them come through here. And what a field asks for decides when a serial
    #   run would have come to it (SourceRounds).
    # Falls through when:: the source belongs to a dataloader without Pipeloader.
    module DataloaderSource
      def run_pending_keys
        fiber = ResolverFiber.of(@dataloader) if @dataloader.is_a?(Loader)
        return super unless fiber

        outer = fiber.begin_job(nil)
        begin
          fiber.fetch = pipeloader_fetch
          FieldPosition.nowhere { super }
        ensure
          fiber.fetch = nil
          fiber.end_job(outer)
        end
      end

      def load(value)
        pipeloader_follow([value])
        super
      end

      def load_all(values)
        pipeloader_follow(values)
        super
      end

      # A field goes on when the source has what it asks for.
      def sync(keys)
        job = pipeloader_job
        (@dataloader.pipeloader_source_rounds[self] ||= SourceRounds.new).ask(job, keys) if job
        super
      end

      private

      # @return [Job, SourceRounds::Fetch, nil] who asks; nil where fields go on depth first
      def pipeloader_job
        return if !@dataloader.is_a?(Loader) || @dataloader.pipeloader_depth_first? || (fiber = ResolverFiber.current).nil?

        fiber.job ? fiber.job.with_wholes.last : fiber.fetch
      end

      def pipeloader_fetch
        (rounds = @dataloader.pipeloader_source_rounds[self]) && SourceRounds::Fetch.new(@dataloader, rounds, @pending.keys)
      end

      # What is there by now, because the field has read meanwhile, it would wait for in a serial run.
      def pipeloader_follow(values)
        return unless @dataloader.is_a?(Loader) && (rounds = @dataloader.pipeloader_source_rounds[self]) && (job = pipeloader_job)

        keys = values.map { |value| result_key_for(value) }
        rounds.follow(job, keys) if keys.all? { |key| @results.key?(key) }
      end
    end
  end
end
