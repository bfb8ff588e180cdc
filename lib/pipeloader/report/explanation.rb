# frozen_string_literal: true

module Pipeloader
  # Says what became of each field of an executed query, why, and which statements were sent.
  #
  #     posts: by graphql-ruby (Post.excerpt: resolver method `excerpt` on Types::Post)
  #       title: compiled
  #       excerpt: by graphql-ruby (Post.excerpt: resolver method `excerpt` on Types::Post; `excerpt` calls `render`),
  #         app/graphql/types/post.rb:12
  #       author: compiled
  #         name: compiled
  #     burst 1: SELECT "posts".* FROM "posts"
  #     read ahead: Post.author ×25
  #
  # A field that brings objects is compiled where a plan has written all of these; any other, where graphql-ruby has resolved it
  # for no object. Both is seen while the query is executed, and not concluded. Members of unions and interfaces are told of one
  # by one, as "Post.title".
  class Explanation
    COMPILED = "compiled"
    NOTHING = "nothing came there" # the reason where no object asked for the field
    TRANSACTION = "a transaction is open"
    UNFIT = "what came there isn't as it is in the database"
    RESOLVER = "its resolver"
    OBJECT = "so is its object"
    RESTS = "executed without Pipeloader for now: that is faster"
    LISTENING = Listening.new(Burst::EVENT, ReadAhead::EVENT) { Thread.current }
    private_constant :COMPILED, :TRANSACTION, :UNFIT, :RESOLVER, :OBJECT, :RESTS, :LISTENING

    class << self
      # @raise [ArgumentError] for anything but a query
      def of(schema, text, **options)
        raise ArgumentError, "#{schema} doesn't `use Pipeloader`" unless schema.respond_to?(:pipeloader_footprints)

        query = GraphQL::Query.new(schema, text, **options)
        kind = query.selected_operation&.operation_type
        raise ArgumentError, "explain executes what it explains, and this is a #{kind}" unless kind.nil? || kind == "query"

        # Whom Pipeloader is on for, plays no role, unless that is nobody.
        Switch.decided(off: Pipeloader.disabled?) { explained(query) }
      end

      private

      def explained(query)
        witness, bursts, ahead = Witness.watch(query), [], []
        told = lambda do |name, *, payload|
          next ahead.concat(payload[:reads].to_a) if name == ReadAhead::EVENT

          bursts << payload.slice(:connection, :position, :lane, :settings, :reads)
        end
        # As the first response of a request finds it: nothing is in the query cache.
        ActiveRecord::Base.connection_handler.each_connection_pool(&:clear_query_cache)
        LISTENING.during(told) { query.result }
        new(query, witness, bursts, ahead)
      end
    end

    # A kind of object at one place of the response.
    #
    # path: ["posts", "author"]. compiled: whether a plan has written all of them. selections: what is known of the others
    Spot = Struct.new(:path, :type, :compiled, :selections)
    private_constant :Spot

    # @param witness [Witness] that has seen the execution
    # @param bursts [Array<Hash>] of TripsTaken
    # @param ahead [Array<Array(String, Hash)>] as ReadAhead's event has them: associations that were read ahead
    def initialize(query, witness, bursts, ahead)
      @query = query
      @ahead = ahead
      @witness = witness
      @trips = TripsTaken.new(bursts)
      result = query.result.to_h
      @errors = result["errors"] unless result.key?("data")
      @present = {} # {["posts", "author"] => whether there are objects}
      @written = {} # {["posts", "author"] => [Types::User, …]}, of unions and interfaces
      look_through(result["data"], [])
      @operation = Operation.of(query)
      @off = reason_for_none
    end

    # As a Hash, for tools.
    #
    #     {fields: [{key: "posts", field: "Query.posts", compiled: false, reason: "…", fields: […]}], bursts: as TripsTaken#to_a,
    #      # of a field that has code: location: "app/graphql/types/post.rb:12", obstacle: "`excerpt` calls `render`"
    #      ahead: {"Post.author" => {owners: 25, asked: 25}}, rests: false}
    def to_h = { fields: fields, bursts: @trips.to_a, ahead: @ahead.to_h, rests: rests?, **(@errors ? { errors: @errors } : {}) }

    def to_s # all of it as text, as `puts` shows it
      errors = Array(@errors).map { |error| "error: #{error["message"]}" }
      [*fields.flat_map { |field| lines(field, 0) }, *@trips.lines, *ahead_lines, *(RESTS if rests?), *errors].join("\n")
    end

    private

    def fields
      return [] if @errors

      operation = @query.selected_operation
      @fields ||= below(Spot.new([], @query.root_type_for_operation(operation.operation_type), false, []), [operation])
    end

    def look_through(value, path)
      case value
      when Hash
        @present[path] = true
        (@written[path] ||= Set.new) << @query.context.pipeloader_types[value]
        value.each { |key, it| look_through(it, [*path, key]) }
      when Array then value.any? ? value.each { |it| look_through(it, path) } : @present[path] ||= false
      else @present[path] ||= false
      end
    end

    # Why there are no plans at all.
    def reason_for_none
      return "Pipeloader is disabled" if Pipeloader.disabled?

      stopping = Pipeloader.breaker.stopping(@query.schema, @query) if @query.schema.pipeloader_options[:breaker]
      return "executed without Pipeloader since #{stopping.reason}" if stopping

      "plans are off, or somebody watches every field" unless Plans.of(@query)
    end

    def below(spot, nodes)
      selected(spot.type, nodes.flat_map(&:selections)).map { |key, same| describe(spot, key, same) }
    end

    def selected(type, selections)
      found = {}
      @operation.each_selected(type, selections) do |node|
        same = found[node.alias || node.name] ||= []
        same << node unless same.include?(node)
      end
      found
    end

    def describe(spot, key, nodes)
      field = @operation.definition(spot.type, nodes.first) unless nodes.first.name == "__typename"
      field = nil unless field.is_a?(GraphQL::Schema::Field)
      returned = field.type.unwrap if field
      told = { key: key, field: "#{spot.type.graphql_name}.#{nodes.first.name}" }
      return located({ **told, **leaf(spot, key) }, spot, field) unless returned&.kind&.composite?

      spots = spots(spot, [*spot.path, key], returned, nodes)
      located({ **told, **composite(spot, key, returned, nodes, spots), fields: fields_of(spots, nodes) }, spot, field)
    end

    # With where its code is, if the reason is about it.
    def located(told, spot, field)
      return told unless told[:reason]&.start_with?("#{told[:field]}: ")

      @analyzer ||= Analyzer.new(@operation)
      { **told, **DryRun.within_response { CodeLocation.of(spot.type, field, spot.selections.first&.model, @analyzer) } }
    end

    # Each once, where nothing came that would tell which types matter.
    def fields_of(spots, nodes)
      fields = spots.flat_map { |it| below(it, nodes) }
      @present[spots.first&.path] ? fields : fields.uniq { |field| field[:key] }
    end

    # @return [Array<Spot>] one for each type of the objects that came there; for each that there can be, where none did
    def spots(parent, path, type, nodes)
      types = type.kind.abstract? ? types_at(path, type, nodes) : [type]
      types.map do |it|
        compiled = @present[path] ? !@witness.made?(path, it) : parent.compiled
        Spot.new(path, it, compiled, Plans.for(@operation).selections(it, *place(nodes)))
      end
    end

    def types_at(path, type, nodes)
      possible = @operation.possible_types(type)
      came = possible & [*@written[path], *@witness.types(path), *Plans.for(@operation).types(*place(nodes))]
      came.empty? ? possible : came
    end

    # The key of a place.
    def place(nodes) = [nodes.one? ? nodes.first.selections : nodes.flat_map(&:selections), nodes.first]

    def leaf(spot, key)
      return { compiled: false, reason: reason(spot, key) } if @witness.resolved?(spot.path, spot.type, key)

      written = spot.compiled || @present.key?([*spot.path, key])
      { compiled: written, reason: (NOTHING unless written) }
    end

    def composite(spot, key, type, nodes, spots)
      path = [*spot.path, key]
      made = @witness.types(path)
      compiled = made.empty? && (@present[path] || (@present.key?(path) && !@witness.resolved?(spot.path, spot.type, key)))
      compiled ||= made.empty? && spot.compiled
      return { compiled: true, reason: nil } if compiled

      came = made.any? || @present[path]
      { compiled: false, reason: came ? why(spot, key, [type, *spots.map(&:type)], nodes) : @off || NOTHING }
    end

    # Why objects were made.
    def why(spot, key, types, nodes)
      found = types.flat_map { |type| Plans.for(@operation).selections(type, *place(nodes)) }
      @off || found.filter_map(&:reason).first || known(spot, key) || (TRANSACTION if transaction?) || UNFIT
    end

    # Why graphql-ruby has resolved a field.
    def reason(spot, key) = @off || known(spot, key) || (spot.path.empty? || spot.selections.any?(&:partial?) ? RESOLVER : OBJECT)

    def known(spot, key) = spot.selections.filter_map { |selection| selection.fields[key]&.reason }.first

    # True if one is open in which no plan reads.
    def transaction?
      !SafeExecution.plain?(@query.schema) &&
        ActiveRecord::Base.connection_handler.each_connection_pool.any? { |pool| pool.active_connection?&.transaction_open? }
    end

    def rests? = Trial.rests?(@query)

    def ahead_lines = @ahead.map { |name, count| "read ahead: #{Tally.told(name, **count)}" }

    # @param name [String] its key, or where there are fields of several types, "Post.title"
    def lines(field, depth, name = field[:key])
      state = field[:compiled] ? COMPILED : CodeLocation.text(field)
      below = Array(field[:fields])
      several = below.map { |it| it[:field][/\A\w+/] }.uniq.many?
      ["#{"  " * depth}#{name}: #{state}", *below.flat_map { |it| lines(it, depth + 1, several ? it[:field] : it[:key]) }]
    end
  end
end
