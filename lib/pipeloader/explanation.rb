# frozen_string_literal: true

module Pipeloader
  # What became of each field of a query that was executed, why, and which statements were sent.
  #
  #     posts: by graphql-ruby (Post.excerpt: resolver method `excerpt` on Types::Post)
  #       title: compiled
  #       excerpt: by graphql-ruby (Post.excerpt: resolver method `excerpt` on Types::Post)
  #       author: compiled
  #         name: compiled
  #     burst 1: SELECT "posts".* FROM "posts"
  class Explanation
    COMPILED = "compiled"
    OTHERWISE = "by graphql-ruby"
    private_constant :COMPILED, :OTHERWISE

    class << self
      # @raise [ArgumentError] for anything but a query
      def of(schema, text, **options)
        raise ArgumentError, "#{schema} doesn't `use Pipeloader`" unless schema.respond_to?(:pipeloader_footprints)

        query = GraphQL::Query.new(schema, text, **options)
        kind = query.selected_operation&.operation_type
        raise ArgumentError, "explain executes what it explains, and this is a #{kind}" unless kind.nil? || kind == "query"

        new(query, bursts_of { query.result })
      end

      private

      # Those of this thread.
      def bursts_of(&)
        thread = Thread.current
        bursts = []
        taken = lambda do |*, payload|
          bursts << payload[:reads].map(&:sql).tally.to_a if Thread.current.equal?(thread)
        end
        ActiveSupport::Notifications.subscribed(taken, "burst.pipeloader", &)
        bursts
      end
    end

    # @param bursts [Array<Array(String, Integer)>] SQL, and how many reads asked for it
    def initialize(query, bursts)
      @query = query
      @bursts = bursts
      @errors = query.result.to_h["errors"] unless query.valid?
      @operation = Operation.of(query)
      @plans = @operation.plans
      @compiles = !Plans.of(query).nil?
    end

    # As a Hash, for tools.
    #
    #     {fields: [{key: "posts", field: "Query.posts", compiled: false, reason: "…", fields: […]}], bursts: [[["SELECT …", 1]]]}
    def to_h = { fields: fields, bursts: @bursts, **(@errors ? { errors: @errors } : {}) }

    def to_s
      errors = Array(@errors).map { |error| "error: #{error["message"]}" }
      [*fields.flat_map { |field| lines(field, 0) }, *burst_lines, *errors].join("\n")
    end

    private

    def fields = @fields ||= @errors ? [] : below(@query.root_type_for_operation("query"), [@query.selected_operation], nil)

    # @param inherited [true, Array<Partial>, nil] true below a plan; what is known of the object that they are of
    def below(type, nodes, inherited)
      selected(type, nodes.flat_map(&:selections)).map { |key, same| describe(type, key, same, inherited) }
    end

    def selected(type, selections)
      found = {}
      @operation.possible_types(type).each do |one|
        @operation.each_selected(one, selections) { |node| note(node, found) }
      end
      found
    end

    def note(node, found)
      nodes = found[node.alias || node.name] ||= []
      nodes << node unless nodes.include?(node)
    end

    def describe(type, key, nodes, inherited)
      field = @operation.definition(type, nodes.first) unless nodes.first.name == "__typename"
      known = field.is_a?(GraphQL::Schema::Field)
      verdict, reason, further = verdict(key, nodes, (field if known), inherited)
      told = { key: key, field: "#{type.graphql_name}.#{nodes.first.name}", compiled: verdict, reason: (reason unless verdict) }
      returned = field.type.unwrap if known
      told[:fields] = below(returned, nodes, further) if returned&.kind&.composite?
      told
    end

    # @return [Array(bool, String, Object)] whether it is compiled, why not, and what those below it inherit
    def verdict(key, nodes, field, inherited)
      return [true, nil, true] if inherited == true
      return [false, "plans are off, or somebody watches every field", nil] unless @compiles
      return [true, nil, true] if inherited && inherited.any? && inherited.all? { |partial| !partial.reasons.key?(key) }

      reason = inherited&.filter_map { |partial| partial.reasons[key] }&.first
      field && field.type.unwrap.kind.composite? ? verdict_of_value(nodes, field, reason) : [false, reason || "its resolver", nil]
    end

    def verdict_of_value(nodes, field, reason)
      type = field.type.unwrap
      selections = nodes.one? ? nodes.first.selections : nodes.flat_map(&:selections)
      found = @plans.verdicts(type, selections, nodes.first)
      return [true, nil, true] if found.any? && found.all?(Plan)

      [false, found.grep(String).first || reason || "no records came there", @plans.partials(type, selections, nodes.first)]
    end

    def burst_lines
      @bursts.flat_map.with_index(1) do |statements, number|
        statements.map { |sql, reads| "burst #{number}: #{sql.squish}#{" (×#{reads})" if reads > 1}" }
      end
    end

    def lines(field, depth)
      state = field[:compiled] ? COMPILED : "#{OTHERWISE} (#{field[:reason]})"
      ["#{"  " * depth}#{field[:key]}: #{state}", *field[:fields]&.flat_map { |it| lines(it, depth + 1) }]
    end
  end
end
