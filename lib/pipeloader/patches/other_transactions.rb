# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: adapters of other databases than PostgreSQL, as a part of their patches
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: what reads from PostgreSQL inside would let siblings in, which write over the same connection.
    # Falls through when:: the current fiber is not a resolver's.
    module OtherTransactions
      def transaction(...)
        Attempt.written
        return super unless (fiber = ResolverFiber.current)

        fiber.response.meet(self)
        fiber.catch_up
        fiber.without_parking { super }
      end
    end
  end
end
