# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Persistence
    # Since:: ActiveRecord 7.2; put on when projection is first asked for
    # Why no public seam does it:: a record that was deleted can still be asked for all that it had, and then there is no row to
    #   fetch it from. Of several ways to delete one record, all end here.
    # Falls through when:: the record was not narrowed.
    module RecordProjection
      private

      def _delete_row
        @attributes.keys if @pipeloader_demand
        super
      end
    end
  end
end
