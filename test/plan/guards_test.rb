# frozen_string_literal: true

require_relative "../support/plans"

# Object types with an `authorized?` of their own.
class GuardsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:guard_docs) { |t| t.string :title; t.bigint :owner_id; t.bigint :parent_id; t.boolean :hidden; t.integer :score; t.string :type }
    create_table(:guard_people) { |t| t.string :name; t.boolean :admin, null: false, default: false; t.bigint :boss_id }
  end

  class Person < ActiveRecord::Base
    self.table_name = "guard_people"
    belongs_to :boss, class_name: "GuardsTest::Person", optional: true
    def chief? = boss_id.nil?
  end

  class Doc < ActiveRecord::Base
    self.table_name = "guard_docs"
    belongs_to :owner, class_name: "GuardsTest::Person", optional: true
    belongs_to :parent, class_name: "GuardsTest::Doc", optional: true
    has_many :parts, -> { order(:id) }, class_name: "GuardsTest::Doc", foreign_key: :parent_id
    alias_attribute :secret, :hidden
    alias_attribute :guard_rating, :score
    def low? = score < 3
  end

  class Report < Doc; end

  class Book < ActiveRecord::Base
    self.table_name = "guard_docs"
  end

  class Diary < Book
    def hidden? = false
  end

  Person.insert_all!((1..4).map { |id| { id: id, name: "person #{id}", admin: id == 1, boss_id: (1 if id > 2) } })
  Doc.insert_all!((1..9).map { |id| { id: id, title: "doc #{id}", owner_id: (id % 4) + 1, parent_id: (id - 3 if id > 3), hidden: [nil, false][id % 2], score: id, type: (Report.name if id.even?) } })

  class Base < Schemas::Base; end

  module GuardPolicies
    class DocPolicy
      attr_reader :user, :doc
      alias who user

      def initialize(user, doc)
        @user = user
        @doc = doc
      end

      def show? = !doc.hidden? && (admin? || owns? || open?)
      def low? = doc.low?
      def loop? = loop?
      def given?(times = 1) = times == 1
      def unset? = @nothing.nil?
      def called? = who&.admin?
      def sent? = public_send(:show?)
      def variable? = (user = self.user; user.nil? || user.admin)
      def assigned? = (@user = nil).nil?
      def title? = doc.title.start_with?("doc") && true

      private

      def admin? = user&.admin?
      def owns? = user && @doc.owner_id == user.id
      def open? = record.score.positive?
      def record = @doc
    end

    class SwappedPolicy
      def initialize(doc, user)
        @user = user
        @doc = doc
      end

      def show? = @doc.score > 0 && (!@user || @user.admin)
    end

    class CountingPolicy < DocPolicy
      class << self; attr_accessor :made; end
      def initialize(...)
        self.class.made = self.class.made.to_i + 1
        super
      end
    end

    class MadePolicy < DocPolicy
      def self.new(*) = super(nil, Doc.new(hidden: false, score: 1))
    end
  end

  # {name => [code of `authorized?`, whether a plan can do it]}; each admits all docs, for a viewer that is an admin
  GUARDS = {
    column: ["object.score > 0", true],
    columns: ["object.hidden.nil? || object.score.odd?", true],
    predicate: ["!object.hidden?", true],
    alias: ["!object.secret?", true],
    by_super: ["super && object.score > 0", true],
    by_super_with_arguments: ["super(object, context) && object.score > 0", true],
    swapped: ["super(context, object) && object.score > 0", false],
    context: ["context[:viewer].admin?", true],
    viewer: ["object.owner_id == context[:viewer]&.id || context[:viewer].admin", true],
    policy: ["GuardPolicies::DocPolicy.new(context[:viewer], object).show?", true],
    by_super_and_policy: ["super && GuardPolicies::DocPolicy.new(context[:viewer], object).show?", true],
    whole_name: ["::GuardsTest::GuardPolicies::DocPolicy.new(context[:viewer], object).title?", true],
    swapped_policy: ["GuardPolicies::SwappedPolicy.new(object, context[:viewer]).show?", true],
    wrong_policy: ["GuardPolicies::SwappedPolicy.new(context[:viewer], object).show?.nil? || true", false],
    attr_reader_of_another_name: ["GuardPolicies::DocPolicy.new(context[:viewer], object).called?", true],
    association: ["object.owner&.name != context[:nobody]", true],
    association_by_super: ["super && object.owner&.name != context[:nobody]", true],
    association_behind_a_branch: ["object.score > 0 || object.owner&.name", false],
    truthy: ["object.title", true],
    method_of_the_model: ["object.low? || true", true],
    not_a_column: ["object.lower? || true", false],
    policy_that_asks_a_method: ["GuardPolicies::DocPolicy.new(context[:viewer], object).low? || true", true],
    policy_that_counts: ["GuardPolicies::CountingPolicy.new(context[:viewer], object).show?", false],
    policy_made_otherwise: ["GuardPolicies::MadePolicy.new(context[:viewer], object).show?", false],
    policy_without_end: ["object.score > 0 || GuardPolicies::DocPolicy.new(context[:viewer], object).loop?", false],
    policy_with_parameters: ["GuardPolicies::DocPolicy.new(context[:viewer], object).given?", false],
    policy_sent: ["GuardPolicies::DocPolicy.new(context[:viewer], object).sent?", false],
    policy_with_variables: ["GuardPolicies::DocPolicy.new(context[:viewer], object).variable?", false],
    policy_that_changes: ["GuardPolicies::DocPolicy.new(context[:viewer], object).assigned?", false],
    policy_with_less: ["GuardPolicies::DocPolicy.new(context[:viewer], object).unset?", false],
    no_policy: ["Struct.new(:viewer, :object).new(context[:viewer], object).object", false],
    unknown_policy: ["object.score > 0 || NoPolicy.new(context[:viewer], object).show?", false],
    missing_policy_method: ["object.score > 0 || GuardPolicies::DocPolicy.new(context[:viewer], object).nope?", false],
    itself: ["!object.nil?", false],
    helper: ["fine?(object)", false],
    variable: ["doc = object; doc.score > 0", false],
    changed: ["object = object.parent || object; object.score > 0", false],
    memo: ["(@asked ||= object.score) > 0", false],
    counting: ["context[:seen] << object.id", false],
    whole_context: ["context.fetch(:viewer, nil).nil? || object.score > 0", false],
    query: ["object.parts.none? || true", false],
    block: ["[1].all? { |it| object.score >= it }", true],
    rescued: ["(object.score rescue nil)", false]
  }.freeze

  TYPES = GUARDS.to_h do |name, (code, _)|
    of = type("Guarded#{name.to_s.camelize}", Base) do
      field :id, Integer
      field :title, String
      field :parent, self
      field :parts, [self], null: false
      field :pages, connection_type, null: false, method: :parts
      field :opaque, String
      define_method(:opaque) { object.title.dup }
      define_singleton_method(:fine?) { |object| object.score > 0 }
    end
    GuardsTest.const_set(:"#{name.to_s.camelize}Type", of)
    of.instance_eval("def self.authorized?(object, context) = (#{code})", __FILE__, __LINE__)
    [name, of]
  end

  def self.make_schemas(type, docs: -> { Doc.order(:id) }, **options, &block)
    schemas({ docs: [[type], docs], doc: [type, -> { Doc.find(5) }], pages: [type.connection_type, -> { Doc.order(:id) }] }, **options, &block)
  end

  QUERIES = ["{ docs { id title } }", "{ docs { title parent { title parent { id } } parts { title } } }",
             "{ docs { pages(first: 2) { edges { cursor node { title } } pageInfo { hasNextPage } } } }", "{ pages(first: 3) { nodes { title parent { id } } } }"].freeze

  def viewer(id = 1) = { viewer: Person.find(id), seen: [] }

  TYPES.each do |name, of|
    define_method(:"test_#{name}") do
      schemas = self.class.make_schemas(of)
      plain = GUARDS.fetch(name).last
      QUERIES.each do |query|
        given = { context: -> { viewer } }
        plain ? assert_plan(query, schemas, made: [Person], **given) : assert_aside(query, schemas, model: Doc, errors: :any, **given)
      end
      ["{ docs { title opaque parent { title } } }", "{ doc { title parts { opaque title } parent { id } } }"].each { |query| assert_equal(*both(query, schemas) { viewer }) }
    end
  end

  # Who may not see all of it.
  {
    nobody: ["context[:viewer]", -> { {} }], few: ["object.score > 6", -> { {} }], one: ["object.id != 9", -> { {} }],
    not_the_owner: ["object.owner_id == context[:viewer]&.id", -> { { viewer: Person.find(2) } }],
    not_for: ["GuardPolicies::DocPolicy.new(context[:viewer], object).show? && context[:viewer]&.admin", -> { { viewer: Person.find(2) } }],
    raising: ["object.score.fdiv(object.id - 5) && 1 / (object.id - 5)", -> { {} }], no_viewer: ["context[:viewer].admin?", -> { {} }],
    another_thing: ["object.owner_id == context[:viewer].id", -> { { viewer: Struct.new(:id).new(2) } }],
    execution_error: ["context[:no].nil? || object.id", -> { { no: 1 } }]
  }.each do |name, (code, context)|
    of = type("Refused#{name.to_s.camelize}", Base) do
      field :id, Integer
      field :title, String
      field :parent, self
      field :must, self, null: false, method: :parent
      field :parts, [self], null: false
      field :some, [self, { null: true }], null: false, method: :parts
      field :pages, connection_type, null: false, method: :parts
    end
    of.instance_eval("def self.authorized?(object, context) = (#{code})", __FILE__, __LINE__)

    { default: nil, replacing: proc { def self.unauthorized_object(error) = Doc.find(6).tap { |it| it.title = error.type.graphql_name } },
      raising: proc { def self.unauthorized_object(error) = raise(GraphQL::ExecutionError, "not #{error.object.title}") } }.each do |hook, block|
      define_method(:"test_refused_#{name}_#{hook}") do
        schemas = self.class.make_schemas(of, &block)
        2.times do
          [*QUERIES, "{ docs { title some { title } } doc { title must { title } } }", "{ doc { some { title parent { id } } } }", "{ docs { id must { id } } }"].each do |query|
            assert_equal(*both(query, schemas) { context.call })
          end
        end
      end
    end
  end

  # A type that has refused too often has no plan any more, and no reads for nothing.
  def test_refused_often
    of = type("Moody", Base) { field :id, Integer; field :title, String; def self.authorized?(object, context) = object.id != context[:not] }
    piped = self.class.make_schemas(of).last
    reads = lambda do |no|
      WireCounter.events("burst.pipeloader") { piped.execute("{ docs { id title } }", context: { not: no }) }.sum { |it| it[:statements] }
    end
    assert_equal 1, reads.call(nil)
    assert_equal [2, 2, 2, 1, 1], Array.new(5) { reads.call(3) }
    assert_equal 1, reads.call(nil)
  end

  def test_refused_seldom
    of = type("Mild", Base) { field :id, Integer; field :title, String; def self.authorized?(object, context) = object.id != context[:not] }
    schemas = self.class.make_schemas(of)
    250.times { schemas.last.execute("{ docs { id title } }", context: { not: nil }) }
    4.times { assert_equal(*both("{ docs { id title } }", schemas) { { not: 3 } }) }
    assert_plan("{ docs { id title } }", schemas, context: { not: nil })
  end

  # The heirs of a model, and members of a union.
  def test_members
    member = ->(name, code) { type(name, Base) { field :title, String }.tap { |it| it.instance_eval("def self.authorized?(object, context) = (#{code})", __FILE__, __LINE__) } }
    report, other = member.call("ReportDoc", "object.score.even?"), member.call("OtherDoc", "object.score.odd? || context[:viewer].admin")
    union = Class.new(GraphQL::Schema::Union) { graphql_name("AnyDoc"); possible_types(report, other) }
    GuardsTest.const_set(:REPORT, report) unless GuardsTest.const_defined?(:REPORT)
    GuardsTest.const_set(:OTHER, other) unless GuardsTest.const_defined?(:OTHER)
    union.instance_eval("def self.resolve_type(object, _context) = object.is_a?(GuardsTest::Report) ? GuardsTest::REPORT : GuardsTest::OTHER", __FILE__, __LINE__)
    schemas = schemas({ docs: [[union], -> { Doc.order(:id) }] })
    query = "{ docs { __typename ... on ReportDoc { title } ... on OtherDoc { title } } }"
    assert_plan query, schemas, made: [Person], context: -> { viewer }
    assert_equal(*both(query, schemas) { { viewer: Person.find(2) } })
  end

  # An heir whose predicate is its own.
  def test_heirs
    schemas = self.class.make_schemas(TYPES.fetch(:predicate), docs: -> { Book.where(type: nil).order(:id) })
    assert_aside("{ docs { title } }", schemas, model: Book, context: -> { viewer })
  end

  def test_records_in_memory
    of = type("InMemory", Base) { field :id, Integer; field :title, String; def self.authorized?(object, context) = object.hidden? == false && object.score != context[:not] }
    schemas = self.class.make_schemas(of, docs: -> { Doc.order(:id).to_a.each { |it| it.score += 1 if it.id == 3 } })
    [nil, 3, 4].each { |no| 3.times { assert_equal(*both("{ docs { id title } }", schemas) { { not: no } }) } }
  end

  # Code that stands in a block sees the constants around that block, and not those of the type.
  module Around
    class NearPolicy < GuardPolicies::DocPolicy
      def show? = !@doc.is_a?(Report)
    end

    module Guarding
      def self.included(type)
        type.class_eval { def self.authorized?(object, context) = NearPolicy.new(context[:viewer], object).show? }
      end
    end
  end

  class NearPolicy < GuardPolicies::DocPolicy; end

  def test_policy_of_another_scope
    of = type("Near", Base) { include Around::Guarding; field :id, Integer }
    schemas = self.class.make_schemas(of)
    2.times { assert_equal(*both("{ docs { id } }", schemas) { viewer }) }
  end

  # Readers behind predicates.
  {
    alias_of_a_reader: [proc { alias_attribute :secret, :hidden; def hidden = true }, "!object.secret?"],
    attribute: [proc { private def attribute?(name) = name == "hidden" }, "!object.hidden?"],
    cast: [proc { private def query_cast_attribute(*) = true }, "!object.hidden?"],
    enum: [proc { enum :score, { one: 1, more: 2 }; private def attribute_for_database(name) = super.to_i + 1 }, "object.more?"],
    model_method: [proc { def hidden = true; def fine? = !hidden? }, "object.fine?"]
  }.each do |name, (block, code)|
    model = Class.new(ActiveRecord::Base) { self.table_name = "guard_docs"; self.inheritance_column = nil; class_eval(&block) }
    const_set(:"#{name.to_s.camelize}Doc", model)
    define_method(:"test_predicate_by_#{name}") do
      of = type("By#{name.to_s.camelize}", Base) { field :id, Integer; field :asked, GraphQL::Types::Boolean; class_eval("def asked = (#{code})", __FILE__, __LINE__) }
      of.instance_eval("def self.authorized?(object, context) = (#{code}) || object.id", __FILE__, __LINE__)
      schemas = schemas({ docs: [[of], -> { model.order(:id) }] })
      2.times { assert_equal(*both("{ docs { id asked } }", schemas) { {} }) }
    end
  end

  module Refining
    refine(Doc) { def guard_rating = -1 }
  end
  using Refining

  def test_refined
    of = type("Refinedly", Base) { field :id, Integer; def self.authorized?(object, _context) = object.guard_rating > 0 }
    schemas = self.class.make_schemas(of)
    2.times { assert_equal(*both("{ docs { id } }", schemas) { {} }) }
  end

  def test_redefined
    of = type("Stubbed", Base) { field :id, Integer; field :parts, [self]; def self.authorized?(object, _context) = object.id.positive? }
    schemas = self.class.make_schemas(of)
    query = "{ docs { id parts { id } } }"
    assert_plan(query, schemas)
    of.singleton_class.prepend(Module.new { def authorized?(object, context) = super && object.id != 4 })
    2.times { assert_equal(*both(query, schemas) { {} }) }
  end

  # Engines differ in whom they ask.
  def test_not_public
    %i[private_class_method protected].each do |access|
      of = type("Hidden#{access.to_s.camelize}", Base) { field :id, Integer; def self.authorized?(object, _context) = object.id != 4 }
      access == :protected ? of.singleton_class.send(:protected, :authorized?) : of.private_class_method(:authorized?)
      schemas = self.class.make_schemas(of)
      2.times { assert_equal(*both("{ docs { id } }", schemas) { {} }) }
    end
  end

  class ForwardingPolicy < GuardPolicies::DocPolicy
    def show? = true
    define_method(:low?, &GuardPolicies::DocPolicy.new(nil, Doc.new(score: 1)).method(:title?))
  end

  class FirstPolicy
    def initialize(_, _) # rubocop:disable Lint/UnderscorePrefixedVariableName
      @user = _
    end

    def show? = @user.nil? || @user.title
  end

  # Each asks what it asks as often as without Pipeloader: not at all.
  {
    another_methods_code: ["ForwardingPolicy.new(context[:viewer], object).low?.nil? || true", -> { { viewer: Person.find(1) } }],
    two_parameters_of_one_name: ["FirstPolicy.new(object, context[:viewer]).show?", -> { { viewer: Struct.new(:title).new("x") } }],
    viewer_that_is_no_record: ["context[:viewer].id == 2 || object.id", -> { { viewer: Struct.new(:id).new(2) } }],
    viewer_asked_for_what_is_its_own: ["context[:viewer].chief?", -> { { viewer: Person.find(1) } }],
    viewer_alone: ["super && context[:viewer]", -> { { viewer: Person.find(1) } }]
  }.each do |name, (code, context)|
    define_method(:"test_no_more_trips_#{name}") do
      of = type("Trips#{name.to_s.camelize}", Base) { field :id, Integer }
      of.instance_eval("def self.authorized?(object, context) = (#{code})", __FILE__, __LINE__)
      schemas = self.class.make_schemas(of)
      3.times do
        assert_equal(*both("{ docs { id } }", schemas) { context.call })
        given = context.call
        assert_round_trips(1, name) { schemas.last.execute("{ docs { id } }", context: given) }
      end
    end
  end

  def test_raising_often
    of = type("Raising", Base) { field :id, Integer; def self.authorized?(object, context) = object.id.fdiv(context[:by]) && context[:by].foo }
    piped = self.class.make_schemas(of).last
    trips = Array.new(6) { WireCounter.events("burst.pipeloader") { piped.execute("{ docs { id } }", context: { by: nil }) }.size }
    assert_equal [1, 1, 1], trips.last(3), trips.inspect
  end

  # A policy each of whose methods asks the next one twice.
  class DeepPolicy < GuardPolicies::DocPolicy
    def show? = m1 || m2
    (1..24).each { |n| class_eval("def m#{n} = m#{n + 1} || m#{n + 1}", __FILE__, __LINE__) }
    def m25 = @doc.score > 0
  end

  def test_deep_policy
    of = type("Deep", Base) { field :id, Integer; def self.authorized?(object, context) = DeepPolicy.new(context[:viewer], object).show? }
    Timeout.timeout(20) { assert_plan("{ docs { id } }", self.class.make_schemas(of), made: [Person], context: -> { viewer }) }
  end

  # What an earlier field has put into the context.
  def test_context_assigned
    of = type("Assigned", Base) { field :id, Integer; field :parts, [self]; def self.authorized?(object, context) = context[:open] || object.id != 4 }
    schemas = schemas({ docs: [[of], -> { Doc.order(:id) }], open: [GraphQL::Types::Int, ->(context) { context[:open] = Doc.count }] })
    3.times { assert_equal(*both("{ open docs { id parts { id } } }", schemas) { {} }) }
  end

  def test_explained
    piped = self.class.make_schemas(TYPES.fetch(:policy)).last
    piped.execute("{ docs { title parent { id } } }", context: viewer)
    explained = Pipeloader.explain(piped, "{ docs { title parent { id } } }", context: viewer).to_s
    assert_equal 4, explained.scan(": compiled").size, explained
  end

  private

  def both(query, schemas) = schemas.map { |schema| text_of(outcome { schema.execute(query, context: yield).to_h }) }
end
