# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Dataloader::ActiveRecordAssociationSource, beside DataloaderSource
    # Since:: graphql 2.5.2
    # Why no public seam does it:: ActiveRecord's preloader limits all owners at once, so that the rows of an association with a
    #   limit depend on who is fetched together: on Execution::Next without Pipeloader, one of a field's objects at a time. And
    #   the host asks for nothing where the association is loaded, for which a serial run may have to wait.
    # Falls through when:: no limit is stated, one record is fetched, or the source belongs to a dataloader without Pipeloader.
    module AssociationSource
      def load(record)
        pipeloader_follow([record]) if record.association(@association).loaded?
        super
      end

      def request(record)
        pipeloader_turns&.request([record])
        super
      end

      def request_all(records)
        pipeloader_turns&.request(records)
        super
      end

      def sync(keys)
        pipeloader_turns&.ask(pipeloader_job, keys)
        super
      end

      def fetch(records)
        turns = @dataloader.pipeloader_fetch_turns.delete(self) if @dataloader.is_a?(Loader)
        groups = turns.split(records) if turns && records.size > 1 && pipeloader_limited?(records.first)
        return super unless groups && groups.size > 1

        found = groups.to_h { |group| [group, pipeloader_results(group) { super(group) }] }
        found = found.flat_map { |group, results| group.zip(results) }.to_h.compare_by_identity
        records.map { |record| found[record] } # a list of arguments has its limits
      end

      private

      # @return [FetchTurns, nil] nil for who isn't a field of Execution::Next
      def pipeloader_turns = (@dataloader.pipeloader_fetch_turns[self] ||= FetchTurns.new if pipeloader_job&.of_step?)

      # An error is the result of its own group.
      def pipeloader_results(group)
        yield
      rescue StandardError => e
        Array.new(group.size, e)
      end

      def pipeloader_limited?(record)
        [@scope, pipeloader_scope_of(record.association(@association))].compact.any? { |it| it.limit_value || it.offset_value }
      end

      # What is read for one record alone has a limit of its own.
      def pipeloader_scope_of(association)
        reflection = association.reflection
        return association.scope if reflection.collection?

        reflection.scope_for(association.klass.unscoped, association.owner) if reflection.scope && association.klass
      end
    end
  end
end
