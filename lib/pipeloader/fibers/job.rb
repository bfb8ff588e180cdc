# frozen_string_literal: true

module Pipeloader
  # One piece of graphql-ruby's work (a field, a list item), run in a fiber that may park, and its place in the order in
  # which a serial run would come to it.
  class Job
    # Stands in the queue for jobs that nobody needs one by one: `jobs` makes them.
    module Several; end

    TAKES_STEPS = defined?(GraphQL::Execution::FieldResolveStep) ? true : false
    private_constant :TAKES_STEPS

    attr_reader :parent, :index

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    # @param parent [Job, nil] the job that asked for this one
    # @param index [Integer, Array(Integer, Integer)] how many its parent had asked for before; without a parent, which round of
    #   lazy values it belongs to, and how many had no parent before
    # @param part [Boolean] whether it does a part of its parent's own work, which waits for it
    def initialize(loader, work, parent, index, part) # (A keyword would be a Hash for each.)
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
      rescue StandardError => e
        # Of several that would leave the response it is the first. (What ends a response from outside doesn't wait.)
        fiber.await_turn_of(e)
        raise
      ensure
        @work = nil
        fiber.end_job(outer)
      end
    end

    def finished? = @work.nil?

    # Until when its field may be read for: as graphql-ruby says where the field begins. (Execution::Next comes to a field several
    # times, by one step, and a part is of its parent's field.)
    #
    #: () -> TimeLimit?
    def time_limit
      return @parent.time_limit if part?

      TAKES_STEPS && GraphQL::Execution::FieldResolveStep === @work ? @work.pipeloader_time_limit : @time_limit
    end

    def time_limit=(limit)
      if TAKES_STEPS && GraphQL::Execution::FieldResolveStep === @work
        @work.pipeloader_time_limit = limit
      else
        @time_limit = limit
      end
    end

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
    def compare(other) = @loader.pipeloader_depth_first? ? compare_in_depth(other) : compare_in_queue(other)

    # <=> by when a serial run would begin with each. (In depth, a job begins before those that it asks for, and ends after them.)
    #
    #: (Job) -> Integer
    def compare_beginning(other) = @loader.pipeloader_depth_first? ? path <=> other.path : compare_in_queue(other)

    protected

    def path = @path ||= [*parent&.path, index]

    def part? = @part && !parent.nil?

    # A part is in its parent's place.
    def place = @place ||= part? ? [*parent.place, index] : [path.first.first, path.size, path]

    private

    # Without a dataloader graphql-ruby runs each job where it is asked for, so depth first, and goes on after it with the
    # job that asked: [0, 1, 5], [0, 1], [0], [1].
    #
    #: (Job) -> Integer
    def compare_in_depth(other)
      order = path <=> other.path
      shared = [path.size, other.path.size].min
      path.first(shared) == other.path.first(shared) ? -order : order
    end

    # Under GraphQL::Dataloader jobs queue: [0], [1], [0, 1], [0, 1, 5]. Lazy values come after all of them, with theirs.
    #
    #: (Job) -> Integer
    def compare_in_queue(other) = place <=> other.place
  end
end
