# frozen_string_literal: true

require_relative "../support/plans"

# Fields whose class, or whose extensions decide whether they are resolved.
class PermitsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:permit_bills) { |t| t.string :title; t.bigint :parent_id; t.integer :score, null: false, default: 1 }
    create_table(:permit_people) { |t| t.string :name; t.boolean :admin, null: false, default: false; t.boolean :permit_mark, default: true }
  end

  class Person < ActiveRecord::Base
    self.table_name = "permit_people"
    def boss? = name.include?("1")
    def odd_one? = Person.count.odd?
  end

  class Bill < ActiveRecord::Base
    self.table_name = "permit_bills"
    belongs_to :parent, class_name: "PermitsTest::Bill", optional: true
    has_many :parts, -> { order(:id) }, class_name: "PermitsTest::Bill", foreign_key: :parent_id
  end

  Person.insert_all!((1..3).map { |id| { id: id, name: "person #{id}", admin: id == 1 } })
  Bill.insert_all!((1..8).map { |id| { id: id, title: "bill #{id}", parent_id: (id - 3 if id > 3), score: id } })

  PERMISSIONS = { "view" => true, "hide" => false }.freeze
  PERMIT_WORDS = %w[view hide].freeze
  def given(**others) = { viewer: Person.find(1), permissions: PERMISSIONS.dup, list: ["view"], **others }

  # A field class of a test's own: keeps what it is told.
  def self.field_class(&block)
    Class.new(GraphQL::Schema::Field) do
      attr_reader :permissions, :admins

      def initialize(*args, permission: nil, admins: false, **options, &block)
        @permissions = [*permission]
        @permission = permission
        @admins = admins
        @cell = Struct.new(:open).new(true)
        super(*args, **options, &block)
      end
      class_eval(&block)
    end
  end

  # Types and schemas of it.
  def self.make_schemas(name, kind, asked: {}, extension: nil, **options, &block)
    base = Class.new(Schemas::Base) { field_class(kind) }
    base.const_set(:Edge, Class.new(GraphQL::Types::Relay::BaseEdge) { field_class(kind) })
    base.const_set(:Connection, Class.new(GraphQL::Types::Relay::BaseConnection) { field_class(kind) })
    base.edge_type_class(base::Edge)
    base.connection_type_class(base::Connection)
    its = { **asked, extensions: [extension].compact }
    of = Class.new(base) do
      graphql_name name
      field :id, Integer
      field :title, String, **its
      field :parent, self, **its
      field :must, self, null: false, method: :parent, **its
      field :parts, [self], null: false, **its
      field :pages, connection_type, null: false, method: :parts, **its
      field :heading, String, **its
      field :parts_count, Integer, **its
      field :opaque, String, **its
      field :open, String, method: :title
      define_method(:opaque) { object.title.dup.concat((context.dig(:mark) || "!")) }
      class_eval { def heading = "#{object.title}!"; def parts_count = object.parts.count }
    end
    schemas({ bills: [[of], -> { Bill.order(:id) }], few: [[of], -> { Bill.order(:id).to_a }], bill: [of, -> { Bill.find(5) }],
              pages: [of.connection_type, -> { Bill.order(:id) }] }, **options, &block)
  end

  QUERIES = ["{ bills { heading parent { title parent { id } } parts { title partsCount } pages(first: 2) { edges { cursor node { title } } pageInfo { hasNextPage } } } }",
             "{ pages(first: 3) { nodes { title parent { id } } } }"].freeze
  BESIDE = ["{ bills { title opaque parent { title } } bill { title parts { opaque title heading } must { id } } }", "{ few { title open opaque pages { nodes { title } } } }"].freeze

  # {name => [code of `authorized?`, whether a plan does it, options of the fields]}; each admits what #given says
  CLASSES = {
    always: ["true", true],
    by_super: ["super", true],
    by_super_with_arguments: ["super(object, arguments, context)", true],
    swapped: ["super(arguments, object, context)", :any],
    behind_super: ["super && context[:viewer].admin?", true],
    admins: ["super && (@admins ? context[:viewer]&.admin? : true)", true, { admins: true }],
    not_for_admins: ["super && (@admins ? context[:nobody].name : true)", true],
    early: ["return true unless @admins; super && context[:viewer].admin?", true, { admins: true }],
    record_not_asked: ["!@admins || context[:viewer].odd_one?", true],
    record_asked: ["!@admins || context[:viewer].odd_one?", false, { admins: true }],
    permission: ["super && (@permission.nil? || context[:permissions][@permission])", true, { permission: "view" }],
    one_of: ["super && (permissions.empty? || context[:list].include?(@permission))", true, { permission: "view" }],
    dug: ["@permission.nil? || context.dig(:permissions, @permission)", true, { permission: "view" }],
    dug_by_reader: ["permissions.all? { |it| context.dig(:permissions, it) }", true, { permission: "view" }],
    dug_deep: ["context.dig(:permissions, @permission, 1).nil?", false, { permission: "other" }],
    block_with_variable: ["all = context[:permissions]; permissions.all? { |it| all[it] } && super", true, { permission: "view" }],
    constant: ["(@permission.nil? || PERMIT_WORDS.include?(@permission)) && super", true, { permission: "view" }],
    variable: ["viewer = context[:viewer]; return false unless viewer; super", :any],
    helper: ["allowed?(context) && super", true, { permission: "view" }],
    helper_alone: ["open? && super", true],
    helper_of_the_object: ["super && sees?(object)", false],
    helper_with_a_value: ["super && of?(@permission)", false],
    raising: ["raise ::GraphQL::ExecutionError, \"no \#{@permission}\" unless context[:permissions][\"view\"]; super", true],
    raising_another: ['raise(ArgumentError, "no") unless context[:permissions]["view"]; super', false],
    the_object: ["super && !object.respond_to?(:score).nil?", false],
    whether_there_is_an_object: ["!object.nil?", false],
    the_arguments: ["super && arguments.empty?", false],
    the_whole_context: ["super && !context.nil?", false],
    fetched: ["super && context.fetch(:viewer)", false],
    another_key: ["context[@permission].nil?", false, { permission: "view" }],
    the_field: ["context[:current_field]; super", false],
    memo: ["@asked ||= context[:viewer].admin?", false],
    counting: ["context[:list] << 1; super", false],
    kept: ["@kept = super", false],
    no_value: ["super && @cell.first", false],
    no_values: ["super && [@cell].any?", false],
    rescued: ["(super rescue false)", false],
    another_constant: ["super && (Person.count || true)", false],
    class_variable: ["super && !self.class.name.nil?", false],
    itself: ["super && !itself.nil?", false],
    changed: ["context = {}; super", false],
    block_of_blocks: ["permissions.all? { |it| [it].all? { |one| context.dig(:permissions, one) } }", true, { permission: "view" }],
    splatted: ["super(object, arguments, **context)", false],
    asked_of_an_error: ["super && !include?(GraphQL::ExecutionError)", false],
    with_a_block: ["super { true }", :any],
    yielding: ["(yield(object, arguments) if @admins) || super", :any]
  }.freeze

  CLASSES.each do |name, (code, plain, asked)|
    kind = field_class do
      def allowed?(context) = permissions.all? { |it| context[:permissions].key?(it) }
      def open? = true
      def sees?(object) = !object.nil?
      def of?(permission) = permission.nil?
      def include?(error) = (@errors ||= []).push(error).size.negative?
      private :allowed?, :sees?, :of?, :open?
    end
    const_set(:"#{name.to_s.camelize}Field", kind)
    kind.class_eval("def authorized?(object, arguments, context); #{code}; end", __FILE__, __LINE__)
    schemas = make_schemas("Class#{name.to_s.camelize}", kind, asked: asked.to_h)
    define_method(:"test_class_#{name}") { assert_permits(schemas, plain) }
  end

  # {name => [parameters, code of `resolve`, whether a plan does it on the Interpreter]}
  ALL = "object:, arguments:, context:"
  ENGINES = "object: nil, objects: nil, arguments:, context:"
  EXTENSIONS = {
    on: [ALL, "super", true],
    some: [ALL, "super if field.permissions.any? { |it| context.dig(:permissions, it) }", true],
    of_options: ["#{ALL}, **_rest", "if options[:permissions].none? { |it| context.dig(:permissions, it) }; nil; else; yield(object, arguments); end", true],
    early: ["#{ALL}, **rest", "return nil unless context[:viewer].admin?; super", true],
    either_engine: [ENGINES, "super if context[:viewer].admin?", GraphQL::VERSION.start_with?("2.5.") ? :any : true, true],
    the_rest: ["context:, **rest", "super if context[:permissions][\"view\"]", true, true],
    by_names: [ALL, "super(object: object, arguments: arguments, context: context) if options[:open].nil?", true],
    raising: [ALL, "raise ::GraphQL::ExecutionError, \"no\" unless field.permissions.any? { |it| context.dig(:permissions, it) }; super", true],
    swapped: [ALL, "yield(arguments, object) unless options[:permissions]", :any],
    another_object: [ALL, "yield(object.class.authorized_new(PermitsTest::Bill.find(1), context), arguments)", false],
    another_arguments: [ALL, "yield(object, {})", false],
    splatted: [ALL, "yield(object, **arguments)", false],
    with_a_memo: [ALL, "yield(object, arguments, 1)", false],
    changing: [ALL, "yield(object, arguments).itself", false],
    kept: [ALL, "value = super; value", false],
    by_default: [ALL, "super || nil", false],
    twice: [ALL, "yield(object, arguments); yield(object, arguments)", false],
    the_object: [ALL, "super if object.object.score > 0", false],
    whether_there_is_one: [ALL, "super if object", false],
    the_arguments: [ALL, "super if arguments.empty?", false],
    counting: [ALL, "context[:list] << field.name; super", false],
    the_block: ["#{ALL}, &block", "block.call(object, arguments)", false],
    given_a_block: [ALL, "super { |*all| yield(*all) }", false],
    the_type: [ALL, "super if field.owner.graphql_name", false],
    ensured: [ALL, "begin; super; ensure; context[:list]; end", false]
  }.freeze

  EXTENSIONS.each do |name, (parameters, code, plain, on_next)|
    extension = Class.new(GraphQL::Schema::FieldExtension)
    const_set(:"#{name.to_s.camelize}Extension", extension)
    extension.class_eval("def resolve(#{parameters}); #{code}; end", __FILE__, __LINE__)
    plain &&= on_next || :any if Engine::NEXT
    schemas = make_schemas("Extension#{name.to_s.camelize}", field_class {}, asked: { permission: "view" }, extension: { extension => { permissions: ["view"] } })
    define_method(:"test_extension_#{name}") { assert_permits(schemas, plain, refused: !Engine::NEXT) }
  end

  QUERY = QUERIES.first
  def kind_of(code, &block)
    kind = self.class.field_class(&block || proc {})
    kind.class_eval("def authorized?(object, arguments, context) = (#{code})", __FILE__, __LINE__)
    kind
  end

  # Whoever says something else later, of one field or of all.
  def test_changed_later
    kind = Class.new(kind_of("super && !@admins"))
    schemas = self.class.make_schemas("Later", kind, asked: { admins: false })
    title = schemas.last.query.fields["bills"].type.unwrap.fields["title"]
    assert_plan(QUERY, schemas)
    [["@admins", true], ["@admins", nil], ["@admins", @cell = Struct.new(:open).new(false)], ["@admins", nil]].each do |name, value|
      title.instance_variable_set(name, value)
      2.times { assert_equal(*both(QUERY, schemas) { given }) }
    end
    assert_plan(QUERY, schemas)
    title.define_singleton_method(:authorized?) { |object, arguments, context| super(object, arguments, context) && object.score != 3 }
    2.times { assert_equal(*both(QUERY, schemas) { given }) }
  end

  # What the class inherits is defined anew, above what was looked at.
  def test_defined_anew
    above = kind_of("super")
    schemas = self.class.make_schemas("Anew", Class.new(above) { class_eval("def authorized?(object, arguments, context) = super && open?", __FILE__, __LINE__); def open? = true })
    assert_plan(QUERY, schemas)
    above.class_eval { def authorized?(object, _arguments, _context) = !object.respond_to?(:score) || object.score != 4 }
    2.times { assert_equal(*both(QUERY, schemas) { given }) }
  end

  def test_helper_defined_anew
    kind = kind_of("super && open?") { def open? = true }
    schemas = self.class.make_schemas("HelperAnew", kind)
    assert_plan(QUERY, schemas)
    kind.class_eval { def open? = false }
    2.times { assert_equal(*both(QUERY, schemas) { given }) }
  end

  def test_helper_removed
    kind = kind_of("super && open?") { def open? = true }
    schemas = self.class.make_schemas("HelperRemoved", kind)
    assert_plan(QUERY, schemas)
    kind.class_eval { remove_method :open? }
    2.times { assert_equal(*both(QUERY, schemas) { given }) }
  end

  # The same field for one who may see it, and for one who may not, in turn.
  def test_permissions_that_change
    schemas = self.class.make_schemas("Changing", kind_of("super && (@permission.nil? || context.dig(:permissions, @permission))"), asked: { permission: "view" })
    10.times { |n| assert_equal(*both(QUERY, schemas) { given(permissions: { "view" => n % 3 == 0 }) }) }
    assert_plan(QUERY, schemas, context: -> { given }, made: [Person])
  end

  # A resolver before, or beside it changes what is in the context, or puts something in front of it.
  def test_context_changed
    kind = kind_of("super && context[:open] != false")
    of = Class.new(Schemas::Base) { field_class(kind); graphql_name("Changed"); field :id, Integer; field :title, String; field :parts, [self] }
    shut = { shut: ->(context) { context[:open] = Bill.count.zero?; "shut" }, scope: ->(context) { context.scoped_set!(:open, false); "scoped" } }
    schemas = schemas({ bills: [[of], -> { Bill.order(:id) }], **shut.transform_values { |value| [String, value] } })
    ["{ shut bills { title parts { title } } }", "{ scope bills { title } }"].each { |query| 2.times { assert_equal(*both(query, schemas) { {} }, query) } }
  end

  # A context of the application's.
  class Digging < GraphQL::Query::Context
    def dig(*) = nil
  end

  def test_other_context
    kind = kind_of("@permission.nil? || context.dig(:permissions, @permission)")
    schemas = self.class.make_schemas("Digging", kind, asked: { permission: "view" }) { context_class(Digging) }
    2.times { assert_equal(*both(QUERY, schemas) { given }) }
  end

  def test_lazy
    kind = kind_of("context[:list] && context[:answer]")
    schemas = self.class.make_schemas("Lazy", kind) { lazy_resolve(Symbol, :length) }
    [:yes, "yes", false].each { |answer| 2.times { assert_equal(*both(QUERY, schemas) { given(answer: answer) }) } }
  end

  module Refining
    refine(Person) { def permit_mark? = false }
  end
  using Refining

  # Of a column's own name, too: a refinement may be what the code calls.
  def test_refined
    kind = kind_of("context[:viewer].permit_mark?")
    schemas = self.class.make_schemas("Refined", kind)
    2.times { assert_equal(*both(QUERY, schemas) { given }) }
  end

  class Behind < GraphQL::Schema::FieldExtension
    def after_resolve(value:, **) = value.nil? ? nil : value.dup
  end

  class Looking < GraphQL::Schema::FieldExtension
    extras [:path]
    def resolve(object:, arguments:, context:) = (super if context[:viewer].admin?)
  end

  class First < GraphQL::Schema::FieldExtension
    def resolve(object:, arguments:, context:) = (super if context[:viewer].admin?)
  end

  class Second < GraphQL::Schema::FieldExtension
    def resolve(object:, arguments:, context:)
      raise ::GraphQL::ExecutionError, "no #{options[:what]}" unless context[:permissions]["view"]

      super
    end
  end

  class Above < Second
    def resolve(object:, arguments:, context:) = (super if context[:list].include?("view"))
  end

  { behind: [[Behind], false], extras: [[Looking], false], two: [[First, { Second => { what: "way" } }], true], other_way: [[{ Second => { what: "way" } }, First], true],
    above: [[Above], true], one_unknown: [[First, Behind], false] }.each do |name, (extensions, plain)|
    of = Class.new(Schemas::Base) { graphql_name("With#{name.to_s.camelize}"); field :id, Integer; field :title, String, extensions: extensions; field :parts, [self], extensions: extensions }
    schemas = schemas({ bills: [[of], -> { Bill.order(:id) }] })
    define_method(:"test_extensions_#{name}") do
      query = "{ bills { id title parts { title } } }"
      if Engine::NEXT then nil
      elsif plain then assert_plan(query, schemas, made: [Person], context: -> { given })
      else assert_aside(query, schemas, model: Bill, errors: :any, context: -> { given })
      end
      [given, *([given(viewer: Person.find(2)), given(permissions: {}), given(viewer: Person.find(2), permissions: {}), given(list: [])] unless Engine::NEXT)].each { |context| 2.times { assert_equal(*both(query, schemas) { context.dup }) } }
    end
  end

  private

  # @param refused [Boolean] whether it is asked for whom it refuses, too: what an extension then returns is a list on Next
  def assert_permits(schemas, plain, refused: true)
    QUERIES.each do |query|
      case plain
      when true then assert_plan(query, schemas, made: [Person], context: -> { given })
      when false then assert_aside(query, schemas, model: Bill, errors: :any, context: -> { given })
      end
    end
    BESIDE.each { |query| assert_equal(*both(query, schemas) { given }, query) }
    return unless refused

    others = [{}, given(permissions: {}), given(viewer: Person.find(2)), given(viewer: Struct.new(:admin?).new(true)), given(permissions: Hash.new { true }), given(permissions: nil, viewer: nil)]
    others.each_with_index { |context, at| [QUERIES[at % 2], *(BESIDE[at % 2] if plain)].each { |query| assert_equal(*both(query, schemas) { context.dup }, query) } }
  end

  def both(query, schemas) = schemas.map { |schema| text_of(outcome { schema.execute(query, context: yield).to_h }) }
end
