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
      here? ? @result = @wait.call : Fiber.yield(self)
    rescue Exception => e # rubocop:disable Lint/RescueException -- an interrupt, too, is for the fiber whose wait it ends
      fiber.raise(e)
    else
      fiber.resume
    end

    # What a query of a Multiplex waits for, on its way out to its branch: there the other branches go on.
    class ToBranch < self
      #: (Multiplex::Branch, ^() -> untyped) -> void
      def initialize(branch, wait)
        super(wait)
        @branch = branch
      end

      # It is given up.
      def here = nil

      private

      def here? = @branch.here?
    end

    # Waits where it is.
    def here = @wait.call

    private

    def here? = Fiber.current_scheduler
  end
end
