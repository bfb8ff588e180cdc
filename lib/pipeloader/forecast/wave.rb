# frozen_string_literal: true

module Pipeloader
  # What is read ahead at once: associations, each by one look-up, and questions.
  class Wave
    attr_reader :aheads, :items

    alias inspect to_s

    # @param aheads [Array<Ahead>]
    # @param items [Array<Inquiry::Item>] a pool that is gone has no answers
    def initialize(aheads, items)
      @aheads = aheads
      pools = items.map { |item| item.question.pool }.uniq & ActiveRecord::Base.connection_handler.each_connection_pool.to_a
      @items = items.select { |item| pools.include?(item.question.pool) }
      @pools = pools
    end

    # How many reads it stands for.
    def size = @aheads.sum { |ahead| ahead.readers.size } + @items.size

    # @return [Array<Array(Forecast, Array<ActiveRecord::Base>)>] records that it has brought
    def brought = @aheads.map { |ahead| [ahead.forecast, ahead.read.flat_map(&:records)] }

    # Sends all of it, and waits for it.
    def send_off(fiber)
      found = within(@pools, fiber, {}.compare_by_identity) { |connections| together(connections, fiber) }
      @aheads.zip(found) { |ahead, outcome| ahead.fill(outcome) }
    end

    private

    # Yields with a connection of each of +pools+ in which no transaction is open.
    def within(pools, fiber, connections, &block)
      pool, *others = pools
      return yield(connections) unless pool

      fiber.response.holding(pool, fiber) do |connection|
        fiber.response.meet(connection)
        connections[pool] = connection unless connection.transaction_open?
        within(others, fiber, connections, &block)
      end
    end

    # @return [Array<Outcome>] of the look-ups
    def together(connections, fiber)
      @items.each { |item| item.ask(connections[item.question.pool]) }
      *reads, last = @items.filter_map(&:read)
      reads.each { |read| fiber.response.gather(read, fiber) }
      return look_up(last, fiber) if @aheads.any?

      fiber.park(last) if last
      NONE
    ensure
      @items.each(&:withdraw)
    end

    def look_up(last, fiber)
      fiber.response.gather(last, fiber) if last
      fiber.look_up(@aheads.map(&:wanted))
    end

    NONE = [].freeze
    private_constant :NONE
  end
end
