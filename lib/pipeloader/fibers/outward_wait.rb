# frozen_string_literal: true

module Pipeloader
  # Something that a resolver's fiber waits for, on its way out to a fiber that a fiber scheduler knows (a request's, under
  # Falcon): there other requests go on meanwhile.
  #
  # A GraphQL::Dataloader runs resolvers on fibers that no scheduler knows, so a wait of theirs holds up the whole thread. While
  # this waits, nobody of its own response goes on: each fiber stands where it was when the wait was handed out.
  class OutwardWait
    # What the wait has returned.
    attr_reader :result

    #: (^() -> untyped) -> void
    def initialize(wait)
      @wait = wait
    end

    # Called where +fiber+ was resumed, which has handed this out: waits here, or hands it on.
    #
    # @return what +fiber+ yields next
    def serve(fiber)
      Fiber.current_scheduler ? @result = @wait.call : Fiber.yield(self)
    rescue Exception => e # rubocop:disable Lint/RescueException -- an interrupt, too, is for the fiber whose wait it ends
      fiber.raise(e)
    else
      fiber.resume
    end
  end
end
