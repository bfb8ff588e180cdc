# frozen_string_literal: true

module Pipeloader
  # Whether a relation's rows are the same ones however often they are read, as long as nobody writes. ActiveRecord reads a
  # relation once, and keeps what came: `Post.order("random()")` that several fields share.
  module SteadyRows
    # What of a relation is no SQL, or only a number, a column or an association in it.
    PLAIN = %i[limit offset includes preload eager_load references distinct reverse_order readonly strict_loading create_with
               extending annotate optimizer_hints skip_query_cache skip_preloading unscope].to_set.freeze
    # What a column is compared with.
    VALUES = [ActiveModel::Attribute, Arel::Nodes::BindParam, Arel::Nodes::Casted, Arel::Nodes::Quoted].freeze
    NONE = [].freeze
    private_constant :PLAIN, :VALUES, :NONE

    class << self
      #: (ActiveRecord::Relation) -> bool
      def of?(relation)
        texts = relation.values.flat_map { |name, value| PLAIN.include?(name) ? NONE : texts(name, value) }
        # What can't be taken apart is looked at as a whole.
        texts.include?(nil) ? !Read.impure?(relation.to_sql) : texts.all? { |text| Read.pure_text?(text) }
      end

      private

      # @return [Array<String, nil>] SQL of the application's own, without values; nil for what may be anything
      def texts(name, value)
        case name
        when :where then of_condition(value.ast)
        when :order, :select, :group then value.flat_map { |it| of_part(it) }
        when :joins, :left_outer_joins then value.map { |it| it.to_s if Symbol === it || String === it }
        else value.blank? ? NONE : [nil]
        end
      end

      def of_part(part)
        case part
        when Arel::Nodes::Ordering then of_part(part.expr)
        when Arel::Attribute, Symbol then NONE
        when String then [part]
        else [nil]
        end
      end

      def of_condition(node)
        case node
        when Arel::Nodes::And, Arel::Nodes::Or then children(node).flat_map { |it| of_condition(it) }
        when Arel::Nodes::Grouping then of_condition(node.expr)
        when Arel::Nodes::HomogeneousIn then NONE
        when Arel::Nodes::Binary then Arel::Attribute === node.left && value?(node.right) ? NONE : [nil]
        when Arel::Nodes::BoundSqlLiteral then [node.sql_with_placeholders]
        when String then [node]
        else [nil]
        end
      end

      def children(node) = node.respond_to?(:children) ? node.children : [node.left, node.right]

      def value?(value)
        case value
        when Array then value.all? { |it| value?(it) }
        when Arel::Nodes::And then value?(value.children)
        else VALUES.any? { |it| it === value }
        end
      end
    end
  end
end
