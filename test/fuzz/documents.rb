# frozen_string_literal: true

module Fuzz
  # Writes random documents over a World's types.
  class Documents
    CONTEXT = { viewer: [1, 2, 3] }.freeze

    def initialize(world, kind)
      @world, @kind = world, kind
      @dice = world.dice
      @budget = 28
      @aliases = @fragments = @rows = 0
    end

    # @return [DocumentNode]
    def make
      options = { context: { viewer: @dice.int(1..3) } }
      options[:current] = @world.options[:current].call if @world.options[:current]
      @document = DocumentNode.new(@kind, options)
      root = @kind == "query" ? @world.query : @world.mutation
      @rows = 1
      @dice.int(1..4).times { select(@document.operation, root, @dice.int(2..5), true) }
      @document.operation << "__typename" if @document.operation.children.empty?
      @document
    end

    private

    def chance(...) = @dice.chance(...)

    def select(node, type, depth, plain)
      return if (@budget -= 1).negative?

      case @dice.int(0..99)
      when 0..4 then node << "__typename#{directive}"
      when 5..9 then block(node, "...#{" on #{type.name}" if chance(0.5)}#{directive} {", type, depth, plain)
      when 10..14 then fragment(node, type, depth)
      else field(node, type, depth, plain)
      end
    end

    def fragment(node, type, depth)
      name = "F#{@fragments += 1}"
      body = Node.new("fragment #{name} on #{type.name} {", "}", feature: "fragments")
      fill(body, type, depth, false)
      @document.fragment(name, body)
      node << "...#{name}#{directive}"
    end

    def block(node, head, type, depth, plain)
      inner = node.open(head, "}", feature: "selection")
      fill(inner, type, depth, plain)
      inner
    end

    def fill(node, type, depth, plain)
      before = node.children.size
      if type.kind == :object then @dice.int(1..5).times { select(node, type, depth, plain) }
      else abstract(node, type, depth)
      end
      node << "__typename" if node.children.size == before
    end

    def abstract(node, type, depth)
      node << "__typename" if chance(0.6)
      @dice.int(0..2).times { field(node, type, depth, false) } if type.fields.any?
      type.possible.each { |it| block(node, "... on #{it.name} {", it, depth, false) if chance(0.7) }
    end

    def field(node, type, depth, plain)
      fields = type.fields.select { |it| it.target.nil? || (depth.positive? && (@rows < 40 || !(it.list || it.connection))) }
      composite = fields.select(&:target)
      fields = composite if composite.any? && chance(0.3)
      return if fields.empty?

      it = @dice.pick(fields)
      label = "a#{@aliases += 1}: " unless plain && it.arguments.empty? && !it.connection && chance(0.4)
      head = "#{label}#{it.graphql_name}#{arguments(it)}#{directive}"
      return node << Node.new(head, feature: it.feature) unless it.target

      outer, @rows = @rows, @rows * (it.list || it.connection ? 4 : 1)
      it.connection ? pages(node, head, it, depth) : block(node, "#{head} {", it.target, depth - 1, label.nil? || plain)
      @rows = outer
    end

    def pages(node, head, it, depth)
      inner = node.open("#{head} {", "}", feature: it.feature)
      inner << "pageInfo { #{@dice.sample(%w[hasNextPage hasPreviousPage startCursor endCursor], @dice.int(1..4)).join(" ")} }" if chance(0.5)
      it.connection.to_a.each { |name| inner << name if chance(0.4) } if it.connection.is_a?(Array)
      if chance(0.5)
        edges = inner.open("edges {", "}")
        edges << "cursor" if chance(0.5)
        it.connection.fetch(:edge).each { |name| edges << name if chance(0.6) } if it.connection.is_a?(Hash)
        block(edges, "node {", it.target, depth - 1, true)
      end
      block(inner, "nodes {", it.target, depth - 1, true) if inner.children.empty? || chance(0.4)
    end

    def directive
      return "" unless chance(0.06)

      value = chance(0.5) ? chance(0.6).to_s : variable("Boolean!", chance(0.6))
      " @#{@dice.pick(%w[skip include])}(if: #{value})"
    end

    def variable(type, value)
      name = "v#{@document.variables.size}"
      @document.variables[name] = [type, value]
      "$#{name}"
    end

    # Arguments of a connection, each with the numbers that it may be given.
    PAGES = [{ "first" => 0..4 }, { "first" => 1..3 }, { "last" => 1..3 }, { "last" => -1..6 }, { "first" => 1..4, "last" => 0..3 }, {}].freeze
    GRAPHQL = { "Integer" => "Int", "String" => "String", "ID" => "ID", "Boolean" => "Boolean", "Float" => "Float", "[Integer]" => "[Int!]", "[ID]" => "[ID!]" }.freeze

    def arguments(field)
      given = field.arguments.reject { |it| it.samples.nil? }.filter_map do |it|
        next unless it.required || chance(0.5)

        value = @dice.pick(it.samples)
        type = GRAPHQL[it.type]
        text = type && chance(0.3) ? variable("#{type}#{"!" if it.required}", value) : literal(value, type.nil?)
        "#{it.name.to_s.camelize(:lower)}: #{text}"
      end
      given.concat(page) if field.connection
      given.empty? ? "" : "(#{given.join(", ")})"
    end

    # A Symbol is an enum's value; a Hash an input object.
    def literal(value, *)
      case value
      when Symbol then value.to_s
      when Hash then "{#{value.map { |key, it| "#{key}: #{literal(it)}" }.join(", ")}}"
      when Array then "[#{value.map { |it| literal(it) }.join(", ")}]"
      else JSON.generate(value)
      end
    end

    def page
      return [] if chance(0.3)

      parts = @dice.pick(PAGES).map { |name, range| number(name, @dice.int(range)) }
      %w[after before].each { |name| parts << "#{name}: #{cursor}" if chance(parts.empty? ? 0.7 : 0.2) }
      parts
    end

    def number(name, value) = "#{name}: #{chance(0.3) ? variable("Int", value) : value}"

    # The first one is nobody's.
    def cursor
      text = [(chance(0.03) ? 0 : @dice.int(1..6)).to_s].pack("m0").delete("=")
      chance(0.2) ? variable("String", text) : JSON.generate(text)
    end
  end
end
