# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/plan_types"

# Everything by which an application can have a word in what a field answers: each breaks one condition under which a plan may do
# without it, in a way that another answer comes of it, and graphql-ruby has to do it. What is selected beside it shows that without
# that condition there is a plan.
class PlanChecklistCase < PlanTest
  def assert_parity(query, schemas, **options)
    plain, *piped = [schemas.first, schemas.last, schemas.last].map { |schema| text_of(outcome { schema.execute(query, **options).to_h }) }
    piped.each { |it| assert_equal plain, it, query }
  end
end
