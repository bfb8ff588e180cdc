# frozen_string_literal: true

module Pipeloader
  # The columns that a field declares to read: `field :excerpt, String, selects: %i[body]`. An association stands for its keys.
  module DeclaredColumns
    class << self
      # @return [Footprint] a missing one where +model+ has no such column
      def of(field, model)
        Footprint.columns(field.pipeloader_selects.flat_map { |name| columns(model, name.to_s) })
      rescue KeyError => e
        Footprint.missing("#{field.owner.graphql_name}.#{field.graphql_name} selects `#{e.key}`, but #{model.table_name} " \
                          "(#{model.name}) has no such column")
      end

      # Compares what the types of a schema declare with the tables, as far as their models are known before any record is
      # met: the model of a type's name, if it is the only one of that name in any namespace, and has all methods that the type's
      # plain fields call.
      #
      # @raise [UnknownColumnError]
      def check(schema)
        schema.pipeloader_all_types.each do |type|
          next unless type.kind.fields? && schema.pipeloader_narrows?(type)

          fields = type.own_fields.values.flatten
          next unless fields.any?(&:pipeloader_selects) && (model = model_of(type, fields))

          fields.select(&:pipeloader_selects).each do |field|
            footprint = of(field, model)
            raise UnknownColumnError, "#{footprint.reason}. Correct `selects:`." if footprint.missing?
          end
        end
      end

      # The same for all schemas that there are, as far as there is a database: none while assets are compiled.
      #
      # @raise [UnknownColumnError]
      def check_all
        GraphQL::Schema.descendants.grep(Schema).each do |schema|
          schema.pipeloader_check_columns
        rescue ActiveRecord::ConnectionNotEstablished, ActiveRecord::NoDatabaseError
          next
        end
      end

      private

      def model_of(type, fields)
        model = type.graphql_name.safe_constantize
        return unless ActiveRecord::Base.descendants.include?(model) && !model.abstract_class? && model.table_exists?
        return unless ActiveRecord::Base.descendants.one? { |it| it.name&.demodulize == type.graphql_name }

        model.define_attribute_methods
        plain = fields.map { |field| PlainField.of(type, field) }.reject(&:objection)
        model if plain.any? && plain.all? { |field| model.method_defined?(field.reader) }
      end

      def columns(model, name)
        name = model.attribute_aliases[name] || name
        return [name] if model.columns_hash.key?(name)

        reflection = model.reflect_on_association(name)
        raise KeyError.new("no such column", receiver: model, key: name) unless reflection

        PlainModel.keys(reflection, model)
      end
    end
  end
end
