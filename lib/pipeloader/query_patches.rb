# frozen_string_literal: true

module Pipeloader
  module Patches
    # The border to graphql-ruby: which patch goes onto which of its classes, and when; and onto ActiveRecord's, for what only
    # schemas ask for.
    module OnGraphQL
      # Once, when graphql-ruby is there, too.
      def install_on_graphql
        GraphQL::Dataloader::Source.prepend(DataloaderSource)
        GraphQL::Execution::Lazy.prepend(SharedLazy)
        GraphQL::Dataloader::ActiveRecordAssociationSource.prepend(AssociationSource)
        GraphQL::Pagination::RelationConnection.prepend(RelationConnection)
        GraphQL::Pagination::Connection.prepend(ConnectionTurns)
        install_on_interpreter
        install_on_next if defined?(GraphQL::Execution::FieldResolveStep)
        GraphQL::Query::Context.prepend(QueryContext, ContextKeys)
        GraphQL::Subscriptions.prepend(SubscriptionUpdates)
        GraphQL::Schema::Timeout::Trace.prepend(SchemaTimeout)
        GraphQL::Schema::Field.prepend(FieldSelects)
        install_arguments
        when_loaded(:active_record) { singleton_class.prepend(Redefinitions) }
        Response.preparation = method(:prepare_for_response)
        Witness.installation = method(:install_witness)
        GraphQL::Schema::Object.extend(FieldExact)
      end

      def install_on_interpreter
        GraphQL::Execution::Interpreter.singleton_class.prepend(Executions)
        GraphQL::Execution::Interpreter::Runtime.prepend(InterpreterRuntime)
        GraphQL::Execution::Interpreter::Runtime.prepend(RuntimePlan)
      end

      def install_on_next
        GraphQL::Execution::FieldResolveStep.prepend(StepPlan, StepResolvers, StepNulls, StepOrder)
        GraphQL::Execution::PrepareObjectStep.prepend(StepObjects)
        GraphQL::Execution::Next.singleton_class.prepend(Executions)
        GraphQL::Execution::Next::SchemaExtension.prepend(NextTrial)
      end

      def install_arguments
        GraphQL::Schema::Field.prepend(ArgumentPosition)
        GraphQL::Schema::Argument.prepend(ArgumentTurn)
        GraphQL::Schema::InputObject.singleton_class.prepend(InputPosition)
        GraphQL::Schema::Member::HasArguments::ArgumentObjectLoader.prepend(LoadTurn)
        GraphQL::Execution::Interpreter::ArgumentsCache.prepend(SharedArguments, QueuedArguments)
        return unless defined?(GraphQL::Execution::LoadArgumentStep)

        GraphQL::Execution::InputValues.prepend(StepArguments)
        GraphQL::Execution::LoadArgumentStep.prepend(StepTurn)
        GraphQL::Schema::Argument.prepend(StepPreparation)
        GraphQL::Schema::InputObject.prepend(StepInput)
      end

      # When a schema, a type or the application first asks for field-exact projection: off, it costs nothing.
      def install_projection
        return if @projection

        @projection = true
        GraphQL::Execution::Interpreter::Runtime.prepend(RuntimeProjection)
        GraphQL::Execution::FieldResolveStep.prepend(StepProjection) if defined?(GraphQL::Execution::FieldResolveStep)
        GraphQL::Pagination::RelationConnection.prepend(ConnectionProjection)
        when_loaded(:active_record) { Patches.install_projection_on_active_record }
      end

      def install_projection_on_active_record
        ActiveRecord::Relation.prepend(RelationProjection)
        ActiveRecord::Associations::Association.prepend(AssociationProjection)
        ActiveRecord::Base.prepend(RecordProjection)
        ActiveRecord::Associations::HasManyAssociation.prepend(CounterProjection)
        SelfTest.run_on_projection
      end

      # What these options of a schema, or of all, need.
      def install_for(options)
        super
        install_settings if options[:settings]
        install_snapshot if options[:snapshot]
        install_projection if options[:field_exact]
      end

      # When a schema first has settings.
      def install_settings
        return if @settings

        @settings = true
        install_snapshot # behind it
        when_loaded(:active_record_postgresqladapter) do
          require "pipeloader/patches/postgresql_settings"
          prepend(PostgreSQLSettings)
          SelfTest.run_on_settings(self)
        end
      end

      # When a schema first asks for a snapshot.
      def install_snapshot
        return if @snapshot

        @snapshot = true
        when_loaded(:active_record_postgresqladapter) do
          require "pipeloader/patches/postgresql_snapshot"
          prepend(PostgreSQLSnapshot)
          SelfTest.run_on_snapshot(self)
        end
      end

      # When somebody is first strict.
      def install_strict
        return if @strict

        @strict = true
        require "pipeloader/report/strict"
        when_loaded(:active_record_postgresqladapter) do
          require "pipeloader/patches/postgresql_strict"
          prepend(PostgreSQLStrict)
        end
      end

      # When a query is first explained.
      def install_witness
        GraphQL::Execution::Interpreter::Runtime.prepend(RuntimeWitness)
        GraphQL::Execution::SelectionsStep.prepend(StepWitness) if defined?(GraphQL::Execution::SelectionsStep)
      end

      # Patches what an application may load after this gem.
      def prepare_for_response
        @batch ||= ::GraphQL::Batch::Loader.prepend(GraphQLBatch) if defined?(::GraphQL::Batch::Loader)
        super
      end
    end

    singleton_class.prepend(OnGraphQL)
  end
end

require "pipeloader/patches/dataloader_source"
require "pipeloader/patches/association_source"
require "pipeloader/patches/relation_connection"
require "pipeloader/patches/connection_turns"
require "pipeloader/patches/interpreter_runtime"
require "pipeloader/patches/runtime_plan"
require "pipeloader/patches/redefinitions"
require "pipeloader/patches/shared_lazy"
require "pipeloader/patches/step_plan"
require "pipeloader/patches/step_calls"
require "pipeloader/patches/step_objects"
require "pipeloader/patches/step_resolvers"
require "pipeloader/patches/step_nulls"
require "pipeloader/patches/next_trial"
require "pipeloader/patches/executions"
require "pipeloader/patches/subscription_updates"
require "pipeloader/patches/query_context"
require "pipeloader/patches/context_keys"
require "pipeloader/patches/schema_timeout"
require "pipeloader/patches/graphql_batch"
require "pipeloader/patches/field_selects"
require "pipeloader/patches/field_exact"
require "pipeloader/patches/argument_position"
require "pipeloader/patches/step_arguments"
require "pipeloader/patches/runtime_witness"
require "pipeloader/patches/step_witness"
require "pipeloader/patches/runtime_projection"
require "pipeloader/patches/step_projection"
require "pipeloader/patches/connection_projection"
require "pipeloader/patches/relation_projection"
require "pipeloader/patches/association_projection"
require "pipeloader/patches/record_projection"
require "pipeloader/patches/counter_projection"
