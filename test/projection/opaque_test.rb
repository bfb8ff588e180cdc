# frozen_string_literal: true

require_relative "projection_case"

class OpaqueTest < ProjectionCase
  # The record is taken whole; what its associations bring, isn't.
  def assert_opaque(reason, field, type = Library::Work, pair: Library.pair, root: "works")
    query = "{ #{root} { title #{field} reviews { text } } }"
    assert_reads({ "works" => [nil], "reviews" => %w[id work_id text] }, query, pair)
    assert_equal reason, footprint(type, field[/\w+/], pair.last).reason
  end

  def footprint(type, field, schema = Library.pair.last, model = ::Work)
    Pipeloader::Footprints.of(schema, type, type.get_field(field), model)
  end

  def special_type(name, &block)
    work_type(name) do
      field :reviews, [Library::Review], null: false
      class_eval(&block)
    end
  end

  def assert_special(reason, name, &block)
    type = special_type(name, &block)
    assert_opaque("#{name}.it: #{reason}", "it", type, pair: special(type), root: "specials")
  end

  def test_resolver_method
    assert_opaque("Work.loud: resolver method `loud` on Library::Work", "loud")
  end

  def test_overridden_reader
    assert_opaque("Work.summary: `summary` is defined by Book", "summary")
  end

  def test_store_accessor
    assert_match(/\AWork.font: `font` is defined by /, footprint(Library::Work, "font").reason)
    assert_reads({ "works" => [nil] }, "{ works { title font } }")
  end

  def test_method_of_the_model
    assert_equal "Writer.signature: `signature` is defined by Writer", footprint(Library::Writer, "signature", Library.pair.last, ::Writer).reason
    assert_reads({ "writers" => [nil] }, "{ writers { signature } }")
  end

  def test_scope_that_asks_its_record
    assert_opaque("Work.sameTitleReviews: the scope of `same_title_reviews` asks its record", "sameTitleReviews { text }")
  end

  class Upcase < GraphQL::Schema::Resolver
    type String, null: true
    def resolve = object.body.dup.upcase
  end

  def test_resolver_class
    assert_special("it has a resolver, OpaqueTest::Upcase", "Resolved") { field :it, resolver: Upcase }
  end

  class Loudly < GraphQL::Schema::FieldExtension
    def after_resolve(value: nil, values: nil, **) = values ? values.map(&:upcase) : value.upcase
  end

  def test_extension
    assert_special("extension OpaqueTest::Loudly", "Extended") { field :it, String, method: :title, extensions: [Loudly] }
  end

  def test_hash_key
    assert_special("it reads a key of a Hash", "Keyed") { field :it, String, hash_key: :body }
  end

  class Guarded < GraphQL::Schema::Field
    def authorized?(object, _arguments, _context) = object.body.present?
  end

  def test_field_class
    assert_special("`authorized?` of its field class is its own", "Fielded") { field_class Guarded; field :it, String, method: :title }
  end

  def test_arguments
    assert_special("it takes arguments", "Argued") do
      field :it, String, method: :opening do
        argument :length, Integer, required: false
      end
    end
  end

  def test_name_that_is_a_method_of_the_type
    assert_match(/\Aresolver method `display` on Kernel\z/, Pipeloader::PlainField.new(Library::Work, GraphQL::Schema::Field.new(name: "display", type: String, null: true, owner: Library::Work, method_conflict_warning: false)).objection)
  end

  class File < GraphQL::Schema::Scalar
    def self.coerce_result(cover, _context) = cover.file
  end

  def test_scalar_that_is_given_a_record
    type = special_type("Given") { field :it, File, method: :cover }
    pair = special(type)
    assert_reads({ "works" => %w[id type title], "covers" => [nil] }, "{ specials { title it } }", pair)
  end

  def test_two_definitions_of_a_field
    type = special_type("Twice") do
      field_class(Class.new(GraphQL::Schema::Field) { def visible?(context) = super && (name != "it" || method_sym == (context[:second] ? :body : :title)) })
      field :it, String, method: :title
      field :it, String, method: :body
    end
    pair = special(type).each { |schema| schema.use(GraphQL::Schema::Warden) if defined?(GraphQL::Schema::Visibility) }
    [{}, { second: true }].each { |context| assert_reads({ "works" => [nil] }, "{ specials { it } }", pair, context: context) }
  end

  def test_type_that_authorizes
    type = special_type("Authorized") { def self.authorized?(object, _context) = object.body.include?("body") }
    assert_reads({ "works" => [nil], "reviews" => %w[id work_id text] }, "{ specials { title reviews { text } } }", special(type))
  end

  # Told by the file, and not by the name.
  def test_method_in_a_module_of_graphql_rubys
    assert_equal "InTheirs: `authorized?` on GraphQL::OursNow", Pipeloader::PlainType.objection(work_type("InTheirs") { extend GraphQL::OursNow })
    assert_nil Pipeloader::PlainType.objection(work_type("InNone"))
  end

  GraphQL.const_set(:OursNow, Module.new { def authorized?(object, _context) = object.body })

  def test_type_with_a_constructor
    type = special_type("Constructed") { def initialize(object, context) = super.tap { object.body } }
    assert_reads({ "works" => [nil] }, "{ specials { title } }", special(type))
  end

  class Found < ActiveRecord::Base
    self.table_name = "reviews"
    after_find { self.text = note }
  end

  class Initialized < ActiveRecord::Base
    self.table_name = "reviews"
    after_initialize { self.text ||= note }
  end

  class Instantiated < ActiveRecord::Base
    self.table_name = "reviews"
    def self.instantiate(attributes, *) = super.tap { |record| record.text = attributes["note"] }
    def self.instantiate_instance_of(*) = super.tap { |record| record.text = record.note }
  end

  def test_callbacks_and_constructors_of_the_model
    [Found, Initialized, Instantiated].each do |model|
      pair = schemas do
        field :found, [Library::Review], null: false
        define_method(:found) { model.order(:id) }
      end
      assert_reads({ "reviews" => [nil] }, "{ found { text } }", pair)
    end
  end

  # What it returns is another relation; what it looks at, it has read itself.
  def test_scope_items
    type = Class.new(Library::Base) do
      graphql_name "ScopedReview"
      field :text, String
      def self.scope_items(items, context) = context[:look] ? items.select { |review| review.note > "note 2" } : items.where(stars: 1..)
    end
    work = work_type("ScopedWork") { field :reviews, [type], null: false }
    pair = special(work)
    assert_reads({ "works" => %w[id type title], "reviews" => %w[id work_id text] }, "{ specials { title reviews { text } } }", pair)
    assert_reads({ "works" => %w[id type title], "reviews" => [nil] }, "{ specials { title reviews { text } } }", pair, context: { look: true })
  end

  class Shout < GraphQL::Schema::Directive
    locations FIELD
    def self.resolve(object, _arguments, _context) = yield.tap { object.object&.body }
    def self.resolve_field(*) = nil
  end

  def test_directive_of_the_applications
    pair = Library.make { directive(Shout) }
    assert_reads({ "works" => [nil] }, "{ works { title @shout } }", pair)
  end

  def test_validators_and_extras
    field = ->(**options) { GraphQL::Schema::Field.new(name: "title", type: String, null: true, owner: Library::Work, **options) }
    objections = [{}, { extras: [:path] }, { validates: { required: { one_of: %i[a b] } } }].map do |options|
      Pipeloader::PlainField.new(Library::Work, field.call(**options)).objection
    end
    assert_equal [nil, "extras path", "it has validators"], objections
  end

  def test_reason_of_a_plain_field
    assert_nil footprint(Library::Work, "title").reason
    assert_equal ["title"], footprint(Library::Work, "title").columns
    assert_equal [:writer, ["writer_id"]], footprint(Library::Work, "writer").then { |it| [it.association, it.columns] }
    assert_equal :columns, footprint(Library::Work, "excerpt").kind
  end
end
