# frozen_string_literal: true

require_relative "../support/pages"

# Pages from the end (`last`, `before`), and what `first` and `last` together come to, by plans.
class BackwardPagesTest < PageTest
  MADE = { "{ story" => [Story], "{ loud" => [Story] }.freeze
  INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
  BELOWS = [ALL, NODES, "nodes { id } #{INFO}", "edges { cursor node { body } }"].freeze

  # There are from none to six comments of a story.
  SIZES = [nil, 0, 1, 3, 100].freeze
  CURSORS = [nil, 1, 2, 5, 30].freeze

  def pair = @pair ||= make_schemas

  def given(**arguments)
    text = arguments.compact.map { |name, value| "#{name}: #{%i[after before].include?(name) ? cursor(value).inspect : value}" }.join(", ")
    text.empty? ? "" : "(#{text})"
  end

  # Both schemas' answer, by a plan: cold, and as code.
  def assert_pages(given, below = ALL, schemas = pair, places: 0..5, **options)
    forms(given, below)[places].each do |query|
      next assert_plan(query, schemas, aside: Story, **options) if query.start_with?("{ loud") && Engine::NEXT

      assert_plan(query, schemas, made: MADE.fetch(query[/\A\{ \w+/], []), **options)
    end
  end

  def test_stories_have_different_numbers_of_comments
    counts = Story.order(:id).map { |story| story.comments.size }
    assert_operator counts.uniq.size, :>, 3
    assert_includes counts, 0
  end

  def test_everywhere
    ["(last: 2)", "(before: \"#{cursor(3)}\")", "(first: 5, last: 2)", "(last: 1, after: \"#{cursor(1)}\")", "(first: 0)", "(last: 0)", "(first: -1)", "(last: -3)"].product(BELOWS).each do |given, below|
      assert_pages(given, below)
    end
  end

  # Of many owners, and at the root.
  SIZES.product(SIZES).each do |first, last|
    define_method(:"test_first_#{first || "none"}_last_#{last || "none"}") do
      CURSORS.product(CURSORS).each_with_index do |(after, before), index|
        given = given(first: first, last: last, after: after, before: before)
        query = forms(given, BELOWS[index % BELOWS.size])[[0, 3][index % 2]]
        2.times { text_of_both(query) }
      end
    end
  end

  # With both, graphql-ruby's `hasNextPage` depends on what was asked for before it.
  def test_first_and_last_in_every_order
    fields = ["nodes { id }", "pageInfo { hasNextPage }", "b: pageInfo { hasPreviousPage hasNextPage startCursor }", "c: pageInfo { endCursor hasNextPage }"]
    [given(first: 3, last: 1), given(first: 2, last: 2), given(first: 1, last: 5), given(first: 3, last: 1, after: 1), given(first: 3, last: 1, before: 5)].each do |given|
      fields.permutation { |order| forms(given, order.join(" ")).values_at(0, 3).each { |query| text_of_both(query) } }
    end
    assert_pages(given(first: 3, last: 1), "nodes { id } #{INFO}")
    forms(given(first: 3, last: 1), "#{INFO} nodes { id }").values_at(0, 2).each { |query| assert_plan(query, aside: Story) }
  end

  VARIABLES = "query q($first: Int, $after: String, $last: Int, $before: String, $more: Boolean = true) { FIELD(first: $first, after: $after, last: $last, before: $before) " \
              "{ edges { cursor node { id } } pageInfo @include(if: $more) { hasNextPage hasPreviousPage endCursor } } }"

  def test_variables
    values = [{}, { last: 2 }, { last: 2, more: false }, { before: cursor(3) }, { first: 3, last: 1 }, { first: nil, last: nil, before: nil }, { last: 2, before: cursor(4) }, { last: 0 }, { first: 0 }, { last: -1 }]
    [VARIABLES.sub("FIELD", "many"), VARIABLES.sub("FIELD", "stories { comments").sub(/\z/, " }")].each do |query|
      values.each { |variables| assert_plan(query, variables: variables.transform_keys(&:to_s)) }
      values.reverse_each { |variables| text_of_both(query, variables: variables.transform_keys(&:to_s)) }
    end
  end

  # What graphql-ruby says of it.
  def test_foreign_cursors
    ["!", "", "MA", cursor(0), cursor(-3), cursor("x"), cursor(2**62), cursor((2**63) - 1), cursor(10**30)].each do |text|
      ["before: #{text.inspect}", "before: #{text.inspect}, last: 2", "after: #{text.inspect}, last: 2", "after: #{text.inspect}, first: 5, last: 2",
       "after: #{text.inspect}, before: #{text.inspect}"].each do |given|
        forms("(#{given})", ALL).values_at(0, 3).each { |query| 3.times { text_of_both(query) } }
      end
    end
  end

  def test_page_sizes
    [{ max_page_size: 2 }, { default_page_size: 3 }, { default_page_size: 5, max_page_size: 2 }, { max_page_size: nil }, { max_page_size: 0 }, { default_page_size: 0 }].each do |sizes|
      schemas = make_schemas(options: sizes, root_options: sizes)
      [given(last: 1), given(last: 4), given(before: 4), given(last: 10, after: 1), given(first: 4, last: 3), given(before: 3, last: 1)].each do |given|
        assert_pages(given, ALL, schemas, places: 0..0)
        assert_pages(given, ALL, schemas, places: 3..3)
      end
    end
  end

  def test_page_sizes_of_the_schema
    schemas = make_schemas
    schemas.each { |schema| schema.default_max_page_size(2); schema.default_page_size(1) }
    [given(last: 1), given(last: 4), given(before: 4), given(first: 4, last: 1)].each { |given| assert_pages(given, ALL, schemas) }
  end

  # Before cursors were places (graphql 2.6), that of a row which is there twice was the first one's: joined rows are graphql-ruby's.
  POSITIONAL = GraphQL::Pagination::Connection::Edge.method_defined?(:graphql_connection_position)

  # Nulls, and comments of the same score.
  ORDERS = {
    nulls: -> { def comments = object.comments.reorder(:commenter_id, :id) },
    nulls_last: -> { def comments = object.comments.reorder("commenter_id DESC NULLS LAST", id: :desc) },
    where: -> { def comments = object.comments.where("score > 2") },
    scope: -> { def comments = object.comments.scored(4) },
    bare: -> { def comments = object.bare },
    joins: -> { def comments = object.comments.joins(:commenter) },
    nothing: -> { def comments = object.comments.where(score: 100..) }
  }.freeze
  ARGUMENTS = [{ last: 2 }, { last: 2, after: 1 }, { before: 3 }, { last: 0 }, { first: 3, last: 2 }, { last: 2, before: 4 }].freeze

  ORDERS.each do |name, body|
    define_method(:"test_order_#{name}") do
      schemas = make_schemas(root: -> { Remark.order(:score, :id) }, &body)
      ARGUMENTS.product(BELOWS) do |arguments, below|
        next assert_pages(given(**arguments), below, schemas, places: 0..1) if POSITIONAL || name != :joins

        forms(given(**arguments), below).first(2).each { |query| text_of_both(query, schemas) }
      end
    end
  end

  # PostgreSQL may say which of those that are equal comes first, but no more than that.
  def test_ties
    schemas = make_schemas(root: -> { Remark.order(:score) }) { def comments = object.comments.reorder(:score) }
    ARGUMENTS.each { |arguments| assert_pages(given(**arguments), "edges { cursor node { score } } #{INFO}", schemas) }
  end

  def test_through
    tag = type("Tag") { field :name, String }
    schemas = make_schemas { field :tags, tag.connection_type; def tags = object.tags.order(:name, :id) }
    [given(last: 1), given(last: 2, after: 1), given(before: 3), given(first: 2, last: 1)].each do |given|
      query = "{ stories { id tags#{given} { edges { cursor node { name } } #{INFO} } } }"
      POSITIONAL ? assert_plan(query, schemas) : text_of_both(query, schemas)
    end
  end

  def test_method_with_arguments
    schemas = make_schemas do
      field(:high, Comment.connection_type) { argument :least, Integer, required: false }
      def high(least: 3) = object.comments.where("score >= ?", least)
    end
    ["(last: 2)", "(last: 2, least: 1)", "(least: 2, last: 1, after: \"#{cursor(1)}\")", "(before: \"#{cursor(2)}\", least: 4)", "(last: 1, least: $n)"].each do |given|
      query = "query#{"($n: Int)" if given.include?("$")} { stories { id high#{given} { #{ALL} } } }"
      [1, 4].each { |n| assert_plan(query, schemas, variables: { "n" => n }) }
    end
  end

  def test_connections_in_connections
    schemas = nested_schemas
    below = "{ name stories(last: 2) { nodes { title comments(last: 1) { edges { cursor node { body } } #{INFO} } } #{INFO} } }"
    assert_plan("{ authors #{below} }", schemas)
    assert_equal 3, WireCounter.events("sql.active_record") { schemas.last.execute("{ authors #{below} }") }.size
  end

  Counted = type("CountedConnection", GraphQL::Types::Relay::BaseConnection) do
    edge_type Comment.edge_type
    field :total_count, Integer, null: false
    def total_count = object.items.size
  end

  def test_with_totals
    schemas = make_schemas(connection: Counted)
    [given(last: 2), given(last: 2, after: 1), given(before: 3), given(first: 0), given(last: 0), given(first: 3, last: 1)].each do |given|
      assert_pages(given, "totalCount nodes { id body } #{INFO}", schemas)
    end
  end

  Owned = type("OwnedConnection", GraphQL::Types::Relay::BaseConnection) do
    edge_type Comment.edge_type
    field :failing, Integer
    field :first_body, String
    field :total, Integer
    def failing = raise(GraphQL::ExecutionError, "failing")
    def first_body = object.nodes.first&.body
    def total = object.items.unscope(:order).count
  end

  def test_beside_fields_of_its_own
    schemas = make_schemas(connection: Owned)
    fields = ["nodes { id }", INFO, "failing", "firstBody", "total"]
    [given(last: 2), given(before: 3), given(first: 3, last: 1), given(last: 0)].each do |given|
      fields.permutation(3) { |order| forms(given, order.join(" ")).values_at(0, 3).each { |query| text_of_both(query, schemas) } }
    end
  end

  # The same statement for all owners counts, and brings their pages; for one relation, as graphql-ruby does it.
  STATEMENTS = {
    "{ stories { id comments(last: 2) { nodes { id } #{INFO} } } }" => 2,
    "{ stories { id comments(before: \"Mw\", last: 1) { nodes { id } #{INFO} } } }" => 2,
    "{ stories { id comments(first: 3, last: 1) { nodes { id } #{INFO} } } }" => 2,
    "{ stories { id comments(first: 0) { nodes { id } } } }" => 1,
    "{ stories { id comments(first: 0) { nodes { id } pageInfo { hasNextPage } } } }" => 2,
    "{ many(last: 2) { nodes { id commenter { name } } #{INFO} } }" => 3,
    "{ many(last: 2, before: \"Mw\") { nodes { id } #{INFO} } }" => 1,
    "{ many(first: 0) { nodes { id } } }" => 0
  }.freeze

  STATEMENTS.each_with_index do |(query, count), index|
    define_method(:"test_statements_#{index}") do
      pair.last.execute(query)
      bursts = nil
      statements = WireCounter.events("sql.active_record") { bursts = WireCounter.events("burst.pipeloader") { pair.last.execute(query) } }
      assert_equal count, statements.size, statements.map { |it| it[:sql] }.join("\n")
      assert_operator bursts.size, :<=, count
    end
  end

  def test_only_the_page_is_read
    query = "{ stories { id comments(last: 1) { nodes { id commenter { name } } #{INFO} } } }"
    events = WireCounter.events("sql.active_record") { pair.last.execute(query) }
    shown = Story.order(:id).filter_map { |story| story.comments.last&.commenter_id }.uniq
    assert_equal shown.sort, PG::TextDecoder::Array.new.decode(events.last[:binds].first.value).map(&:to_i).sort
  end

  # A page is prepared once, whatever numbers it is asked for with.
  def test_one_text_for_all_numbers
    texts = [1, 2, 3].map do |last|
      WireCounter.events("sql.active_record") { pair.last.execute("{ stories { comments(last: #{last}) { nodes { id } } } }") }.last[:sql]
    end
    assert_equal 1, texts.uniq.size, texts.join("\n")
  end

  def test_what_does_not_fit
    strict = type("Strict") { field :id, GraphQL::Types::ID; field :commenter_id, GraphQL::Types::Int, null: false; field :body, String }
    schemas = make_schemas(strict)
    [given(last: 3), given(before: 5)].each do |given|
      forms(given, "edges { node { id commenterId } cursor } pageInfo { hasNextPage }").each { |query| text_of_both(query, schemas) }
    end
    failing = make_schemas(root: -> { Remark.where("1 / (id - id) > 0").order(:id) }) { def comments = object.comments.where("1 / (comments.id - comments.id) > 0") }
    forms("(last: 2)", ALL).each { |query| assert_includes text_of_both(query, failing), "errors" }
    broken = make_schemas(root: -> { Remark.order(Arel.sql("nowhere")) }) { def comments = object.comments.order(Arel.sql("nowhere")) }
    forms("(last: 2)", ALL).each { |query| assert_includes text_of_both(query, broken), "errors" }
    forms("(first: 0)", ALL).each { |query| text_of_both(query, broken) }
    [-> { Remark.joins(:nowhere) }, -> { Remark.where(Remark.arel_table[:id].eq(Arel::Nodes::Equality.new(Object.new, Object.new))) }].each do |root|
      unmade = make_schemas(root: root)
      ["(last: 2)", given(before: 3), "(first: 0)"].each { |given| text_of_both("{ many#{given} { #{ALL} } }", unmade) }
    end
  end

  # A count of the model's own, or of its relation's.
  class Miscounted < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :commenter, class_name: "User", optional: true
    module Wrong
      def count(*) = 3
    end
    relation_delegate_class(ActiveRecord::AssociationRelation).include(Wrong)
    relation_delegate_class(ActiveRecord::Relation).include(Wrong)
  end

  class Told < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, -> { order(:id) }, foreign_key: :post_id, class_name: "BackwardPagesTest::Miscounted"
  end

  def test_a_count_of_the_application_s
    story = type("Story") { field :id, GraphQL::Types::ID; field :comments, Comment.connection_type }
    schemas = schemas({ stories: [[story], -> { Told.order(:id) }], many: [Comment.connection_type, -> { Miscounted.order(:id) }] })
    ["{ stories { id comments(last: 2) { #{ALL} } } }", "{ many(last: 2) { #{ALL} } }"].each { |query| 2.times { text_of_both(query, schemas) } }
  end

  def test_in_a_transaction_and_a_query_cache
    forms("(last: 2)", ALL).each do |query|
      2.times { ActiveRecord::Base.cache { text_of_both(query) } }
      ActiveRecord::Base.transaction { text_of_both(query) }
      Remark.where(score: 4..).scoping { text_of_both(query) }
    end
  end

  def test_field_exact_and_without_coalescing
    [{ field_exact: true }, { coalesce: false }].each { |options| ["(last: 2)", given(before: 3)].each { |given| assert_pages(given, ALL, make_schemas(pipeloader: options)) } }
  end

  def test_without_prepared_statements
    config = ActiveRecord::Base.connection_db_config.configuration_hash
    ActiveRecord::Base.establish_connection(**config, prepared_statements: false)
    ["(last: 2)", given(last: 2, after: 1), given(before: 3)].each { |given| assert_pages(given) }
  ensure
    ActiveRecord::Base.establish_connection(**config)
  end

  def test_threads
    query = "query q($last: Int) { stories { comments(last: $last) { edges { cursor node { id } } pageInfo { hasPreviousPage } } } }"
    answers = (0..5).map { |last| pair.first.execute(query, variables: { "last" => last }).to_h }
    found = 4.times.map { Thread.new { (0..5).map { |last| pair.last.execute(query, variables: { "last" => last }).to_h } } }
    found.each { |thread| assert_equal answers, thread.value }
  end

  def test_nodes_selected_twice
    ["nodes { id } edges { node { body } }", "a: nodes { id } b: nodes { id }"].each do |below|
      forms("(last: 2)", below).each { |query| text_of_both(query) }
    end
  end

  def test_explained
    told = Pipeloader.explain(pair.last, "{ stories { comments(last: 2) { nodes { id } } } many(before: \"Mw\") { nodes { id } } }")
    refute_includes told.to_s, "by graphql-ruby"
  end
end
