# frozen_string_literal: true

module Pipeloader
  # Associations that graphql-ruby alone would have loaded, and that plans write from rows instead. A resolver whose block is open
  # (`Current.set`, `scoping`) sees other rows there, but would have found the association loaded: see Association#loaded?.
  class PlannedLoads
    # The records whose association one job's plan reads.
    Group = Struct.new(:records, :job) do
      def job_of(record)
        @known ||= records.to_h { |it| [it, true] }.compare_by_identity
        job if @known.key?(record)
      end
    end

    def initialize
      @groups = {} # {name of the association => [Owners | Group, …]}
    end

    # @param group [#job_of] says in which job graphql-ruby would have loaded the association of a record
    def add(name, group) = (@groups[name] ||= []) << group

    # Whether there are any of that name.
    def of?(name) = @groups.key?(name)

    # @return [Job, nil] the first that comes before +job+
    def before(job, record, name)
      @groups[name].each do |group|
        planned = group.job_of(record)
        return planned if planned&.compare(job)&.negative?
      end
      nil
    end
  end
end
