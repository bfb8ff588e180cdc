# frozen_string_literal: true

module Pipeloader
  # Assignments that jobs of a run have made (`Current.tenant = …`, `I18n.locale = …`), in the order in which a serial run would
  # have begun those jobs. A job sees the assignments before it there, and none that its later siblings have made meanwhile:
  # in a schema without a dataloader a field's subtree starts from what that field has assigned.
  #
  # Limit: a job that has begun doesn't see what an earlier one assigns after it has waited.
  class Assignments
    # earlier, now: what +job+ started from, and what it has left. job is nil for the fetch of a source, which comes last.
    Change = Struct.new(:job, :earlier, :now)
    private_constant :Change

    #: (DynamicState) -> void
    def initialize(base)
      @base = base
      @changes = []
      @after = [base.known] # how things are after so many of the changes, as far as anybody has asked
    end

    # @return [Snapshot] how things are after it
    def add(job, earlier, now)
      index = count_before(job)
      @changes.insert(index, Change.new(job, earlier, now))
      @after.slice!((index + 1)..)
      after(index + 1)
    end

    # @param job [Job, nil] nil for the fetch of a source
    # @return [Snapshot] what it starts from
    def before(job) = after(count_before(job))

    # @return [Snapshot] how a serial run would leave things
    def all = after(@changes.size)

    private

    def count_before(job)
      return @changes.size unless job
      return @changes.size if @changes.last.nil? || before?(@changes.last, job)

      @changes.bsearch_index { |change| !before?(change, job) }
    end

    def before?(change, job) = !change.job.nil? && change.job.compare_beginning(job) <= 0

    def after(count)
      while @after.size <= count
        change = @changes[@after.size - 1]
        @after << @base.change(@after.last, change.earlier, change.now)
      end
      @after[count]
    end
  end
end
