# frozen_string_literal: true

require_relative "projection_case"

class OptInTest < ProjectionCase
  def test_off_by_default
    refute Pipeloader.field_exact unless ENV["PIPELOADER_FIELD_EXACT"]
    assert_reads({ "works" => [nil], "writers" => [nil] }, "{ works { title writer { name } } }", Library.make(field_exact: false))
  end

  def test_for_all_schemas
    was, Pipeloader.field_exact = Pipeloader.field_exact, true
    assert_reads({ "works" => %w[id type title] }, "{ works { title } }", Library.make(field_exact: nil))
    assert_reads({ "works" => [nil] }, "{ works { title } }", Library.make(field_exact: false))
  ensure
    Pipeloader.field_exact = was
  end

  def test_for_a_type_and_those_that_inherit_from_it
    base = work_type("Exact") { pipeloader_field_exact!; field :writer, Library::Writer }
    heir = Class.new(base) { graphql_name("Heir") }
    [base, heir].each do |type|
      assert_reads({ "works" => %w[id type title writer_id], "writers" => [nil] }, "{ specials { title writer { name } } }", special(type, field_exact: nil))
    end
  end

  # Below a type that hasn't opted in.
  def test_for_one_type_of_several
    review = Class.new(Library::Base) { graphql_name("ExactReview"); pipeloader_field_exact!; field(:text, String) }
    work = work_type("WholeWork") { field :reviews, [review], null: false }
    assert_reads({ "works" => [nil], "reviews" => %w[id work_id text] }, "{ specials { title reviews { text } } }", special(work, field_exact: nil))
  end

  # A type that hasn't opted in is whole though nothing is asked of its records, and may say by `selects:` what it likes.
  def test_types_beside_one_that_has_opted_in
    genre = Class.new(Library::Base) do
      graphql_name "Genre"
      field :code, String, selects: %i[cod]
      def code = object.code
    end
    exact = work_type("ExactWork") { pipeloader_field_exact! }
    [exact, work_type("NoExactWork")].each do |type|
      pair = schemas(field_exact: nil) do
        field :kinds, [genre], null: false
        field :specials, [type], null: false
        def kinds = ::Genre.order(:id)
        def specials = ::Work.order(:id)
      end
      read = type.equal?(exact) ? %w[id type title] : nil
      assert_reads({ "works" => [read, nil].uniq, "genres" => [nil], "reviews" => [nil], "links" => [nil], "writers" => [nil] },
                   "{ specials { title } kinds { __typename code } reviews { __typename } links { target { ... on Writer { __typename } } } }", pair)
      assert_reads({ "genres" => [nil] }, "{ kinds { code @skip(if: true) } }", pair)
    end
  end

  # Of a schema where nobody has, records don't carry anything.
  def test_schema_beside_one_that_has_opted_in
    kept = nil
    schemas(field_exact: nil) do
      field :kept, [Library::Work], null: false
      define_method(:kept) { kept = ::Work.order(:id) }
    end.each { |schema| execute("{ kept { title writer { name } } }", schema) }
    assert_empty(kept.flat_map { |work| [work, *work.writer].flat_map(&:instance_variables) }.grep(/pipeloader/))
  end

  def test_a_schema_without_pipeloader
    type = work_type("Alone") { pipeloader_field_exact! }
    plain, = special(type)
    assert_equal [nil], selected { execute("{ specials { title } }", plain) }["works"]
  end

  def test_disabled
    assert_equal [nil], selected { Pipeloader.disabled { execute("{ works { title } }") } }["works"]
  end

  # Off, no method of a host is ours.
  def test_off_costs_nothing
    code = "require 'active_record'; require 'pipeloader'; ActiveRecord::Base; class S < GraphQL::Schema; use Pipeloader; end; " \
           "p [ActiveRecord::Relation, ActiveRecord::Associations::Association, GraphQL::Execution::Interpreter::Runtime].map { |it| it.ancestors.map(&:to_s).grep(/Projection/) }"
    assert_equal "[[], [], []]", IO.popen([RbConfig.ruby, "-I#{File.expand_path("../../lib", __dir__)}", "-e", code], &:read).strip
  end
end
