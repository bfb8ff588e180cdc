# frozen_string_literal: true

require_relative "../support/pages"

# Connections with a field that says how many there are on all pages.
class CountedPagesTest < PageTest
  # @return [Class] a connection type whose fields are the block's
  def self.counted(name, &block)
    Class.new(GraphQL::Types::Relay::BaseConnection) do
      graphql_name "#{name}Connection"
      edge_type Comment.edge_type
      class_eval(&block)
    end
  end

  Counted = counted("Counted") do
    field :total_count, Integer, null: false
    field :number, String
    def total_count = object.items.size
    def number = object.items.count
  end
  BELOW = ["totalCount nodes { id body }", "number edges { cursor node { id commenter { name } } } totalCount pageInfo { hasNextPage endCursor }",
           "a: totalCount __typename b: totalCount nodes { id } c: totalCount"].freeze
  PLACES = ["", "(first: 2)", "(first: 2, after: \"MQ\")", "(after: \"Mg\")"].freeze

  def pair = @pair ||= make_schemas(connection: Counted)

  def test_everywhere
    PLACES.product(BELOW).each { |given, below| forms(given, below).each { |query| text_of_both(query) } }
  end

  def test_no_records_are_made
    queries = forms("(first: 2)", BELOW[0]).values_at(0, 3, 4) + forms("", BELOW[1]).values_at(0, 3, 5)
    queries.each { |query| assert_plan(query) }
  end

  def test_one_statement_counts_for_all_owners_in_the_burst_of_the_page
    queries = { "{ stories { id comments(first: 2) { totalCount nodes { id } } } }" => [1, 2], "{ many(first: 2) { totalCount nodes { id } } }" => [2] }
    queries.each do |query, statements|
      pair.last.execute(query) # (what is new is prepared first)
      assert_equal statements, WireCounter.events("burst.pipeloader") { pair.last.execute(query) }.map { |it| it[:statements] }
    end
  end

  def test_without_comments_there_are_none
    assert_equal [0], assert_plan("{ stories { comments { totalCount nodes { id } } } }").dig("data", "stories").map { |it| it["comments"]["totalCount"] }.uniq & [0]
  end

  # (graphql 2.5.2 lets what a scalar raises leave the response under any dataloader.)
  OLD = GraphQL::VERSION.start_with?("2.5.")

  # {what a resolver gives to the connection => whether it is a plan's}
  ROOTS = {
    -> { Remark.order(:id) } => true, -> { Remark.where("score > 2") } => true, -> { Remark.none } => false,
    -> { Remark.order(:id).limit(3) } => false, -> { Remark.order(:id).load } => false, **(OLD ? {} : { -> { Remark.group(:id) } => false }),
    -> { Remark.joins(:commenter).order(:id) } => :any, -> { Story.find(3).comments } => true, -> { Story.find(3).comments.scored } => true,
    -> { Story.find(3).comments.tap(&:load) } => false, -> { Remark.select(:id, :body, :commenter_id).distinct } => false,
    -> { Remark.includes(:commenter).order(:id) } => true, -> { Remark.order(:id).extend(Module.new { def size = 99 }) } => false
  }.freeze

  def test_roots
    ROOTS.each do |root, planned|
      schemas = make_schemas(connection: Counted, root: root)
      BELOW.each do |below|
        2.times { text_of_both("{ many(first: 2) { #{below} } }", schemas) }
        next if planned == :any

        records = instantiated { schemas.last.execute("{ many(first: 2) { #{below} } }") }
        assert_equal planned, !records.key?(Remark.name), "#{root.source_location} #{below}" unless records.empty? && !planned
      end
    end
  end

  def test_fields_of_the_type_s_own
    [["where", -> { object.items.where(score: 3).count }], ["again", -> { object.items.to_a.size }], ["nodes", -> { object.nodes.size }],
     ["sum", -> { object.items.sum(:score) }], ["argument", -> { object.items.count(:score) }], ["context", -> { context[:more].to_i + object.items.size }],
     ["block", -> { object.items.count { |it| it.score == 3 } }]].each do |name, code|
      connection = CountedPagesTest.counted(name.capitalize) { field :total_count, Integer; define_method(:total_count, &code) }
      schemas = make_schemas(connection: connection)
      forms("(first: 2)", BELOW[0]).values_at(0, 2, 3, 4).each { |query| text_of_both(query, schemas, context: { more: 1 }) }
    end
  end

  def test_chains_with_arguments
    schemas = make_schemas(connection: Counted) do
      field :high, Counted do
        argument :least, Integer, required: false
      end
      def high(least: 3) = object.comments.where("score >= ?", least)
      field :scored, Counted
      def scored = object.comments.scored.order(score: :desc)
    end
    ["high(first: 1)", "high(least: 2)", "high(least: $n, first: $n)", "scored(first: 2)"].each do |field|
      query = "query(#{"$n: Int" if field.include?("$")}) { stories { #{field} { totalCount nodes { id } } } }".sub("query()", "query")
      text_of_both(query, schemas, variables: { "n" => 4 })
      text_of_both(query, schemas, variables: { "n" => 1 })
      assert_plan(query, schemas, variables: { "n" => 2 })
    end
  end

  def test_beside_fields_that_are_graphql_rubys
    connection = CountedPagesTest.counted("Mixed") do
      field :total_count, Integer
      field :mine, Integer
      def total_count = object.items.size
      def mine = object.items.to_a.sum(&:id)
    end
    schemas = make_schemas(connection: connection)
    forms("(first: 2)", "totalCount mine nodes { id }").each { |query| text_of_both(query, schemas) }
    forms("(first: 2)", "nodes { id } totalCount mine").each { |query| text_of_both(query, schemas) }
  end

  def test_numbers_out_of_range_and_nulls
    small = Class.new(GraphQL::Schema::Enum) { graphql_name "Small"; value "THREE", value: 3 }
    [*(small unless OLD), GraphQL::Types::Float, GraphQL::Types::ID, GraphQL::Types::Boolean, GraphQL::Types::BigInt, [Integer]].each_with_index do |kind, index|
      connection = CountedPagesTest.counted("Kind#{index}") { field :total_count, kind, null: false; def total_count = object.items.size }
      schemas = make_schemas(connection: connection)
      forms("(first: 2)", BELOW[0]).values_at(0, 3, 4).each { |query| text_of_both(query, schemas) }
    end
  end

  # Its counter says how many there are, until it is loaded.
  class Cached < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, -> { order(:id) }, foreign_key: :post_id, class_name: "CountedPagesTest::CachedRemark", inverse_of: :story
    attribute :comments_count, :integer, default: 77
  end

  class CachedRemark < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :story, foreign_key: :post_id, class_name: "CountedPagesTest::Cached", counter_cache: :comments_count
  end

  def test_counter_caches
    story = type("Story") { field :id, GraphQL::Types::ID; field :comments, Counted }
    roots = { stories: [[story], -> { Cached.order(:id) }], many: [Counted, -> { Cached.find(3).comments }] }
    schemas = schemas(roots)
    ["totalCount", "number", "totalCount number"].each do |counts|
      ["{ stories { comments(first: 1) { #{counts} nodes { id } } } }", "{ many(first: 1) { #{counts} nodes { id } } }"].each { |query| text_of_both(query, schemas) }
    end
  end

  def test_failing_counts
    roots = [-> { Remark.order(:id).where("1 / (score - 3) > 0") }, -> { Remark.order(Arel.sql("1 / (score - 3)")) }, -> { Remark.from("nowhere") }]
    roots.each do |root|
      schemas = make_schemas(connection: Counted, root: root)
      BELOW.each { |below| text_of_both("{ many(first: 2) { #{below} } }", schemas) }
    end
  end

  def test_explained
    told = Pipeloader.explain(pair.last, "{ stories { comments(first: 2) { totalCount nodes { id } } } many { number nodes { id } } }")
    refute_includes told.to_s, "by graphql-ruby (CountedConnection"
    assert_includes told.to_s, "totalCount: compiled"
  end
end
