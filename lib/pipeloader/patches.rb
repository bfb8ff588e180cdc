# frozen_string_literal: true

module Pipeloader
  # The border: which patch goes onto which class of ActiveRecord and graphql-ruby, and when.
  module Patches
    class << self
      # Once, when the gem is loaded.
      def install
        GraphQL::Dataloader::Source.prepend(DataloaderSource)
        GraphQL::Dataloader::ActiveRecordAssociationSource.prepend(AssociationSource)
        GraphQL::Pagination::RelationConnection.prepend(RelationConnection)
        install_on_interpreter
        install_on_next if defined?(GraphQL::Execution::FieldResolveStep)
        GraphQL::Query::Context.prepend(QueryContext)
        GraphQL::Subscriptions.prepend(SubscriptionUpdates)
        GraphQL::Schema::Timeout::Trace.prepend(SchemaTimeout)
        GraphQL::Schema::Field.prepend(FieldSelects)
        install_arguments
        Response.preparation = method(:prepare_for_response)
        Witness.installation = method(:install_witness)
        Collections.installation = method(:install_collections)
        GraphQL::Schema::Object.extend(FieldExact)
        install_on_ruby
        when_loaded(:active_record) { Patches.install_on_active_record }
        when_loaded(:active_record_postgresqladapter) do
          prepend(PostgreSQLSession, PostgreSQLReads)
          Outside.install_on_postgresql(self)
          SelfTest.run(self)
        end
        when_loaded(:active_record_sqlite3adapter) do
          require "pipeloader/patches/sqlite3_adapter"
          prepend(SQLite3Adapter)
        end
      end

      def install_on_ruby
        ::Timeout.singleton_class.prepend(Timeout)
        ::Thread.singleton_class.prepend(InterruptMask)
        Outside.install
        # In a child that a resolver forks, its fiber is the only one: nobody would wake it.
        ActiveSupport::ForkTracker.after_fork { Thread.current[ResolverFiber::KEY] = nil }
      end

      def install_on_interpreter
        GraphQL::Execution::Interpreter.singleton_class.prepend(Executions)
        GraphQL::Execution::Interpreter::Runtime.prepend(InterpreterRuntime)
        GraphQL::Execution::Interpreter::Runtime.prepend(RuntimePlan)
      end

      def install_on_next
        GraphQL::Execution::FieldResolveStep.prepend(StepPlan, StepResolvers, StepNulls)
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

      def install_on_active_record
        require "pipeloader/patches/sqlite3_adapter"
        require "pipeloader/patches/unsupported_adapter"
        SelfTest.run_on_active_record
        ActiveRecord::Associations::Association.prepend(Association)
        ActiveRecord::Associations::CollectionAssociation.prepend(CollectionAssociation)
        ActiveRecord::Associations::SingularAssociation.prepend(SingularAssociation)
        ActiveRecord::Associations::Preloader.prepend(Preloader)
        ActiveRecord::Relation.prepend(Relation)
        ActiveRecord::ConnectionAdapters::ConnectionPool.prepend(ConnectionPool)
        ActiveRecord::ConnectionAdapters::QueryCache::Store.prepend(QueryCacheStore)
        ActiveRecord::Base.singleton_class.prepend(QueryCaches)
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
        install_lanes if Lanes.of(options[:lanes])
        install_settings if options[:settings]
        install_snapshot if options[:snapshot]
      end

      # When reads first aren't to be logged one by one.
      def install_log_lines
        when_loaded(:active_record) { ActiveRecord::LogSubscriber.prepend(LogLines) }
      end

      # When a schema first asks for lanes.
      def install_lanes
        return if @lanes

        @lanes = true
        when_loaded(:active_record_postgresqladapter) { prepend(SessionWatch) }
        when_loaded(:active_record) { SessionWatch.begin }
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

      # When a controller first asks for Collections, or the application does.
      def install_collections
        return if @collections

        @collections = true
        when_loaded(:action_view) do
          ::ActionView::CollectionRenderer.prepend(CollectionRenderer)
          OrderedActs.install_on(OrderedActs::VIEWS)
          Patches.install_jbuilder
        end
        when_loaded(:action_controller) do
          ::ActionController::Renderers.prepend(JSONRenderer)
          OrderedActs.install_on(OrderedActs::CONTROLLERS)
        end
        # Behind what Jbuilder itself does then.
        when_loaded(:after_initialize) { ActiveSupport.on_load(:action_view) { Patches.install_jbuilder } }
      end

      def install_jbuilder
        return if @jbuilder || !defined?(::JbuilderTemplate)

        @jbuilder = true
        ::Jbuilder::CollectionRenderer.prepend(Jbuilder::Partials)
        ::JbuilderTemplate.prepend(Jbuilder::Lists)
      end

      # Patches what an application may load, or configure, after this gem.
      def prepare_for_response
        @batch ||= ::GraphQL::Batch::Loader.prepend(GraphQLBatch) if defined?(::GraphQL::Batch::Loader)
        @ssl ||= Outside.install_on_socket(::OpenSSL::SSL::SSLSocket) if defined?(::OpenSSL::SSL::SSLSocket)
        return if @context || ActiveSupport::IsolatedExecutionState.isolation_level != :fiber

        @context = ActiveSupport::IsolatedExecutionState.singleton_class.prepend(IsolatedExecutionState)
      end

      private

      # Once: ActiveSupport itself runs a block twice that it is given while it runs another's of that name, and a second alias
      # of a host's method would be of our own.
      def when_loaded(host, &) = ActiveSupport.on_load(host, run_once: true, &)
    end
  end
end

require "pipeloader/patches/self_test"
require "pipeloader/patches/postgresql_reads"
require "pipeloader/patches/postgresql_session"
require "pipeloader/patches/session_watch"
require "pipeloader/patches/connection_pool"
require "pipeloader/patches/query_cache_store"
require "pipeloader/patches/association"
require "pipeloader/patches/preloader"
require "pipeloader/patches/relation"
require "pipeloader/patches/isolated_execution_state"
require "pipeloader/patches/dataloader_source"
require "pipeloader/patches/association_source"
require "pipeloader/patches/relation_connection"
require "pipeloader/patches/interpreter_runtime"
require "pipeloader/patches/runtime_plan"
require "pipeloader/patches/step_plan"
require "pipeloader/patches/step_resolvers"
require "pipeloader/patches/step_nulls"
require "pipeloader/patches/next_trial"
require "pipeloader/patches/executions"
require "pipeloader/patches/log_lines"
require "pipeloader/patches/subscription_updates"
require "pipeloader/patches/query_context"
require "pipeloader/patches/schema_timeout"
require "pipeloader/patches/graphql_batch"
require "pipeloader/patches/timeout"
require "pipeloader/patches/outside"
require "pipeloader/patches/interrupt_mask"
require "pipeloader/patches/locks"
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
require "pipeloader/patches/collection_renderer"
require "pipeloader/patches/jbuilder"
require "pipeloader/patches/json_renderer"
require "pipeloader/patches/ordered_acts"
