# frozen_string_literal: true

module Pipeloader
  # One piece of graphql-ruby's work (a field, a list item), run in a fiber that may park, and its place in the order in
  # which a serial run would come to it.
  class Job
    # Stands in the queue for jobs that nobody needs one by one: `jobs` makes them.
    module Several; end

    NONE = [].freeze
    private_constant :NONE

    # @return [Array] the place of the job number +index+ that one at +place+ has asked for
    def self.below((lazies, sources, origin, steps, order), index) = [lazies, sources, origin, steps + 1, [*order, index]]

    attr_reader :parent, :index

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    # @param parent [Job, nil] the job that asked for this one
    # @param index [Integer, Array(Integer, Integer)] how many its parent had asked for before; without a parent, which round of
    #   lazy values it belongs to, and how many had no parent before
    # @param part [Boolean] whether it does a part of its parent's own work, which waits for it
    def initialize(loader, work, parent, index, part) # a keyword would allocate a Hash for each job
      @loader = loader
      @work = work
      @parent = parent
      @index = index
      @part = part
    end

    def call
      return @work.call unless (fiber = ResolverFiber.of(@loader))

      outer = fiber.begin_job(self)
      begin
        fiber.await_turn if @parent.nil? && fiber.response.one_by_one? && @loader.pipeloader_depth_first?
        @work.call
      rescue StandardError, ScriptError, SystemStackError => e
        # Of several that would leave the response it is the first. What ends a response from outside doesn't wait.
        fiber.await_turn_of(e)
        Attempt.current&.leave(e)
        raise
      ensure
        @work = nil
        fiber.end_job(outer)
      end
    end

    def finished? = @work.nil?

    # Until when its field may be read for: as graphql-ruby says where the field begins. Execution::Next comes to a field several
    # times, by one step, and a part is of its parent's field.
    #
    #: () -> TimeLimit?
    def time_limit
      return @parent.time_limit if part?

      of_step? ? @work.pipeloader_time_limit : @time_limit
    end

    def time_limit=(limit)
      if of_step?
        @work.pipeloader_time_limit = limit
      else
        @time_limit = limit
      end
    end

    # @return [GraphQL::Execution::FieldResolveStep, nil] the field of Execution::Next that it is at, itself or as a part
    def step = part? ? @parent.step : (@work if of_step?)

    # True if it is a field of Execution::Next.
    def of_step? = Host.current.step?(@work)

    # True if +job+ is a part of it, or of a part.
    def waits_for?(job) = job.part? && (job.parent.equal?(self) || waits_for?(job.parent))

    # @return [Array<Job>] itself, and those that it is a part of
    def with_wholes = part? ? [self, *parent.with_wholes] : [self]

    # There is nothing to be done.
    def drop = @work = nil

    # As that of an AssociationRequest, which makes it when it's asked.
    def job = self

    def reserved = [self]

    # One that it would have asked for.
    #
    #: (Integer, ?(^() -> void)?) -> Job
    def child(index, work = nil) = Job.new(@loader, work, self, index, false)

    # From here on a serial run would come to it later: in the round in which its source has loaded what it asks for.
    #
    #: (SourceRounds::Ask) -> void
    def wait_for_source(ask)
      move(ask)
      ask.moves = @moves&.size || 0
      turns.asked(ask)
    end

    # As above: in the job that coerces the last of so many arguments.
    def wait_for_arguments(count) = move(next_indexes(count) + count - 1)

    # @return [Array(Integer, Integer)] in which a serial run would come to it after so many moves: of lazy values, of sources
    def round_after(moves) = place_after(moves).first(2)

    # The places of the next jobs that this one asks for.
    #
    # @return [Integer] the first of so many
    def next_indexes(count)
      first = (@children || 0) + 1
      @children = first + count - 1
      first
    end

    # <=> by the serial order of the schema, as it is without Pipeloader.
    #
    #: (Job) -> Integer
    def compare(other)
      return compare_in_depth(other) if @loader.pipeloader_depth_first?

      turns.settle_asks
      place <=> other.place
    end

    # <=> by when a serial run would begin with each. In depth, a job begins before those that it asks for, and ends after them.
    #
    #: (Job) -> Integer
    def compare_beginning(other)
      return path <=> other.path if @loader.pipeloader_depth_first?

      turns.settle_asks
      beginning <=> other.beginning
    end

    # True if a serial run would begin with it when +other+ has ended.
    #
    #: (Job) -> bool
    def behind?(other)
      return (path <=> other.path).positive? && path.first(other.path.size) != other.path if @loader.pipeloader_depth_first?

      turns.settle_asks
      (beginning <=> other.place).positive?
    end

    protected

    def path = @path ||= [*parent&.path, index]

    def part? = @part && !parent.nil?

    # Under GraphQL::Dataloader jobs queue: [0], [1], [0, 1], [0, 1, 5]. Jobs that waited for sources come after all of them, with
    # what they ask for then; lazy values come last.
    #
    # Where a serial run would come to what it is at: [rounds of lazy values, rounds of sources, the place that a job went on from
    # in that round, jobs behind that, their numbers]. One fiber goes on with such a job and does all that it asks for.
    def place
      order = turns.order
      return @place if @place && @placed.equal?(order)

      @placed = order
      @place = place_after(@moves ? @moves.size : 0)
    end

    def beginning = @moves ? first_place : place

    # @return [Array] the place of one that it has asked for as its child number +index+
    def place_of_child(index)
      return place if @moves.nil?

      place_after(@moves.index { |children, _| index <= children } || @moves.size)
    end

    private

    def turns = @loader.pipeloader_run.turns

    # Those that it has asked for stay where they are. A part is in its parent's place.
    #
    # @param to [Integer, SourceRounds::Ask] number of the job that goes on with it; what it waits for
    def move(to)
      return if part? || @loader.pipeloader_depth_first?

      turns.move(self) do
        (@moves ||= []) << [@children || 0, to]
        @place = nil
      end
    end

    # @param count [Integer] of its moves
    def place_after(count)
      return first_place if count.zero?

      before, (_, to) = place_after(count - 1), @moves[count - 1]
      return Job.below(before, to) if to.is_a?(Integer)

      to.rounds.there?(to.keys, before.first(2)) ? before : [before[0], before[1] + 1, before, 0, NONE]
    end

    def first_place
      return [index.first, 0, NONE, 1, [index]] if parent.nil?

      part? ? [*parent.place, index] : Job.below(parent.place_of_child(index), index)
    end

    # Without a dataloader graphql-ruby runs each job where it is asked for, so depth first, and goes on after it with the
    # job that asked: [0, 1, 5], [0, 1], [0], [1].
    #
    #: (Job) -> Integer
    def compare_in_depth(other)
      order = path <=> other.path
      shared = [path.size, other.path.size].min
      path.first(shared) == other.path.first(shared) ? -order : order
    end
  end
end
