# frozen_string_literal: true

module Pipeloader
  # Where an application's code for a field is, and what in it keeps the field from being compiled.
  module CodeLocation
    class << self
      # @param type [Class] object type
      # @param field [GraphQL::Schema::Field]
      # @param model [Class, nil] of what the type's objects stand for
      # @param analyzer [Analyzer]
      # @return [Hash{Symbol => String}] location: "app/graphql/types/post.rb:12", from where the process runs; obstacle: what is
      #   done there, as Obstacle says it. Empty where none of the application's is known
      def of(type, field, model, analyzer)
        method = [of_resolver(field), of_type(type, field), of_model(model, field)].compact.find { |it| applications?(it) }
        obstacle = Obstacle.of(type, field, model, analyzer)
        file, number = (obstacle || method)&.source_location
        { obstacle: obstacle&.to_s, location: (line(file, number) if file) }.compact
      end

      # @return [Array(String, Integer), nil] where the application's method is that resolves a +field+, if it says so itself
      def source_of(field)
        [of_resolver(field), of_type(field.owner, field)].compact.find { |it| applications?(it) }&.source_location
      end

      # @return [String] "app/graphql/types/post.rb:12", from where the process runs
      def line(file, line) = "#{file.delete_prefix("#{Dir.pwd}/")}:#{line}"

      # @param told [Hash] with the :reason, and what #of returns
      # @return [String] for people
      def text(told)
        "by graphql-ruby (#{[*told[:reason], *told[:obstacle]].join("; ")})#{", #{told[:location]}" if told[:location]}"
      end

      private

      def of_resolver(field) = (field.resolver.instance_method(:resolve) if field.resolver&.method_defined?(:resolve))

      def of_type(type, field) = (type.instance_method(field.resolver_method) if type.method_defined?(field.resolver_method))

      def of_model(model, field) = (model.instance_method(field.method_sym) if model&.method_defined?(field.method_sym))

      def applications?(method) = !Provenance.graphql?(method) && !Provenance.active_record?(method)
    end
  end
end
