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
    # What is quoted in SQL.
    QUOTED = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$\w*\$/
    # Text in which quotes alone don't tell what is quoted: escapes and comments.
    OBSCURE = %r{\\|--|/\*}
    # Literals that the server may turn into a time when the statement is prepared, and not when it is run: by its clock, or by
    # what the session's time zone is then. `'Jan 1 2024'` is one, and so is `'20240101'`.
    TIME = /\A'(?!\d{1,5}'\z).*\d|\A'.*(?<![a-z])(?:now|today|tomorrow|yesterday)(?![a-z])|\A\$/im
    TEXT = ActiveModel::Type::String.new
    NEVER_BLANK = [ActiveModel::Type::Integer, ActiveModel::Type::BigInteger].freeze
    private_constant :QUOTED, :OBSCURE, :TIME, :TEXT, :NEVER_BLANK

    # What the parameters are called that have the keys.
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
        return if QueriedModel === reflection

        objection = Readable.objection(reflection)
        return objection if objection

        name = "`#{reflection.name}`"
        return "#{name} is polymorphic" if reflection.polymorphic?
        return "#{name} depends on its record" unless PlainModel.independent?(reflection)
        return "#{name} is strict-loading" if reflection.strict_loading?
        return "#{name} isn't ActiveRecord's alone" unless AssociationQuery.of(reflection.klass, reflection).hosts_own?
        return "#{name} has nothing for a blank key" if blank_key?(reflection)
        return "an extension of #{name} has a method of ActiveRecord's, or of the model's" unless only_added_to?(reflection)

        "#{name} has no key of a type that is known" unless OwnersKey.of(reflection)
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

      private

      # ActiveRecord doesn't ask for several records through a `belongs_to` whose key is blank: no whole number is, a text may be.
      def blank_key?(reflection)
        return false unless reflection.through_reflection? && reflection.collection? && reflection.through_reflection.belongs_to?

        types = reflection.active_record.attribute_types.values_at(*Array(reflection.through_reflection.foreign_key).map(&:to_s))
        types.all? { |type| !NEVER_BLANK.include?(type.class) }
      end

      # A has_and_belongs_to_many goes through another.
      def only_added_to?(reflection)
        own = reflection.active_record._reflect_on_association(reflection.name)
        [reflection, own].compact.all? { |it| ReturnedValue.only_added_to?(it) }
      end
    end

    #: (ActiveRecord::Reflection::AbstractReflection, Projection) -> void
    def initialize(reflection, projection)
      @reflection = reflection
      @projection = projection
      @model = projection.model
      @owners_key = OwnersKey.of(reflection)
      @types = types
      @kept = Bounded.new(KEPT) # {hash of what scopes say => [that, Asked]}
    end

    # True if both sides have the attributes that they had, so that its keys are of the types that they were of.
    def current? = types.zip(@types).all? { |now, before| now.equal?(before) }

    # True if the association brings what is looked up. If its scopes say something else one day, it raises DoesNotFit.
    def narrows? = @narrows ||= !arel_of(relation_with(substitutes)).nil?

    # @return [Lookup] itself, with the arguments that a query gives, if it has any
    def for(_context) = self

    # @return [PageRange, nil] which rows are shown of those that an owner has; nil for all
    def range = nil

    # @return [Array<ContextValue>] what it asks of the context
    def contexts = []

    # True if there may be several rows for an owner.
    def many? = @reflection.collection?

    # @return [Symbol] of the association
    def name = @reflection.name

    # True if it is all of an association that leads to several records, which ActiveRecord would have in memory then.
    def whole? = many?

    # True if ActiveRecord raises an error where there is none.
    def finds? = false

    # True if it is one that ActiveRecord would take by its place of those that are in memory.
    def picks? = false

    # True if an order tells which of the records is the first and which the last, whether they are in memory or not.
    def picks_alike?
      orders = known_relation&.order_values.to_a.grep(Arel::Nodes::Ordering).map(&:expr).grep(Arel::Attributes::Attribute)
      orders.any? { |it| it.relation.name == @model.table_name && it.name.to_s == @model.primary_key }
    end

    # @return [Array<Symbol>, nil] associations that its relation has ActiveRecord preload, of whichever records; nil where its
    #   scope doesn't say
    def preloads = known_relation&.then { |relation| NeededPreloads.names(relation) }

    # @return [Projection] of its rows
    attr_reader :projection

    # @return [OwnersKey] by which an owner's rows are found
    attr_reader :owners_key

    # True if an owner without a key has no rows. Otherwise ActiveRecord may ask for those whose key IS NULL, also where an
    # association goes through a `belongs_to`.
    def needs_key?
      return @needs_key unless @needs_key.nil?
      return @needs_key = @reflection.needs_key? if queried?

      through = @reflection.through_reflection
      @needs_key = @reflection.belongs_to? || (!through.nil? && through.belongs_to? && @owners_key.never_null?(through.klass))
    end

    # The rows of one asker, of those found for several. Askers only look at them.
    def own(found, _keys) = found

    # @param keys [Array] of the owners, no two the same
    # @param growth [Growth, nil] what the rows are to bring along
    # @return [Hash{Object => Array<Array>}] rows of the projection's columns, by the owner's key
    def call(keys, growth = nil)
      return {} if keys.empty?

      statement = @model.with_connection { |connection| statement(connection) }
      growth = nil if keys.size > MOST
      keys.each_slice(MOST).inject({}) { |found, some| found.update(read(statement, some, growth)) }
    end

    # True if it can be asked for along with its owners, which +connection+ reads.
    def along?(connection) = @owners_key.types.one? && @model.connection_pool.equal?(connection.pool)

    # The same for the keys that owners leave.
    #
    # @param number [Integer] of the setting that has these
    # @yieldparam [String] SQL
    # @yieldreturn [String] SQL that brings the same rows
    # @return [Array(Read, Asked)] which isn't sent yet
    def along(connection, number)
      asked = statement(connection)
      sql = yield KeySettings.read(asked.sql, @owners_key.types.first)
      binds = [keys_bind(KeySettings.name(number)), *asked.binds]
      [connection.pipeloader_read_along(sql, "#{@model.name} Load", binds, asked.preparable), asked]
    end

    # True if what is +asked+ now is the same.
    def asks?(asked) = @model.with_connection { |connection| statement(connection) == asked }

    # @param result [ActiveRecord::Result] of what was asked for
    # @return [Hash{Object => Array<Array>}] as #call
    def found(result, index, keys) = @owners_key.by_key(by_key(result, index), keys)

    # SQL whose first parameters are the keys, the other binds, whether it may be prepared, and where in a row the owner's key is.
    Asked = Struct.new(:sql, :binds, :preparable, :at) do
      # `where("score > ?", 3)` has values for binds.
      def constant? = binds.all? { |bind| VALUES.include?(bind.class) || AssociationRead.constant_type?(bind) }
    end
    VALUES = [Integer, Float, BigDecimal, TrueClass, FalseClass, NilClass, String].freeze
    private_constant :Asked, :VALUES

    private

    # @return [ActiveRecord::Relation, nil] nil where its scope raises
    def known_relation
      relation_with(substitutes)
    rescue StandardError => e
      raise unless DoesNotFit.verdict(e) { relation_with(substitutes) }.is_a?(DoesNotFit)
    end

    def types = [@reflection.active_record, @reflection.chain.last.klass].map(&:attribute_types)

    def read(statement, keys, growth)
      @model.with_connection do |connection|
        binds = @owners_key.encoded(keys).map { |some| keys_bind(some) }.concat(statement.binds)
        preparable = connection.prepared_statements && statement.preparable
        ask = -> { @model._query_by_sql(connection, statement.sql, binds, preparable: preparable, allow_retry: true) }
        found(growth ? growth.along(connection, &ask) : ask.call, statement.at, keys)
      end
    end

    def keys_bind(keys) = ActiveRecord::Relation::QueryAttribute.new(KEYS, keys, TEXT)

    # True if a statement may be prepared that ActiveRecord wouldn't prepare: it is the same text the next time.
    def prepares?(sql) = !OBSCURE.match?(sql) && sql.scan(QUOTED).none?(TIME)

    # @param index [Integer] where in a row it is told whose it is
    def by_key(result, index) = Rows.of(@model, result).group_by { |row| row[index] }

    # @return [Arel::SelectManager, nil] what is asked for; nil where a +query+ brings no whole rows of its table, to be followed
    def arel_of(query) = (@projection.narrow(query).arel if @projection.narrows?(query) && !query.strict_loading_value)

    # True if an owner's key is all that is asked of a row, and there is one for each.
    def by_key?(said)
      said.empty? && @reflection.chain.one? && @reflection.type.nil? && @owners_key.compared_with?(@model.primary_key)
    end

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
      raise DoesNotFit.verdict(e) { [said(connection), for_each_key(connection)] }
    end

    # Scopes were asked again for the statement, and once more after it: one that says something else each time isn't kept.
    def keep(said, statement)
      @kept[said.hash] = [said.freeze, statement].freeze
    end

    def for_keys(connection)
      sql, = compile(arel_of(@model.unscoped), connection)
      column = @model.primary_key
      key = "#{@model.quoted_table_name}.#{connection.quote_column_name(column)}"
      Asked.new("#{sql} WHERE #{key} = ANY(#{@owners_key.arrays})", [], true, @projection.columns.index(column))
    end

    def for_each_key(connection)
      arel = arel_of(relation_with(keys = substitutes)) || raise(DoesNotFit)
      sql, binds, preparable = compile(arel, connection)
      raise DoesNotFit if Shape.alone?(sql)

      at = places_of(keys, binds)
      others = binds.values_at(*binds.each_index.to_a - at).map { |bind| kept(bind) }
      Asked.new(Shape.for_each_key(sql, at, @owners_key.arrays), others, preparable || prepares?(sql), -1)
    end

    # A text may be changed in place once it has been asked for. What a type can't cast, it says here, and not as it is sent.
    def kept(bind)
      return bind.dup.freeze if bind.is_a?(String)

      bind.value_for_database if bind.is_a?(ActiveModel::Attribute)
      bind.is_a?(ActiveModel::Attribute) && bind.value.is_a?(String) ? bind.with_cast_value(bind.value.dup.freeze) : bind
    end

    # @return [Array<Integer>] where among the +binds+ each part of the key is
    # @raise [DoesNotFit] where a scope has unscoped it, or asks for it besides
    def places_of(keys, binds)
      keys.map do |key|
        at, more = binds.each_index.select { |index| binds[index].respond_to?(:value) && binds[index].value.equal?(key) }
        at && more.nil? ? at : raise(DoesNotFit)
      end
    end

    # @return [Array<ActiveRecord::StatementCache::Substitute>] for each part of the key
    def substitutes
      queried? ? @reflection.substitutes : @owners_key.columns.map { ActiveRecord::StatementCache::Substitute.new }
    end

    # True if the resolver method asks the model itself.
    def queried? = QueriedModel === @reflection

    # The association's, as it is read for an owner.
    #
    # @param keys [Array] what is to be in the place of the owner's
    def relation_with(keys)
      return @reflection.relation if queried?

      association = asked.association_class.new(owner, asked)
      keys = keys.dup
      bare = ReturnedValue.method(:unextended)
      relation = AssociationQuery.relation(association, bare) { |value| keys.empty? ? value : keys.shift }
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
