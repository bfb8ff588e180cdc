# frozen_string_literal: true

module Pipeloader
  # Who goes first when fields of a Run fail.
  #
  # Answers don't depend on the order in which fibers end; failures do. graphql-ruby lists errors as they come, the first
  # nil in a non-null field decides for all its siblings, and what comes after it isn't even run. So a field that failed
  # waits its *turn*: until no job is unfinished that a serial run would have come to before. Then it finds what it
  # would have found there. Fields that don't fail know nothing of this.
  class Turns
    # Another object when jobs have changed places.
    attr_reader :order

    # @yieldparam [Job] that is running
    # @yieldreturn [Array<Job>] all that aren't done
    def initialize(&unfinished)
      @unfinished = unfinished
      @order = Object.new
      @asks = [] # SourceRounds::Asks, until places are compared
      @within = [] # those of sources, to be settled anew when others are settled sooner
    end

    # True if a field has failed. From then on all jobs are kept in order: n fields that fail cost n log n.
    def failing? = !@line.nil?

    # Takes note of a job that is asked for: free until a field has failed.
    def add(job)
      return unless failing?

      sorted = line
      sorted.insert(sorted.bsearch_index { |other| other.compare(job) <= 0 } || sorted.size, job)
    end

    # Yields, to change the place of a +job+ that is running.
    def move(job)
      return yield unless failing?

      at = line.bsearch_index { |other| other.compare(job) <= 0 }
      listed = at && @line[at].equal?(job) && @line.delete_at(at)
      yield
      add(job) if listed
    end

    # Takes note of what a job has asked a source for.
    def asked(ask) = @asks << ask

    # As #asked, of a source that asks another one: if its own keys are loaded sooner, so are these.
    def asked_within(ask) = asked(ask) && @within << ask

    # Works out in which rounds that is. Nobody wants to know until places are compared.
    def settle_asks
      until @asks.empty?
        asks, @asks = @asks, []
        before = @order
        asks.each { |ask| @order = Object.new if ask.settle }
        @asks = @within.dup unless @order.equal?(before)
      end
    end

    # No other job waits for this one's turn any more.
    def stand_aside(job) = (@aside ||= {}.compare_by_identity)[job] = true

    # True if nothing that is unfinished comes before +job+, the one that is running; but for what waits for it.
    def turn?(job)
      @line ||= @unfinished.call(job)
      first = first_for(job)
      first.nil? || first.equal?(job) || first.compare(job) >= 0
    end

    private

    # Takes out those that have finished on the way, so that each is met once: also behind one that waits for its parts.
    #
    # @return [Job, nil] whose turn it is, but for those that wait for +job+
    def first_for(job)
      at = line.size
      while (at -= 1) >= 0
        other = @line[at]
        next @line.delete_at(at) if other.finished?
        return other unless other.waits_for?(job) || @aside&.key?(other)
      end
    end

    # @return [Array<Job>] the first one last
    def line
      settle_asks
      return @line if @sorted.equal?(@order)

      @sorted = @order
      @line.sort! { |job, other| other.compare(job) }
    end
  end
end
