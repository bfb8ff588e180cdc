# frozen_string_literal: true

require_relative "statement"

module Bench
  module Floor
    # The objects of one field: which columns of which table, and what is below them.
    class Node
      attr_reader :response_name, :model, :reflection, :root, :children, :fields

      # root: the root's part of SQL after the columns, as it has no reflection.
      def initialize(response_name, model, reflection, root:)
        @response_name = response_name
        @model = model
        @reflection = reflection
        @root = root
        @columns = []
        @children = []
        @fields = [] # [["title", "title"], ["author", Node], …]: a column's name or what is below, in the response's order
        index(own_key)
      end

      def column(name, column)
        index(column)
        @fields << [name, column]
      end

      def child(node)
        node.parent = self
        index(node.parent_key)
        @children << node
        @fields << [node.response_name, node]
      end

      attr_writer :parent

      def many? = @reflection.nil? || @reflection.collection?

      # By which of its columns the parent finds it, and by which of the parent's columns.
      def own_key = @reflection&.collection? ? @reflection.foreign_key : "id"
      def parent_key = @reflection.collection? ? "id" : @reflection.foreign_key

      def statement = @statement ||= Statement.new(self, @columns)

      # Rows. Values of one column of the parent's; none for the root.
      def keys = @reflection && @parent.values_of(parent_key)
      def values_of(column) = @rows.map { |row| row[index(column)] }.uniq

      def receive(rows)
        @rows = rows
      end

      # Hashes, from the leaves up.
      def build = builder.call(@rows, *@children.map(&:by_key))

      # What the parent looks its own up in.
      def by_key
        at = index(own_key)
        found = {}
        hashes = build
        @rows.each_with_index { |row, i| many? ? (found[row[at]] ||= []) << hashes[i] : found[row[at]] = hashes[i] }
        found
      end

      private

      def index(column) = @columns.index(column) || (@columns << column).size - 1

      # ->(rows, c0) { rows.map { |row| { "title" => row[1], "author" => c0[row[2]] } } }
      # (An interpreted tree would take three times as long, and this is to be a floor.)
      def builder = @builder ||= eval(source) # rubocop:disable Security/Eval

      def source = "->(#{["rows", *lookups].join(", ")}) { rows.map { |row| { #{pairs.join(", ")} } } }"

      def lookups = @children.each_index.map { |i| "c#{i}" }

      def pairs
        @fields.map do |name, what|
          value = what.is_a?(Node) ? "c#{@children.index(what)}[row[#{index(what.parent_key)}]]" : "row[#{index(what)}]"
          "#{name.dump} => #{value}#{" || []" if what.is_a?(Node) && what.many?}"
        end
      end
    end
  end
end
