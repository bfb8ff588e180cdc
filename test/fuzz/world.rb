# frozen_string_literal: true

module Fuzz
  # Seeded choices.
  class Dice
    def initialize(seed) = @random = Random.new(seed)
    def chance(probability) = @random.rand < probability
    def pick(things) = things.empty? ? nil : things[@random.rand(things.size)]
    def int(range) = @random.rand(range)
    def sample(things, number) = things.shuffle(random: @random).first(number)

    # @param pairs [Array<Array(Object, Numeric)>]
    def weighted(pairs)
      left = @random.rand * pairs.sum(&:last)
      pairs.find { |_, weight| (left -= weight).negative? }&.first || pairs.last.first
    end
  end

  Column = Struct.new(:name, :kind, :null, :samples, keyword_init: true)
  # `many` is a list, `chains` whether it is a relation that can be asked for more
  Association = Struct.new(:name, :target, :many, :chains, :key, :through, keyword_init: true)
  Argument = Struct.new(:name, :type, :samples, :required, keyword_init: true)

  # A model that is being written.
  class Model
    attr_reader :name, :table, :columns, :associations, :scopes, :node, :table_node, :extra_readers, :dice
    attr_accessor :type, :key, :base, :heirs, :rows, :number

    def initialize(world, name, table, dice, base: nil)
      @world, @name, @table, @dice, @base = world, name, table, dice, base
      @columns, @associations, @scopes, @extra_readers, @heirs = [], [], [], [], []
      @key = %w[id]
      @node = Node.new("class #{name} < #{base ? base.name : "ApplicationRecord"}", "end")
      @node << Node.new("self.table_name = #{table.inspect}") unless base || name.underscore.pluralize == table
      @table_node = Node.new("create_table(:#{table}, force: true) do |t|", "end") unless base
    end

    # @param kind [Symbol] what `t.` has
    # @param samples [Array, nil] to pick rows' values from
    def column(name, kind, null: true, samples: nil, options: "")
      return false if column?(name)

      @table_node << Node.new("t.#{kind} :#{name}#{", null: false" unless null}#{options}")
      @columns << Column.new(name: name.to_s, kind: kind, null: null, samples: samples)
      true
    end

    def column?(name) = @columns.any? { |it| it.name == name.to_s }

    def of(*kinds) = @columns.select { |it| kinds.include?(it.kind) && !it.name.end_with?("_id", "_type") && it.name != "type" }

    def line(text) = @node.<<(Node.new(text))

    # A reader beside columns: [name, GraphQL type in Ruby]
    def reader(name, type) = @extra_readers << [name, type]

    def associate(name, target, text, many: false, chains: many, key: nil, through: false)
      return if @associations.any? { |it| it.name == name.to_s } || column?(name)

      line(text)
      @associations << Association.new(name: name.to_s, target: target, many: many, chains: chains, key: key, through: through)
    end

    def order = key.map { |it| ":#{it}" }.join(", ")
    def order_by(first, direction = :asc) = ["#{first}: :#{direction}", *(key - [first.to_s]).map { |it| "#{it}: :asc" }].join(", ")
    def composite? = key.size > 1
  end

  # A GraphQL object type, interface or union that is being written.
  class Type
    Field = Struct.new(:name, :target, :list, :connection, :arguments, :feature, :fragile, keyword_init: true) do
      def graphql_name = name.to_s.camelize(:lower)
    end

    attr_reader :name, :node, :fields, :kind, :possible, :model, :interfaces

    # @param kind [Symbol] :object, :interface, :union
    def initialize(name, node, model: nil, kind: :object)
      @name, @node, @model, @kind = name, node, model, kind
      @fields, @possible, @interfaces = [], [], []
    end

    def ruby = "Types::#{name}"
    def line(text) = @node.<<(Node.new(text))
    def field?(name) = @fields.any? { |it| it.name.to_s == name.to_s }

    # @param type [String] as Ruby: "String", "[Types::Post]"
    # @param body [String, Array<String>, nil] of the resolver method
    # @param options [String] what follows in `field :x, String`
    def field(name, type, body: nil, target: nil, list: false, connection: false, arguments: [], options: "", fragile: false, method: name)
      return if field?(name) || RESERVED.include?(name.to_s)

      node = Node.new(nil)
      head = "field :#{name}, #{type}#{options}"
      if arguments.empty?
        node << head
      else
        block = node.open("#{head} do")
        arguments.each { |it| block << "argument :#{it.name}, #{it.type}, required: #{it.required ? true : false}" }
      end
      resolver(node, method, body, arguments) if body
      @node << node
      Field.new(name: name, target: target, list: list, connection: connection, arguments: arguments, feature: Fuzz.feature_now,
                fragile: fragile).tap { |it| @fields << it }
    end

    RESERVED = %w[object context id hash method class send display name_ then].freeze

    private

    def resolver(node, name, body, arguments)
      parameters = arguments.reject { |it| it.samples.nil? }.map { |it| it.required ? "#{it.name}:" : "#{it.name}: #{it.required.nil? ? "nil" : it.samples.first.inspect}" }
      head = "def #{name}#{"(#{parameters.join(", ")})" unless parameters.empty?}"
      lines = Array(body)
      return node << "#{head} = #{lines.first}" if lines.one? && !lines.first.include?("\n") && !lines.first.match?(/\A(if|unless|return|raise)\b| (if|unless|rescue) /)

      block = node.open(head)
      lines.each { |it| block << it }
    end
  end

  # A program that is being written, as a tree of text.
  class World
    SECTIONS = %i[head tables models rows declared types schema documents].freeze

    attr_reader :dice, :models, :types, :engine, :query, :mutation, :options, :sections, :used

    def initialize(seed, engine)
      @dice = Dice.new(seed)
      @engine = engine
      @models, @types = [], []
      @options = {}
      @used = Hash.new(0)
      @sections = SECTIONS.to_h { |name| [name, Node.new(nil, keep: true)] }
    end

    attr_writer :query, :mutation

    def next? = @engine == "next"
    def model(name) = @models.find { |it| it.name == name }

    # {"Post.title" => name of the feature that has brought it}
    def features_by_field
      [*@types, @query, @mutation].compact.each_with_object({}) do |type, found|
        type.fields.each { |field| found["#{type.name}.#{field.graphql_name}"] = field.feature }
      end
    end
  end
end
