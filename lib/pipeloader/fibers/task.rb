# frozen_string_literal: true

module Pipeloader
  # One block of a Gathering, and what came of it.
  class Task
    # The variable of a fiber in which ActionPolicy keeps the results of the rules that it is inside of, the innermost one last.
    RULES = :__action_policy_result__

    # @return what the block is given; nil for nothing
    attr_reader :subject

    # Whether the fiber is known to be at rest when it begins.
    attr_accessor :at_rest

    # @return [Hash, nil] what its block, and the code around it, have set in contexts; nil outside of a field
    attr_reader :context_keys

    # @param work [#call]
    def initialize(gathering, work, subject = nil)
      @gathering = gathering
      @work = work
      @subject = subject
      @claimed = @canceled = @at_rest = false
      @rules = Thread.current[RULES].dup # a block in a rule belongs to that rule, on whichever fiber
      @context_keys = ResolverFiber.current&.context_keys!
    end

    alias inspect to_s

    # @return what the block has returned, as soon as that is known
    # @raise what it has raised
    # @raise [ThreadError] if that will never be known
    def value
      @gathering.wait_for(self) unless ended?
      @claimed = true
      (thrown = @outcome.error).is_a?(UncaughtThrowError) ? throw(thrown.tag, thrown.value) : @outcome.value
    end

    def ended? = !@outcome.nil?

    # True if it has failed, and nobody has been told.
    def unclaimed? = !@outcome&.error.nil? && !@claimed

    # Does the block; called by its job, or where it is asked for.
    def call
      return if over?

      @native, @fiber = ::Fiber.current, ResolverFiber.current
      rules, Thread.current[RULES] = Thread.current[RULES], @rules
      @outcome = @fiber ? @fiber.for_task(self) { outcome } : DynamicState.keeping { Outcome.of_block(&@work) }
    rescue Canceled
      raise unless @canceled || over? # it is that of a Task around, on whose fiber this one is done
    ensure
      Thread.current[RULES] = rules if @native
      @native = @fiber = nil
      @gathering.ended(@outcome)
    end

    # It never goes on, if it waits.
    def cancel
      return unless @native&.alive?

      @canceled = true
      @fiber.loader.pipeloader_raise_in(@native, Canceled)
    end

    # True if nobody wants to know any more.
    def over? = @gathering.over?

    # What it does then in `ensure` may read.
    #
    # @raise [Canceled] then
    def go_on
      return unless over?

      @fiber&.park_no_more
      raise Canceled
    end

    private

    # Of several that fail, the first one's is what a serial run would have come to.
    def outcome
      outcome = Outcome.of_block(&@work)
      @fiber.await_turn_to_fail(outcome.error) if outcome.error && @gathering.stops?
      outcome
    end
  end
end
