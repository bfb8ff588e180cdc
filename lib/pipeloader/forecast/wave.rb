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

    # True if it is worth a round trip, or costs none.
    def pays? = size >= WORTH || (@items.empty? && @aheads.any? && @aheads.all?(&:brought?))

    # @return [Array<Arrival>] of the records that it has brought
    def brought = @aheads.map(&:arrival)

    # Sends all of it, and waits for it.
    def send_off(fiber)
      asked = @aheads.reject(&:brought?)
      found = within(@pools, fiber, {}.compare_by_identity) { |connections| together(asked, connections, fiber) }
      found = asked.zip(found).to_h.compare_by_identity
      @aheads.each { |ahead| ahead.fill(found[ahead] || ahead.brought) }
      @items.each(&:come).select!(&:params)
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
    def together(aheads, connections, fiber)
      @items.each { |item| item.ask(connections[item.question.pool]) }
      *reads, last = @items.filter_map(&:read)
      reads.each { |read| fiber.response.gather(read, fiber) }
      return look_up(aheads, last, fiber) if aheads.any?

      fiber.park(last) if last
      NONE
    ensure
      @items.each(&:withdraw)
    end

    def look_up(aheads, last, fiber)
      fiber.response.gather(last, fiber) if last
      fiber.look_up(aheads.map(&:wanted))
    end

    NONE = [].freeze
    # From how many reads on it pays.
    WORTH = 2
    private_constant :NONE, :WORTH
  end
end
