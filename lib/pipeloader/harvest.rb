# frozen_string_literal: true

module Pipeloader
  # Reads what a Plan needs, level by level, and builds the response from it. All reads of a level are parked side by side, each
  # in a fiber of its own, so that they share a burst with one another and with what other fields read.
  class Harvest
    #: (ResolverFiber, GraphQL::Query::Context) -> void
    def initialize(fiber, context)
      @fiber = fiber
      @context = context
    end

    # @param value as Root takes it
    # @return [Array<Hash>, nil] for each record; nil where its rows can't be had
    def call(plan, value)
      root = Root.branch(plan, value) or return
      read(root)
      root.rows.map { |row| plan.build(row, root, @context) }
    end

    # Reads all that is below.
    def read(root)
      level = root.branches
      until level.empty?
        side_by_side(level)
        level = level.flat_map(&:branches)
      end
    end

    private

    def side_by_side(branches)
      first, *others = branches
      return branches.each(&:read) if others.empty? || !@fiber.parks?

      together(first, others)
    end

    def together(first, others)
      unread = others.size
      failure = nil
      others.each do |branch|
        @fiber.loader.append_job do
          branch.read
        rescue ActiveRecord::ActiveRecordError, Unfit => e
          failure ||= e
        ensure
          unread -= 1
        end
      end
      first.read
      @fiber.wait { unread.zero? }
      raise failure if failure
    end
  end
end
