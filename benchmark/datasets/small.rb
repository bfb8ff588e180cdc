# frozen_string_literal: true

require_relative "aggregates"

module Bench
  module Datasets
    # The example's tables, as requests for one record ask for them, and one table with ten columns.
    class Small < Aggregates
      COLUMNS = Array.new(10) { |number| "column#{number}" }.freeze
      ROWS = Array.new(20) { |row| COLUMNS.to_h { |name| [name, "row #{row}, #{name}"] } }.freeze

      def namespace = "bench_small"

      def define
        super
        require_relative "small/schema"
      end

      def types_module = ::Small::Types
      def model(type) = (::Example.const_get(type.graphql_name) if ::Example.const_defined?(type.graphql_name, false))

      def batches
        { **super.slice(["Post", :comment_count], ["Post", :discussed]),
          ["User", :comment_count] => ->(users) { counts(::Example::Comment, :commenter_id, users) },
          ["User", :issue_count] => ->(users) { counts(::Example::Issue, :creator_id, users) } }
      end

      def seed(connection)
        super
        connection.create_table("example_broads", force: true) { |table| COLUMNS.each { |name| table.string(name) } }
        ::Example::Broad.insert_all!(ROWS)
        connection.execute("ANALYZE example_broads")
      end
    end
  end
end
