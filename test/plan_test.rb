# frozen_string_literal: true

require_relative "support/plans"
require_relative "support/plan_types"

# A subtree that is proved plain goes from rows to the response: the answer is graphql-ruby's own, whatever a resolver returns and
# whatever is selected of it, and no records come to be.
class PlanTest
  Types = PlanTypes

  PAIR = make(query: Types::Query) { orphan_types(Types::User, Types::Post) }

  def pair = PAIR

  POSTS = Types::Post
  USERS = Types::User
end

class PlanSelectionsTest < PlanTest
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
    reset = -> { Post.where(id: ..2).update_all(likes: 5) }
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

# Under parents that graphql-ruby brings one by one, what each asks for is one statement for all.
class PlanSharedTest < PlanTest
  class Post < PlanTypes::Post
    graphql_name "SharedPost"
    field :recent, [PlanTypes::Comment], null: false
    field :found, PlanTypes::Comment
    field :listed, [PlanTypes::Comment], null: false
    field :quoted, [PlanTypes::Comment], null: false
    field :count, Integer, null: false
    def count = object.comments.count
    def recent = object.comments.order(id: :desc).limit(2)
    def found = ::Comment.find_by(post_id: object.id)
    def listed = ::Comment.where(post_id: object.id).order(:id).to_a
    def quoted = object.comments.where("score > 1")
  end

  PAIR = make(query: Class.new(Schemas::Base) do
    graphql_name "Query"
    field :connection, PlanTypes::Post.connection_type
    field :posts, [Post], null: false
    def connection = ::Post.order(:id)
    def posts = ::Post.order(:id)
  end)

  # With how many statements each level is read.
  {
    nodes: ["{ connection(first: 6) { nodes { title author { name } comments { body commenter { name } } lastComment { id } } } }", [1, 3, 1]],
    edges: ["{ connection(first: 6) { edges { cursor node { title author { name } comments { body commenter { name } } lastComment { id } } } } }", [1, 3, 1]],
    both: ["{ connection(first: 6) { edges { node { author { name } } } nodes { a: author { name } } } }", [1, 1]],
    beside_reads: ["{ posts { count } connection(first: 3) { edges { node { author { name } comments { body } } } } more: posts { count } }", [2, 3]],
    relations: ["{ posts { recent { body commenter { name } } } }", [1, 1, 1]],
    quoted: ["{ posts { quoted { body commenter { name profile { bio } } } } }", [1, 1, 1, 1]],
    records: ["{ posts { found { body commenter { name } } } }", [1, 1, 1]],
    lists_of_records: ["{ posts { listed { body commenter { name profile { bio } } } } }", [1, 1, 1, 1]]
  }.each do |name, (query, statements)|
    { name => :call.to_proc, "#{name}_with_a_query_cache": ->(run) { ActiveRecord::Base.cache(&run) } }.each do |test, around|
      define_method(:"test_#{test}") do
        plain, piped = PAIR.map { |schema| text_of(outcome { around.call(-> { schema.execute(query).to_h }) }) }
        assert_equal plain, piped
        events = WireCounter.events("burst.pipeloader") { around.call(-> { PAIR.last.execute(query) }) }
        assert_equal statements, events.map { |it| it[:statements] }, events.flat_map { |it| it[:answers] }.inspect
      end
    end
  end

  class Users < GraphQL::Dataloader::Source
    def fetch(ids) = ::User.where(id: ids).order(:id).index_by(&:id).values_at(*ids)
  end

  # While a source is loading no resolver's fiber gets on, and what they look up goes along with what the source reads.
  def test_beside_a_source
    comment = type("SourcedComment") { field :body, String }
    author = type("SourcedAuthor") { field :name, String; field :posts_count, Integer; def posts_count = object.posts.count }
    post = type("SourcedPost") do
      field :comments, [comment]
      field :by, author
      def by = dataloader.with(Users).load(object.author_id)
    end
    schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] }) { use GraphQL::Dataloader }
    ["{ posts { comments { body } by { name } } }", "{ posts { by { name postsCount } comments { body } } }"].each do |query|
      Timeout.timeout(20) { assert_plan(query, schemas, made: [::Post, ::User]) }
      events = WireCounter.events("burst.pipeloader") { schemas.last.execute(query) }
      assert_equal 2, events[1][:statements]
    end
  end

  class Current < ActiveSupport::CurrentAttributes
    attribute :least
  end

  class UsersOfTheirOwn < GraphQL::Dataloader::Source
    def fetch(ids) = Current.set(least: 8) { ::Comment.where(id: 1).scoping { ::User.where(id: ids).order(:id).index_by(&:id).values_at(*ids) } }
  end

  class UsersOfALocale < GraphQL::Dataloader::Source
    def fetch(ids) = I18n.with_locale(:de) { ::User.where(id: ids).order(:id).index_by(&:id).values_at(*ids) }
  end

  # (Comments whose scope looks at what is set at the moment.)
  class Scoped < ::Post
    self.table_name = "posts"
    def self.name = "Post"
    has_many :high_comments, -> { where(score: Current.least.to_i..).order(:id) }, class_name: "Comment", foreign_key: :post_id
    has_many :local_comments, -> { where(score: (I18n.locale == :de ? 4.. : 0..)).order(:id) }, class_name: "Comment", foreign_key: :post_id
  end

  # What a source has set while it reads isn't seen by the scopes of what goes along, nor does it lead them to another database.
  def test_beside_a_source_with_blocks_of_its_own
    I18n.available_locales |= %i[en de]
    comment = type("ScopedComment") { field :body, String }
    post = type("ScopedPost") do
      %i[high_comments local_comments].each { |name| field name, [comment] }
      %i[by local_by].each { |name| field name, PlanTypes::User }
      def by = dataloader.with(UsersOfTheirOwn).load(object.author_id)
      def local_by = dataloader.with(UsersOfALocale).load(object.author_id)
    end
    schemas = schemas({ posts: [[post], -> { Scoped.order(:id) }] }) { use GraphQL::Dataloader }
    ["{ posts { highComments { body } by { name } } }", "{ posts { by { name } highComments { body } } }", "{ posts { localComments { body } localBy { name } } }"].each do |query|
      Timeout.timeout(20) { assert_plan(query, schemas, made: [::Post, ::User]) }
    end
  end

  # Each owner's resolver has set something else.
  def test_of_owners_with_states_of_their_own
    comment = type("StateComment") { field :body, String }
    post = type("StatePost") { field :high_comments, [comment] }
    user = type("StateUser") do
      field :posts, [post]
      def posts = (Current.least = object.id) && Scoped.where(author_id: object.id).order(:id)
    end
    schemas = schemas({ users: [[user], -> { ::User.order(:id) }] })
    assert_plan("{ users { posts { highComments { body } } } }", schemas, made: [::User], before: -> { Current.reset })
  ensure
    Current.reset
  end

  # Something strikes the fiber that looks up for several, as a timeout would: the error is seen, and nobody waits for it for ever.
  class Struck < ActiveRecord::Base
    self.table_name = "posts"
    singleton_class.attr_accessor :strike
    has_many :struck_comments, -> { (Struck.strike = Struck.strike&.call) || order(:id) }, class_name: "Comment", foreign_key: :post_id
  end

  def test_nobody_waits_for_a_fiber_that_was_struck
    late = Class.new(Timeout::Error)
    comment = type("StruckComment") { field :body, String }
    post = type("StruckPost") { field :id, GraphQL::Types::ID; field :struck_comments, [comment] }
    schemas = schemas({ posts: [post.connection_type, -> { Struck.order(:id) }] })
    query = "{ posts(first: 3) { edges { node { id struckComments { body } } } } }"
    answer = assert_plan(query, schemas, made: [Struck])
    Struck.strike = -> { (Struck.strike = nil) || raise(late, "too late") }
    struck = Timeout.timeout(20) { outcome { schemas.last.execute(query).to_h } }
    assert_includes struck.to_s, "too late"
    assert_equal answer, outcome { schemas.last.execute(query).to_h }
  end

  # (With an association that the server refuses, at any depth.)
  class Broken < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, -> { order(:id) }, class_name: "PlanSharedTest::OfBroken", foreign_key: :post_id
    has_many :top_comments, -> { where("score > 5").order(score: :desc, id: :asc).limit(2) }, class_name: "Comment", foreign_key: :post_id
    has_many :broken_comments, -> { where("no_such = 1") }, class_name: "Comment", foreign_key: :post_id
  end

  class OfBroken < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :post, class_name: "PlanSharedTest::Broken", optional: true
  end

  # Fibers that have ended count against graphql-ruby's limit until its turn is over, and with jobs left it goes on to the sources.
  def test_few_fibers_beside_sources
    user = type("FewUser") { field :name, String }
    post = type("FewPost")
    comment = type("FewComment") do
      field :body, String
      field :post, post
      field :who, user
      def who = dataloader.with(Users).load(object.commenter_id)
    end
    post.class_eval { %i[comments top_comments broken_comments].each { |name| field name, [comment] } }
    query = "{ posts { comments { post { topComments { body } brokenComments { who { name } } comments { who { name } } } } } }"
    [8, 5, 16].each do |limit|
      schemas = schemas({ posts: [[post], -> { Broken.order(:id) }] }) { use GraphQL::Dataloader, fiber_limit: limit }
      # (With so few, errors may be listed in another order; and Next gives up fields: Engine::AVOIDED.)
      plain, _, piped = schemas.values_at(0, 1, 1).map { |schema| Timeout.timeout(20) { schema.execute(query).to_h } }
      assert_equal(*[plain, piped].map { |answer| Engine::NEXT ? answer["data"]["posts"].size : answer["data"] })
    end
  end
