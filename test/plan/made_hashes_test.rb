# frozen_string_literal: true

require_relative "../support/plans"

# Objects that stand for Hashes which a method makes: `def totals = { comments: object.comments.count, title: object.title }`.
class MadeHashesTest < PlanTest
  class Story < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
    def numbers = { "likes" => likes, "comments" => comments.count }
    def fresh = { "label" => @label || "none" }
  end

  class Part < Schemas::Base
    graphql_name "MadePart"
    field :label, String, hash_key: "label"
    field :number, Integer, hash_key: "number"
    field :list, [Integer], hash_key: "list"
  end

  class Totals < Schemas::Base
    graphql_name "MadeTotals"
    field :comments, Integer, hash_key: "comments"
    field :likes, Integer, hash_key: "likes"
    field :title, String, hash_key: "title"
    field :by, String, hash_key: "by"
    field :part, Part, hash_key: "part"
    field :parts, [Part], hash_key: "parts"
    field :loud, String
    def loud = object["title"].upcase
  end

  class Scoped < Schemas::Base
    graphql_name "MadeScoped"
    field :label, String, hash_key: "label"
    def self.scope_items(items, _context) = items.reject { |it| it["label"] == "b" }
  end

  class Guarded < Schemas::Base
    graphql_name "MadeGuarded"
    field :label, String, hash_key: "label"
    def self.authorized?(object, _context) = object["label"] != "post 2"
  end

  ALL = "{ comments likes title by part { label number list } parts { label } __typename }"
  # {name => [type, code, what is selected, whether a plan does it]}
  FIELDS = {
    totals: [Totals, '{ "comments" => object.comments.count, "likes" => object.likes, "title" => object.title }', "{ title comments likes __typename }", true],
    columns: [Totals, '{ "title" => object.title, "by" => "\#{object.title}!", "likes" => object.likes.to_i + 1 }', "{ likes by t: title title comments }", true],
    nested: [Totals, '{ "title" => object.title, "part" => { "label" => object.title, "list" => [object.likes, 1] }, "parts" => [{ "label" => "a" }, { "label" => object.title }] }', ALL, true],
    associated: [Totals, '{ "by" => object.author&.name, "comments" => object.comments.sum(&:id) }', "{ by comments }", true],
    branch: [Totals, 'object.title.end_with?("2") ? nil : { "title" => object.title }', "{ title }", true],
    several: [[Part], '[{ "label" => object.title }, { "label" => "b", "number" => object.likes }]', "{ label number }", true],
    perhaps: [[Part], 'object.title.end_with?("2") ? [] : [{ "label" => object.title, "number" => object.comments.count }]', "{ number label }", true],
    viewer: [Part, '{ "label" => context[:viewer], "number" => object.likes }', "{ label number }", true],
    helper: [Part, "part_of(object.title)", "{ label }", true],
    of_the_model: [Totals, "object.numbers", "{ likes comments }", true],
    safe: [Part, '{ "label" => "\#{object&.title}-c0nf", "number" => object&.author&.id }', "{ label number }", true],
    symbols: [Part, "{ label: object.title }", "{ label }", true],
    keywords: [Part, '{ "label" => object.title }.merge("number" => 1)', "{ label number }", false],
    code: [Totals, '{ "title" => object.title }', "{ title loud }", false],
    scoped: [[Scoped], '[{ "label" => "a" }, { "label" => "b" }, { "label" => object.title }]', "{ label }", false],
    guarded: [Guarded, '{ "label" => object.title }', "{ label }", false],
    wrong: [Part, "object.title", "{ label }", false],
    list_of_one: [[Part], '{ "label" => object.title }', "{ label }", :any],
    one_of_list: [Part, '[{ "label" => object.title }]', "{ label }", :any],
    nulls: [[Part], '[nil, { "label" => object.title }]', "{ label }", :any],
    numbers: [Totals, '{ "likes" => "many", "comments" => object.title.length }', "{ likes comments }", :any],
    failing: [Part, '{ "label" => object.title, "number" => 1 / (object.id - 2) }', "{ label number }", :any],
    memory: [Totals, "object.fresh", "{ title }", false],
    kept: [Part, '@kept ||= { "label" => object.title }', "{ label }", false],
    writer: [Part, 'it = { "label" => object.title }; it["number"] = 3; it', "{ label number }", false]
  }.freeze

  class StoryType < Schemas::Base
    graphql_name "MadeStory"
    field :id, Integer
    field :title, String
    field :opaque, String
    def opaque = object.title.dup.concat((context.dig(:mark) || "!"))
    def part_of(label) = { "label" => label }
    FIELDS.each do |name, (returned, code)|
      field name, returned
      class_eval("def #{name} = (#{code})", __FILE__, __LINE__)
    end
    field :numbered, Part, null: false do
      argument :number, Integer, required: false, default_value: 7
    end
    def numbered(number: 7) = { "number" => number, "label" => object.title }
    field :certain, Part, null: false, resolver_method: :branch
    field :numbers_of_it, Totals, method: :numbers
  end

  def pair
    @pair ||= schemas({ stories: [[StoryType], -> { Story.order(:id) }], array: [[StoryType], -> { Story.order(:id).to_a.each { |it| it.title = "changed" } }],
                        one: [StoryType, -> { Story.find(3) }] })
  end

  def assert_same(query) = assert_equal(*pair.map { |schema| text_of(outcome { schema.execute(query, context: { viewer: "me" }).to_h }) }, query)

  FIELDS.each do |name, (_, _, selected, planned)|
    define_method(:"test_#{name}") do
      field = "#{name.to_s.camelize(:lower)} #{selected}"
      2.times do
        case planned
        when true then assert_plan("{ stories { id #{field} } }", context: { viewer: "me" })
        when :any then assert_same("{ stories { id #{field} } }")
        else assert_aside("{ stories { id #{field} } }", model: Story, errors: :any)
        end
        ["{ stories { opaque #{field} id } }", "{ array { #{field} } one { it: #{field} } }", "{ stories { #{field} twice: #{field} title } }"].each { |beside| assert_same(beside) }
      end
    end
  end

  def test_arguments_and_null
    assert_plan("{ stories { id numbered(number: 3) { number label } seven: numbered { number } } }")
    assert_plan("{ stories { numbersOfIt { likes comments } } }")
    ["{ stories { certain { title } } }", "{ one { certain { title } } }", "{ stories { numbered(number: null) { number label } } }"].each { |query| 3.times { assert_same(query) } }
  end

  # A JSON column's list is its scope's, too.
  def test_scope_of_a_column
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define { create_table(:made_documents, force: true) { |t| t.jsonb :labels } }
    model = Class.new(ActiveRecord::Base) { self.table_name = "made_documents"; def self.name = "MadeDocument" }
    model.insert_all!([{ labels: [{ label: "a" }, { label: "b" }] }, { labels: [] }])
    of = type("Document") { field :id, Integer; field :labels, [Scoped] }
    schemas = schemas({ documents: [[of], -> { model.order(:id) }] })
    2.times { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ documents { id labels { label } } }").to_h) }) }
  end
end
