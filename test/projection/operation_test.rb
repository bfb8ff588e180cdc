# frozen_string_literal: true

require_relative "projection_case"

class OperationTest < ProjectionCase
  def test_aliases_of_one_association_are_united
    assert_reads({ "works" => %w[id type writer_id], "writers" => %w[id name bio] }, "{ works { a: writer { name } b: writer { bio } } }")
  end

  def test_aliases_of_one_relation_are_apart
    assert_reads({ "works" => [%w[id type title], %w[id type body]] }, "{ a: works { title } b: works { body } }")
  end

  def test_fragments
    assert_reads({ "works" => %w[id type title writer_id], "writers" => %w[id name bio] }, <<~GRAPHQL)
      { works { ...f ... on Work { writer { bio } } ... { title } } } fragment f on Work { writer { ...g } } fragment g on Named { name }
    GRAPHQL
  end

  def test_merged_fields
    assert_reads({ "works" => %w[id type title body] }, "{ works { title } ...f } fragment f on Query { works { body } }")
  end

  def test_skip_and_include
    query = "query($a: Boolean!, $b: Boolean = true) { works { title @include(if: $a) body @skip(if: $b) writer @include(if: $a) { name } } }"
    document = GraphQL.parse(query)
    2.times do
      { { "a" => true } => %w[id type title writer_id], { "a" => false, "b" => false } => %w[id type body], { "a" => false } => %w[id type] }.each do |variables, columns|
        Library.pair.map { |schema| execute(nil, schema, document: document, variables: variables) }.then { |plain, exact| assert_equal plain, exact }
        assert_equal [columns], selected { execute(nil, document: document, variables: variables) }["works"]
      end
    end
  end

  def test_literal_conditions
    assert_reads({ "works" => %w[id type title] }, "{ works { title body @skip(if: true) summary @include(if: false) } }")
  end

  def test_multiplex
    queries = ["{ works { title } }", "{ works { body } writers { name } }"].map { |query| { query: query } }
    assert_equal(*Library.pair.map { |schema| schema.multiplex(queries).map(&:to_h) })
    assert_equal [%w[id type body], %w[id type title]], selected { Library.pair.last.multiplex(queries) }["works"].sort
  end

  def test_several_operations_in_a_document
    query = "query A { works { title } } query B { works { body } }"
    %w[A B].zip(%w[title body]) { |name, column| assert_reads({ "works" => ["id", "type", column] }, query, operation_name: name) }
  end

  # What is known of a document is looked up.
  def test_once_per_document
    document = GraphQL.parse("{ works { title writer { name } } }")
    execute(nil, document: document)
    made = 0
    counter = TracePoint.new(:call) { |point| made += 1 if point.method_id == :initialize && [Pipeloader::ModelDemand, Pipeloader::Footprint, Pipeloader::Demand].include?(point.defined_class) }
    counter.enable { execute(nil, document: document) }
    assert_equal 0, made
  end

  def test_one_relation_in_two_fields
    pair = schemas do
      field :same, [Library::Work], null: false
      def same = context[:same] ||= ::Work.order(:id)
    end
    assert_same_answer("{ a: same { title writer { name } } b: same { body writer { bio } } }", pair)
  end

  def test_a_record_by_two_paths
    assert_same_answer("{ clerks { desk chief { name clerks { chief { desk } } } clerks { name chief { chief { name desk } } } } }", Library.pair)
  end

  # What both ask of them, is asked once.
  def test_the_same_records_in_two_fields
    pair = schemas do
      field :same, [Library::Work], null: false
      def same = context[:same] ||= Pipeloader.without_parking { ::Work.order(:id).to_a }
    end
    assert_reads({ "works" => [nil], "writers" => %w[id name bio], "reviews" => %w[id work_id text stars] },
                 "{ a: same { writer { name } reviews { text } } b: same { writer { bio } reviews { stars } } }", pair)
  end

  def test_query_partial
    skip_reason = "this graphql has no Query::Partial"
    skip(skip_reason) unless GraphQL::Query.method_defined?(:run_partials)
    answers = Library.pair.map do |schema|
      query = GraphQL::Query.new(schema, "{ works { title reviews { text } } }")
      query.run_partials([{ path: ["works"], object: ::Work.order(:id) }, { path: ["works", 0], object: ::Work.first }]).map(&:to_h)
    end
    assert_equal(*answers)
  end

  # What may be read, and whose records are strict in turn, is as it was.
  def test_strict_loading
    kept = nil
    pair = schemas do
      field :strict, [Library::Work], null: false
      field :n_plus_one, [Library::Writer], null: false
      def strict = ::Work.strict_loading.order(:id).limit(2)
      define_method(:n_plus_one) { kept = ::Writer.order(:id).each { |writer| writer.strict_loading!(mode: :n_plus_one_only) } }
    end
    errors = pair.map { |schema| assert_raises(ActiveRecord::StrictLoadingViolationError) { execute("{ strict { title writer { name } } }", schema) } }
    assert_equal(*errors.map(&:message))
    strict = pair.map do |schema|
      execute("{ nPlusOne { plainWorks { title } works { title } } }", schema)
      kept.map { |writer| [writer.plain_works, writer.works].map { |them| them.map(&:strict_loading?) } }
    end
    assert_equal(*strict)
    assert_includes strict.flatten, true
  end

  class StrictReview < ActiveRecord::Base
    self.table_name = "reviews"
    self.strict_loading_by_default = true
  end

  class LenientWork < ActiveRecord::Base
    self.table_name = "works"
    self.inheritance_column = nil
    has_many :strict_reviews, class_name: "OperationTest::StrictReview", foreign_key: :work_id, inverse_of: false
    has_one :strict_review, -> { order(:id) }, class_name: "OperationTest::StrictReview", foreign_key: :work_id, inverse_of: false
  end

  # Then ActiveRecord has a statement of its own for an association, and Pipeloader a relation.
  def test_strict_loading_without_prepared_statements
    kept = nil
    work = Class.new(GraphQL::Schema::Object) do
      graphql_name "LenientWork"
      field :strict_reviews, [Library::Review]
      field :strict_review, Library::Review
    end
    pair = schemas do
      field :lenient, [work], null: false
      define_method(:lenient) { kept = LenientWork.order(:id).to_a }
    end
    strict = pair.map do |schema|
      ActiveRecord::Base.connection.unprepared_statement { execute("{ lenient { strictReviews { text } strictReview { text } } }", schema) }
      kept.map { |work| [*work.strict_reviews, *work.strict_review].map(&:strict_loading?) }
    end
    assert_equal(*strict)
    refute_empty strict.first.flatten
  end

  def test_a_document_that_is_frozen
    document = GraphQL.parse("{ works { title } }")
    document.freeze
    assert_equal(*Library.pair.map { |schema| execute(nil, schema, document: document) })
  end
end
