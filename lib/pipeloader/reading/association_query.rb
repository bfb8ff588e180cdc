# frozen_string_literal: true

module Pipeloader
  # What one association asks for, whole rows or a Projection's columns, and what that depends on besides the owner's keys:
  # scopes. A block is run for each read, as ActiveRecord does, since it may say something else each time (unless it is a
  # FixedScope); what it says is the key that an AssociationRead is found by.
  #
  # Limits: scopes that take the owner, or have other clauses than AssociationRead knows; associations through scoped ones;
  # `scoping` blocks; `disable_joins`; adapters without prepared statements.
  class AssociationQuery
    # How many reads a scope may lead to: with the time of day in it, say, no two are the same. And of how many projections.
    MOST = 16
    PROJECTIONS = 100

    # Methods of ActiveRecord's that a read passes there, and doesn't here.
    ASSOCIATION = %i[find_target scope target_scope association_scope skip_statement_cache?].freeze
    MODEL = %i[find_by_sql _query_by_sql cached_find_by_statement scope_for_association default_scoped build_default_scope
               relation connection_pool].freeze
    # What makes SQL of a relation, each time anew: a gem may add its tenants there. Where SQL is kept, only ActiveRecord may.
    BUILDING = %i[arel build_arel].freeze
    RELATION = %i[to_a records load exec_queries exec_main_query instantiate_records].freeze
    private_constant :MOST, :PROJECTIONS, :BUILDING

    class << self
      # @return [AssociationQuery] kept as long as ActiveRecord keeps what it has built for that class
      def of(klass, reflection)
        built = klass.instance_variable_get(:@find_by_statement_cache)
        known = klass.instance_variable_get(:@pipeloader_association_query)
        unless known && known.built.equal?(built)
          known = klass.instance_variable_set(:@pipeloader_association_query, Known.new(built, {}.compare_by_identity))
        end
        known.queries[reflection] ||= new(klass, reflection)
      end

      # True if what the relations of these +types+ say is all that SQL is made of.
      def spelled_alone?(types)
        types.product(BUILDING).all? { |type, name| Provenance.spells?(type.instance_method(name)) }
      end

      # The relation that an association reads by.
      #
      # @param bare [#call, nil] takes an association's own extensions off its scope
      # @yield [value] each of the owner's keys
      # @yieldreturn what is to be in its place
      def relation(association, bare = nil, &key)
        scope = ActiveRecord::Associations::AssociationScope.create(&key).scope(association)
        only_its = bare && (scope.extending_values - association.reflection.extensions).empty?
        association.send(:target_scope).merge!(only_its ? bare.call(scope) : scope)
      end
    end

    # {reflection => AssociationQuery} of a class
    Known = Struct.new(:built, :queries)

    # What scopes say, if they are fixed ones, or none, as long as the classes have these columns and default scopes.
    Said = Struct.new(:columns, :defaults, :owners, :scoped, :scopes) do
      def still?(klass, owner)
        columns.equal?(klass.columns_hash) && defaults.equal?(klass.default_scopes) && owners.equal?(owner.default_scopes)
      end
    end

    # The read that was asked for last by scopes that were said before: others are never the same Array.
    Latest = Struct.new(:projection, :scopes, :read)
    private_constant :Known, :Said, :Latest

    def initialize(klass, reflection)
      @klass = klass
      @reflection = reflection
      @single = reflection.chain.size == 1
      @key = reflection.join_foreign_key if @single && reflection.type.nil? && !reflection.join_foreign_key.is_a?(Array)
      relation = @klass.relation_delegate_class(ActiveRecord::AssociationRelation)
      @hosts_own = read_by(relation).all? { |method| Provenance.active_record_alone?(method) } &&
                   AssociationQuery.spelled_alone?(Provenance.relation_types(@klass))
      @readable = depends_on_keys? && @hosts_own
      @reads = Bounded.new(PROJECTIONS).compare_by_identity # {Projection or nil => {hash of scopes => [scopes, AssociationRead]}}
    end

    # True if the association is read by nothing but ActiveRecord's methods.
    def hosts_own? = @hosts_own

    # @param projection [Projection, nil] of the rows; nil for whole ones
    # @return [AssociationRead, nil] nil where only ActiveRecord's own way will do
    def read_for(association, connection, projection)
      return unless asks? && PostgreSQL.adapter?(connection.class) && connection.prepared_statements

      scopes = scopes_of(association)
      known(projection, scopes) do |reads|
        relation = AssociationQuery.relation(association) { ActiveRecord::StatementCache::Substitute.new }
        keep(reads, scopes, AssociationRead.of(relation, connection, projection, dynamic: !scopes.nil?))
      end
    end

    # As #read_for, without a connection: nil, too, where it has yet to be built.
    def known_read_for(association) = (known(nil, scopes_of(association)) { nil } if asks?)

    # Values for what was left open.
    def keys_of(owner)
      return [owner._read_attribute(@key)] if @key

      ActiveRecord::Associations::AssociationScope.get_bind_values(owner, @reflection.chain)
    end

    private

    # True if no block says more than the owner's keys do.
    def asks?
      return false unless @readable

      # What ActiveRecord asks of the class makes Arrays.
      scopes = ActiveRecord::Scoping::ScopeRegistry.instance
      !scopes.current_scope(@klass) && !scopes.global_current_scope(@klass)
    end

    # @yieldparam [Hash] of the projection's reads, which has none for these scopes
    def known(projection, scopes)
      latest = @latest
      return latest.read if latest && latest.scopes.equal?(scopes) && latest.projection.equal?(projection)

      reads = @reads[projection] ||= {}
      kept = reads[scopes.hash]
      return yield(reads) unless kept && kept.first == scopes

      @latest = Latest.new(projection, scopes, kept.last) if scopes.equal?(@said&.scopes)
      kept.last
    end

    def depends_on_keys?
      return false if @reflection.options[:disable_joins]
      return @reflection.scope.nil? || @reflection.scope.arity.zero? if @single

      !@reflection.has_scope? && links.none? { |model| default_scopes?(model) }
    end

    # @return [Array<Method, UnboundMethod>] by which ActiveRecord reads it
    def read_by(relation)
      # That of `has_and_belongs_to_many` has no class: ActiveRecord reads by another one.
      host = @reflection.active_record._reflect_on_association(@reflection.name) || @reflection
      ASSOCIATION.map { |name| host.association_class.instance_method(name) } +
        MODEL.map { |name| @klass.method(name) } + RELATION.map { |name| relation.instance_method(name) }
    end

    # The models that a :through association leads through, and its source's.
    def links = [*@reflection.chain.map(&:klass), @reflection.source_reflection.active_record]

    def default_scopes?(model) = model.default_scopes.any? || model.singleton_class.public_method_defined?(:default_scope)

    # @return [Array, nil] all that a relation would be built of; nil where ActiveRecord keeps one statement for all
    def scopes_of(association)
      said = @said
      return said.scopes if said&.still?(@klass, @reflection.active_record) && !(said.scoped && ignoring?)

      scoped = default_scopes?(@klass)
      scopes = scopes_now(association, scoped)
      @said = said(scoped, scopes) if fixed? && !(scoped && ignoring?)
      scopes
    end

    def scopes_now(association, scoped)
      return unless scoped || @reflection.scope || (@single && @reflection.active_record.default_scopes.any?)

      [(@klass.scope_for_association.values if scoped), (own_scope(association) if @reflection.scope),
       @klass.columns_hash.object_id]
    end

    def said(scoped, scopes)
      Said.new(@klass.columns_hash, @klass.default_scopes, @reflection.active_record.default_scopes, scoped, scopes)
    end

    # True while ActiveRecord asks a default scope of one of the class's family, which doesn't ask it of itself.
    def ignoring? = ActiveRecord::Scoping::ScopeRegistry.instance.ignore_default_scope(@klass.base_class)

    def fixed?
      defaults = @klass.default_scopes
      return @fixed.last if @fixed && @fixed.first.equal?(defaults)

      (@fixed = [defaults, fixed_scopes?(defaults)]).last
    end

    def fixed_scopes?(defaults)
      !@klass.singleton_class.public_method_defined?(:default_scope) &&
        [*defaults.map(&:scope), *@reflection.scope].all? { |scope| FixedScope.fixed?(@klass, scope) }
    end

    # As ActiveRecord's AssociationScope#eval_scope.
    def own_scope(association)
      reflection = ActiveRecord::Reflection::RuntimeReflection.new(@reflection, association)
      relation = reflection.build_scope(reflection.aliased_table)
      scope = relation.instance_exec(association.owner, &@reflection.scope) || relation
      [scope.values, scope.null_relation?]
    end

    def keep(reads, scopes, read)
      @readable = false if reads.size >= MOST
      reads[scopes.hash] = [scopes, read]
      read
    end
  end
end
