# frozen_string_literal: true

require_relative "projection_case"

class NarrowingTest < ProjectionCase
  def test_root_relation_and_belongs_to
    assert_reads({ "works" => %w[id type title writer_id], "writers" => %w[id name] }, "{ works { title writer { name } } }")
  end

  def test_keys_that_are_not_selected
    assert_reads({ "works" => %w[id type writer_id], "writers" => %w[id] }, "{ works { writer { id } } }")
  end

  def test_typename_reads_nothing
    assert_reads({ "reviews" => %w[id] }, "{ reviews { __typename } }")
  end

  def test_has_many
    assert_reads({ "works" => %w[id type], "reviews" => %w[id work_id text] }, "{ works { reviews { text } } }")
  end

  def test_has_many_without_a_scope
    assert_reads({ "writers" => %w[id], "works" => %w[id type title writer_id] }, "{ writers { plainWorks { title } } }")
  end

  def test_has_one
    assert_reads({ "works" => %w[id type], "covers" => %w[id work_id file] }, "{ works { cover { file } } }")
  end

  def test_has_many_through
    assert_reads({ "works" => %w[id type], "writers" => %w[id bio] }, "{ works { reviewers { bio } } }")
  end

  def test_has_and_belongs_to_many
    assert_reads({ "genres" => %w[id name], "works" => %w[id type title] }, "{ genres { name works { title } } }")
  end

  def test_polymorphic_belongs_to
    assert_reads({ "links" => %w[id target_type target_id], "writers" => %w[id bio], "works" => %w[id type title] },
                 "{ links { target { ... on Writer { bio } ... on Work { title } } } }")
  end

  def test_has_many_as
    assert_reads({ "writers" => %w[id], "links" => %w[id target_type target_id label] }, "{ writers { links { label } } }")
  end

  def test_self_referential
    assert_reads({ "clerks" => [%w[id desk chief_id], %w[id desk]] }, "{ clerks { desk chief { desk } } }")
  end

  class Deputy < ActiveRecord::Base
    self.table_name = "clerks"
    belongs_to :chief, class_name: "NarrowingTest::Deputy", optional: true
    has_one :head, through: :chief, source: :chief
  end

  def test_has_one_through
    type = Class.new(Library::Base) { graphql_name("Deputy"); field(:name, String); field(:desk, String); field(:head, self) }
    pair = schemas do
      field :deputies, [type], null: false
      def deputies = Deputy.order(:id)
    end
    assert_reads({ "clerks" => [%w[id name chief_id], %w[id desk chief_id]] }, "{ deputies { name head { desk } } }", pair)
  end

  def test_composite_keys
    assert_reads({ "shelves" => %w[hall number label], "boards" => %w[id hall number text] }, "{ shelves { label boards { text } } }")
  end

  # The board's shelf is the one that it was reached from.
  def test_inverse
    assert_reads({ "shelves" => %w[hall number label], "boards" => %w[id hall number text] }, "{ shelves { boards { text shelf { label } } } }")
  end

  def test_what_an_inverse_leads_to
    assert_reads({ "clerks" => [%w[id name chief_id], %w[id desk chief_id]] }, "{ clerks { clerks { chief { clerks { desk } name } } } }")
  end

  # Nothing is asked of the clerks of such a page, nor by what knows them.
  def test_inverse_of_a_connection_without_nodes
    type = Class.new(Library::Base) do
      graphql_name("PagedClerk")
      field(:name, String)
      field(:clerks, Library::Clerk.connection_type)
      field(:chief, self)
    end
    pair = schemas do
      field :paged_clerks, [type], null: false
      def paged_clerks = ::Clerk.order(:id)
    end
    assert_same_answer("{ pagedClerks { name chief { name clerks(first: 1) { pageInfo { hasNextPage } } } } }", pair)
  end

  def test_single_table_inheritance_keeps_the_type
    assert_reads({ "works" => %w[id type title] }, "{ works { title } }")
  end

  def test_relation_that_a_resolver_makes
    assert_reads({ "reviews" => %w[id work_id text] }, "{ works { sortedReviews { text } } }")
  end

  def test_scope_with_a_limit
    assert_reads({ "reviews" => %w[id work_id stars] }, "{ works { goodReviews { stars } } }")
  end

  def test_alias_attribute
    assert_reads({ "writers" => %w[id name] }, "{ writers { penName } }")
  end

  def test_enum_and_date_and_serialized_columns
    assert_reads({ "writers" => %w[id born_on kind], "works" => %w[id type options] }, "{ writers { kind bornOn } works { options } }")
  end

  def test_attribute_without_a_column
    assert_reads({ "works" => %w[id type] }, "{ works { rank } }")
  end

  def test_all_columns
    board = work_type("Board", Library::Base) { own_fields.clear; field(:text, String); field(:wood, String); field(:hall, Integer); field(:number, Integer) }
    pair = schemas do
      field :boards, [board], null: false
      def boards = ::Board.order(:id)
    end
    assert_reads({ "boards" => [%w[id hall number text]] }, "{ boards { text hall number } }", pair)
    assert_reads({ "boards" => [nil] }, "{ boards { text wood hall number } }", pair)
  end

  def test_interface
    assert_reads({ "clerks" => [nil], "writers" => [nil] }, "{ named { name } }")
    type = Library::Named
    pair = schemas do
      field :authors, [type], null: false
      def authors = ::Writer.order(:id)
    end
    assert_reads({ "writers" => %w[id name email] }, "{ authors { name ... on Writer { email } } }", pair)
  end

  # Types are asked for as they are, and not as somebody sees them.
  # Without `preload:`, graphql 2.5.2 asks Rails.env, which isn't there where ActionView alone has defined Rails.
  def test_under_schema_visibility
    pair = Library.make { use(GraphQL::Schema::Visibility, dynamic: true, preload: nil) }
    assert_reads({ "links" => %w[id target_type target_id], "writers" => %w[id bio], "works" => %w[id type title] },
                 "{ links { target { ... on Writer { bio } ... on Work { title } } } }", pair)
  end if defined?(GraphQL::Schema::Visibility)

  # An argument of the resolver's: its relation is narrowed, whatever it was made of.
  def test_resolver_with_arguments
    assert_reads({ "works" => %w[id type title] }, "{ works(limit: 3) { title } }")
  end

  def test_single_record_that_a_resolver_loads_is_whole_and_what_it_leads_to_is_narrowed
    assert_reads({ "works" => [nil], "writers" => %w[id name], "reviews" => %w[id work_id text] },
                 "{ work(id: 3) { title writer { name } reviews { text } } }")
  end

  def test_loaded_records
    assert_reads({ "works" => [nil], "writers" => [nil], "reviews" => %w[id work_id text] }, "{ loaded { writer { name } reviews { text } } }")
  end
end
