# frozen_string_literal: true

module Bench
  # The gem batch-loader with its GraphQL plug-in.
  class BatchLoader < Contender
    called "batch-loader", "the gem batch-loader with its plug-in for GraphQL"

    # What its Rack middleware does after a request: else the next run would find everything loaded.
    def answer
      super
    ensure
      ::BatchLoader::Executor.clear_current
    end

    private

    def require_gems
      super
      require "batch_loader"
      require "batch_loader/graphql"
    end

    def plugins = [::BatchLoader::GraphQL]

    def resolve_association(type, field, reflection)
      if reflection.belongs_to? && !reflection.scope && !reflection.polymorphic?
        load_by_id(type, field, reflection.klass, reflection.foreign_key)
      else
        load_all(type, field, ->(records) { preload(records, reflection.name) })
      end
    end

    def resolve_batch(type, field, batch)
      load_all(type, field, ->(objects, **arguments) { batch.call(objects, **arguments) })
    end

    def load_by_id(type, field, model, key)
      type.define_method(field) do
        next unless (id = object[key])

        ::BatchLoader::GraphQL.for(id).batch(key: model) do |ids, loader|
          model.where(id: ids).each { |record| loader.call(record.id, record) }
        end
      end
    end

    def load_all(type, field, values)
      type.define_method(field) do |**arguments|
        ::BatchLoader::GraphQL.for(object).batch(key: [type, field, arguments]) do |objects, loader|
          objects.zip(values.call(objects, **arguments)) { |object, value| loader.call(object, value) }
        end
      end
    end

    def preload(records, name)
      ActiveRecord::Associations::Preloader.new(records: records, associations: name).call
      records.map { |record| record.association(name).target }
    end
  end
end
