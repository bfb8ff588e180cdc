# frozen_string_literal: true

require_relative "../support/plans"

# Parts of a query that are executed by themselves: below a path of its document, or a node that somebody brings along.
class PartialsTest < PlanTest
  module Bodied
    include GraphQL::Schema::Interface
    graphql_name "PartialBodied"
    field :body, String
    definition_methods { def resolve_type(*) = COMMENT }
  end

  COMMENT = type("PartialComment") { implements Bodied; field :id, Integer; field :score, Integer }

  POST = type("PartialPost") do
    field :id, Integer
    field :title, String
    field :lang, String
    field :comments, [COMMENT], null: false
    def lang = "#{object.author&.name} #{I18n.locale}"
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :posts, [POST], null: false
    def posts = ::Post.order(:id).limit(3)
  end

  TEXT = "{ posts { id comments { id } } }"

  def setup
    super
    I18n.available_locales = %i[en de fr]
    skip "this graphql has no partials of a node" unless partials_of_nodes?
  end

  def partials_of_nodes?
    GraphQL::Query.method_defined?(:run_partials) &&
      GraphQL::Query::Partial.instance_method(:initialize).parameters.include?(%i[key fragment_node])
  end

  # @return [Array(Class, Class)]
  def pair(**options, &block)
    make(query: Query, pipeloader: options) do
      use(GraphQL::Dataloader)
      class_eval(&block) if block
    end
  end

  def fragment(text) = GraphQL.parse("fragment Brought on PartialPost #{text}").definitions.first

  # @return [Array<Hash>] the answers, which are the same with Pipeloader and without, again and again
  def answers(text, *partials, schemas: pair, **options)
    plain, *piped = [schemas.first, *[schemas.last] * 3].map do |schema|
      query = GraphQL::Query.new(schema, text, **options)
      partials.flat_map { |it| query.run_partials(it.call(query)) }.map(&:to_h)
    end
    piped.each { |them| assert_equal JSON.generate(plain), JSON.generate(them) }
    plain
  end

  # @return [Proc] of the first post, by another fragment
  def brought(text) = ->(*) { [{ fragment_node: fragment(text), type: POST, object: ::Post.find(1), context: {} }] }

  # They stand at the same place of different texts.
  def test_each_node_has_its_own_answer
    found = answers(TEXT, brought("{ comments { body } }"), brought("{ comments { id } }"), brought("{ comments { score } }"))
    assert_equal([%w[body], %w[id], %w[score]], found.map { |it| it.dig("data", "comments", 0).keys })
  end

  # Of whose types none is the document's.
  def test_an_interface_that_the_document_does_not_name
    found = answers(TEXT, brought("{ comments { id ... on PartialBodied { body } } }"))
    assert_equal %w[id body], found.first.dig("data", "comments", 0).keys
  end

  def test_variables_that_the_document_does_not_ask
    text = "query($short: Boolean!) { posts { id } }"
    nodes = brought("{ comments { id body @include(if: $short) } }"), brought("{ comments { id body @skip(if: $short) } }")
    found = answers(text, *nodes, variables: { "short" => true }, validate: false)
    assert_equal([%w[id body], %w[id]], found.map { |it| it.dig("data", "comments", 0).keys })
  end

  # What the document defines may be spread.
  def test_a_fragment_of_the_document_inside
    found = answers("{ posts { ...Own } } fragment Own on PartialPost { comments { body } }", brought("{ id ...Own }"))
    assert_equal [%w[id comments], %w[body]], [found.first["data"].keys, found.first.dig("data", "comments", 0).keys]
  end

  # What one selects, says nothing of the columns that another needs.
  def test_no_column_is_left_out
    schemas = pair(field_exact: true, compile: false)
    misses = WireCounter.events("projection_miss.pipeloader") do
      answers(TEXT, brought("{ comments { id } }"), brought("{ comments { body } }"), schemas: schemas)
    end
    assert_empty misses
  end

  # By a path, and by a node of the document.
  def test_plans_of_what_the_document_holds
    text = "{ posts { ...Own } } fragment Own on PartialPost { comments { body } ... on PartialPost { comments { score } } }"
    own = ->(query) { query.document.definitions.last }
    nodes = { path: nil, fragment: own, inline: ->(query) { own.call(query).selections.last } }
    nodes.each do |name, node|
      partial = lambda do |query|
        where = node ? { fragment_node: node.call(query), type: POST } : { path: ["posts", 0] }
        [{ object: ::Post.find(1), context: {}, **where }]
      end
      answers(text, partial)
      query = GraphQL::Query.new(pair.last, text)
      assert_equal({ "Post" => 1 }, instantiated { query.run_partials(partial.call(query)).map(&:to_h) }, name)
    end
  end

  class Marked < GraphQL::Schema::Directive::Feature
    graphql_name "marked"
    locations FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT
    def self.enabled?(*) = true
  end

  class German < GraphQL::Schema::Directive
    graphql_name "german"
    locations FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT
    def self.resolve(*) = I18n.with_locale(:de) { yield }
  end

  # Where fields are resolved depth first.
  def test_directives
    schemas = make(query: Query) { directives(Marked, German) }
    [%(posts @marked(flag: "x") { id lang }), %(posts { id @marked(flag: "x") lang }), "posts { id @german lang }", "posts { id lang @german }"].each do |text|
      found = answers("{ #{text} }", ->(*) { [{ path: ["posts", 0], object: ::Post.find(1), context: {} }] }, schemas: schemas)
      assert_equal %w[id lang], found.first["data"].keys
    end
    found = answers(TEXT, brought("{ id comments { body } ... @german { lang } }"), schemas: schemas)
    assert_includes found.first.dig("data", "lang"), "de" unless Engine::NEXT
  end
end
