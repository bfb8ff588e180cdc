# frozen_string_literal: true

require "objspace"
require "active_support/core_ext/class/subclasses"
require "graphql"
require "pipeloader/active_record"

# Before GraphQL::Schema::Object: graphql-ruby 2.5 and later can't load the two the other way round.
GraphQL.const_get(:Schema, false)

# Transparent libpq pipelining for graphql-ruby on ActiveRecord.
#
#     class AppSchema < GraphQL::Schema
#       use Pipeloader
#     end
#
# While a response is built, every ActiveRecord read parks its fiber; when all are parked, what has been gathered goes
# to PostgreSQL in one burst. What that takes is in pipeloader/active_record, and here what graphql-ruby's schemas add.
module Pipeloader
  class << self
    # Called by `use Pipeloader` in a schema. The schema's own dataloader class is kept and extended, in whichever order
    # the two are used.
    #
    # @param fiber_limit [Integer, nil] how many fibers may exist at once; default: the dataloader's own, else 4096
    # @param coalesce [Boolean] whether reads of one SQL text may become one statement (docs/coalescing.md)
    # @param field_exact [Boolean, nil] whether only the columns that a query selects are read, see docs/projection.md;
    #   default: Pipeloader.field_exact
    # @param compile [Boolean] whether subtrees that are proved plain go from rows straight to the response, see docs/plans.md
    # @param plan_bytes [Integer] how much is kept of documents, so that they need no plan when they are executed again; estimated
    # @param forecast [Boolean] whether what resolvers asked for in earlier executions is read ahead, see docs/forecast.md
    # @param trips [Symbol] by how many round trips a plan's tree of rows comes: :depth, level by level; :one, all in one; :auto,
    #   whichever takes less time, see docs/network.md
    # @param rest [Boolean] whether operations that are faster without Pipeloader are executed without it, see docs/performance.md
    # @param lanes [Integer, Hash] over how many connections of the pool slow reads of a level may go, 1 being off; or
    #   `{ most: 4, declared: [/\bpg_sleep\(/] }`: a read that any of the patterns finds counts as slow, and any connection may be
    #   asked for it, and asked again. See docs/network.md
    # @param settings [#call, nil] gets a query's context, and returns which of PostgreSQL's settings its reads and writes have: a
    #   Hash{String => String, Symbol, Integer, Float, Boolean, Time, nil}, see docs/network.md
    # @param snapshot [Boolean] whether all that a query reads from a PostgreSQL database is one snapshot: read in one read-only
    #   transaction; see docs/network.md
    # @param breaker [Boolean] whether an operation in which Pipeloader has a bug goes on without it, see docs/proof.md
    # @param extensions [Boolean, nil] whether a response says what it has taken, when a request asks for it, see docs/web.md;
    #   default: in Rails' development environment
    #
    #: (singleton(GraphQL::Schema), ?fiber_limit: Integer?, ?coalesce: bool, ?field_exact: bool?, ?compile: bool,
    #    ?plan_bytes: Integer, ?forecast: bool, ?trips: Symbol, ?rest: bool, ?lanes: (Integer | Hash[Symbol, untyped])?,
    #    ?settings: untyped, ?snapshot: bool, ?breaker: bool, ?extensions: bool?) -> void
    def use(schema, **options)
      Options.check(options)
      Lanes.of(options[:lanes])
      prepare
      schema.singleton_class.prepend(Schema)
      schema.pipeloader_given = options.except(:field_exact).freeze
      schema.pipeloader_field_exact = options[:field_exact]
      Patches.install_for(schema.pipeloader_options)
    end

    # Operations that are executed without Pipeloader in this process, because it has a bug there; see docs/proof.md.
    #
    #     Pipeloader.breaker.open.each { |it| puts "#{it.schema} #{it.operation}: #{it.reason}" }
    #     Pipeloader.breaker.reset
    #
    #: () -> Breaker
    def breaker = Breaker.of_process

    # Which part of all executions of queries is proved: executed without Pipeloader, too, and compared. See docs/proof.md.
    #
    #: () -> Hash[Symbol, untyped]?
    def proof = ProofSample.given

    # @param given [Hash, nil] { sample: 0.001, on_difference: ->(difference) { … }, values: false }
    # @raise [ArgumentError]
    #
    #: (Hash[Symbol, untyped]?) -> void
    def proof=(given)
      ProofSample.given = given
      Patches.install_for({ snapshot: ProofSample.any? })
    end

    # Which revision of the application runs, for what the page tells of deploys: what was set, else what the host says (GIT_SHA,
    # KAMAL_VERSION and others in the environment; the file REVISION). nil where none is known. See docs/web.md.
    #
    #: () -> String?
    def revision = Revision.current

    # @param value [String, false, nil] false for none; nil for what the host says
    # @raise [ArgumentError]
    #
    #: ((String | false)?) -> void
    def revision=(value)
      Revision.current = value
    end

    # Raises where responses that are built inside the block read one by one what could be read together, with why that is, and
    # what to do: see docs/testing.md for what is found. For tests and development.
    #
    # @raise [StrictError]
    #
    #: [T] () { () -> T } -> T
    def strict(&)
      Patches.install_strict
      Strict.around(&)
    end

    # Finds objects that fields share, and that one field has changed and not yet made whole when another one comes to them, where
    # responses are built inside the block: see docs/testing.md. For tests and development.
    #
    # @return [Array<Interleavings::Interleaving>] each says, as text, which methods of what, for which fields, and what to do
    #
    #: () { () -> untyped } -> Array[Interleavings::Interleaving]
    def interleavings(&)
      require "pipeloader/report/interleavings"
      Interleavings.new.during(&)
    end

    # Calls the block for each value, as `values.map` does, so that the queries that it executes read together.
    #
    #     Pipeloader.multiplex(subscription_ids) { |id| execute(id, event, object) }
    #
    #: [T, U] (Array[T]) { (T) -> U } -> Array[U]
    def multiplex(values, &) = Multiplex.map(values, &)

    # Executes a query, and says of each field whether it is compiled, or why it isn't, and which statements were sent. See
    # docs/plans.md.
    #
    #     puts Pipeloader.explain(AppSchema, "{ posts { title author { name } } }")
    #
    # @param options what `Schema.execute` takes: variables, context, operation_name …
    # @raise [ArgumentError] for anything but a query, as that would do what it says
    #
    #: (singleton(GraphQL::Schema), String, **untyped) -> Explanation
    def explain(schema, query, **options) = Explanation.of(schema, query, **options)

    # Says of each field of a schema's object types whether it can be compiled, and where the code is that keeps it from that;
    # no query is executed. See docs/plans.md.
    #
    #     puts Pipeloader.explain_schema(AppSchema)
    #
    # @param models [Hash{Class => Class}] object types, and the models of their objects where their names don't tell
    # @raise [ArgumentError] where the schema doesn't use Pipeloader
    #
    #: (singleton(GraphQL::Schema), ?models: Hash[untyped, singleton(ActiveRecord::Base)]) -> SchemaExplanation
    def explain_schema(schema, models: {}) = SchemaExplanation.new(schema, models)
  end

  # Added to a schema by `use Pipeloader`.
  module Schema
    # True if a resolver has asked a source, which works by Pipeloader alone: the schema has no dataloader of its own.
    attr_accessor :pipeloader_sourced

    # What `use Pipeloader` was given.
    attr_writer :pipeloader_given

    # {fiber_limit: nil, coalesce: true, compile: true, …, as Options::DEFAULTS}: its own, or its superclass's, over what the
    # application has set, whenever that was.
    def pipeloader_options
      return superclass.pipeloader_options unless @pipeloader_given

      defaults = Pipeloader.defaults
      return @pipeloader_options if @pipeloader_defaults.equal?(defaults)

      options = Options.merge(@pipeloader_given, defaults)
      @pipeloader_options, @pipeloader_defaults = options, defaults unless frozen?
      options
    end

    # {[type, field, model] => Footprint}
    def pipeloader_footprints = @pipeloader_footprints ||= {}

    # As they are when the first response asks for them, or the check when an application boots.
    def pipeloader_all_types = @pipeloader_all_types ||= AllTypes.new(self)

    # By the text of a document.
    def pipeloader_operations = @pipeloader_operations ||= KeptOperations.new(pipeloader_options[:plan_bytes])

    def pipeloader_field_exact=(on) # as `use Pipeloader, field_exact:` says
      Patches.install_projection if on
      @pipeloader_field_exact = on
    end

    def pipeloader_field_exact?
      return @pipeloader_field_exact unless @pipeloader_field_exact.nil?

      superclass.respond_to?(:pipeloader_field_exact?) ? superclass.pipeloader_field_exact? : Pipeloader.field_exact
    end

    # True if records of +type+ are narrowed: as the schema says, or the type. A connection is as its nodes are.
    def pipeloader_narrows?(type)
      pipeloader_field_exact? || (type.respond_to?(:pipeloader_field_exact?) && type.pipeloader_field_exact?) ||
        (ConnectionSelection.connection?(type) && pipeloader_narrows?(type.node_type))
    end

    # True if those of any type are.
    def pipeloader_narrows_any?
      return true if pipeloader_field_exact?

      @pipeloader_narrows_any = pipeloader_all_types.any? { |it| pipeloader_narrows?(it) } if @pipeloader_narrows_any.nil?
      @pipeloader_narrows_any
    end

    # True if plain subtrees are compiled.
    def pipeloader_compiles? = pipeloader_options[:compile]

    # Compares what the types declare by `selects:` with the tables, once: where all code is loaded when an application boots,
    # then, else in the first response.
    #
    # @raise [UnknownColumnError]
    def pipeloader_check_columns
      return if @pipeloader_columns_checked || !pipeloader_narrows_any?

      DeclaredColumns.check(self)
      @pipeloader_columns_checked = true
    end

    def multiplex(queries, context: {}, **options) # graphql-ruby's: all executions pass here
      pipeloader_around(queries, context) { |given, its| super(given, context: its, **options) }
    end

    # Yields to execute +queries+, or others in their place: with Pipeloader or without it.
    def pipeloader_around(queries, context)
      ResponseExtension.around(self) do
        Switch.around(queries) do
          Multiplex.around(self) do
            SafeExecution.around(self, queries, context) { |given, its| Trial.around(self, given, its) { yield(given, its) } }
          end
        end
      end
    end

    # A bug of Pipeloader's isn't the application's to handle, where the query is about to be executed without it. What a resolver
    # throws is no error either: only its fiber doesn't know who catches it.
    def handle_or_reraise(context, error, **)
      attempt = Attempt.current
      raise error if attempt&.let_out?(error, context.query)
      raise error if UncaughtThrowError === error && ResolverFiber.current&.loader&.pipeloader_depth_first?

      attempt&.offer(error)
      super
    rescue StandardError => e
      attempt&.remake(e) unless e.equal?(error)
      raise
    end

    # From graphql 2.6 on, graphql-ruby answers a stack that ends. A resolver's fiber has an eighth of a thread's stack: without
    # Pipeloader there may be another answer.
    def query_stack_error(query, error)
      attempt = Attempt.current
      attempt.enclose(error) if attempt&.unhandled?(error)
      super
    end

    def dataloader_class # the schema's own, extended by Loader
      base = super
      return base if base < Loader || !Pipeloader.main_ractor?

      QueryLoader.over(base, **pipeloader_options.slice(:fiber_limit, :coalesce, :forecast, :trips, :lanes))
    end
  end
end

# Before anything rests on graphql-ruby.
require "pipeloader/patches/query_self_test"
Pipeloader::Patches::SelfTest.run_on_graphql

# A room names only rooms before it; patches may name all.
require "pipeloader/queries"
require "pipeloader/code"
require "pipeloader/proof"
require "pipeloader/projection"
require "pipeloader/lookup"
require "pipeloader/plan"
require "pipeloader/execute"
require "pipeloader/forecast"
require "pipeloader/report"
require "pipeloader/query_patches"

Pipeloader::Patches.install_on_graphql
Pipeloader::Patches.install_for({ **Pipeloader.defaults, field_exact: Pipeloader.field_exact })

ActiveSupport.on_load(:after_initialize) do |application|
  Pipeloader::DeclaredColumns.check_all if application.config.eager_load
end
