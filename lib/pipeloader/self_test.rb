# frozen_string_literal: true

module Pipeloader
  # Proves, when the PostgreSQL adapter is loaded, that a read still reaches the two methods that everything rests on,
  # by sending one through an adapter that is connected to nothing. A renamed method would otherwise mean that all reads
  # go one by one, and nobody knows.
  module SelfTest
    # As much of a PG::Result as ActiveRecord looks at when there are no columns.
    class NoColumns
      def fields = []
      def values = []
      def count = 0
      def ntuples = 0
      def cmd_tuples = 0
      def clear = nil
    end

    # Stands for the fiber, and for the read that its burst has brought.
    class Probe
      attr_reader :replaying

      def take_replay = (@taken ? nil : (@taken = true) && self)
      def taken? = @taken
      def failure = nil
      def statement = self
      def unprepared? = false
      def fetch = NoColumns.new
      def response = self
      def meet(_adapter) = nil
      # Parks nothing: this one is past the pipeline.
      def outside_new_transactions?(_adapter) = false
    end

    class << self
      #: (Class) -> void
      def run(adapter_class)
        check_signatures(adapter_class)
        probe = Probe.new
        read_through(unconnected(adapter_class), probe)
        fail_with("select_all no longer reaches with_raw_connection") unless probe.taken?
      end

      private

      def read_through(adapter, probe)
        outer, Thread.current[ResolverFiber::KEY] = ResolverFiber.current, probe
        adapter.select_all("SELECT")
      rescue StandardError => e
        fail_with("a read failed on its way: #{e.class}: #{e.message}")
      ensure
        Thread.current[ResolverFiber::KEY] = outer
      end

      def unconnected(adapter_class)
        adapter_class.new({ adapter: "postgresql" }).tap do |adapter|
          def adapter.connect!(*) = self
          def adapter.verify!(*) = self
        end
      end

      def check_signatures(adapter_class)
        %i[select_all with_raw_connection].each do |name|
          ours = PatchedSignature.of(Patches::PostgreSQLAdapter, name)
          host = PatchedSignature.of(adapter_class.instance_method(name).super_method, name)
          fail_with("#{name} takes #{host.inspect}, not #{ours.inspect}") unless (host - ours).empty?
        end
      end

      def fail_with(what)
        raise IncompatibleHostError, "Pipeloader #{VERSION} doesn't know ActiveRecord #{ActiveRecord.version} with graphql " \
                                     "#{GraphQL::VERSION}: #{what}. Update pipeloader, or keep to the versions in its gemspec."
      end
    end

    # Keywords and required arguments of a method, without those that a `(...)` in between hides.
    module PatchedSignature
      def self.of(owner, name)
        method = owner.is_a?(Module) ? owner.instance_method(name) : owner
        method = method.super_method while method.super_method && method.parameters.any? { |kind, _| kind == :rest }
        method.parameters.reject { |kind, _| %i[block rest keyrest].include?(kind) }.map(&:last)
      end
    end
  end
end
