# frozen_string_literal: true

module Bench
  # What the floors share.
  module Floor
    # A PG::Connection to what ActiveRecord would call so.
    def self.connect(address)
      named = address.except(:adapter, :username, :database, :schema_search_path)
      PG.connect(**named, user: address[:username], dbname: address[:database],
                          options: "-c search_path=#{address[:schema_search_path]}")
    end

    # A column ("name", "id::text") as the response has it.
    def self.column(model, name, table = nil)
      quoted = [table, name].compact.join(".")
      return quoted unless type(model, name) == :datetime
      "to_char(#{quoted}, 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    end

    def self.type(model, name) = name.end_with?("::text") ? :text : model.columns_hash.fetch(name).type

    # The one prepared statement of a Node, and how its rows are read.
    class Statement
      DECODERS = { integer: "Integer", boolean: "Boolean" }.freeze

      def initialize(node, columns)
        @node = node
        @columns = columns
        @name = "floor_#{object_id}"
      end

      def prepare(wire)
        wire.prepare(@name, sql)
        @types = PG::TypeMapByColumn.new(@columns.map { |column| decoder(column) })
        @array = PG::TextEncoder::Array.new(elements_type: PG::TextEncoder::Integer.new)
      end

      def send_to(wire, keys) = wire.send_query_prepared(@name, keys ? [@array.encode(keys.compact)] : [])

      def receive_from(wire)
        result = wire.get_result
        result.check
        wire.get_result # the nil after it
        result.map_types!(@types).values
      end

      private

      def sql
        columns = @columns.map { |column| Floor.column(@node.model, column) }.join(", ")
        "SELECT #{columns} #{@node.root || from}"
      end

      def from = "FROM #{@node.model.table_name} WHERE #{@node.own_key} = ANY($1::bigint[])#{" ORDER BY id" if @node.many?}"

      def decoder(column)
        PG::TextDecoder.const_get(DECODERS.fetch(Floor.type(@node.model, column), "String")).new
      end
    end
  end
end
