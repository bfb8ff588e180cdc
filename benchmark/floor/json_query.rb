# frozen_string_literal: true

module Bench
  module Floor
    # A tree of Nodes as one statement:
    #
    #   SELECT coalesce(json_agg(row_to_json(t0)), '[]') FROM (
    #     SELECT p0.title AS "title",
    #       (SELECT row_to_json(t1) FROM (SELECT p1.name AS "name" FROM authors p1 WHERE p1.id = p0.author_id) t1) AS "author"
    #     FROM posts p0 ORDER BY id LIMIT 25) t0
    class JsonQuery
      def initialize(root)
        @root = root
        @tables = 0
      end

      def sql = list(@root, number = @tables, inner(@root, number, " #{@root.root.sub(@root.model.table_name, "\\0 p0")}"))

      private

      def list(node, number, inner)
        value = node.many? ? "coalesce(json_agg(row_to_json(t#{number})), '[]')" : "row_to_json(t#{number})"
        "SELECT #{value} FROM (#{inner}) t#{number}"
      end

      def inner(node, number, source)
        fields = node.fields.map do |name, what|
          "#{what.is_a?(Node) ? "(#{below(what, number)})" : Floor.column(node.model, what, "p#{number}")} AS \"#{name}\""
        end
        "SELECT #{fields.join(", ")}#{source}"
      end

      def below(node, parent)
        number = @tables += 1
        source = " FROM #{node.model.table_name} p#{number} WHERE p#{number}.#{node.own_key} = p#{parent}.#{node.parent_key}" \
                 "#{" ORDER BY p#{number}.id" if node.many?}"
        list(node, number, inner(node, number, source))
      end
    end
  end
end
