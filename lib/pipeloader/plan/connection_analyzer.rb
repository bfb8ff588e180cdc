# frozen_string_literal: true

module Pipeloader
  # As Analyzer, for what is selected of a Relay connection; stops where that is more than graphql-ruby's own types say.
  class ConnectionAnalyzer < Analyzer
    ENCODER = GraphQL::Schema::Base64Encoder
    FACTS = %i[has_next_page has_previous_page start_cursor end_cursor].freeze
    # Fields that load the nodes themselves.
    PARTS = %w[edges nodes pageInfo].freeze
    private_constant :ENCODER, :FACTS, :PARTS

    # @return [Selection]
    def analyze(type, selections, model)
      @type, @model = type, model
      @nodes, @fields, @columns, @permits, @captured = nil, [], [], [], []
      objection = once_of_field(:connection, type, model, nil) { objection_to_connection(type) }
      return nothing(objection) if objection

      selected = selected(type, selections)
      entries = selected.to_h { |key, nodes| [key, entry(type, key, nodes)] }
      loading = selected.each_key.find { |key| entries[key].is_a?(String) && PARTS.include?(selected[key].first.name) }
      return nothing(entries[loading]) if loading
      return nothing(entries.each_value.grep(String).first || "#{type.graphql_name}: no nodes are selected") unless @nodes

      Selection::OfConnection.new(@operation, model, entries, @nodes, @fields, @permits, @captured)
    end

    private

    # All of them are asked of a connection, whatever becomes of the field.
    def asked_first(...)
      plain = permitted(...)
      @permits |= [*plain.permit]
      @captured |= [*plain.captured]
      plain
    end

    def nothing(reason) = Selection.new(@operation, @model, {}, reason)

    def objection_to_connection(type)
      name = type.graphql_name
      return "#{name} isn't a connection type of graphql-ruby's" unless ConnectionSelection.connection?(type)
      return "#{name} has edges of its own" unless ConnectionSelection.plain_edges?(type)
      return "#{name}: `cursor_encoder` is the schema's own" unless @operation.schema.cursor_encoder.equal?(ENCODER)

      PlainType.objection(type) || objection_to_wrapper || objection_to_pages
    end

    HOSTS = [ActiveRecord::Relation, ActiveRecord::AssociationRelation, ActiveRecord::Associations::CollectionProxy].freeze
    # Who chooses, and makes it.
    CHOICE = (%i[wrap wrapper_for all_wrappers edge_class_for_field populate_connection] &
              GraphQL::Pagination::Connections.public_instance_methods).freeze
    private_constant :HOSTS, :CHOICE

    def objection_to_wrapper
      connections = @operation.schema.connections
      wrappers = connections.all_wrappers
      types = HOSTS.map { |host| @model.relation_delegate_class(host) }
      known = types.all? { |type| ReturnedValue::CONNECTION.equal?(wrappers.values_at(*type.ancestors).compact.first) }
      known &&= CHOICE.all? { |name| Provenance.graphql_alone?(connections.method(name)) }
      "the schema has a wrapper of its own for relations" unless known
    end

    def objection_to_pages
      methods = [ReturnedValue::CONNECTION, ReturnedValue::CONNECTION::Edge].flat_map { |type| methods_of(type) }
      own = [*methods, ENCODER.method(:encode), ENCODER.method(:decode)].find { |method| !Provenance.graphql_alone?(method) }
      "`#{own.name}` of #{own.owner.inspect}" if own
    end

    # Methods that every object has don't count.
    def methods_of(type)
      (type.ancestors - Object.ancestors).flat_map do |owner|
        (owner.instance_methods(false) + owner.private_instance_methods(false)).map { |name| type.instance_method(name) }
      end
    end

    def entry(type, key, nodes)
      own = total(type, key, nodes) || of_its_own(type, key, nodes)
      own || named(type, key, nodes, ConnectionSelection::CONNECTION) do |reader, field|
        case reader
        when :edges then edges(key, field, nodes)
        when :nodes then nodes(key, field, nodes)
        when :page_info then info(key, field, nodes)
        end
      end
    end

    # @return [ConnectionPlan::Total, nil] nil where the field is anything else
    def total(type, key, nodes)
      field = definition_of(type, nodes) or return
      plain = asked_first(type, field)
      return unless (chain = plain.chain) && ConnectionPlan::Total.of?(chain)
      return unless Coercion.objection(field.type).nil? && objection_on_next(plain).nil?

      ConnectionPlan::Total.new(key, plain, chain.calls.last, Coercion.new(field.type))
    end

    # A field that computes from what is known of an edge, or of a connection: of a node, that are its columns.
    #
    # @param known [Array<Symbol>] what it may call besides
    # @param item [Class, nil] type of the node that it may ask
    # @return [ConnectionPlan::Computed, nil] nil where the field is anything else
    def of_its_own(type, key, nodes, known = [], item = nil)
      field = definition_of(type, nodes) or return
      plain = asked_first(type, field)
      formula = plain.formula_alone
      return unless formula && Coercion.objection(field.type).nil? && objection_on_next(plain).nil?
      return unless (formula.readers - known).empty? && (names = names_of_node(formula, item))

      columns, made = readings(names, {}, @model, nil)
      return unless made && made.call(columns).contexts_of(formula).empty? && held?(columns)

      ConnectionPlan::Computed.new(key, formula, names, made, Coercion.new(field.type))
    end

    # @return [Array<Symbol>, nil] what a formula asks of the node; nil where that is more than columns, or it asks others
    def names_of_node(formula, item)
      return [] if formula.further.empty?

      asked = formula.further[:node] if formula.further.one? && item && !item.kind.abstract?
      asked.keys if asked&.each_value&.all?(&:empty?)
    end

    # True if the nodes' rows have these columns, or will have them.
    def held?(columns)
      return (columns - @nodes.projection.columns).empty? if @nodes

      @columns |= columns
      true
    end

    # @yield [Symbol, GraphQL::Schema::Field] what is called of the connection, or of the edge
    # @yieldreturn [Object, String, nil] nil if that isn't graphql-ruby's
    def named(type, key, nodes, host = nil)
      return constant(type, key) if typename?(nodes)

      field = field_of(type, nodes)
      return field if field.is_a?(String)

      plain = asked_first(type, field)
      reason = plain.objection(host)
      return of_field(type, field, reason) if reason

      yield(plain.reader(host), field) || of_field(type, field, "it isn't graphql-ruby's")
    end

    # @return [Plan::Constant, String]
    def constant(type, key)
      part = typename(type)
      part.is_a?(String) ? part : part.entry.call(key, [])
    end

    def edges(key, field, nodes)
      edge = object_type(field, list: true)
      return edge if edge.is_a?(String)
      return of_field(edge, field, "#{edge.graphql_name} isn't an edge type of graphql-ruby's") unless edge < ConnectionSelection::EDGE

      @fields << field
      selected = selected_below(edge, nodes)
      entries = all_of(node_last(selected)) { |name, same| entry_of_edge(edge, name, same) }
      entries.is_a?(String) ? entries : ConnectionPlan::Edges.new(key, entries.values_at(*selected.keys))
    end

    # Its columns are those that other fields ask for, too.
    def node_last(selected) = selected.partition { |_, nodes| nodes.first.name != "node" }.flatten(1).to_h

    def entry_of_edge(edge, key, nodes)
      own = of_its_own(edge, key, nodes, %i[cursor], edge.node_type)
      own || named(edge, key, nodes, ConnectionSelection::EDGE) do |reader, field|
        case reader
        when :node then nodes(key, field, nodes, list: false)
        when :cursor then written(edge, field) { |coercion| ConnectionPlan::Cursor.new(key, coercion) }
        end
      end
    end

    def nodes(key, field, nodes, list: true)
      type = object_type(field, list: list, guarded: true)
      return type if type.is_a?(String)
      return "the nodes are selected twice" if @nodes

      @fields << field
      plan = plan_below(type, nodes, @model)
      plan.is_a?(String) ? plan : ConnectionPlan::Nodes.new(key, @nodes = with_columns(plan, type, nodes))
    end

    def with_columns(plan, type, nodes)
      (@columns - plan.projection.columns).empty? ? plan : selection(type, below(nodes), @model).with(@columns)
    end

    def info(key, field, nodes)
      type = object_type(field, list: false)
      return type if type.is_a?(String)

      @fields << field
      facts = all_of(selected_below(type, nodes)) { |name, same| fact(type, name, same) }
      facts.is_a?(String) ? facts : ConnectionPlan::Info.new(key, facts.values)
    end

    def fact(type, key, nodes)
      named(type, key, nodes) do |reader, field|
        written(type, field) { |coercion| ConnectionPlan::Fact.new(key, reader, coercion) } if FACTS.include?(reader)
      end
    end

    def selected_below(type, nodes) = selected(type, below(nodes))

    # @return [Class, String] of the objects that +field+ returns
    def object_type(field, list:, guarded: false)
      type = TypeWrappers.item(field.type)
      known = type.kind.composite? && TypeWrappers.nullable(field.type).list? == list
      return "#{field.type.to_type_signature} isn't what graphql-ruby's own would be" unless known
      reason = objection_to_scope(PlainField.of(nil, field))
      reason ||= PlainType.objection(type) if type.kind.object? && !(guarded && PlainType.guarded?(type))
      reason || type
    end

    # @yield [Coercion] of the field's values
    def written(type, field)
      reason = Coercion.objection(field.type)
      reason ? of_field(type, field, reason) : yield(Coercion.new(field.type))
    end
  end
end
