# frozen_string_literal: true

# Executes plans: a root's value becomes rows, their keys the next level's, and all rows their part of the response.
#
# In: a plan, and what a resolver has returned. Out: Hashes and Arrays of the response, or DoesNotFit where graphql-ruby is to do
# it. Called by: the patches of graphql-ruby's engines.

require "pipeloader/execute/field_clock"
require "pipeloader/execute/field_trace"
require "pipeloader/execute/follower"
require "pipeloader/execute/followers"
require "pipeloader/execute/growth"
require "pipeloader/execute/root_value"
require "pipeloader/execute/frame"
require "pipeloader/execute/fork"
require "pipeloader/execute/executor"
require "pipeloader/execute/plans"
require "pipeloader/execute/object_course"
require "pipeloader/execute/object_list"
require "pipeloader/execute/object_place"
require "pipeloader/execute/object_places"
require "pipeloader/execute/object_maker"
require "pipeloader/execute/object_lists"
require "pipeloader/execute/association_requests"
require "pipeloader/execute/trial"
require "pipeloader/execute/given"
require "pipeloader/execute/difference"
require "pipeloader/execute/double_check"
require "pipeloader/execute/proof_sample"
require "pipeloader/execute/enclosures"
require "pipeloader/execute/safe_execution"
