# frozen_string_literal: true

module Bench
  # Promises, with loaders as in the gem's examples: by class and id for what belongs to a record, else ActiveRecord's
  # preloader.
  class GraphqlBatch < Contender
    called "graphql-batch", "the gem graphql-batch with the loaders of its examples"

    private

    def require_gems
      super
      require "graphql/batch"
    end

    def plugins = [GraphQL::Batch]

    def resolve_association(type, field, reflection)
      record, association = loaders.values_at(:record, :association)
      return type.define_method(field) { association.for(reflection.name).load(object) } unless by_id?(reflection)

      model, key = reflection.klass, reflection.foreign_key
      type.define_method(field) { (id = object[key]) && record.for(model).load(id) }
    end

    def by_id?(reflection) = reflection.belongs_to? && !reflection.scope && !reflection.polymorphic?

    def resolve_batch(type, field, batch)
      loader = loaders.fetch(:batch)
      type.define_method(field) { |**arguments| loader.for(batch, arguments).load(object) }
    end

    def loaders
      @loaders ||= { record: loader { |ids, model| model.where(id: ids).index_by(&:id) },
                     association: loader { |records, name| preload(records, name) },
                     batch: loader { |objects, batch, arguments| objects.zip(batch.call(objects, **arguments)).to_h } }
    end

    def preload(records, name)
      ActiveRecord::Associations::Preloader.new(records: records, associations: name).call
      records.to_h { |record| [record, record.association(name).target] }
    end

    # The block gets keys, and what .for got; it returns {key => value}.
    def loader(&block)
      Class.new(GraphQL::Batch::Loader) do
        define_method(:initialize) { |*arguments| @arguments = arguments }
        define_method(:perform) do |keys|
          found = block.call(keys, *@arguments)
          keys.each { |key| fulfill(key, found[key]) }
        end
      end
    end
  end
end
