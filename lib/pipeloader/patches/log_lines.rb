# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::LogSubscriber
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: it logs every `sql.active_record`, and other subscribers shall hear of them all.
    # Falls through when:: no burst brought what the event is about, it failed, no other line tells of it, or each read is to be
    #   logged.
    module LogLines
      def sql(event)
        super unless LogSubscriber.tells_of?(event.payload)
      end
    end
  end
end
