# frozen_string_literal: true

# The analysis of a document, once per operation: which subtrees are plain, and how rows become their part of the response.
#
# In: an operation's selections, and proofs. Out: a Selection for each place, with its Plan; or a PartialPlan, where only some
# fields are plain; and why the others aren't. Called by: the executing room and `Pipeloader.explain`.

require "pipeloader/plan/operation"
require "pipeloader/plan/kept_operations"
require "pipeloader/plan/link"
require "pipeloader/plan/page_link"
require "pipeloader/plan/polymorphic_link"
require "pipeloader/plan/calculation"
require "pipeloader/plan/reach"
require "pipeloader/plan/plan"
require "pipeloader/plan/passage"
require "pipeloader/plan/history"
require "pipeloader/plan/trips"
require "pipeloader/plan/admission"
require "pipeloader/plan/family_plan"
require "pipeloader/plan/compiler"
require "pipeloader/plan/connection_plan"
require "pipeloader/plan/resolver_call"
require "pipeloader/plan/attribute"
require "pipeloader/plan/partial_plan"
require "pipeloader/plan/selection"
require "pipeloader/plan/proofs"
require "pipeloader/plan/shared_proofs"
require "pipeloader/plan/field_proofs"
require "pipeloader/plan/link_proofs"
require "pipeloader/plan/passage_proofs"
require "pipeloader/plan/thing_proofs"
require "pipeloader/plan/reach_proofs"
require "pipeloader/plan/question_proofs"
require "pipeloader/plan/queried_proofs"
require "pipeloader/plan/family_proofs"
require "pipeloader/plan/analyzer"
require "pipeloader/plan/preloads"
require "pipeloader/plan/connection_analyzer"
