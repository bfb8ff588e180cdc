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
    # Ends an execution before any field is resolved, for graphql-ruby to execute the operation by itself: a tracer has given it
    # its text. See SafeExecution.
    class Directed < Exception # rubocop:disable Lint/InheritException -- code that rescues its own errors has nothing to do with it
    end

    RUNNING = %i[resolve resolve_each].freeze
    NAMES = /@[\s,]*+([_A-Za-z]\w*)/
    NONE = [].freeze
    @known = ObjectSpace::WeakMap.new # {trace class => how many ancestors it has; less than 0 where it has code of its own}
    private_constant :RUNNING, :NAMES, :NONE

    class << self
      # True if a tracer is around the execution of a +query+, or of a part of one, which has that one's trace.
      def traced?(query) = (GraphQL::Query === query && query.tracers.any?) || !alone?(query.current_trace.class)

      # True if directives are around fields of +queries+ that a +schema+ is about to execute, by what these say as yet.
      #
      # @param queries [Array<Hash, GraphQL::Query, GraphQL::Query::Partial>]
      def directs?(schema, queries)
        queries.any? { |query| names(query).any? { |name| runs?(name, schema) } }
      end

      # True if directives are around fields of a +query+.
      def directed?(query)
        operation = Operation.of(query)
        return false unless operation.nil? || operation.foreign_directives?

        named(QueryDocument.whole(query).document).uniq.any? { |name| runs?(name, query.schema) }
      end

      # True if a directive is around what a +node+ selects.
      def around?(node, schema)
        node.directives.any? { |it| runs?(it.name, schema) }
      end

      private

      # @return [Array<String>] of the directives that a +query+ names, or a part of one, and maybe others
      def names(query)
        whole = QueryDocument.whole(query)
        own = whole.equal?(query) || QueryDocument.holds?(query) ? NONE : query.ast_nodes.flat_map { |it| named(it) }
        names_in_all(whole) | own
      end

      def names_in_all(query)
        text = query.is_a?(Hash) ? query[:query] : query.instance_variable_get(:@query_string)
        return text.include?("@") && text.valid_encoding? ? text.scan(NAMES).flatten.uniq : NONE if text.is_a?(String)

        document = query.is_a?(Hash) ? query[:document] : query.document
        document ? named(document).uniq : NONE
      end

      def named(node)
        (node.respond_to?(:directives) ? node.directives.map(&:name) : NONE) + node.children.flat_map { |it| named(it) }
      end

      def runs?(name, schema) = (directive = schema.directives[name]) ? running?(directive) : false

      def running?(directive)
        RUNNING.any? { |name| directive.respond_to?(name) && !Provenance.graphql_alone?(directive.method(name)) }
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
