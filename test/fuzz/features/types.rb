# frozen_string_literal: true

module Fuzz
  # Types, base classes, authorization, connections, extensions, roots.

  feature "base classes", 0.3 do
    world do
      world.options[:base] = true
      connection = pick(["", "  class BaseConnection < BaseObject\n    include GraphQL::Types::Relay::ConnectionBehaviors\n  end\n  class BaseEdge < BaseObject\n    include GraphQL::Types::Relay::EdgeBehaviors\n  end\n"])
      own = connection.empty? ? "" : "    connection_type_class BaseConnection\n    edge_type_class BaseEdge\n"
      field = pick(["", "", "", "    def initialize(*args, note: nil, **options, &block)\n      @note = note\n      super(*args, **options, &block)\n    end\n", "    def resolve(object, args, context) = super\n", "    def authorized?(object, args, context) = super\n"])
      world.sections[:declared] << Node.new("module Types\n  class BaseField < GraphQL::Schema::Field\n#{field}  end\n  class BaseObject < GraphQL::Schema::Object\n    field_class BaseField\n  end\n#{connection}#{own.empty? ? "" : "  class BaseObject\n#{own}  end\n"}end", keep: true)
    end
  end

  feature "authorized? of a type", 0.12 do
    type do |t, m|
      own = boolean(m, "object", int(0..2)).gsub("context[", "context[")
      t.line("def self.authorized?(object, context) = super && (context[:viewer] != #{int(1..3)} || #{own})")
    end
  end

  feature "policy of a type", 0.15 do
    type do |t, m|
      name = "#{m.name}Policy"
      next if world.options[name]

      world.options[name] = true
      kept = pick(["attr_reader :viewer, :record\n", "attr_reader :record\n  def viewer = @viewer\n", "def record = @record\n  def viewer = @viewer\n"])
      open = boolean(m, pick(%w[record @record]), int(0..2)).gsub("context[:viewer]", "viewer")
      world.sections[:declared] << "class #{name}\n  #{kept}  def initialize(viewer, record)\n    @viewer = viewer\n    @record = record\n  end\n  " \
                                   "def show? = viewer != #{int(1..3)} || open?\n  private def open? = #{open}\nend"
      t.line("def self.authorized?(object, context) = #{pick(["", "super && "])}#{name}.new(context[:viewer], object).show?")
    end
  end

  # An Array has no methods of a relation.
  feature "scope_items", 0.2 do
    type do |t, m|
      chain = "#{pick(%w[items super])}#{narrowing(m)}#{narrowing(m)}"
      t.line("def self.scope_items(items, context) = #{pick([chain, chain, "items.respond_to?(:where) ? items.where(#{condition(m)}) : items"])}")
    end
  end

  feature "method_missing of a type", 0.04 do
    type do |t, m|
      t.line("def method_missing(name, *rest) = name == :ghost ? #{string(m, "object", 1)} : super\ndef respond_to_missing?(name, all = false) = name == :ghost || super")
      t.field("ghost", "String")
    end
  end

  feature "extension", 0.7 do
    field do |t, m|
      unless world.options[:extension]
        world.options[:extension] = true
        world.sections[:declared] << "class Types::Loud < GraphQL::Schema::FieldExtension\n  def after_resolve(value:, **) = value.respond_to?(:upcase) ? value.upcase : value\nend" unless world.next?
        world.sections[:declared] << "class Types::Loud < GraphQL::Schema::FieldExtension\n  def resolve(objects:, arguments:, **) = yield(objects, arguments)\nend" if world.next?
      end
      t.field("loud_#{int(1..99)}", "String", options: ", extensions: [Types::Loud]", body: string(m))
    end
  end

  SCALARS = ["value.to_s", "value.to_s.upcase", "format(\"<%s>\", value)", "value.to_i.zero? ? nil : value", "shown(value)", "100 / value.to_i", "(@seen ||= value).to_s", "\"\#{context[:viewer]}\#{value}\"", "value"].freeze

  feature "scalar", 0.5 do
    field do |t, m|
      column = m.columns.reject { |it| it.name.end_with?("_type") || it.name == "type" }.then { |all| pick(all) } or next
      name = "Scalar#{m.name}#{int(1..999)}"
      world.sections[:declared] << "class Types::#{name} < GraphQL::Schema::Scalar\n  def self.coerce_result(value, context) = #{pick(SCALARS)}\n  def self.shown(value) = value.to_s.reverse\nend"
      kind = pick(["Types::#{name}", "Types::#{name}", "[Types::#{name}, null: true]"])
      t.field("scaled_#{column.name}_#{int(1..99)}", kind, options: ", method: :#{column.name}#{", null: false" if chance(0.3)}")
    end
  end

  feature "resolver class", 0.8 do
    field do |t, m|
      name = "Resolves#{m.name}#{int(1..999)}"
      guard = "  def authorized?(**) = context[:viewer] != #{int(1..3)}\n" if chance(0.3)
      world.sections[:declared] << "class Types::#{name} < GraphQL::Schema::Resolver\n  type String, null: true\n#{guard}  def resolve = #{string(m)}\nend"
      node = "field :by_class_#{int(1..99)}, resolver: Types::#{name}"
      label = node[/by_class_\d+/]
      next if t.field?(label)

      t.line(node)
      t.fields << Type::Field.new(name: label, arguments: [], feature: Fuzz.feature_now)
    end
  end

  feature "interface", 0.35 do
    type do |t, _m|
      unless (interface = world.options[:interface])
        node = Node.new("module Types::Named\n  include GraphQL::Schema::Interface", "end")
        interface = world.options[:interface] = Type.new("Named", node, kind: :interface)
        node << "definition_methods do\n  def resolve_type(object, context) = Types.const_get(object.class.base_class.name)\nend"
        node << "field :called, String\ndef called = object.try(:name) || object.try(:title)"
        interface.fields << Type::Field.new(name: "called", arguments: [], feature: "interface")
        world.sections[:declared] << node
      end
      t.node.children.unshift(Node.new("implements Types::Named"))
      t.fields << Type::Field.new(name: "called", arguments: [], feature: "interface")
      interface.possible << t
    end
    root do |query|
      next unless (interface = world.options[:interface])

      all = interface.possible.map { |it| "::#{it.model.name}.order(#{it.model.order}).to_a" }.join(" + ")
      query.field("named", "[Types::Named]", body: all, target: interface, list: true)
    end
  end

  feature "union of a polymorphic association", 1 do
    relate { world.options[:union] = true }
    type do |t, m|
      found = world.options[:polymorphic].to_a.find { |it, *| it.equal?(m) } or next
      name = "#{m.name}Subject"
      union = Type.new(name, Node.new("class Types::#{name} < GraphQL::Schema::Union\n  possible_types #{found[1].map { |it| it.type.ruby }.join(", ")}", "end"), kind: :union)
      union.node << "def self.resolve_type(object, context) = Types.const_get(object.class.base_class.name)"
      union.possible.concat(found[1].map(&:type))
      world.sections[:declared] << union.node
      t.field(found[2] || "subject", "Types::#{name}", target: union)
    end
  end

  feature "union at the root", 0.3 do
    root do |query|
      some = sample(world.types.select(&:model), 2)
      node = Node.new("class Types::Anything < GraphQL::Schema::Union", "end")
      node << "possible_types #{some.map(&:ruby).join(", ")}"
      node << "def self.resolve_type(object, context) = Types.const_get(object.class.base_class.name)"
      union = Type.new("Anything", node, kind: :union)
      union.possible.concat(some)
      world.sections[:declared] << node
      all = some.map { |it| "::#{it.model.name}.order(#{it.model.order}).first(3)" }.join(" + ")
      query.field("anything", "[Types::Anything]", body: all, target: union, list: true)
      query.field("any_one", "Types::Anything", body: "::#{some[0].model.name}.order(#{some[0].model.order}).#{pick(%w[first last])}", target: union)
    end
  end

  feature "pages of an association by a chain", 1.5 do
    field do |t, m|
      relation(m) do |text, target|
        size = pick(["", "", ", max_page_size: 2", ", default_page_size: 2"])
        t.field("paged_#{target.table}_#{int(1..99)}", "#{target.type.ruby}.connection_type", options: size, body: text, target: target.type, connection: true)
      end
    end
  end

  feature "connection type of the application", 0.7 do
    field do |t, m|
      relation(m) do |text, target|
        name = "#{target.name}Pages"
        unless (world.options[:pages] ||= {})[name]
          world.options[:pages][name] = true
          world.sections[:declared] << "class Types::#{name} < GraphQL::Types::Relay::BaseConnection\n  edge_type(#{target.type.ruby}.edge_type)\n  field :total_count, Integer\n  def total_count = object.items.size\nend"
        end
        t.field("counted_#{target.table}_#{int(1..99)}", "Types::#{name}", options: ", connection: true", body: text, target: target.type, connection: ["totalCount"])
      end
    end
  end

  # Fields of an edge are graphql-ruby's, and so is the connection.
  feature "edge type of the application", 0.5 do
    field do |t, m|
      relation(m) do |text, target|
        name = "#{target.name}Marked"
        unless (world.options[:edges] ||= {})[name]
          world.options[:edges][name] = true
          body = pick(["object.node.#{leaf(target)}.to_s", "object.cursor", "\"a text\"", "\"\#{object.cursor} \#{object.node.#{leaf(target)}}\"", "object.node.to_param"])
          world.sections[:declared] << "class Types::#{name}Edge < GraphQL::Types::Relay::BaseEdge\n  node_type(#{target.type.ruby})\n  field :mark, String\n  def mark = #{body}\nend\n" \
                                       "class Types::#{name} < GraphQL::Types::Relay::BaseConnection\n  edge_type(Types::#{name}Edge)\nend"
        end
        t.field("marked_#{target.table}_#{int(1..99)}", "Types::#{name}", options: ", connection: true", body: text, target: target.type, connection: { edge: ["mark"] })
      end
    end
  end

  feature "page of an Array", 0.5 do
    field { |t, m| many(m) { |text, target| t.field("array_#{target.table}_#{int(1..99)}", "#{target.type.ruby}.connection_type", body: "#{text}.to_a", target: target.type, connection: true) } }
  end

  feature "root record", 0.9 do
    root do |query|
      models.reject(&:composite?).each do |m|
        given = [Argument.new(name: "id", type: pick(%w[ID Integer]), samples: [1, 2, 3, 99], required: true)]
        given[0].samples = given[0].samples.map(&:to_s) if given[0].type == "ID"
        query.field(m.name.underscore, m.type.ruby, body: pick(["::#{m.name}.find_by(id: id)", "::#{m.name}.where(id: id).order(:id).first"]), target: m.type, arguments: given)
      end
    end
  end

  feature "root that fails", 0.3 do
    root do |query|
      m = pick(models.reject(&:composite?))
      given = [Argument.new(name: "id", type: "Integer", samples: [1, 99], required: true)]
      query.field("found_#{m.name.underscore}", m.type.ruby, body: ["::#{m.name}.find(id)", "rescue ActiveRecord::RecordNotFound => e", "raise GraphQL::ExecutionError, e.message.to_s"], target: m.type, arguments: given, fragile: true)
    end
  end

  feature "root connection", 0.6 do
    root { |query| models.each { |m| query.field("#{m.table}_pages", "#{m.type.ruby}.connection_type", body: "::#{m.name}.#{pick(["", "where(#{condition(m)})."])}order(#{pick([m.order, m.order_by(plain_column(m), :desc)])})", target: m.type, connection: true) if chance(0.6) } }
  end

  feature "root list with conditions", 0.6 do
    root do |query|
      m = pick(models)
      given = [Argument.new(name: "limit", type: "Integer", samples: [0, 2, 4])]
      query.field("certain_#{m.table}", "[#{m.type.ruby}]", body: ["found = ::#{m.name}.where(#{condition(m)})#{narrowing(m)}.order(#{m.order})", "limit ? found.limit(limit) : found"], target: m.type, list: true, arguments: given)
    end
  end

  feature "root list in memory", 0.4 do
    root do |query|
      m = pick(models)
      query.field("all_#{m.table}", "[#{m.type.ruby}, { null: true }]", body: pick(["::#{m.name}.order(#{m.order}).to_a", "::#{m.name}.order(#{m.order}).to_a + [nil]", "::#{m.name}.order(#{m.order}).#{(one = m.associations.find(&:target)) ? "includes(:#{one.name})." : ""}to_a"]), target: m.type, list: true)
    end
  end

  feature "Current assigned by a root field", 0.3, known: "docs/internals.md: assignments that come too late" do
    root do |query|
      next if !world.options[:current] || world.next? || world.options[:dataloader]

      m = pick(models)
      given = [Argument.new(name: "tenant", type: "Integer", samples: [1, 2], required: true)]
      query.field("of_tenant", "[#{m.type.ruby}]", body: ["Current.tenant = tenant", "Current.viewer = tenant + 10", "::#{m.name}.order(#{m.order})"], target: m.type, list: true, arguments: given)
    end
  end

  feature "loads:", 0.3 do
    root do |query|
      next if world.next?

      m = pick(models.reject(&:composite?))
      name = "held_#{m.name.underscore}"
      node = Node.new("field :#{name}, String do\n  argument :id, ID, loads: #{m.type.ruby}, as: :thing, required: false\nend\ndef #{name}(thing: nil) = \"\#{thing&.#{leaf(m)}}\"")
      query.node << node
      given = [Argument.new(name: "id", type: "ID", samples: %w[1 2 99], required: false)]
      query.fields << Type::Field.new(name: name, arguments: given, feature: Fuzz.feature_now, fragile: true)
      world.options[:loads] = m
    end
    schema do
      next unless (m = world.options[:loads])

      world.options[:schema] << "def self.object_from_id(id, context) = ::#{m.name}.find_by(id: id)"
      world.options[:schema] << "def self.resolve_type(type, object, context) = Types.const_get(object.class.base_class.name)"
    end
  end

  feature "page sizes of the schema", 0.2 do
    schema { world.options[:schema] << pick(["default_max_page_size 2", "default_page_size 2", "default_max_page_size 50"]) }
  end

  feature "rescue_from", 0.15 do
    schema { world.options[:schema] << "rescue_from(ActiveRecord::RecordNotFound) { |e| raise GraphQL::ExecutionError, \"rescued \#{e.class}\" }" }
  end

  feature "max_depth and complexity", 0.1 do
    schema { world.options[:schema] << "max_complexity 100_000" }
  end
end
