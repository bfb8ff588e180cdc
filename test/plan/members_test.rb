# frozen_string_literal: true

require_relative "../support/plans"

# Lists of a union or an interface, whose rows are of several object types.
class MembersTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:member_works) { |t| t.string :type; t.string :title; t.integer :pages; t.bigint :author_id }
    create_table(:member_authors) { |t| t.string :name; t.bigint :work_id }
    create_table(:member_lines) { |t| t.string :text; t.bigint :work_id }
  end

  class Author < ActiveRecord::Base
    self.table_name = "member_authors"
    has_many :works, -> { order(:id) }, class_name: "MembersTest::Work"
    belongs_to :work, class_name: "MembersTest::Work", optional: true
  end

  class Work < ActiveRecord::Base
    self.table_name = "member_works"
    belongs_to :author, class_name: "MembersTest::Author", optional: true
    def which = title.end_with?("1") ? Types::Poem : Types::Novel
  end

  class Poem < Work
    has_many :lines, -> { order(:id) }, class_name: "MembersTest::Line", foreign_key: :work_id
  end

  class Sonnet < Poem; end
  class Novel < Work; def heading = "#{title}, #{pages}"; end

  class Line < ActiveRecord::Base
    self.table_name = "member_lines"
    belongs_to :poem, class_name: "MembersTest::Poem", foreign_key: :work_id
  end

  KINDS = [Poem, Sonnet, Novel].map(&:name)
  Author.insert_all!((1..3).map { |id| { id: id, name: "author #{id}", work_id: id * 2 } })
  Work.insert_all!((1..9).map { |id| { id: id, type: KINDS[id % 3], title: "work #{id}", pages: id * 10, author_id: (id % 3) + 1 } })
  Line.insert_all!((1..12).map { |id| { text: "line #{id}", work_id: (id % 9) + 1 } })

  module Types
    class Base < GraphQL::Schema::Object; end
    class Person < Base; field :name, String; end
    class Line < Base; field :text, String; end

    module Work
      include GraphQL::Schema::Interface
      field :title, String
      field :author, Person
      field :loud, String
      def loud = object.title.upcase.dup.concat((context.dig(:mark) || "!"))
      definition_methods { def which(object) = object.which }
    end

    class Poem < Base
      implements Work
      field :lines, [Line]
    end

    class Sonnet < Poem; end
    class Novel < Base; implements Work; field :heading, String; field :pages, Integer; end

    class Either < GraphQL::Schema::Union
      possible_types Poem, Sonnet, Novel
      def self.which(object) = object.which
    end

    Person.field :works, [Work]
    Person.field :work, Work
    Person.field :either, [Either], method: :works
    Person.field :page, Work.connection_type, method: :works
  end

  TABLE = { "MembersTest::Poem" => Types::Poem, "MembersTest::Sonnet" => Types::Sonnet, MembersTest::Novel => Types::Novel }.freeze

  # rubocop:disable Lint/InterpolationCheck -- these are code

  # How applications say which type it is, on a type or a schema.
  FORMS = {
    kind_of: "object.is_a?(Novel) ? Types::Novel : (object.is_a?(Sonnet) ? Types::Sonnet : Types::Poem)",
    case: 'case object when Novel then Types::Novel when ::MembersTest::Sonnet, Line then Types::Sonnet when Poem then Types::Poem else raise "no #{object.inspect}" end',
    class: "object.class == Novel ? Types::Novel : (object.instance_of?(Sonnet) ? Types::Sonnet : Types::Poem)",
    name: '"MembersTest::Types::#{object.class.name.split("::").last}".constantize',
    names: 'case object.class.name when "MembersTest::Novel" then Types::Novel when "MembersTest::Sonnet" then Types::Sonnet else Types::Poem end',
    constant: "Types.const_get(object.class.name.demodulize)",
    table: "TABLE[object.class] || TABLE.fetch(object.class.name)",
    variable: "type = Novel === object ? Types::Novel : Types::Poem; type = Types::Sonnet if object.is_a?(Sonnet); type",
    pair: "[object.is_a?(Novel) ? Types::Novel : (object.is_a?(Sonnet) ? Types::Sonnet : Types::Poem), object]"
  }.freeze

  SELECTION = "__typename ... on Work { title } ... on Poem { lines { text } author { name } } ... on Novel { heading pages }"
  QUERIES = {
    relation: "{ works { #{SELECTION} } }",
    union: "{ either { __typename ... on Work { title author { name } } ... on Sonnet { lines { text } } } }",
    heirs: "{ poems { #{SELECTION} } }",
    record: "{ work { #{SELECTION} } }",
    association: "{ authors { works { #{SELECTION} } either { #{SELECTION} } } }",
    one: "{ authors { name work { #{SELECTION} } } }",
    page: "{ authors { page(first: 2) { nodes { #{SELECTION} } pageInfo { hasNextPage } } } }",
    edges: "{ page(first: 2) { edges { cursor node { #{SELECTION} } } } }",
    deep: "{ works { author { works { author { either { ... on Poem { lines { text } } } } } } } }",
    aliases: "{ works { a: title b: title ... on Novel { c: author { name } d: author { name works { title } } } } }"
  }.freeze

  # @param form [String] the code of a resolve_type
  # @param on [Symbol] :types or :schema
  def members(form, on: :types, **options, &block)
    roots = { works: [[Types::Work], -> { Work.order(:id) }], either: [[Types::Either], -> { Work.order(:id) }], poems: [[Types::Work], -> { Poem.order(:id) }],
              work: [Types::Work, -> { Work.find(3) }], authors: [[Types::Person], -> { Author.order(:id) }],
              page: [Types::Work.connection_type, -> { Work.order(:id) }], failing: [String, -> { raise GraphQL::ExecutionError, "failed" }] }
    made = schemas(roots, **options) do
      orphan_types Types::Poem, Types::Sonnet, Types::Novel
      class_eval(&block) if block
    end
    made.each { |schema| MembersTest.const_set("Schema#{MembersTest.constants.size}", schema) } # a name tells where it stands
    hosts = on == :types ? [Types::Work, Types::Either] : made
    hosts.each { |host| define_resolve_type(host, "#{"_type, " if on == :schema}object, context", form) }
    made
  end

  # As if it stood in this file.
  def define_resolve_type(host, parameters, form)
    forget_resolve_type(host)
    MembersTest.class_eval("lambda { |host| def host.resolve_type(#{parameters}) = (#{form}) }", __FILE__, __LINE__).call(host)
  end

  def teardown
    super
    [Types::Work, Types::Either].each { |type| forget_resolve_type(type) }
  end

  def forget_resolve_type(host) = (host.singleton_class.send(:remove_method, :resolve_type) if host.singleton_methods(false).include?(:resolve_type))

  %i[types schema].each do |on|
    FORMS.each do |name, form|
      define_method(:"test_#{name}_on_#{on}") do
        schemas = members(form, on: on)
        QUERIES.each { |kind, query| assert_plan query, schemas, made: (kind == :record ? [Work] : []) }
      end
    end
  end

  # What may look at something else than the class, is asked for each record.
  OPAQUE = {
    context: "context[:all_novels] ? Types::Novel : Types::Poem",
    column: 'object.title == "work 1" ? Types::Poem : Types::Novel',
    attribute: 'object[:title] == "work 1" ? Types::Poem : Types::Novel',
    method: "which(object)",
    own: "object.which",
    block: "TABLE.find { |name, _| name == object.class.name }&.last || Types::Novel",
    called: "WHICH.call(object)",
    asked: "WHICH === object ? Types::Poem : Types::Novel",
    inspected: 'object.inspect.include?("work 1") ? Types::Novel : Types::Poem',
    nothing: "nil",
    no_member: "Types::Person",
    other: '[Types::Novel, Novel.new(title: "other", pages: 1)]',
    lazy: "context.dataloader.with(Finding).load(object)",
    failing: 'raise "no type"',
    failing_for_some: 'object.is_a?(Novel) ? raise("no #{object.class.name}") : Types::Poem',
    missing: "object.is_a?(Novel) ? NoSuchThing : Types::Poem",
    counted: "(ASKED << 1) && object.is_a?(Novel) ? Types::Novel : Types::Poem",
    contextless: "context.nil? ? Types::Poem : Types::Novel",
    thread: "Thread.main.thread_variable_get(:novels) ? Types::Novel : Types::Poem",
    registered: "REGISTERED[object.class] || Types::Poem",
    counted_class: "object.class.count > 3 ? Types::Novel : Types::Poem",
    unimplemented: "case object when Novel then Types::Novel when Poem then Types::Poem else raise NotImplementedError, object.class.name end",
    switched: "SWITCH[:novels] ? Types::Novel : Types::Poem"
  }.freeze
  REGISTERED = {}
  WHICH = ->(object) { object.title.end_with?("1") ? Types::Poem : Types::Novel }
  SWITCH = Module.new { def self.[](_name) = ASKED.size.odd? }
  ASKED = []

  class Finding < GraphQL::Dataloader::Source
    def fetch(objects) = objects.map { |it| it.is_a?(Novel) ? Types::Novel : Types::Poem }
  end

  OPAQUE.each do |name, form|
    define_method(:"test_#{name}") do
      schemas = members(form) { use GraphQL::Dataloader }
      asked = schemas.map do |schema|
        [ASKED, REGISTERED].each(&:clear)
        %i[relation union association one relation union association one].map do |query|
          ASKED << 2
          REGISTERED[Novel] = Types::Novel if ASKED.size > 4
          Thread.main.thread_variable_set(:novels, ASKED.size > 4)
          text_of(outcome { schema.execute(QUERIES[query]).to_h })
        end.push(ASKED.size)
      end
      assert_equal(*asked)
    end
  end

  # One that may take more than graphql-ruby gives.
  def test_parameter_with_a_default
    form = "context ? Types::Novel : Types::Poem"
    schemas = members(form)
    [Types::Work, Types::Either].each { |host| define_resolve_type(host, "object, context, other = nil", form) }
    2.times { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ works { __typename title } }").to_h) }) }
  end

  # Found one by one, each level once for all types.
  def test_deep
    deep = 12.times.inject("title") { |text, _| "author { name work { ... on Work { #{text} } ... on Novel { pages } } }" }
    schemas = members(FORMS[:kind_of])
    assert_plan "{ works { #{deep} } }", schemas
  end

  # Records that have become others, or were told so.
  def test_records_in_memory
    form = "object.instance_of?(Work) ? Types::Novel : (object.is_a?(Novel) ? Types::Novel : Types::Poem)"
    roots = { became: [[Types::Work], -> { Work.order(:id).map { |it| it.becomes(Work) } }], one: [Types::Work, -> { Work.find(1).becomes(Work) }],
              told: [[Types::Work], -> { Work.order(:id).load.each { |it| it.type = Novel.name } }] }
    define_resolve_type(Types::Work, "object, context", form)
    made = schemas(roots) { orphan_types Types::Poem, Types::Sonnet, Types::Novel }
    query = "{ became { __typename title } one { __typename } told { __typename title ... on Poem { lines { text } } } }"
    2.times { assert_equal(*made.map { |schema| text_of(schema.execute(query).to_h) }) }
  end

  # A class of which no row can be.
  def test_heir_without_a_name
    Work.where(id: 4).update_all(type: nil)
    anonymous = Class.new(Work)
    schemas = members("object.instance_of?(Work) ? Types::Novel : Types::Poem")
    assert_plan "{ works { __typename title } }", schemas
  ensure
    ActiveSupport::DescendantsTracker.clear([anonymous])
    Work.where(id: 4).update_all(type: KINDS[4 % 3])
  end

  # Where it can't be told of a class, its rows are read once more, and then never again.
  def test_class_that_cannot_be_told
    query = "{ works { __typename title } }"
    schemas = members('case object when Novel then Types::Novel else object.inspect == "x" ? Types::Sonnet : Types::Poem end')
    assert_aside query, schemas, model: Work
    assert_equal 1, WireCounter.trips { schemas.last.execute(query) }.size
  end

  # A member of which something is opaque takes the others along.
  def test_opaque_member
    query = "{ works { title ... on Novel { loud } } authors { either { ... on Novel { loud } } } }"
    schemas = members(FORMS[:kind_of])
    assert_equal 2, WireCounter.trips { schemas.last.execute(query) }.size
    assert_aside query, schemas, model: Work
    assert_match(/works: by graphql-ruby \(Novel.loud: /, Pipeloader.explain(schemas.last, query).to_s)
    assert_plan "{ poems { title ... on Novel { loud } } }", schemas
  end

  # The class of all of them may be one that has no records itself; once there is one, it is as any other.
  def test_opaque_model
    schemas = members("object.instance_of?(Work) ? Types::Novel : Types::Poem")
    query = "{ works { title ... on Novel { loud } } }"
    assert_plan query, schemas
    Work.where(id: 4).update_all(type: nil)
    assert_aside query, schemas, model: Work
    assert_equal 1, WireCounter.trips { schemas.last.execute(query) }.size
    assert_match(/works: by graphql-ruby \(Novel.loud: /, Pipeloader.explain(schemas.last, query).to_s)
  ensure
    Work.where(id: 4).update_all(type: KINDS[4 % 3])
  end

  # Rows of a class that is no member.
  def test_class_without_a_type
    form = 'case object when Novel then Types::Novel when Poem then Types::Poem else raise "no #{object.class.name}" end'
    Work.where(id: 4).update_all(type: nil)
    assert_aside QUERIES[:relation], members(form), model: Work, errors: true
    assert_plan "{ poems { title } }", members(form)
  ensure
    Work.where(id: 4).update_all(type: KINDS[4 % 3])
  end

  # Execution::Next goes through the whole response if anything has failed.
  def test_error_beside
    answer = assert_plan "{ works { title author { name } } authors { either { #{SELECTION} } page(first: 1) { nodes { title } } } failing }", members(FORMS[:kind_of]), errors: true
    assert_equal 9, answer["data"]["works"].size
  end

  # Who sees each type looked up, sees each.
  def test_trace
    seen = []
    trace = Module.new { define_method(:begin_resolve_type) { |type, object, context| super(type, object, context).tap { seen << object.class } } }
    assert_aside QUERIES[:relation], members(FORMS[:kind_of]) { trace_with(trace) }, model: Work
    assert_equal [9], seen.each_slice(9).map(&:size).uniq
  end

  # Not everybody may see it.
  def test_hidden_type
    schemas = members(FORMS[:kind_of]) { use GraphQL::Dataloader }
    Types::Novel.define_singleton_method(:visible?) { |context| super(context) && !context[:hides] }
    [{}, { hides: true }].each do |context|
      assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute("{ works { __typename title } }", context: context).to_h }) })
    end
  ensure
    Types::Novel.singleton_class.send(:remove_method, :visible?)
  end

  # Each type's associations are asked for its own rows alone.
  def test_burst
    query = "{ authors { works { title ... on Poem { lines { text } author { name } } ... on Novel { author { name } } } } }"
    schemas = members(FORMS[:kind_of])
    asked = WireCounter.events("burst.pipeloader") { schemas.last.execute(query) }.map { |it| it[:reads].map { |read| read.params.first } }
    assert_equal [[nil], ["{1,2,3}"], ["{3,1}", "{3,6,9}"]], asked
  end
  # rubocop:enable Lint/InterpolationCheck
end
