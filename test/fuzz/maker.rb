# frozen_string_literal: true

require_relative "expressions"
require_relative "documents"
require_relative "queries"

module Fuzz
  # Makes a program from a seed: a World, by asking each feature what it adds.
  class Maker
    include Expressions
    include Queries

    NAMES = %w[Author Post Comment Tag Profile Group Ticket Note Record Plan Page Level Job Person Category].freeze
    WORDS = Expressions::WORDS

    attr_reader :world

    def inspect = "#<#{self.class}>"

    # @param without [Array<String>] names of features that are left out
    # @param favored [Array<String>] names of features that are used ten times as often
    def initialize(seed, engine: nil, without: [], favored: [])
      engine ||= Random.new(seed).rand < 0.6 ? "interpreter" : "next"
      @world = World.new(seed, engine)
      @favored = favored
      @features = Fuzz.features.reject do |it|
        without.include?(it.name) || (it.only && it.only.to_s != engine)
      end
    end

    # @return [World]
    def make
      draw_options
      run(:world)
      make_models
      run(:relate)
      models.each { |m| run(:model, m) }
      make_types
      make_roots
      run(:schema)
      make_rows
      close_tables
      make_documents
      world
    end

    # The program as Ruby.
    def self.text(world) = World::SECTIONS.map { |name| world.sections[name].to_s }.reject(&:empty?).join("\n\n")

    private

    def dice = world.dice
    def chance(...) = dice.chance(...)
    def pick(...) = dice.pick(...)
    def int(...) = dice.int(...)
    def sample(...) = dice.sample(...)
    def models = world.models

    # Models that have a string of their own, to be written by mutations.
    def writable = models.reject { |it| it.composite? || it.of(:string).none? { |column| column.samples.nil? } }

    # Runs the hook of each feature that the dice choose.
    def run(hook, *given)
      @features.each do |feature|
        next unless (block = feature.hooks[hook]) && (chance(feature.weight) || @favored.include?(feature.name))

        add(feature, block, given)
      end
    end

    def add(feature, block, given)
      Fuzz.as(feature.name) { world.used[feature.name] += 1 if instance_exec(*given, &block) }
    end

    # Which features this program may have at all: few of them at once find as much, and more of it is compiled.
    def draw_options
      kept = pick([0.1, 0.3, 0.6, 1.0])
      world.options[:own_fields] = pick([0..2, 0..4, 3..9])
      @features = @features.select { |it| it.weight >= 1 || chance(kept) || @favored.include?(it.name) }
      world.options[:dataloader] = world.next? || chance(0.35)
      world.options[:rows] = chance(0.25) ? 14 : 6
    end

    def make_models
      world.sections[:head] << "class ApplicationRecord < ActiveRecord::Base\n  self.abstract_class = true\nend"
      names = sample(NAMES, int(2..5))
      names.each_with_index { |name, number| models << make_model(name, number) }
      models.each { |m| world.sections[:models] << m.node }
      models.drop(1).each { |m| belong(m, pick(models - [m])) }
      belong(pick(models), pick(models)) if chance(0.5)
    end

    def make_model(name, number)
      m = Model.new(world, name, name.underscore.pluralize, dice)
      m.number = number
      Fuzz.as("columns") do
        m.column(pick(%i[name title]), :string)
        m.column(:score, :integer) if chance(0.7)
        m.column(:flag, :boolean) if chance(0.6)
        m.column(:body, :text) if chance(0.4)
        m.column(:rank, :integer, null: false) if chance(0.3)
        m.column(:seen_at, :datetime) if chance(0.3)
        m.column(:born_on, :date) if chance(0.2)
        m.column(:price, :decimal, options: ", precision: 8, scale: 2") if chance(0.2)
        m.column(:weight, :float) if chance(0.15)
        m.column(:settings, :jsonb) if chance(0.25)
      end
      m
    end

    # +m+ belongs to +owner+, which has one or many of it.
    def belong(m, owner)
      name = m.equal?(owner) ? "parent" : owner.name.underscore
      return if m.column?("#{name}_id") || owner.composite?

      Fuzz.as("belongs_to") do
        m.column("#{name}_id", :bigint)
        m.associate(name, owner, "belongs_to :#{name}, optional: true#{", class_name: #{owner.name.inspect}" if m.equal?(owner)}", key: "#{name}_id")
      end
      key = m.equal?(owner) ? ", class_name: #{m.name.inspect}, foreign_key: :parent_id" : ""
      many = m.equal?(owner) ? "children" : m.name.underscore.pluralize
      if chance(0.2)
        Fuzz.as("has_one") { owner.associate(m.equal?(owner) ? "child" : m.name.underscore, m, "has_one :#{many.singularize}, -> { order(:id) }#{key}") }
      else
        Fuzz.as("has_many") do
          scope = pick(["order(:id)", "order(:id)", "where(#{condition(m)}).order(:id)", "order(#{m.order_by(plain_column(m), pick(%i[asc desc]))})"])
          owner.associate(many, m, "has_many :#{many}, -> { #{scope} }#{key}", many: true)
        end
      end
    end

    def make_types
      world.sections[:declared] << Node.new("module Types\n  class BaseObject < GraphQL::Schema::Object; end\nend", keep: true) unless world.options[:base]
      types = models.map { |m| world.types << (m.type = Type.new(m.name, Node.new("class Types::#{m.name} < Types::BaseObject", "end"), model: m)); m.type }
      types.each { |it| world.sections[:declared] << "class #{it.ruby} < Types::BaseObject; end" }
      types.each { |it| world.sections[:types] << it.node }
      types.each { |type| plain_fields(type, type.model) }
      types.each { |type| run(:type, type, type.model) }
      fields = @features.select { |it| it.hooks[:field] }.map { |it| [it, @favored.include?(it.name) ? it.weight * 10 : it.weight] }
      types.each do |type|
        int(world.options[:own_fields]).times do
          feature = dice.weighted(fields)
          add(feature, feature.hooks[:field], [type, type.model])
        end
      end
    end

    GRAPHQL = { string: "String", text: "String", integer: "Integer", boolean: "Boolean", datetime: "GraphQL::Types::ISO8601DateTime", date: "GraphQL::Types::ISO8601Date",
                decimal: "Float", float: "Float", jsonb: "GraphQL::Types::JSON", bigint: "GraphQL::Types::BigInt", uuid: "String" }.freeze

    def plain_fields(type, m)
      Fuzz.as("id of several columns") { type.field("whole_id", pick(%w[ID String [ID]]), options: ", method: :id") } if m.composite?
      Fuzz.as("id") { m.key.each { |key| type.field(key, pick(%w[ID Integer])) } unless m.columns.any? { |it| it.kind == :uuid && it.name == "id" } }
      m.columns.each do |column|
        next if column.name.end_with?("_type") || column.name == "type" || chance(0.1)

        Fuzz.as("columns") { type.field(column.name, GRAPHQL.fetch(column.kind), options: column.null ? "" : ", null: false") }
      end
      m.extra_readers.each { |name, graphql| Fuzz.as("readers") { type.field(name, graphql) } }
      m.associations.each { |it| associated(type, it) if it.target && chance(0.9) }
    end

    def associated(type, association)
      target = association.target.type
      if !association.many then Fuzz.as("singular association") { type.field(association.name, target.ruby, target: target) }
      elsif chance(0.25) then Fuzz.as("association as connection") { type.field("#{association.name}_pages", "#{target.ruby}.connection_type", options: ", method: :#{association.name}", target: target, connection: true) }
      else Fuzz.as("association list") { type.field(association.name, "[#{target.ruby}]", target: target, list: true, options: pick(["", ", null: false"])) }
      end
    end

    def make_roots
      world.query = Type.new("Query", Node.new("class Types::Query < Types::BaseObject", "end"))
      Fuzz.as("root list") do
        models.each { |m| world.query.field(m.table, "[#{m.type.ruby}]", body: "::#{m.name}.order(#{m.order})", target: m.type, list: true) }
      end
      run(:root, world.query)
      world.mutation = Type.new("Mutation", Node.new("class Types::Mutation < Types::BaseObject", "end"))
      run(:mutation, world.mutation)
      [world.query, world.mutation].each { |it| world.sections[:types] << it.node if it.fields.any? }
      schema = world.sections[:schema]
      block = schema.open("schema do", keep: true)
      block << Node.new("query Types::Query", keep: true)
      block << "mutation Types::Mutation" if world.mutation.fields.any?
      block << "use GraphQL::Dataloader" if world.options[:dataloader] && !world.next?
      world.options[:schema] = block
      block << "orphan_types #{world.types.map(&:ruby).join(", ")}"
    end

    def make_rows
      block = world.sections[:rows].open("rows do", keep: true)
      models.reject(&:base).each { |m| m.rows = chance(0.05) ? 0 : int(3..world.options[:rows]) }
      models.reject(&:base).each do |m|
        m.rows.times { |number| block << Node.new("row :#{m.table}, #{values(m, number + 1).map { |name, text| "#{name}: #{text}" }.join(", ")}") }
      end
      world.options[:join_rows].to_a.each { |it| block << Node.new(it) }
    end

    def values(m, number)
      given = m.composite? ? { m.key[0] => ((number + 1) / 2).to_s, m.key[1] => (1 + number % 2).to_s } : { m.key.first => key_literal(m, number) }
      m.columns.reject { |it| m.key.include?(it.name) }.each { |column| given[column.name] = value(m, column) }
      given
    end

    def key_literal(_model, number) = number.to_s

    def value(m, column)
      return "nil" if column.null && chance(0.12)
      return pick(column.samples).then { |it| it.is_a?(Proc) ? it.call : it.inspect } if column.samples

      association = m.associations.find { |it| it.key == column.name }
      return int(1..[association.target.rows.to_i + (chance(0.1) ? 1 : 0), 1].max).to_s if association&.target

      case column.kind
      when :integer, :bigint then pick([0, 1, 1, 2, 3, 5, -4, 2_000_000]).to_s
      when :boolean then chance(0.5).to_s
      when :datetime then "\"2024-0#{int(1..9)}-1#{int(0..9)} 0#{int(0..9)}:30:00.123456\""
      when :date then "\"2024-01-0#{int(1..5)}\""
      when :decimal then pick(%w[1.50 2.25 0.0 99.99])
      when :float then pick(%w[1.5 2.25 -0.125])
      when :jsonb then pick(["{ color: \"red\", size: 3 }", "{ color: nil }", "{ list: [1, 2] }", "{}"])
      when :uuid then "\"00000000-0000-4000-8000-00000000000#{int(1..9)}\""
      else pick(WORDS).inspect
      end
    end

    def close_tables
      block = world.sections[:tables].open("tables do", keep: true)
      models.filter_map(&:table_node).each { |it| block << it }
      world.options[:join_tables].to_a.each { |it| block << it }
    end

    def make_documents
      int(2..3).times { world.sections[:documents] << Documents.new(world, "query").make }
      return unless world.mutation.fields.any?

      world.sections[:documents] << Documents.new(world, "mutation").make if chance(0.6)
    end
  end
end
