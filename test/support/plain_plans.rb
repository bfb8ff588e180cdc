# frozen_string_literal: true

require_relative "plans"
require_relative "plan_types"

# A subtree that is proved plain goes from rows to the response: the answer is graphql-ruby's own, whatever a resolver returns and
# whatever is selected of it, and no records come to be.
class PlainPlanTest < PlanTest
  Types = PlanTypes

  PAIR = make(query: Types::Query) { orphan_types(Types::User, Types::Post) }

  def pair = PAIR

  POSTS = Types::Post
  USERS = Types::User
end
