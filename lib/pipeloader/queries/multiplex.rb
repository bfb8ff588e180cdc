# frozen_string_literal: true

module Pipeloader
  # Does the same for many values, so that the queries that are executed for them read together: each in a fiber of its own, a
  # Branch. A query is executed as alone: by a dataloader, a GraphQL multiplex and traces of its own. Where nothing of it can go
  # on, its reads join the level of all branches, and the others go on.
  #
  # What a branch does with its result, it does in its turn: when all values before have been done with.
  #
  # Limits: an exception leaves in its turn, too, but the queries of later values have begun by then. A block can't be left by
  # `break` or `throw`.
  class Multiplex
    # How many values are done at once, some 200 kB each; and how many fibers may wait until no other begins.
    MOST = 1024
    CROWD = 8192
    private_constant :MOST, :CROWD

    class << self
      # @param values [Array]
      # @return [Array] what the block returns for each
      def map(values, &block)
        ResolverFiber.current&.branch&.await_turn # those of its block are in order among themselves alone
        return values.map(&block) if values.size < 2 || !possible?

        values.each_slice(MOST).flat_map { |some| new.map(some, &block) }
      end

      # Yields to execute queries of +schema+. Where the current fiber is a branch, it returns in its turn.
      def around(schema, &)
        branch = ResolverFiber.current&.branch or return yield

        # A response has one set of settings, and one snapshot.
        schema.pipeloader_options.values_at(:settings, :snapshot).any? ? branch.alone(&) : branch.in_turn(&).value
      end

      private

      # Not where a lock is held, a resolver has begun a transaction, or the response has settings or a snapshot.
      def possible?
        return false if Pipeloader.disabled? || !Pipeloader.main_ractor?

        fiber = ResolverFiber.current
        fiber.nil? || (fiber.parks? && !fiber.response.in_new_transaction? && !fiber.response.surrounds?)
      end
    end

    # What is done for one value.
    class Branch
      attr_reader :multiplex, :index

      # @param fiber [ResolverFiber]
      def initialize(multiplex, index, fiber)
        @multiplex = multiplex
        @index = index
        @fiber = fiber
      end

      alias inspect to_s

      # True if the current fiber is its own, and none of its queries'.
      def here? = ResolverFiber.current.equal?(@fiber)

      # A fiber of its query has got on.
      def step = @fiber.step

      # In which the branches are side by side.
      #
      #: () -> Run
      def run = @fiber.loader.pipeloader_run

      # True if nobody will wake it.
      def over? = @fiber.abandoned?

      # The parking of its fiber.
      def parking = @fiber.parking

      # Returns when the branches before are done.
      def await_turn
        @fiber.loader.pipeloader_yield until @multiplex.turn?(@index)
      end

      # Yields, and returns in its turn. What ends a response from outside doesn't wait.
      #
      # @return [Outcome]
      def in_turn(&)
        Outcome.of_block(&).tap { await_turn }
      end

      # Yields in its turn, to execute what has nothing to do with the other branches.
      def alone(&block)
        await_turn
        ResolverFiber.as(nil, &block)
      end
    end

    def initialize
      @turn = @fibers = 0
      @deleted = {} # {[#<AppSubscriptions>, "a subscription's id"] => the index of the branch that did it}
    end

    alias inspect to_s

    def map(values)
      results = []
      loader = QueryLoader.over(GraphQL::Dataloader, fiber_limit: nil, coalesce: true).new
      loader.pipeloader_multiplex = self
      values.each_with_index { |value, index| loader.append_job { results[index] = branch(index) { yield value } } }
      loader.run
      results
    end

    # So many more fibers wait.
    def count(change) = @fibers += change

    # True if no other fiber may begin.
    #
    # @param running [Integer] how many of them don't wait just now
    def crowded?(running = 0) = @fibers + running >= CROWD

    # True if the branches before +index+ are done.
    def turn?(index) = @turn >= index

    # A branch deletes a subscription.
    def delete(store, id, branch) = @deleted[[store, id]] ||= branch.index

    # True if a branch before has deleted it.
    def deleted?(store, id, branch) = @deleted.fetch([store, id], branch.index) < branch.index

    private

    def branch(index, &)
      fiber = ResolverFiber.current
      fiber.branch = Branch.new(self, index, fiber)
      outcome = FieldPosition.apart { fiber.branch.in_turn(&) }
      @turn = index + 1
      outcome.value
    ensure
      fiber.branch = nil
    end
  end
end