end

class PlanRootsTest < PlanTest
  SELECTION = "{ id title body likes author { name } comments { id body } tags { name } }"

  # {name => [what the resolver returns, whether a plan is for it]}
  ROOTS = {
    all: [-> { Post.all }, true],
    where: [-> { Post.where(likes: 3..).order(:id) }, true],
    where_not_and_or: [-> { Post.where.not(id: 3).or(Post.where(title: "post 3")).order(:id) }, nil],
    where_sql: [-> { Post.where("likes > ?", 2).order("id DESC") }, true],
    bind_named: [-> { Post.where("likes > :it", it: 2).order(likes: :desc, id: :asc) }, true],
    limit_and_offset: [-> { Post.order(:id).limit(3).offset(2) }, true],
    limit_of_zero: [-> { Post.order(:id).limit(0) }, true],
    none: [-> { Post.none }, true],
    empty_in: [-> { Post.where(id: []) }, true],
    out_of_range: [-> { Post.where(likes: 2**40) }, true],
    joins: [-> { Post.joins(:author).where(users: { id: 1..4 }).order(:id) }, true],
    joins_with_duplicates: [-> { Post.joins(:comments).order(:id, "comments.id") }, true],
    left_joins: [-> { Post.left_joins(:comments).where(comments: { id: nil }).order(:id) }, true],
    joins_sql: [-> { Post.joins("INNER JOIN users ON users.id = posts.author_id").order("users.name", "posts.id") }, true],
    order_of_an_omitted_column: [-> { Post.order(:body, :id) }, true],
    reverse_order: [-> { Post.order(:id).reverse_order }, true],
    reorder: [-> { Post.order(:likes).reorder(id: :desc) }, true],
    in_order_of: [-> { Post.in_order_of(:id, [3, 1, 2]) }, true],
    order_by_position: [-> { Post.order(Arel.sql("2 DESC")).limit(4) }, false],
    order_by_position_in_words: [-> { Post.order("2", "1 DESC").limit(4) }, false],
    order_by_number: [-> { Post.order(2, :id).limit(4) }, false],
    order_by_position_in_a_node: [-> { Post.order(Arel.sql("2").desc.nulls_last).limit(4) }, false],
    order_by_node: [-> { Post.order(Post.arel_table[:body].lower.desc, Post.arel_table[:id].asc) }, true],
    reorder_by_position: [-> { Post.order(:id).reorder(Arel.sql("length(title), 2")).limit(4) }, false],
    includes: [-> { Post.includes(:author, :comments).order(:id) }, true],
    preload: [-> { Post.preload(:tags).order(:id) }, true],
    preload_of_what_there_is_not: [-> { Post.preload(:nope).order(:id) }, false],
    nested_includes: [-> { Post.includes(comments: :commenter).order(:id) }, nil],
    eager_load: [-> { Post.eager_load(:author).order(:id) }, false],
    includes_and_references: [-> { Post.includes(:author).references(:author).order(:id) }, false],
    distinct: [-> { Post.joins(:comments).distinct.order(:id) }, false],
    select: [-> { Post.select(:id, :title, :author_id).order(:id) }, false],
    select_of_expressions: [-> { Post.select("posts.*, upper(title) AS title").order(:id) }, false],
    group: [-> { Post.group(:id).order(:id) }, false],
    from: [-> { Post.from(Post.where(id: ..3), :posts).order(:id) }, false],
    with: [-> { Post.with(few: Post.where(id: ..3)).joins("JOIN few ON few.id = posts.id").order(:id) }, false],
    lock: [-> { Post.lock.order(:id) }, false],
    readonly: [-> { Post.readonly.order(:id) }, true],
    strict_loading: [-> { Post.strict_loading.order(:id) }, false],
    annotate: [-> { Post.annotate("a note").order(:id) }, true],
    optimizer_hints: [-> { Post.optimizer_hints("SeqScan(posts)").order(:id) }, nil],
    create_with: [-> { Post.create_with(likes: 3).order(:id) }, true],
    extending: [-> { Post.order(:id).extending(Module.new { def records = super.first(2) }) }, false],
    extending_with_a_block: [-> { Post.order(:id).extending { def each(&block) = super.reverse_each(&block) } }, false],
    singleton_method: [-> { Post.order(:id).tap { |posts| def posts.each(&block) = super { |post| block.call(post) if post.id.even? } } }, false],
    scoping: [-> { Post.where(id: ..4).scoping { Post.order(:id) } }, true],
    unscoped: [-> { Post.where(id: ..4).scoping { Post.unscoped.order(:id) } }, true],
    merge: [-> { Post.order(:id).merge(Post.popular) }, true],
    rewhere_and_unscope: [-> { Post.where(id: 1).rewhere(id: [2, 3]).unscope(:order) }, true],
    skip_query_cache: [-> { Post.order(:id).skip_query_cache! }, true],
    load: [-> { Post.order(:id).load }, nil],
    load_async: [-> { Post.order(:id).load_async }, nil],
    to_a: [-> { Post.order(:id).to_a }, nil],
    array_of_one: [-> { [Post.find(3)] }, nil],
    empty_array: [-> { [] }, nil],
    nil: [-> {}, nil],
    array_with_nil: [-> { [Post.find(1), nil, Post.find(2)] }, nil],
    array_of_other_records: [-> { [Post.find(1), User.find(2)] }, nil],
    array_of_hashes: [-> { [{ id: 1, title: "t", likes: 2, comments: [], tags: [] }] }, nil],
    array_twice_the_same: [-> { [Post.find(1)] * 2 }, nil],
    changed: [-> { Post.order(:id).to_a.each { |post| post.assign_attributes(title: "changed", author_id: 2, likes: 9) } }, nil],
    changed_key: [-> { Post.order(:id).to_a.each { |post| post.id += 1 } }, nil],
    unsaved: [-> { [Post.new(id: 5, title: "new", author_id: 3)] }, nil],
    destroyed: [-> { Post.find(3).tap { |post| def post.destroyed? = true }.then { |post| [post] } }, nil],
    singleton_methods: [-> { Post.order(:id).to_a.each { |post| def post.title = "single" } }, nil],
    extended: [-> { Post.order(:id).to_a.each { |post| post.extend(Module.new { def likes = 77 }) } }, nil],
    narrowed: [-> { Post.select(:id, :title).order(:id).to_a }, nil],
    narrowed_relation: [-> { Post.select(:id, :title, "'x' AS body", :likes).order(:id).load }, nil],
    preloaded: [-> { Post.includes(:author, :comments).order(:id).to_a }, nil],
    cached_association: [-> { Post.order(:id).to_a.each { |post| post.author } }, nil],
    assigned_association: [-> { Post.order(:id).to_a.each { |post| post.author = User.new(name: "new") } }, nil],
    built_association: [-> { Post.order(:id).to_a.each { |post| post.comments.build(body: "built") } }, nil],
    filtered_target: [-> { Post.order(:id).to_a.each { |post| post.association(:comments).target = [Comment.find(1)] } }, nil],
    strict_records: [-> { Post.order(:id).to_a.each(&:strict_loading!) }, nil],
    proxy: [-> { User.find(5).posts }, nil],
    proxy_with_scope: [-> { User.find(5).commented_posts }, nil],
    proxy_through: [-> { Tag.find(1).posts }, nil],
    proxy_loaded: [-> { User.find(5).posts.load }, nil],
    proxy_with_built: [-> { User.find(5).tap { |user| user.posts.build(title: "built") }.posts }, nil],
    proxy_of_unsaved: [-> { User.new(id: 5).posts }, nil],
    proxy_of_changed: [-> { User.find(5).tap { |user| user.id = 2 }.posts }, nil],
    relation_of_a_proxy: [-> { User.find(5).posts.where(likes: 1..).order(:id) }, nil],
    relation_of_a_strict_owner: [-> { User.find(5).tap(&:strict_loading!).posts }, nil],
    find_by_sql: [-> { Post.find_by_sql("SELECT *, upper(title) AS title FROM posts ORDER BY id") }, nil],
    a_set: [-> { Post.order(:id).to_set }, nil],
    lazy_enumerator: [-> { Post.order(:id).each_entry }, nil],
    raises_in_the_where: [-> { Post.where("no_such = 1") }, nil],
    divides_by_zero: [-> { Post.where("1 / (likes - likes) = 1") }, nil],
    bytes_that_are_no_text: [-> { Post.where(title: "\xff") }, nil],
    a_nul: [-> { Post.where(title: "a\0b") }, nil],
    an_array_of_a_bind: [-> { Post.where("id = ?", Object.new) rescue Post.none }, nil]
  }.freeze

  ROOTS.each do |name, (root, planned)|
    define_method(:"test_#{name}") do
      schemas = schemas({ them: [[POSTS], root] })
      ["{ them #{SELECTION} }", "{ them { title } }", "{ them { id author { id posts { title } } } }"].each do |query|
        case planned
        when true then assert_plan(query, schemas)
        when false then assert_parity(query, schemas, aside: true)
        else assert_parity(query, schemas)
        end
      end
    end
  end

  # The same for one record.
  {
    found: -> { Post.find(1) }, changed: -> { Post.find(1).tap { |post| post.title = "x" } }, missing: -> {}, unsaved: -> { Post.new(title: "t", author_id: 1) },
    narrowed: -> { Post.select(:id).find(1) }, association: -> { Comment.find(1).post }, of_a_new_owner: -> { Comment.new(post_id: 2).post },
    destroyed: -> { Post.new(id: 1, title: "x").tap { |post| post.instance_variable_set(:@destroyed, true) } }, other_model: -> { User.find(5) },
    relation: -> { Post.where(id: 1) }, array: -> { [Post.find(1)] }, hash: -> { { title: "t" } }
  }.each do |name, root|
    define_method(:"test_one_#{name}") do
      schemas = schemas({ it: [POSTS, root] })
      assert_parity("{ it #{SELECTION} }", schemas)
      assert_parity("{ it { title } }", schemas)
    end
  end

  # What ActiveRecord's records know of their owners is the owner's own, and not what the database says of it.
  {
    of_a_changed_owner: -> { User.find(5).tap { |user| user.name = "changed" }.posts },
    of_an_updated_owner: -> { User.find(5).tap { |user| user.name = "changed" }.posts.order(:id) },
    of_a_narrowed_owner: -> { User.select(:id).find(5).posts },
    of_an_owner_with_methods: -> { User.find(5).tap { |user| def user.name = "single" }.posts.where(likes: 0..) }
  }.each do |name, root|
    define_method(:"test_inverse_#{name}") do
      schemas = schemas({ them: [[POSTS], root] })
      assert_parity("{ them { title author { name } } }", schemas)
      assert_parity("{ them { title author { posts { author { name } } } } }", schemas)
    end
  end

  def test_inverse_of_changed_records
    schemas = schemas({ them: [[USERS], -> { User.order(:id).to_a.each { |user| user.name = "changed" } }] })
    assert_parity("{ them { name posts { title author { name } } } }", schemas)
    assert_parity("{ them { name posts { author { name posts { title } } } } }", schemas)
    assert_parity("{ it { name posts { author { name } } } }", schemas({ it: [USERS, -> { User.find(5).tap { |user| user.name = "changed" } }] }))
  end

  def test_one_relation_of_several_fields
    schemas = schemas({ a: [[POSTS], ->(context) { context[:them] }], b: [[POSTS], ->(context) { context[:them] }], size: [Integer, ->(context) { context[:them].size }] })
    assert_parity("{ a { title } b { likes author { name } } size }", schemas, context: -> { { them: Post.order(:id) } })
    assert_parity("{ size a { title } b { likes } }", schemas, context: -> { { them: Post.order(:id) } })
  end

  def test_query_cache
    assert_plan("{ posts { title author { name } } again: posts { title author { name } } }", around: ->(run) { ActiveRecord::Base.cache(&run) })
    ActiveRecord::Base.connection_handler.clear_active_connections! # (nobody has one)
    ActiveRecord::Base.cache do
      first = pair.last.execute("{ posts { title author { name } } }").to_h
      first["data"]["posts"].each { |post| post["title"] << "!" }
      assert_equal "post 1", pair.last.execute("{ posts { title author { name } } }").to_h["data"]["posts"].first["title"]
    end
  end

  def test_in_transactions
    around = lambda do |run|
      ActiveRecord::Base.transaction do
        Post.where(id: 1).update_all(title: "inside")
        run.call
        raise ActiveRecord::Rollback
      end
    end
    assert_parity("{ posts { title author { name } comments { body } } }", pair, around: around)
  end

  def test_scoping_around_the_response
    around = ->(run) { User.where(id: ..3).scoping { Post.where(id: ..6).scoping { run.call } } }
    assert_plan("{ posts { title author { name posts { title } } } }", around: around)
    assert_plan("{ posts { title author { name posts { title } } } }")
  end

  def test_without_prepared_statements
    ActiveRecord::Base.establish_connection(TestDatabase.hash(prepared_statements: false))
    assert_plan("{ posts { title author { name } comments { body } topComments { body } tags { name } lastComment { body } attachments { name } } }")
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  # One field of several objects: of some it brings none, and the others' rows are written all the same.
  def test_null_an_error_or_none_for_some
    author = type("Author") { field :name, String }
    post = type("Post") do
      field :title, String
      field :writers, [author]
      def writers = [nil, GraphQL::ExecutionError.new("none of #{object.id}"), User.where(id: object.author_id), []][object.id % 4]
    end
    assert_plan("{ them { title writers { name } } }", schemas({ them: [[post], -> { Post.order(:id) }] }), made: [Post], errors: true)
  end

  def test_a_decorator
    decorator = Class.new(SimpleDelegator) do
      def is_a?(type) = super || __getobj__.is_a?(type)
      def title = "decorated"
    end
    schemas = schemas({ them: [[POSTS], -> { Post.order(:id).map { |post| decorator.new(post) } }], it: [POSTS, -> { decorator.new(Post.find(1)) }] })
    assert_parity("{ them { id title author { name } } it { title } }", schemas)
  end

  # As Draper's, which are their models to `case`.
  def test_a_decorator_that_claims_to_be_a_record
    decorator = Class.new(SimpleDelegator) { def is_a?(type) = super || __getobj__.is_a?(type); def title = "decorated" }
    model = Class.new(ActiveRecord::Base) { self.table_name = "posts" }
    schemas = schemas({ it: [type("Short") { field :title, String }, -> { decorator.new(model.find(1)) }], them: [[type("Short2") { field :title, String }], -> { [decorator.new(model.find(1))] }] })
    ActiveRecord::Base.singleton_class.class_eval do
      define_method(:===) { |other| super(other) || (decorator == other.class && equal?(ActiveRecord::Base)) }
    end
    assert_parity("{ it { title } them { title } }", schemas)
  ensure
    ActiveRecord::Base.singleton_class.send(:remove_method, :===)
  end

  private

  # @param aside [Boolean] whether records of the root must come to be
  def assert_parity(query, schemas, aside: false, around: :call.to_proc, **options)
    run = lambda do |schema|
      answer = nil
      given = options.transform_values { |it| it.is_a?(Proc) ? it.call : it }
      around.call(-> { answer = outcome { schema.execute(query, **given).to_h } })
      answer
    end
    plain = run.call(schemas.first)
    2.times do
      piped = nil
      records = instantiated { piped = run.call(schemas.last) }
      assert_equal text_of(plain), text_of(piped), query
      assert_includes records.keys, "Post" if aside && !plain.key?("errors")
    end
  end
end
