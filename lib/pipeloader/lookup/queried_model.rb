# frozen_string_literal: true

module Pipeloader
  # A model that a resolver method itself asks for what belongs to its record, in the place of an association:
  #
  #     ::User.find_by(id: object.author_id)
  #     ::InvoiceLine.joins(:track).where(tracks: { genre_id: object.id }).sum(:quantity)
  #
  # A Lookup takes it for the reflection of an association without a scope, an inverse or loaded records.
  #
  # Limits: it is found by equality, with columns of types that OwnersKey knows.
  class QueriedModel
    # Calls whose conditions may have what the record says.
    CONDITIONS = %i[where find_by exists?].freeze
    JOINS = %i[joins left_joins left_outer_joins].freeze
    INNER = [Arel::Nodes::InnerJoin, Arel::Nodes::OuterJoin].freeze
    private_constant :CONDITIONS, :INNER
    # Class methods that a model's queries go through.
    METHODS = [*AssociationQuery::MODEL, :all, :unscoped].freeze

    class << self
      # @param owner [Class] of the records that are asked
      # @param chain [Chain] that begins with a model
      # @return [QueriedModel, nil] nil where it isn't by their columns
      def of(owner, chain)
        model = chain.queried
        return if model.abstract_class? || Readable.objection_to_table(model) || !model.respond_to?(chain.calls[1].name)

        queried = new(owner, chain)
        queried if queried.owners_key
      end
    end

    # @return [Class] whose records ask, and whose rows are found
    attr_reader :active_record, :klass

    # @return [OwnersKey, nil]
    attr_reader :owners_key

    # @return [Array<Chain::OfOwner>] what the conditions have in place of the key, in the order of its columns
    attr_reader :substitutes

    def initialize(owner, chain)
      @called = [:all, chain.calls[1].name].to_h { |name| [name, chain.queried.method(name)] }
      @active_record = owner
      @klass = chain.queried
      @substitutes = chain.of_owner
      conditions = chain.calls.flat_map { |call| conditions(call) }
      columns = @substitutes.map { |value| column(value, conditions) }
      @joined = joined(chain)
      @equal = equalities(@joined, conditions)
      @owners_key = OwnersKey.comparing(owner, columns, @equal) if [*columns, *@equal].none?(&:nil?)
    end

    # @return [Symbol] a name that no association has
    def name = @name ||= :"#{@klass.name} by #{@owners_key.columns.join(", ")}"

    # @raise [DoesNotFit] where its name or its class methods mean others by now: after a reload, in a block of `scoping`, or as
    #   somebody has defined them
    def verify
      changed = @klass.current_scope || @called.any? { |name, method| @klass.method(name) != method }
      raise DoesNotFit if changed || !ConstantNames.still?(@klass)
    end

    # @return [ActiveRecord::Relation] of which the chain's calls are asked
    def relation = @klass.all

    # True if no row is found for a record without a key: elsewhere ActiveRecord asks for those whose column IS NULL.
    def needs_key?
      complete?(@joined) && @equal.all? do |model, column, table|
        own = model.equal?(@klass) && table.instance_of?(Arel::Table) && table.name == model.table_name
        own && !model.columns_hash.fetch(column).null
      end
    end

    # True if a +relation+ joins nothing that may bring rows of the table in which all is NULL: as a RIGHT JOIN does, in SQL.
    def complete?(relation) = relation.arel.join_sources.all? { |it| INNER.include?(it.class) }

    # @return [Array<Class>] of the relations that its calls are asked of
    def relation_types = [@klass.relation_delegate_class(ActiveRecord::Relation)]

    def chain = [self]
    def scopes = []
    def collection? = true
    def belongs_to? = false
    def polymorphic? = false
    def through_reflection? = false
    def through_reflection = nil
    def inverse_of = nil
    def has_cached_counter? = false

    private

    # @return [Array<Hash>] no more of what a +call+ says than what tells which columns the #substitutes are compared with
    def conditions(call)
      return [{ @klass.primary_key => call.arguments.first }] if call.name == :find && Chain::OfOwner === call.arguments.first

      CONDITIONS.include?(call.name) ? [*call.arguments, call.keywords].grep(Hash).map { |it| narrowed(it) } : []
    end

    def narrowed(hash)
      hash.filter_map { |name, value|
        next [name, narrowed(value)] if value.is_a?(Hash) && Chain::OfOwner.all(value).any?

        [name, value] if Chain::OfOwner === value
      }.to_h
    end

    # @return [String, nil] the owner's, whose value it stands for
    def column(value, conditions)
      plain = PlainModel.of(@active_record)
      return plain.reader(value.reader).column if value.reader

      name = conditions.filter_map { |hash| hash.key(value) }.first
      reflection = @klass.reflect_on_association(name) if name
      return unless reflection&.belongs_to? && !reflection.polymorphic? && @active_record <= reflection.klass

      plain.reader(reflection.join_primary_key.to_sym).column unless reflection.join_primary_key.is_a?(Array)
    end

    # @return [ActiveRecord::Relation] with what the chain joins: conditions may name its columns
    def joined(chain)
      joins = chain.calls.select { |call| JOINS.include?(call.name) && call.arguments.none?(Chain::Parameter) }
      joins.inject(@klass.unscoped) { |relation, call| call.on(relation) }
    end

    # @return [Array<Array(Class, String, Arel::Table), nil>] the model, the column and the table that each of the #substitutes is
    #   compared with; nil where it's anything else than equality
    def equalities(relation, conditions)
      conditions = conditions.inject(relation) { |it, hash| it.where(hash) }.where_clause.send(:predicates)
      @substitutes.map { |value| conditions.filter_map { |it| compared(it, value) }.first }
    end

    def compared(condition, value)
      return unless condition.instance_of?(Arel::Nodes::Equality)

      bind = condition.right
      bind = bind.value if Arel::Nodes::BindParam === bind
      return unless ActiveRecord::Relation::QueryAttribute === bind && bind.value.equal?(value)

      table = condition.left.relation
      model = (Arel::Nodes::TableAlias === table ? table.relation : table).instance_variable_get(:@klass)
      [model, condition.left.name.to_s, table] if model && model < ActiveRecord::Base
    end
  end
end
