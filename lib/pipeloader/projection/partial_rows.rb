# frozen_string_literal: true

module Pipeloader
  # The rows of a narrowed read, in place of the ActiveRecord::Result that records are made of: its rows are
  # PartialRows that know of each other. When code that we couldn't see reads a column that was left out, the omitted columns of
  # *all* of them are fetched in one read, and the attribute answers as if they had been there from the start.
  #
  #     SELECT "posts".* FROM "posts" WHERE "posts"."id" IN (1, 2, 3)
  #
  # Limits: what is fetched later is what is then in the database (what was read first stays as it was). Where the row is
  # gone, RowGoneError.
  class PartialRows
    # Composite keys that one statement asks for: each is an OR, of which the server takes more than in proportion.
    MOST = 1000
    private_constant :MOST

    attr_reader :projection

    alias inspect to_s

    #: (Projection, ActiveRecord::Result) -> void
    def initialize(projection, result)
      @projection = projection
      @result = result
      @count = result.length
      @place = [projection.model.current_role, projection.model.current_shard]
      response = ResolverFiber.current&.response
      @settings = response.settings if response&.settings?
    end

    # As a Result. ActiveRecord 7.2 asks for `map`, later ones for `indexed_rows`.
    def column_types = @result.column_types
    def includes_column?(name) = @result.includes_column?(name)
    def length = @count
    def empty? = @count.zero?
    def map(&) = indexed_rows.map(&)

    def indexed_rows
      @rows ||= rows_of(@result).map { |values| PartialRow.new(self, values) }.tap { @result = @result.class.empty }
    end

    # Fetches what was left out, for all rows.
    #
    # @param row [PartialRow] that was asked
    # @param name [String, nil] for which column; nil for all
    def complete(row, name)
      fiber = Thread.current[ResolverFiber::KEY]
      fiber ? Flight.over(self, fiber) { complete_once(row, name) } : complete_once(row, name)
    end

    # The message for a record whose row is gone.
    def gone(name)
      "#{@projection.model.name}#{".#{name}" if name} had been left out of a projection, and the row was deleted before it was " \
        "read. Declare `selects: %i[#{name || "…"}]` on the field that reads it, or ask for its attributes before it is deleted."
    end

    private

    def complete_once(row, name)
      return if row.whole?

      ActiveSupport::Notifications.instrument("projection_miss.pipeloader", miss(name)) { hand_out(fetch) }
    end

    def miss(name)
      { model: @projection.model, column: name, fetched: @projection.omitted, records: @count,
        field: GraphQL::Current.field&.path }
    end

    # As whole rows are read: their columns may have changed since this process knows them.
    #
    # @return [Array<#fetch>]
    def fetch
      model = @projection.model
      in_place do
        model.with_connection do |connection|
          under_settings(connection) do
            by_keys.flat_map do |condition|
              rows_of(connection.select_all(model.unscoped.where(condition).arel, "#{model.name} Projection Miss"))
            end
          end
        end
      end
    end

    # With the Settings of the response that the rows came from, which may be over.
    def under_settings(connection, &)
      @settings && PostgreSQL.adapter?(connection.class) ? connection.pipeloader_under(@settings, &) : yield
    end

    # The database and role that the rows came from.
    def in_place(&)
      model = @projection.model
      return yield if @place == [model.current_role, model.current_shard]

      model.connection_class_for_self.connected_to(role: @place[0], shard: @place[1], &)
    end

    def keys = @keys ||= Array(@projection.model.primary_key).map(&:to_s)

    # [{"id" => [1, 2]}] or, where the key is composite, `order_id = 1 AND number = 1 OR …`
    def by_keys
      values = @rows.map { |row| keys.map { |key| @projection.model.attribute_types[key].deserialize(row.fetch(key)) } }.uniq
      keys.one? ? [{ keys.first => values.flatten(1) }] : values.each_slice(MOST).map { |some| any_of(some) }
    end

    # ActiveRecord 7.2.0 would put one OR into another: a thousand of them are too deep for a fiber.
    def any_of(values)
      builder = @projection.model.predicate_builder
      each = values.map { |its| Arel::Nodes::And.new(builder.build_from_hash(keys.zip(its).to_h)) }
      Arel::Nodes::Grouping.new(Arel::Nodes::Or.new(each))
    end

    def hand_out(rows)
      found = rows.to_h { |values| [keys.map { |key| values.fetch(key) }, values] }
      @rows.each { |row| row.complete_by(found[keys.map { |key| row.fetch(key) }]) }
    end

    def rows_of(result) = result.respond_to?(:indexed_rows) ? result.indexed_rows : result.to_a
  end
end
