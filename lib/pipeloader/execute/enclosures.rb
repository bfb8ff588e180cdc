# frozen_string_literal: true

module Pipeloader
  # Code of the application's inside of which fields are resolved: a tracer's, and that of directives.
  #
  #     def execute_query(query:) = ActiveRecord::Base.transaction { super }
  #     def self.resolve(_object, arguments, _context) = I18n.with_locale(arguments[:lang]) { yield }
  #
  # Without a dataloader of the schema's own, it's around all that is below. Jobs would come to that later.
  #
  # Limits: methods that are defined anew once they were looked at, a query's own trace with methods of its own.
  module Enclosures
    # Ends an execution before any field is resolved, for graphql-ruby to execute the operation by itself. See SafeExecution.
    class Directed < Exception # rubocop:disable Lint/InheritException -- code that rescues its own errors has nothing to do with it
    end

    RUNNING = %i[resolve resolve_each].freeze
    @known = ObjectSpace::WeakMap.new # {trace class => how many ancestors it has; less than 0 where it has code of its own}
    private_constant :RUNNING

    class << self
      # True if a tracer is around the execution of a +query+, or of a part of one, which has that one's trace.
      def traced?(query) = (GraphQL::Query === query && query.tracers.any?) || !alone?(query.current_trace.class)

      # True if directives are around fields of a +query+.
      def directed?(query)
        operation = Operation.of(query)
        return false unless operation.nil? || operation.foreign_directives?

        running = query.schema.directives.select { |_, directive| running?(directive) }.keys
        running.any? && names?(query.document, running)
      end

      # True if a directive is around what a +node+ selects.
      def around?(node, schema)
        node.directives.any? { |it| (directive = schema.directives[it.name]) && running?(directive) }
      end

      private

      def running?(directive)
        RUNNING.any? { |name| directive.respond_to?(name) && !Provenance.graphql_alone?(directive.method(name)) }
      end

      def names?(node, names)
        (node.respond_to?(:directives) && node.directives.any? { |it| names.include?(it.name) }) ||
          node.children.any? { |it| names?(it, names) }
      end

      # Other modules may be added to it meanwhile.
      def alone?(trace)
        size = trace.ancestors.size
        known = @known[trace]
        return known.positive? if known && known.abs == size

        alone = Provenance.graphql_alone?(trace.instance_method(:execute_query))
        @known[trace] = alone ? size : -size
        alone
      end
    end
  end
end
