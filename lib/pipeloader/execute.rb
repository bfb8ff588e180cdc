# frozen_string_literal: true

# Executes plans: a root's value becomes rows, their keys the next level's, and all rows their part of the response.
#
# In: a plan, and what a resolver has returned. Out: Hashes and Arrays of the response, or Unfit where graphql-ruby is to do it.
# Called by: the patches of graphql-ruby's engines.

require "pipeloader/execute/field_trace"
require "pipeloader/execute/root"
require "pipeloader/execute/branch"
require "pipeloader/execute/harvest"
require "pipeloader/execute/plans"
require "pipeloader/execute/cohort"
require "pipeloader/execute/place"
require "pipeloader/execute/seats"
require "pipeloader/execute/cohorts"
require "pipeloader/execute/owners"
