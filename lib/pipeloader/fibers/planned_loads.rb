# frozen_string_literal: true

module Pipeloader
  # Associations that graphql-ruby alone would have loaded, and that plans write from rows instead. A resolver whose block is open
  # (`Current.set`, `scoping`) sees other rows there, but would have found the association loaded: see Association#loaded?.
  class PlannedLoads
    NONE = [].freeze
    private_constant :NONE

    def initialize
      @jobs = {}   # {name of the association => {record => the Job in which graphql-ruby would have loaded it}}
      @groups = {} # {name => [Owners, …]}, which make their jobs when they are asked
    end

    # @param records [Array<ActiveRecord::Base>] whose association +job+ would have loaded
    def add(name, records, job)
      jobs = @jobs[name] ||= {}.compare_by_identity
      records.each { |record| jobs[record] ||= job }
    end

    # @param group [#job_of] says in which job graphql-ruby would have loaded the association of a record
    def add_group(name, group) = (@groups[name] ||= []) << group

    # True if there are any of that name.
    def of?(name) = @jobs.key?(name) || @groups.key?(name)

    # @return [Job, nil] one that comes before +job+
    def before(job, record, name)
      known = @jobs[name]&.[](record)
      return known if known&.compare(job)&.negative?

      @groups.fetch(name, NONE).each do |group|
        planned = group.job_of(record)
        return planned if planned&.compare(job)&.negative?
      end
      nil
    end
  end
end
