# frozen_string_literal: true

require_relative "../support/test_helper"
require "open3"

# What we rely on in the hosts, and that a host which changed is noticed when the gem is loaded.
class ContractTest < PipeloaderTest
  ADAPTER = ActiveRecord::ConnectionAdapters::PostgreSQLAdapter

  def test_overrides_take_what_the_host_takes
    { select_all: ADAPTER, with_raw_connection: ADAPTER, select: ADAPTER }.each do |name, owner|
      ours = Pipeloader::Patches::PostgreSQLReads.instance_method(name).parameters.reject { |kind, _| kind == :block }
      host = owner.instance_method(:"pipeloader_host_#{name}").parameters.reject { |kind, _| kind == :block }
      assert_equal host, ours, name
    end
    { continue_value: [GraphQL::Execution::Interpreter::Runtime, Pipeloader::Patches::InterpreterRuntime] }.each do |name, (host, ours)|
      assert_equal host.instance_method(name).super_method.parameters, ours.instance_method(name).parameters, name
    end
  end

  def test_only_names_with_our_prefix_are_added
    [ADAPTER, ActiveRecord::Relation, ActiveRecord::Associations::Association].each do |host|
      patches = host.ancestors.select { |it| it.name.to_s.start_with?("Pipeloader::") }
      refute_empty patches
      known = host.ancestors.drop_while { |it| it.name.to_s.start_with?("Pipeloader::") }
      patches.each do |patch|
        added = (patch.instance_methods(false) + patch.private_instance_methods(false)).reject do |name|
          known.any? { |it| it.method_defined?(name) || it.private_method_defined?(name) }
        end
        # ActiveRecord 7.2 has no `instrumenter` to override; our method is never called there.
        assert_empty(added.reject { |name| name.start_with?("pipeloader_") || name == :instrumenter })
      end
    end
  end

  # graphql-ruby gives all fields one object shape, and types few: it reads their variables from caches by shape.
  def test_types_and_fields_keep_their_object_shapes
    2.times { assert_same_answer("{ posts { title author { name } } }") }
    types = [Schemas::Query, Schemas::Post, Schemas::User, GraphQL::Introspection::TypeType]
    assert_empty(types.flat_map(&:instance_variables).grep(/pipeloader/))
    assert_empty(types.flat_map { |type| type.fields.values }.flat_map(&:instance_variables).grep(/pipeloader/))

    type = Class.new(GraphQL::Schema::Object) { graphql_name "Shape" }
    plain, declared = [{}, { selects: :id }].map { |options| type.field(:it, String, null: true, **options).instance_variables }
    assert_equal [*plain, :@pipeloader_selects], declared
  end

  # A schema that is made shareable, and what it answers in another Ractor, where ActiveRecord can't be. In a process of its own, as
  # all of GraphQL::Schema is frozen with it.
  def test_in_another_ractor
    skip "this graphql has no RactorShareable" unless defined?(GraphQL::Schema::RactorShareable)

    following = "use GraphQL::Execution::Next, as_default: true" if defined?(GraphQL::Execution::Next)
    outputs = ["", "use Pipeloader", "use Pipeloader, field_exact: true"].product(["", following].compact).map do |use|
      boot(<<~RUBY)
        require "pipeloader"
        GraphQL.eager_load!
        class Query < GraphQL::Schema::Object
          field :it, Integer, fallback_value: 1, resolve_static: true
          def self.it(_context) = 1
        end
        class Shared < GraphQL::Schema
          query Query
          validate_timeout nil
          #{use.join("\n")}
          use GraphQL::Schema::Visibility, preload: true, profiles: { nil => {} }
          execute("{ it }")
          extend GraphQL::Schema::RactorShareable
        end
        puts Shared.execute("{ it }").to_json
        ractor = Ractor.new { Shared.execute("{ __typename it }").to_h }
        puts (ractor.respond_to?(:value) ? ractor.value : ractor.take).to_json # ActiveSupport 8.1 writes JSON in the main Ractor alone
        puts Shared.execute("{ it }").to_json
      RUBY
    end
    assert_equal %({"data":{"it":1}}\n{"data":{"__typename":"Query","it":1}}\n{"data":{"it":1}}\n), outputs.first
    assert_equal [outputs.first], outputs.uniq
  end

  # (Through those the answer is asked for that needs no relation.)
  def test_scopes_of_associations
    hosts = ActiveRecord::Associations.constants.grep(/Association\z/).map { |name| ActiveRecord::Associations.const_get(name) }
    hosts.select! { |it| it.is_a?(Class) && it < ActiveRecord::Associations::Association }
    assert_operator hosts.size, :>=, 6
    hosts.each do |host|
      assert Pipeloader::Patches::Association.host_scope?(host), host
      refute Pipeloader::Patches::Association.host_scope?(Class.new(host) { def scope = super.where("true") }), host
    end
  end

  # What isn't in lib/pipeloader/patches changes no class but ours.
  def test_patches_alone_change_hosts
    modules = ObjectSpace.each_object(Module).grep_v(ActiveSupport::Deprecation::DeprecatedConstantProxy)
    hosts = modules.reject { |it| it.singleton_class? || ours_or_nameless?(it) }
    assert_operator hosts.size, :>, 1000
    assert_empty(hosts.flat_map { |host| [host, host.singleton_class] }.select { |host| changed?(host) })
  end

  LIB = File.expand_path("../../lib/pipeloader/", __dir__)
  NAME = Module.instance_method(:name)

  # What `use Pipeloader` gives to a schema, what its dataloader class is made of, and what users' tests get by requiring it.
  GIVEN = %w[Pipeloader::Schema Pipeloader::Loader Pipeloader::Assertions Pipeloader::Assertions::Budgeted Pipeloader::Matchers].freeze

  def ours_or_nameless?(host) = NAME.bind_call(host).to_s.match?(/\A(Pipeloader(::|\z)|\z)/)

  def changed?(host)
    modules = host.ancestors.filter_map { |it| NAME.bind_call(it) }.grep(/\APipeloader::(?!Patches::)/) - GIVEN
    methods = host.instance_methods(false) + host.private_instance_methods(false)
    modules.any? || methods.any? { |name| host.instance_method(name).source_location&.first.to_s.match?(%r{\A#{LIB}/(?!patches/)}) }
  end

  # Each in a process of its own: a host in which one thing is another.
  CHANGES = {
    "select_all takes a new keyword" => [<<~RUBY, "select_all takes shape"],
      require "active_record/connection_adapters/abstract/database_statements"
      ActiveRecord::ConnectionAdapters::QueryCache.prepend(Module.new do
        def select_all(arel, name = nil, binds = [], preparable: nil, async: false, allow_retry: false, shape: nil) = super(arel, name, binds)
      end)
    RUBY
    "select_all goes another way" => [<<~RUBY, "no longer reaches with_raw_connection"],
      module ActiveRecord::ConnectionAdapters::DatabaseStatements
        def select_all(arel, name = nil, binds = [], preparable: nil, async: false, allow_retry: false) = ActiveRecord::Result.empty
      end
    RUBY
    "a private method is gone" => [<<~RUBY, "has no to_sql_and_binds"],
      ActiveRecord::ConnectionAdapters::DatabaseStatements.send(:undef_method, :to_sql_and_binds)
    RUBY
    "the dataloader has no append_job" => [<<~RUBY, "has no append_job"]
      require "graphql"
      GraphQL.const_get(:Schema)
      GraphQL::Dataloader.send(:undef_method, :append_job)
    RUBY
  }.freeze

  CHANGES.each do |name, (change, message)|
    define_method(:"test_#{name.tr(" ", "_")}") do
      output = boot(<<~RUBY)
        require "active_record"
        require "active_record/connection_adapters/abstract_adapter"
        #{change}
        require "pipeloader"
        require "active_record/connection_adapters/postgresql_adapter"
      RUBY
      assert_includes output, "IncompatibleHostError"
      assert_includes output, message
      assert_includes output, "ActiveRecord #{ActiveRecord.version}"
      assert_includes output, "graphql #{GraphQL::VERSION}"
    end
  end

  def test_boots_without_a_database
    assert_equal "", boot('require "pipeloader"; require "active_record/connection_adapters/postgresql_adapter"')
  end

  # The read that is proved to come through, is the application's in no way: whoever is told of reads may ask their pool.
  def test_tells_nobody_of_the_read_that_it_sends
    assert_equal "", boot(<<~RUBY)
      require "active_record"
      ActiveSupport::Notifications.subscribe(/.*/) { |name, *| puts name if name.include?("active_record") }
      ActiveRecord.query_transformers << ->(sql, connection) { puts "transforms on \#{connection.role}"; sql }
      ActiveRecord.query_transformers << ActiveRecord::QueryLogs
      ActiveRecord::QueryLogs.tags = [:pid, { database: ->(context) { context[:connection].pool.db_config.name } }]
      require "pipeloader"
      require "active_record/connection_adapters/postgresql_adapter"
    RUBY
  end

  def test_boots_without_pg
    assert_equal "", boot('module Kernel; alias original_gem gem; def gem(name, *rest) = name == "pg" ? raise(LoadError, "pg") : original_gem(name, *rest); end; require "pipeloader"')
  end

  # Whichever comes first.
  {
    "graphql first" => 'require "graphql"; GraphQL::Schema; require "pipeloader"',
    "all of graphql first" => 'require "graphql"; GraphQL.eager_load!; require "active_record"; require "pipeloader"',
    "active_record first" => 'require "active_record"; require "pipeloader"',
    "a schema before the adapter" => 'require "pipeloader"; Class.new(GraphQL::Schema) { use Pipeloader }; ' \
                                     'require "active_record/connection_adapters/postgresql_adapter"'
  }.each do |name, script|
    define_method(:"test_boots_with_#{name.tr(" ", "_")}") { assert_equal "", boot(script) }
  end

  private

  def boot(script)
    output, = Open3.capture2e(RbConfig.ruby, "-W0", "-I", File.expand_path("../../lib", __dir__), "-e", script)
    output
  end
end
