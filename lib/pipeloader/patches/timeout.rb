# frozen_string_literal: true

require "timeout"

module Pipeloader
  module Patches
    # Host:: Timeout (Ruby's own)
    # Since:: Ruby 3.1
    # Why no public seam does it:: when the time is up, Timeout strikes the thread, whichever fiber it is running; with the
    #   block's own fiber parked that is another field's, or nobody's. So inside nothing parks: reads go at once. What others have
    #   asked for goes before the clock starts: it isn't what takes the block's time. Not before what a library limits, as
    #   graphql-ruby its validation, and Net::HTTP a connect.
    # Falls through when:: the current fiber is not a resolver's.
    module Timeout
      def timeout(seconds, error = nil, message = nil, &block)
        Pipeloader.without_parking do
          ResolverFiber.current&.send_gathered unless seconds.nil? || Provenance.of_library?(block)
          super
        end
      ensure
        # Net::HTTP, for one, connects inside: what it has called may have written.
        ResolverFiber.current&.outdate
      end
    end
  end
end
