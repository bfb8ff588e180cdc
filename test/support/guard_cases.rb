# frozen_string_literal: true

require_relative "plans"

# Tests of types whose `authorized?` asks a policy of somebody's gem: what a plan admits, and refuses, is what graphql-ruby does.
module GuardCases
  def self.included(test) = test.extend(Cases)

  module Cases
    # An object type, whose `authorized?` has the +code+; a constant of the test's, <name>Type.
    def guarded(name, code)
      of = type(name) { field :id, Integer; field :title, String; field :parts, [self]; field :opaque, String; def opaque = object.title.dup }
      const_set(:"#{name}Type", of)
      class_eval("def (#{name}Type).authorized?(object, context) = (#{code})", __FILE__, __LINE__)
      of
    end

    # @param model [Class] of the +type+'s records
    def made(type, model = self::Doc, **options)
      schemas({ docs: [[type], -> { model.order(:id) }], array: [[type], -> { model.order(:id).to_a }], doc: [type, -> { model.find(5) }] }, **options)
    end

    # A test for each of +guards+: {name => [code of `authorized?`, whether a plan can do it]}. Each admits all, for the first person.
    def test_guards(guards, prefix)
      guards.each do |name, (code, plain)|
        of = guarded("#{prefix}#{name.to_s.delete("!").camelize}#{"Bang" if name.end_with?("!")}", code)
        define_method(:"test_#{name}") { assert_guard(of, plain) }
      end
    end
  end

  def assert_guard(type, plain)
    [{}, { field_exact: true }].each do |options|
      schemas = self.class.made(type, pipeloader: options)
      ["{ docs { id title } }", "{ docs { title parts { id parts { title } } } }"].each do |query|
        given = { context: -> { viewer } }
        plain ? assert_plan(query, schemas, made: [self.class::Person], **given) : assert_aside(query, schemas, model: self.class::Doc, errors: :any, **given)
      end
      ["{ docs { opaque title } array { title } doc { id parts { title } } }", "{ docs { title } }"].each do |query|
        [1, 2, nil].each { |id| assert_equal(*both(query, schemas) { id ? viewer(id) : {} }) }
      end
    end
  end

  def viewer(id = 1) = { viewer: self.class::Person.find(id) }

  # @yieldreturn [Hash] the context
  # @return [Array<String>] what each of the +schemas+ answers
  def both(query, schemas) = schemas.map { |schema| text_of(outcome { schema.execute(query, context: yield).to_h }) }
end
