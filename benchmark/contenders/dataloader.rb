# frozen_string_literal: true

module Bench
  # GraphQL::Dataloader as its guide says: a resolver per association with graphql-ruby's own ActiveRecord sources. What
  # belongs to a record goes by the record's class, so that several associations to one class share a statement.
  class Dataloader < Contender
    called "dataloader", "GraphQL::Dataloader with its ActiveRecord sources"

    private

    def plugins = [GraphQL::Dataloader]

    def resolve_association(type, field, reflection)
      return type.define_method(field) { dataload_association(reflection.name) } unless plain_belongs_to?(reflection)

      model, key = reflection.klass, reflection.foreign_key
      type.define_method(field) { (id = object[key]) && dataload_record(model, id) }
    end

    def plain_belongs_to?(reflection) = reflection.belongs_to? && !reflection.scope && !reflection.polymorphic?

    def resolve_batch(type, field, batch)
      source = BatchSource.class_for_graphql
      type.define_method(field) { |**arguments| dataloader.with(source, batch, arguments).load(object) }
    end

    # The source that an expert would write for such a field.
    module BatchSource
      def self.class_for_graphql
        @class_for_graphql ||= Class.new(GraphQL::Dataloader::Source) { include BatchSource }
      end

      def initialize(batch, arguments)
        @batch = batch
        @arguments = arguments
      end

      def fetch(objects) = @batch.call(objects, **@arguments)
    end
  end
end
