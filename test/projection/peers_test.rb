# frozen_string_literal: true

require_relative "projection_case"

# What users of other projects' projections ran into (facts: Strawberry-Django, Hot Chocolate, graphql-ruby).
class PeersTest < ProjectionCase
  # strawberry-django#862: `only` dropped the foreign key, and each parent was asked for again.
  def test_foreign_key_is_kept
    assert_reads({ "works" => %w[id type writer_id], "writers" => %w[id name] }, "{ works { writer { name } } }")
    assert_round_trips(2) { execute("{ works { writer { name } } }") }
  end

  # strawberry-django#905: a column that wasn't fetched raised KeyError.
  def test_column_that_was_not_fetched
    assert_reads({ "works" => [%w[id type title], nil] }, "{ works { hidden } }", misses: 1)
  end

  # strawberry-django#869: hints were lost in one-to-one relations.
  def test_one_to_one
    assert_reads({ "works" => [%w[id type title]], "covers" => %w[id work_id file] }, "{ works { title cover { file work { title } } } }")
  end

  # strawberry#3329, strawberry-django-plus#154: properties of the model.
  def test_property_of_the_model
    assert_reads({ "writers" => [%w[id name email]] }, "{ writers { initials } }")
  end

  # strawberry-django#588: a record that was refreshed.
  def test_refresh
    assert_behaves { |works| works.map { |work| work.reload.body } }
  end

  # hotchocolate#10034: fields that only resolvers need were dropped.
  def test_fields_that_only_a_resolver_needs
    assert_reads({ "works" => %w[id type body] }, "{ works { excerpt } }")
  end

  # hotchocolate#10163: what a resolver requires was ignored where a selected name collided with it.
  def test_names_that_collide
    assert_reads({ "works" => %w[id type title body] }, "{ works { body: title excerpt } }")
    assert_reads({ "works" => [%w[id type title body]] }, "{ works { excerpt: title title: excerpt } }")
  end

  # hotchocolate#6690: conditional projection.
  def test_conditional_selection
    query = "query($yes: Boolean!) { works { title ...f @include(if: $yes) } } fragment f on Work { excerpt writer { name } }"
    assert_reads({ "works" => [%w[id type title body writer_id]], "writers" => %w[id name] }, query, variables: { "yes" => true })
    assert_reads({ "works" => %w[id type title], "writers" => [] }, query, variables: { "yes" => false })
  end

  # hotchocolate#5584: computed fields were null.
  def test_computed_field
    answer = assert_same_answer("{ works { loud } }", Library.pair)
    assert(answer["data"]["works"].all? { |work| work["loud"].start_with?("WORK") })
  end

  # graphql-ruby#2196: SELECT * of a table with 130 columns.
  def test_wide_table
    ActiveRecord::Base.connection.execute("CREATE TABLE broad (id bigserial PRIMARY KEY, title text, #{(1..130).map { |i| "c#{i} text" }.join(", ")})")
    model = Class.new(ActiveRecord::Base) { self.table_name = "broad"; def self.name = "Broad" }
    model.insert_all!([{ title: "one" }])
    pair = schemas do
      field :specials, [TITLED], null: false
      define_method(:specials) { model.order(:id) }
    end
    assert_reads({ "broad" => %w[id title] }, "{ specials { title } }", pair)
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE broad")
  end
end
