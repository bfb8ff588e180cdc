# frozen_string_literal: true

module Pipeloader
  # The border: which patch goes onto which class of ActiveRecord and Ruby, and when. On graphql-ruby: QueryPatches.
  module Patches
    class << self
      # Once, when the gem is loaded.
      def install
        Response.preparation = method(:prepare_for_response)
        Collections.installation = method(:install_collections)
        install_on_ruby
        when_loaded(:active_record) { Patches.install_on_active_record }
        when_loaded(:active_record_postgresqladapter) do
          prepend(PostgreSQLSession, PostgreSQLReads)
          Outside.install_on_postgresql(self)
          SelfTest.run(self)
        end
        when_loaded(:active_record_sqlite3adapter) do
          require "pipeloader/patches/other_transactions"
          require "pipeloader/patches/sqlite3_adapter"
          prepend(SQLite3Adapter)
        end
        when_loaded(:action_view) { Patches.view = self }
      end

      # @return [Class] ActionView::Base, once that is loaded
      attr_writer :view

      def install_on_ruby
        ::Timeout.singleton_class.prepend(Timeout)
        ::Thread.singleton_class.prepend(InterruptMask)
        ::Thread.prepend(Strikes)
        ::Module.prepend(Refinements)
        Outside.install
        # In a child that a resolver forks, its fiber is the only one: nobody would wake it.
        ActiveSupport::ForkTracker.after_fork { Thread.current[ResolverFiber::KEY] = nil }
      end

      def install_on_active_record
        require "pipeloader/patches/other_transactions"
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
        ActiveModel::Validations.prepend(Validations)
      end

      # What these options of the application need.
      def install_for(options)
        install_lanes if Lanes.of(options[:lanes])
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

      # When a response first begins where there are views.
      def install_views
        view, @view = @view, nil
        ::ActionView::OutputBuffer.prepend(OutputBuffer)
        view&.prepend(View)
      end

      # When a controller first asks for Collections, or the application does.
      def install_collections
        return if @collections

        @collections = true
        when_loaded(:action_view) do
          ::ActionView::CollectionRenderer.prepend(CollectionRenderer)
          OrderedActs.install_on(OrderedActs::VIEWS)
          OrderedActs.install_on_classes(OrderedActs::SETTINGS)
          Patches.install_jbuilder
        end
        when_loaded(:action_controller) do
          ::ActionController::Renderers.prepend(JSONRenderer)
          OrderedActs.install_on(OrderedActs::CONTROLLERS)
          ::ActionDispatch::Request::Session.prepend(SessionLoad)
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
        @ssl ||= Outside.install_on_socket(::OpenSSL::SSL::SSLSocket) if defined?(::OpenSSL::SSL::SSLSocket)
        install_views if @view
        @aasm ||= ::AASM::Core::Transition.prepend(StateMachineTransition) if defined?(::AASM::Core::Transition)
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
require "pipeloader/patches/validations"
require "pipeloader/patches/state_machine_transition"
require "pipeloader/patches/isolated_execution_state"
require "pipeloader/patches/log_lines"
require "pipeloader/patches/timeout"
require "pipeloader/patches/outside"
require "pipeloader/patches/interrupt_mask"
require "pipeloader/patches/strikes"
require "pipeloader/patches/refinements"
require "pipeloader/patches/locks"
require "pipeloader/patches/shared_views"
require "pipeloader/patches/collection_renderer"
require "pipeloader/patches/jbuilder"
require "pipeloader/patches/json_renderer"
require "pipeloader/patches/ordered_acts"
require "pipeloader/patches/session_load"
