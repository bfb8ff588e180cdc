# frozen_string_literal: true

module Pipeloader
  # The rows of an association for many owners, by one statement:
  #
  #     SELECT "users"."id", "users"."name" FROM "users" WHERE "users"."id" = ANY($1::bigint[])
  #
  # or, where there may be several for an owner, each owner's as ActiveRecord asks for them (in the order that they would have):
  #
  #     SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_1
  #     FROM unnest($1::bigint[]) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_n),
  #     LATERAL (SELECT * FROM (SELECT … FROM "comments" WHERE "comments"."post_id" = pipeloader_keys.pipeloader_1) … OFFSET 0) …
  #
  # Limits: what #objection says.
  class Lookup
    # {SQL type of a key => what the server is told}
    TYPES = { "smallint" => "bigint", "integer" => "bigint", "bigint" => "bigint", "uuid" => "uuid",
              "text" => "text", "character varying" => "text" }.freeze
    # {… => types of attributes that leave it as it is}
    ATTRIBUTES = {
      "bigint" => [ActiveModel::Type::Integer, ActiveModel::Type::BigInteger],
      "uuid" => [ActiveRecord::ConnectionAdapters::PostgreSQL::OID::Uuid],
      "text" => [ActiveModel::Type::String, ActiveRecord::Type::Text]
    }.freeze
    # Of these, what is equal here is equal there.
    COMPARABLE = %w[bigint uuid].freeze
    # Literals that the server turns into a time when the statement is prepared, and not when it is run.
    CLOCK = /'[^']*\b(?:now|today|tomorrow|yesterday)\b/i
    ENCODER = PG::TextEncoder::Array.new
    TEXT = ActiveModel::Type::String.new
    private_constant :COMPARABLE, :CLOCK, :ATTRIBUTES, :TYPES, :ENCODER, :TEXT

    # What the parameter is called that has the keys.
    KEYS = "keys"

    # Keys that one statement asks for.
    MOST = 10_000

    # Sets of columns for which an association keeps its lookups.
    SETS = 100

    # How many statements one keeps: scopes may say something else for each tenant, or each second.
    KEPT = 16
    # Nobody is asked.
    NOTHING = [].freeze
    private_constant :SETS, :KEPT, :NOTHING

    class << self
      # True if a plan has sent a +read+.
      def sends?(read) = (bind = read.binds.first).is_a?(ActiveModel::Attribute) && bind.name == KEYS

      # @return [String, nil] why the association's rows can't be looked up for many; nil if they can
      def objection(reflection)
        objection = PlainModel.objection_to_target(reflection)
        return objection if objection

        name = "`#{reflection.name}`"
        return "#{name} is polymorphic" if reflection.polymorphic?
        return "#{name} depends on its record" unless PlainModel.independent?(reflection)
        return "#{name} is strict-loading" if reflection.strict_loading?
        return "#{name} has extensions" if reflection.extensions.any?

        "#{name} has no key of a type that is known" unless key_type(reflection)
      end

      # One for all documents, as it keeps its statement. The association itself keeps it, as reloaded code has others.
      #
      # @param projection [Projection] of the rows
      def of(reflection, projection)
        kept = reflection.instance_variable_get(:@pipeloader_lookups) ||
               reflection.instance_variable_set(:@pipeloader_lookups, Bounded.new(SETS).compare_by_identity)
        its = kept[projection] ||= {}
        known = its[self]
        known&.current? ? known : its[self] = new(reflection, projection)
      end

      # @return [String, nil] what the server is told of the owner's key, and of what it is compared with
      def key_type(reflection)
        last = reflection.chain.last
        types = [type(reflection.active_record, last.join_foreign_key), type(last.klass, last.join_primary_key)].uniq
        types.first if types.size == 1
      end

      private

      def type(model, column)
        return if column.is_a?(Array)

        type = TYPES[model.columns_hash[column.to_s]&.sql_type&.sub(/\(\d+\)\z/, "")]
        type if type && ATTRIBUTES.fetch(type).include?(model.attribute_types[column.to_s].class)
      end
    end

    #: (ActiveRecord::Reflection::AbstractReflection, Projection) -> void
    def initialize(reflection, projection)
      @reflection = reflection
      @projection = projection
      @model = projection.model
      @type = Lookup.key_type(reflection)
      @kept = Bounded.new(KEPT) # {hash of what scopes say => [that, Asked]}
    end

    # True if its keys are of the type that they were of.
    def current? = @type == Lookup.key_type(@reflection)

    # True if the association brings what is looked up. If its scopes say something else one day, it raises DoesNotFit.
    def narrows? = @narrows ||= !arel_of(relation_with(ActiveRecord::StatementCache::Substitute.new)).nil?

    # @return [Lookup] itself, with the arguments that a query gives, if it has any
    def for(_context) = self

    # @return [PageRange, nil] which rows are shown of those that an owner has; nil for all
    def range = nil

    # @return [Array<ContextValue>] what it asks of the context
    def contexts = []

    # True if there may be several rows for an owner.
    def many? = @reflection.collection?

    # @return [Projection] of its rows
    attr_reader :projection

    # @return [String] the attribute by which an owner's rows are found
    def owners_key = @owners_key ||= @reflection.chain.last.join_foreign_key.to_s.freeze

    # True if an owner without a key has no rows. Otherwise ActiveRecord may ask for those whose key IS NULL.
    def belongs_to? = (@reflection.through_reflection || @reflection).belongs_to?

    # The rows of one asker, of those found for several. Askers only look at them.
    def own(found, _keys) = found

    # @param keys [Array] of the owners, no two the same
    # @return [Hash{Object => Array<Array>}] rows of the projection's columns, by the owner's key
    def call(keys)
      return {} if keys.empty?

      statement = @model.with_connection { |connection| statement(connection) }
      keys.each_slice(MOST).inject({}) { |found, some| found.update(read(statement, some)) }
    end

    # SQL whose first parameter is the keys, the other binds, whether it may be prepared, and where in a row the owner's key is.
    Asked = Struct.new(:sql, :binds, :preparable, :at) do
      # `where("score > ?", 3)` has values for binds.
      def constant? = binds.all? { |bind| VALUES.include?(bind.class) || AssociationRead.constant_type?(bind) }
    end
    VALUES = [Integer, Float, BigDecimal, TrueClass, FalseClass, NilClass, String].freeze
    private_constant :Asked, :VALUES

    private

    def read(statement, keys)
      @model.with_connection do |connection|
        binds = [ActiveRecord::Relation::QueryAttribute.new(KEYS, ENCODER.encode(keys), TEXT), *statement.binds]
        preparable = connection.prepared_statements && statement.preparable
        by_key(@model._query_by_sql(connection, statement.sql, binds, preparable: preparable, allow_retry: true), statement.at)
      end
    end

    # True if a statement may be prepared that ActiveRecord wouldn't prepare: it is the same text the next time.
    def prepares?(sql) = !CLOCK.match?(sql)

    # @param index [Integer] where in a row the owner's key is
    def by_key(result, index) = Rows.of(@model, result).group_by { |row| row[index] }

    # @return [Arel::SelectManager, nil] what is asked for; nil where +relation+ brings no whole rows of its table
    def arel_of(relation) = (@projection.narrow(relation).arel if @projection.narrows?(relation))

    # True if an owner's key is all that is asked of a row, and there is one for each.
    def by_key?(said)
      said.empty? && @reflection.chain.one? && @reflection.type.nil? && COMPARABLE.include?(@type) &&
        key_column == @model.primary_key
    end

    def key_column = @reflection.chain.last.join_primary_key

    # The wording of the scopes now: they are blocks, and may say something else the next time.
    #
    # @return [Array] to be compared by #eql?
    def said(connection)
      asked = @reflection.chain.select { |link| link.scopes.any? || Wording.of_its_own?(link.klass) }
      everywhere = @model.global_current_scope
      return NOTHING if asked.empty? && everywhere.nil?

      wording = asked.each_with_object(Wording.new(connection.visitor)) { |link, it| it.link(link) }
      wording.relation(everywhere) if everywhere
      wording.all
    end

    # @return [Asked]
    def statement(connection)
      said = said(connection)
      known, statement = @kept[said.hash]
      return statement if known.eql?(said)

      statement = by_key?(said) ? for_keys(connection) : for_each_key(connection)
      keep(said, statement) if statement.constant? && said.eql?(said(connection))
      statement
    rescue ActiveRecord::ActiveRecordError, DoesNotFit
      raise
    rescue StandardError => e # of a scope's: graphql-ruby's to see, where it comes from there
      raise Coercion.verdict(e) { [said(connection), arel_of(relation_with(ActiveRecord::StatementCache::Substitute.new))] }
    end

    # Scopes were asked again for the statement, and once more after it: one that says something else each time isn't kept.
    def keep(said, statement)
      @kept[said.hash] = [said.freeze, statement].freeze
    end

    def for_keys(connection)
      sql, = compile(arel_of(@model.unscoped), connection)
      key = "#{@model.quoted_table_name}.#{connection.quote_column_name(key_column)}"
      Asked.new("#{sql} WHERE #{key} = ANY($1::#{@type}[])", [], true, @projection.columns.index(key_column))
    end

    def for_each_key(connection)
      arel = arel_of(relation_with(key = ActiveRecord::StatementCache::Substitute.new)) || raise(DoesNotFit)
      sql, binds, preparable = compile(arel, connection)
      raise DoesNotFit if Shape.alone?(sql)

      at, more = binds.each_index.select { |index| binds[index].respond_to?(:value) && binds[index].value.equal?(key) }
      raise DoesNotFit if at.nil? || more # its scope has unscoped it, or asks for it besides

      others = binds.reject.with_index { |_, index| index == at }.map { |bind| bind.is_a?(String) ? bind.dup.freeze : bind }
      Asked.new(Shape.for_each_key(sql, at, "$1::#{@type}[]"), others, preparable || prepares?(sql), -1)
    end

    # The association's, as it is read for an owner.
    def relation_with(key)
      association = asked.association_class.new(owner, asked)
      keys = [key]
      relation = AssociationQuery.relation(association) { |value| keys.empty? ? value : keys.pop }
      everywhere = association.klass.global_current_scope
      everywhere ? relation.merge!(everywhere) : relation
    end

    # A has_and_belongs_to_many goes through another.
    def asked = @reflection.active_record._reflect_on_association(@reflection.name)

    # One that stands for all. Nothing of the application's is run for it: it has no columns that an `after_initialize` could ask.
    def owner
      model = @reflection.active_record
      model.allocate.tap { |it| it.instance_variable_set(:@attributes, model.attributes_builder.build_from_database) }
    end

    # With all binds as parameters, whether or not statements are prepared.
    #
    # @return [Array] SQL, binds, and whether ActiveRecord would prepare it
    def compile(arel, connection)
      collector = Arel::Collectors::Composite.new(Arel::Collectors::SQLString.new, Arel::Collectors::Bind.new)
      collector.preparable = true
      [*connection.visitor.compile(arel.ast, collector), collector.preparable]
    end
  end
end
