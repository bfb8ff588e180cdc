# frozen_string_literal: true

require_relative "../support/plain_plans"

class PlanSelectionsTest < PlainPlanTest
  {
    leaves: "{ posts { id title body likes } }",
    typename_alone: "{ posts { __typename } }",
    aliases: "{ posts { a: title b: title t: __typename title author { n: name m: name } writer: author { name } } }",
    aliases_swap_names: "{ posts { title: body body: title id: likes likes: id } }",
    aliased_root: "{ first: posts(limit: 2) { title } second: posts(limit: 3) { title } }",
    merged: "{ posts { title author { id } likes author { name } title comments { id } comments { body } } }",
    merged_deeply: "{ posts { author { posts { title } } author { posts { id author { name } } name } } }",
    merged_root: "{ posts { title } posts { likes author { name } } posts { author { id } } }",
    merged_over_fragments: "{ posts { ...a ...b author { __typename } } } fragment a on Post { author { id } } fragment b on Post { author { name } likes }",
    inline_fragments: "{ posts { ... { title } ... on Post { likes author { ... on User { name } } } } }",
    fragments_on_interfaces: "{ users { ... on Named { name ... on Node { id } } ...n } } fragment n on Node { i: id ... on User { posts { title } } }",
    fragment_twice: "{ posts { ...p author { ...u } editor { ...u } } } fragment p on Post { title } fragment u on User { id name }",
    nested_fragments: "{ posts { ...p } } fragment p on Post { author { ...u } } fragment u on User { name posts { ...q } } fragment q on Post { id }",
    belongs_to: "{ posts { author { name } editor { id } } }",
    has_one: "{ users { profile { bio user { name } } } }",
    has_one_with_order: "{ posts { lastComment { id body commenter { name } } } }",
    has_many: "{ posts { comments { id body score commenter { name } } } }",
    has_many_without_scope: "{ users { posts { id } comments { id } } }",
    loose_items: "{ posts { looseComments { body } } }",
    has_many_with_limit: "{ posts { topComments { id score } } }",
    through: "{ posts { tags { name } } tags { posts { title } } }",
    as: "{ posts { attachments { name } } users { attachments { name } } }",
    self_referential: "{ employees { name manager { name manager { name } reports { name manager { name } } } } }",
    deep: "{ posts { author { posts { author { posts { author { name } } } } } } }",
    siblings_of_many_kinds: "{ posts { author { profile { bio } comments { post { title } } } tags { posts { tags { name } } } lastComment { id } comments { post { id } } } }",
    several_roots: "{ posts { title author { name } } users { name posts { title comments { body } } } tags { name } comments { body post { title } } }"
  }.each do |name, query|
    define_method(:"test_#{name}") { assert_plan(query) }
  end

  def test_of_one_record
    assert_plan("{ post(id: 3) { title author { name } comments { body commenter { name } } } }", made: [Post])
    assert_plan("{ post(id: 300) { title } }")
  end

  def test_below_an_opaque_field
    assert_plan("{ posts { loud author { name } comments { body } } }", aside: Post)
    assert_plan("{ posts { opaqueAuthor { name posts { title } } } }", aside: Post)
  end

  # Plans for what is below the opaque one make no records.
  def test_below_an_opaque_field_it_is_plans
    assert_plan("{ posts { loud comments { body commenter { name } } tags { name } } }", made: [Post])
  end

  def test_conditions
    query = "query($a: Boolean!, $b: Boolean = false) { posts { id @skip(if: $a) title @include(if: $b) ... @include(if: $a) { likes author { name @skip(if: $b) id } }
             ...x @skip(if: $b) comments @include(if: $a) { body } } } fragment x on Post { body @include(if: true) heading @skip(if: true) }"
    [true, false].product([true, false]).each { |a, b| assert_plan(query, variables: { "a" => a, "b" => b }) }
    assert_plan(query, variables: { "a" => true })
  end

  def test_one_document_and_other_variables
    document = GraphQL.parse("query($a: Boolean!) { posts { title author @skip(if: $a) { name } } }")
    [true, false, true, false].each do |a|
      plain, piped = pair.map { |schema| JSON.generate(schema.execute(document: document, variables: { "a" => a }).to_h) }
      assert_equal plain, piped
    end
  end

  def test_nothing_is_left_of_a_selection
    assert_plan("query($a: Boolean!) { posts { title @skip(if: $a) } users { name profile { bio @skip(if: $a) } } }", variables: { "a" => true }, errors: :any)
  end

  def test_several_operations
    query = "query a($x: Boolean!) { posts { title @skip(if: $x) id ...f } } query b($y: Boolean!) { posts { id @skip(if: $y) ...f likes } } fragment f on Post { author { name } }"
    assert_plan(query, operation_name: "a", variables: { "x" => true })
    assert_plan(query, operation_name: "b", variables: { "y" => false })
  end

  def test_interfaces_fall_to_graphql_ruby
    assert_aside("{ named { name } }", make(query: Types::Query) { orphan_types(Types::User); def self.resolve_type(*) = Types::User }, model: User)
  end

  # One field of an interface, and each type has another one for it: the place in the document is the same.
  def test_one_selection_of_several_types
    owner = Module.new { include GraphQL::Schema::Interface; graphql_name "Person"; field :name, String }
    big = type("Big") { implements owner }
    small = type("Small") { implements owner; field :name, String, method: :id }
    thing = Module.new { include GraphQL::Schema::Interface; graphql_name "Thing"; field :author, owner }
    post = type("PostThing") { implements thing; field :author, big }
    old_post = type("OldPostThing") { implements thing; field :author, small }
    resolve = ->(object) { object.id.odd? ? post : old_post }
    schemas = schemas({ things: [[thing], -> { Post.order(:id) }] }) do
      orphan_types(post, old_post, big, small)
      define_singleton_method(:resolve_type) { |_type, object, _context| resolve.call(object) }
    end
    assert_plan("{ things { __typename author { __typename name } } }", schemas, aside: Post)
    assert_plan("{ things { ... { author { name } } author { __typename } } }", schemas, aside: Post)
    [post, old_post].each { |it| it.define_method(:author) { object.author } }
    assert_plan("{ things { author { __typename name } } }", schemas, aside: Post)
  end

  def test_lists_of_lists
    schemas = schemas({ posts: [[[POSTS]], -> { Post.order(:id) }], slices: [[[POSTS]], -> { Post.order(:id).each_slice(5).to_a }] })
    assert_plan("{ posts { title } }", schemas, errors: true, aside: Post)
    assert_plan("{ slices { title } }", schemas, aside: Post)
  end

  def test_multiplex
    queries = ["{ posts { title author { name } } }", "query($a: Boolean!) { users { name posts @skip(if: $a) { id } } }", "{ posts { nope } }", "{ posts { title requiredEditor { name } } }"]
    list = queries.map { |it| { query: it, variables: { "a" => false } } }
    plain, piped = pair.map { |schema| JSON.generate(schema.multiplex(list.map(&:dup)).map(&:to_h)) }
    assert_equal plain, piped
  end

  def test_with_a_dataloader
    schemas = make(query: Types::Query) { use GraphQL::Dataloader }
    assert_plan("{ posts { title author { name profile { bio } } comments { body } } users { name } }", schemas)
  end

  # Fibers that wait for fibers that can't be begun.
  def test_few_fibers
    [4, 5, 6, 8].each do |limit|
      schemas = make(query: Types::Query, pipeloader: { fiber_limit: limit })
      Timeout.timeout(20) do
        assert_plan("{ posts { loud author { name profile { bio } comments { id } posts { id } } editor { name profile { bio } comments { id } posts { id } } tags { posts { id } } } }", schemas, aside: Post)
        assert_plan("{ posts { author { name profile { bio } comments { id } } tags { posts { id } } } users { profile { bio } posts { id } comments { id } } }", schemas)
      end
    end
  end

  def test_mutation
    mutation = Class.new(Schemas::Base) do
      graphql_name "Mutation"
      field :like, Types::Post, null: false do
        argument :id, GraphQL::Types::ID
      end
      field :bulk, [Types::Post], null: false
      def like(id:) = Post.find(id).tap { |post| post.likes += 1 }.tap { |post| post.update_columns(likes: post.likes) }
      def bulk = Post.where(id: ..2).tap { |posts| posts.update_all("likes = likes + 1") }.order(:id)
    end
    schemas = make(query: Types::Query, mutation: mutation)
    query = "mutation { a: like(id: 1) { likes author { name } } b: bulk { id likes } c: like(id: 1) { likes comments { post { likes } } } }"
    seeded = Post.where(id: ..2).pluck(:id, :likes)
    reset = -> { seeded.each { |id, likes| Post.where(id: id).update_all(likes: likes) } }
    assert_plan(query, schemas, before: reset, made: [Post, Comment, User])
  ensure
    reset.call
  end

  def test_what_a_caller_does_with_the_answer
    query = "{ posts { title author { name comments { body } } } }"
    fresh = JSON.generate(pair.last.execute(query).to_h)
    document = GraphQL.parse(query)
    2.times do
      answer = pair.last.execute(document: document).to_h
      assert_equal fresh, JSON.generate(answer)
      answer["data"]["posts"].each { |post| post["author"]&.clear; post["title"] << "!"; post["more"] = 1 }
    end
  end

  module Printing
    def execute_multiplex(multiplex:)
      multiplex.queries.each(&:query_string)
      super
    end
  end

  # A tracer that asks for the text of a document: things stand elsewhere there, and in another document of the same text.
  def test_documents_whose_text_is_asked_for
    texts = ["{\n  a: posts { title }\n  b: posts { likes } }", "{ a: posts { title }\n  b: posts { likes } }"]
    schemas = make(query: Types::Query) { trace_with(Printing) }
    texts.each { |text| assert_same_answer(nil, schemas, document: GraphQL.parse(text)) }
    frozen = texts.map { |text| GraphQL.parse(text).freeze }
    frozen.each { |document| assert_same_answer(nil, schemas, document: document) } if prints?(frozen.first)
  end

  # (graphql 2.5.2 doesn't print what is frozen.)
  def prints?(document)
    document.to_query_string
  rescue FrozenError
    false
  end

  # Where several things stand in one place.
  def test_document_of_several_texts
    texts = ["{ ...f ...g }", "fragment f on Query { a: posts { title } }", "fragment g on Query { b: posts { likes } }"]
    document = GraphQL::Language::Nodes::Document.new(definitions: texts.flat_map { |text| GraphQL.parse(text).definitions })
    assert_same_answer(nil, make(query: Types::Query) { trace_with(Printing) }, document: document)
  end

  # (Strings may be: as those of a record that was preloaded.)
  def test_no_hash_is_twice_in_an_answer
    answer = pair.last.execute("{ posts { title author { name } editor { name } tags { name } } comments { post { title } } }").to_h
    seen = {}.compare_by_identity
    walk = lambda do |value|
      case value
      when Hash then walk.call(value.values) || value.each_value { |it| it.is_a?(Hash) && (refute seen.key?(it); seen[it] = true) }
      when Array then value.each(&walk)
      end
      nil
    end
    walk.call(answer["data"])
    assert_operator seen.size, :>, 50
  end

  def test_off
    schemas = make(query: Types::Query, pipeloader: { compile: false })
    assert_aside("{ posts { title author { name } } }", schemas)
  end

  def test_of_a_schema_that_descends
    base, = make(query: Types::Query)
    piped = Class.new(Class.new(GraphQL::Schema) { use Pipeloader, compile: true }) { query(Types::Query) }
    assert_plan("{ posts { title author { name } } }", [base, piped])
  end

  # Lists of a thousand, which are more rows than a Coalesced statement or a fiber would bear.
  def test_field_exact_besides
    schemas = make(query: Types::Query, pipeloader: { field_exact: true })
    assert_plan("{ posts { title author { name posts { likes } } } }", schemas)
    assert_plan("{ posts { loud author { name } comments { body } } post(id: 2) { body comments { score } } }", schemas, aside: Post)
  end
end
