# frozen_string_literal: true

module Pipeloader
  # As Planner, for what is selected of a Relay connection; stops where that is more than graphql-ruby's own types say.
  class PagePlanner < Planner
    ENCODER = GraphQL::Schema::Base64Encoder
    FACTS = %i[has_next_page has_previous_page start_cursor end_cursor].freeze
    PARTS = %w[edges nodes pageInfo].freeze
    private_constant :ENCODER, :FACTS, :PARTS

    def plan(type, selections, model) = catch(OPAQUE) { page(type, selections, model) }

    # What of a connection is plain, whatever the rest is.
    #
    # @return [Page, Partial] an empty one where nothing is
    def partial(type, selections, model)
      catch(OPAQUE) { return begin_with(type, model) && page_of(*parted(type, selections)) }
      Partial.new(model, [], {}, {}, wraps: false)
    end

    # @return [Page]
    #: (Class, Array[GraphQL::Language::Nodes::AbstractNode], singleton(ActiveRecord::Base)) -> Page
    def page(type, selections, model)
      begin_with(type, model)
      page_of(selected(type, selections).map { |key, nodes| entry(type, key, nodes) })
    end

    private

    def begin_with(type, model)
      @type, @model = type, model
      @nodes, @fields = nil, []
      stop(once(:connection, type) { objection_to_connection(type) })
      self
    end

    def page_of(entries, reasons = {})
      stop("#{@type.graphql_name}: no nodes are selected") unless @nodes
      Page.new(@nodes, entries, @fields, reasons)
    end

    # @return [Array(Array, Hash)] what is plain, and why the rest isn't
    def parted(type, selections)
      reasons = {}
      entries = selected(type, selections).filter_map do |key, nodes|
        before = [@nodes, @fields.dup]
        found = catch(OPAQUE) { entry(type, key, nodes) } unless typename?(nodes)
        next found unless found.nil? || found.is_a?(String)

        stop(found) if PARTS.include?(nodes.first.name) # (these load the nodes themselves)
        @nodes, @fields = before
        reasons[key] = found
        nil
      end
      [entries, reasons]
    end

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
      known = types.all? { |type| Value::CONNECTION.equal?(wrappers.values_at(*type.ancestors).compact.first) }
      known &&= CHOICE.all? { |name| Host.graphql_alone?(connections.method(name)) }
      "the schema has a wrapper of its own for relations" unless known
    end

    def objection_to_pages
      methods = [Value::CONNECTION, Value::CONNECTION::Edge].flat_map { |type| methods_of(type) }
      own = [*methods, ENCODER.method(:encode), ENCODER.method(:decode)].find { |method| !Host.graphql_alone?(method) }
      "`#{own.name}` of #{own.owner.inspect}" if own
    end

    # (But for what any object has.)
    def methods_of(type)
      (type.ancestors - Object.ancestors).flat_map do |owner|
        (owner.instance_methods(false) + owner.private_instance_methods(false)).map { |name| type.instance_method(name) }
      end
    end

    def entry(type, key, nodes)
      named(type, key, nodes, ConnectionSelection::CONNECTION) do |reader, field|
        case reader
        when :edges then edges(key, field, nodes)
        when :nodes then nodes(key, field, nodes)
        when :page_info then info(key, field, nodes)
        end
      end
    end

    # @yield [Symbol, GraphQL::Schema::Field] what is called of the connection, or of the edge; nil if that isn't graphql-ruby's
    def named(type, key, nodes, host = nil)
      return typename(type).entry.call(key, []) if typename?(nodes)

      field = field_of(type, nodes)
      plain = PlainField.of(type, field)
      stop(plain.objection(host), type, field)
      yield(plain.reader(host), field) || stop("it isn't graphql-ruby's", type, field)
    end

    def edges(key, field, nodes)
      edge = object_type(field, list: true)
      stop("#{edge.graphql_name} isn't an edge type of graphql-ruby's", edge, field) unless edge < ConnectionSelection::EDGE
      @fields << field
      Page::Edges.new(key, selected_below(edge, nodes).map { |name, same| entry_of_edge(edge, name, same) })
    end

    def entry_of_edge(edge, key, nodes)
      named(edge, key, nodes, ConnectionSelection::EDGE) do |reader, field|
        case reader
        when :node then nodes(key, field, nodes, list: false)
        when :cursor then Page::Cursor.new(key, coercion(edge, field))
        end
      end
    end

    def nodes(key, field, nodes, list: true)
      type = object_type(field, list: list)
      stop("the nodes are selected twice") if @nodes
      @fields << field
      Page::Nodes.new(key, @nodes = plan_of(type, below(nodes), @model))
    end

    def info(key, field, nodes)
      type = object_type(field, list: false)
      @fields << field
      Page::Info.new(key, selected_below(type, nodes).map { |name, same| fact(type, name, same) })
    end

    def fact(type, key, nodes)
      named(type, key, nodes) do |reader, field|
        Page::Fact.new(key, reader, coercion(type, field)) if FACTS.include?(reader)
      end
    end

    def selected_below(type, nodes) = selected(type, below(nodes))

    # @return [Class] of the objects that +field+ returns
    def object_type(field, list:)
      type = Types.item(field.type)
      known = type.kind.object? && Types.nullable(field.type).list? == list
      stop("#{field.type.to_type_signature} isn't what graphql-ruby's own would be") unless known
      stop("`scope_items` of #{type.graphql_name}") unless PlainField.of(nil, field).unscoped?
      stop(PlainType.objection(type))
      type
    end

    def coercion(type, field)
      stop(Coercion.objection(field.type), type, field)
      Coercion.new(field.type)
    end
  end
end
