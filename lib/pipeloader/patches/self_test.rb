# frozen_string_literal: true

module Pipeloader
  module Patches
    # Proves at load that the hosts still have what parking rests on, and that a read still reaches it: one is sent through
    # an adapter that is connected to nothing. A renamed method would otherwise mean that all reads go one by one, and
    # nobody knows.
    module SelfTest
      # Methods of the hosts, most of them private, that we call or override.
      ADAPTER = %i[to_sql_and_binds type_casted_binds arel_from_relation sql_key update_typemap_for_default_timezone verified!
                   query_cache open_transactions transaction begin_transaction lock_thread= log write_query?
                   configure_connection reset! reconnect! disconnect! commit_transaction rollback_transaction
                   commit_db_transaction cache_sql prepare_statement
                   execute exec_query exec_update query raw_connection schema_search_path= session_auth= expire].freeze
      POOL = %i[connection_lease release_connection with_connection checkout checkin active_connection? query_cache
                num_waiting_in_queue stat discarded?].freeze

      # Stands for the fiber, for its response, and for a read that its burst has brought: a result without columns.
      class Probe
        def response = self
        def delivery = self
        def read = nil
        def parking = self
        def meet(_adapter) = 0
        def in_new_transaction? = true
        def surrounds? = false
        def without_parking = yield
        def locks = 0
        def locks=(_count); end
        def give_way = false
        def compiled = nil
        def refused? = false

        def dry? = false

        def take(_adapter)
          return if @taken

          @taken = true
          self
        end

        def taken? = @taken
        def of?(_adapter) = true
        def slice(_adapter) = nil
        def outdated?(_adapter, _query_cache) = false
        def failure = nil
        def statement = self
        def unprepared? = false
        def fetch = self

        def fields = []
        def values = []
        def count = 0
        def ntuples = 0
        def cmd_tuples = 0
        def clear = nil
      end

      # Stands for the rest of an adapter that is connected to nothing. It has no pool, that subscribers and query transformers
      # might ask for: nobody is told of what it reads.
      module Unconnected
        def connect!(*) = self
        def verify!(*) = self

        private

        def log(*, **) = yield({})
        def transform_query(sql) = sql # ActiveRecord 7.2
        def preprocess_query(sql) = sql # ActiveRecord 8
        def pipeloader_transform(sql) = sql
      end

      class << self
        # Called by the patch of the adapter, when that is loaded.
        #
        #: (Class) -> void
        def run(adapter_class)
          check_methods(adapter_class, ADAPTER)
          check_methods(ActiveRecord::ConnectionAdapters::ConnectionPool, POOL)
          check_keywords(adapter_class, :select_all)
          check_keywords(adapter_class, :with_raw_connection)
          check_keywords(adapter_class, :select)
          probe = Probe.new
          read_through(unconnected(adapter_class), probe)
          fail_with("select_all no longer reaches with_raw_connection") unless probe.taken?
        end

        # Called when ActiveRecord::Base is loaded.
        #
        #: () -> void
        def run_on_active_record
          check_methods(ActiveRecord::ConnectionAdapters::QueryCache::Store, %i[clear])
          check_methods(ActiveRecord::Base.singleton_class, %i[clear_query_caches_for_current_thread])
          check_methods(ActiveRecord::Associations::Association, AssociationQuery::ASSOCIATION)
          check_methods(ActiveRecord::Associations::Association, %i[violates_strict_loading? set_inverse_instance
                                                                    set_inverse_instance_from_queries])
          check_methods(ActiveRecord::Base.singleton_class, AssociationQuery::MODEL)
          check_methods(ActiveRecord::Base.singleton_class, %i[initialize_find_by_cache relation_delegate_class _load_from_sql])
          check_methods(ActiveRecord::AssociationRelation, AssociationQuery::RELATION)
          check_methods(ActiveRecord::Relation::QueryAttribute, %i[with_cast_value unboundable?])
        end

        # Called when a schema first has settings, for the patch of the adapter.
        #
        #: (Class) -> void
        def run_on_settings(adapter_class)
          check_methods(adapter_class, %i[begin_db_transaction begin_isolated_db_transaction exec_restart_db_transaction
                                          exec_rollback_db_transaction create_savepoint release_savepoint
                                          exec_rollback_to_savepoint async_enabled?])
        end

        # Called when a schema first asks for a snapshot, for the patch of the adapter.
        #
        #: (Class) -> void
        def run_on_snapshot(adapter_class)
          check_methods(adapter_class, %i[begin_db_transaction begin_isolated_db_transaction commit_db_transaction
                                          exec_restart_db_transaction exec_rollback_db_transaction async_enabled? expire
                                          translate_exception log])
        end

        # Called when projection is first asked for.
        #
        #: () -> void
        def run_on_projection
          check_methods(ActiveRecord::Relation, %i[exec_main_query instantiate_records initialize_copy values])
          check_methods(ActiveRecord::Associations::Association, %i[find_target skip_statement_cache? target_scope disable_joins
                                                                    set_inverse_instance violates_strict_loading?])
          check_methods(ActiveRecord::Base.singleton_class, %i[_query_by_sql _load_from_sql current_role current_shard])
          check_methods(ActiveRecord::Base, %i[_delete_row])
          check_methods(ActiveRecord::StatementCache, %i[execute])
        end

        private

        def check_methods(owner, names)
          missing = names.reject { |name| owner.method_defined?(name) || owner.private_method_defined?(name) }
          fail_with("#{owner} has no #{missing.join(", ")}") if missing.any?
        end

        # A keyword that the host has and our override doesn't pass on.
        def check_keywords(adapter_class, name)
          ours, host = [name, :"pipeloader_host_#{name}"].map do |it|
            adapter_class.instance_method(it).parameters.filter_map { |kind, keyword| keyword if %i[key keyreq].include?(kind) }
          end
          fail_with("#{name} takes #{(host - ours).join(", ")}") unless (host - ours).empty?
        end

        def read_through(adapter, probe)
          ResolverFiber.as(probe) { adapter.select_all("SELECT") }
        rescue StandardError => e
          fail_with("a read failed on its way (#{e.class}: #{e.message})")
        end

        def unconnected(adapter_class) = adapter_class.new({ adapter: "postgresql" }).extend(Unconnected)

        def hosts = "ActiveRecord #{ActiveRecord.version}"

        def fail_with(what)
          raise IncompatibleHostError,
                "Pipeloader #{VERSION} doesn't know #{hosts}: #{what}. " \
                "Update pipeloader, or keep to the versions that its gemspec names."
        end
      end
    end
  end
end
