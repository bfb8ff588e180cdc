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
    private_constant :PLAIN, :VALUES

    class << self
      #: (ActiveRecord::Relation) -> bool
      def of?(relation)
        relation.values.all? { |name, value| PLAIN.include?(name) || told?(name, value) } || Read.pure_text?(relation.to_sql)
      end

      private

      # True if it says so by itself: SQL of the application's own is looked at as a whole.
      def told?(name, value)
        case name
        when :order then value.all? { |it| Arel::Nodes::Ordering === it && Arel::Attribute === it.expr }
        when :where then condition?(value.ast)
        else value.blank?
        end
      end

      def condition?(node)
        case node
        when Arel::Nodes::And then node.children.all? { |it| condition?(it) }
        when Arel::Nodes::HomogeneousIn then true
        when Arel::Nodes::Binary then Arel::Attribute === node.left && value?(node.right)
        else false
        end
      end

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
