# frozen_string_literal: true

module Pipeloader
  # Which field of the response graphql-ruby is at: what `context[:current_path]` and an error's path are made from. Before
  # 2.6 its jobs pass the object that says so from fiber to fiber, while others look for it in the fiber's storage. So all
  # fibers of a run share one, as if they were a single fiber, and one that parks finds it as it left it.
  module FieldPosition
    ATTRIBUTES = %i[current_result current_result_name current_field current_arguments was_authorized_by_scope_items].freeze
    SHARED = GraphQL::VERSION.start_with?("2.5.")
    private_constant :ATTRIBUTES, :SHARED

    class << self
      # Shared by the fibers of a run that begins now: {GraphQL::Query => current state}
      def of_run
        Fiber[:__graphql_runtime_info] || {}.compare_by_identity if SHARED
      end

      def adopt(states)
        Fiber[:__graphql_runtime_info] = states if states
      end

      # A fiber begins that isn't graphql-ruby's: it is at no field. (Those of a run that share one table are given it.)
      def forget = (Fiber[:__graphql_runtime_info] = nil unless SHARED)

      # Yields with a table of its own for the runs that begin there: whoever parks keeps and puts back all that its table has.
      def apart(&) = SHARED ? under(Fiber[:__graphql_runtime_info]&.dup, &) : yield

      # Yields, at no field: a source loads for several.
      def nowhere(&)
        return yield unless SHARED

        under({ nil => GraphQL::Execution::Interpreter::Runtime::CurrentState.new }.compare_by_identity, &)
      end

      # Yields, and puts every query's position back to what it was.
      def keep
        return yield unless SHARED && (states = Fiber[:__graphql_runtime_info])

        kept = kept(states)
        begin
          yield
        ensure
          put_back(kept)
        end
      end

      # @return what #put_back makes of any fiber of the run, one that has begun for the same field
      def current = kept(Fiber[:__graphql_runtime_info] || {})

      def put_back(kept)
        states = Fiber[:__graphql_runtime_info] ||= {}.compare_by_identity
        kept.each do |query, values|
          state = states[query] ||= GraphQL::Execution::Interpreter::Runtime::CurrentState.new
          ATTRIBUTES.zip(values) { |name, value| state.public_send(:"#{name}=", value) }
        end
      end

      private

      def under(states)
        outer, Fiber[:__graphql_runtime_info] = Fiber[:__graphql_runtime_info], states
        yield
      ensure
        Fiber[:__graphql_runtime_info] = outer
      end

      def kept(states) = states.transform_values { |state| ATTRIBUTES.map { |name| state.public_send(name) } }
    end
  end
end
