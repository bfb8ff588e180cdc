# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, when Pipeloader.strict is first called
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: `sql.active_record` doesn't tell which rows have come, and so not whether a read needs those
    #   of the one before.
    # Falls through when:: nobody is strict; the current fiber is not a resolver's.
    module PostgreSQLStrict
      def select_all(*, **)
        fiber = Thread.current[ResolverFiber::KEY]
        return super if fiber.nil? || fiber.is_a?(Bystander) || (strict = Strict.current).nil?

        strict.read(fiber) { super }
      end

      def pipeloader_select(_template, _keys, fiber)
        (strict = Strict.current) ? strict.read(fiber) { super } : super
      end
    end
  end
end
