# frozen_string_literal: true

module Pipeloader
  # The demand of an operation on the records at one place of its tree: which columns of their table, and, in turn, what of the
  # records that their associations bring. Records carry it, so that `post.author` is narrowed whoever calls it.
  #
  #     { posts { title author { name } } }
  #     demand.projection(Post)        # => id, title, author_id
  #     demand.child(Post, :author)    # => a Demand; its projection(User) is id, name
  #
  # Made once per document (see Demands), and for each model that comes there.
  class Demand
    # A part of the document: +selections+ of things of +type+.
    #
    #     [Types::Post, [<Field title>, <Field author>]]
    attr_reader :sources

    # @return [String, nil] why every record is taken whole
    attr_reader :whole

    alias inspect to_s

    #: (Demands, Array[[Class, Array[GraphQL::Language::Nodes::AbstractNode]]], String?) -> void
    def initialize(demands, sources, whole)
      @demands = demands
      @sources = sources
      @whole = whole
      @model_demands = {}.compare_by_identity # {model => ModelDemand}
    end

    # @return [Projection, nil] nil for whole rows
    def projection(model) = reach(model).projection

    # @param association [Symbol]
    # @return [Demand, nil] nil if it isn't selected
    def child(model, association) = reach(model).children[association]

    # @return [Array<String>] why its records are taken whole; empty if they aren't
    def reasons(model) = reach(model).reasons

    # Notes on a record what is asked of it, and what else is asked of it by the same operation on another path.
    def meet(record)
      known = record.instance_variable_get(:@pipeloader_demand)
      return if equal?(known)

      record.instance_variable_set(:@pipeloader_demand, known ? known.and(self) : self)
    end

    # The demands of both. A demand of another document is over.
    #
    #: (Demand) -> Demand
    def and(other)
      return self if equal?(other)

      other.with(sources, whole, @demands)
    end

    # Notes on all that a field's resolver has returned, what is selected below it.
    def expect(value)
      case value
      when nil then nil
      when ActiveRecord::Relation then expect_relation(value)
      when ActiveRecord::Base then meet(value)
      when Array then value.each { |it| expect(it) }
      end
    end

    # A record that Marshal dumps holds nothing of the document.
    def marshal_dump = []

    def marshal_load(_nothing)
      initialize(nil, [], nil)
    end

    protected

    def with(sources, whole, demands)
      return self unless demands.equal?(@demands)

      more = sources - @sources
      more.empty? && (whole.nil? || @whole) ? self : @demands.of(@sources + more, @whole || whole)
    end

    private

    def reach(model)
      reach = @model_demands[model]
      reach&.current? ? reach : @model_demands[model] = ModelDemand.new(@demands, self, model)
    end

    # `size`, `loaded?` and the like wait for a sibling that is loading it.
    def expect_relation(relation)
      if relation.is_a?(ActiveRecord::Associations::CollectionProxy)
        relation.proxy_association.pipeloader_expect(self)
      else
        relation.pipeloader_expect(self)
      end
    end
  end
end
