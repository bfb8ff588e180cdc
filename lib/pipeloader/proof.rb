# frozen_string_literal: true

# Proves facts about methods, models and types without running them: whose they are, which columns they read, and
# which value graphql-ruby would make of a column's. Cast and Coercion also make it, for each value of a response.
#
# In: classes of the application. Out: proofs, each of which holds until the method that it is of is defined anew; or an
# objection in words, which `Pipeloader.explain` shows. Called by: projection, plan and the keyed look-ups.

require "pipeloader/proof/chain"
require "pipeloader/proof/delegation"
require "pipeloader/proof/execution_state"
require "pipeloader/proof/context_value"
require "pipeloader/proof/guard"
require "pipeloader/proof/field_guard"
require "pipeloader/proof/own_calls"
require "pipeloader/proof/told"
require "pipeloader/proof/asked_of_list"
require "pipeloader/proof/asked_of_record"
require "pipeloader/proof/formula"
require "pipeloader/proof/delegate"
require "pipeloader/proof/enum_predicate"
require "pipeloader/proof/context_answer"
require "pipeloader/proof/global_id"
require "pipeloader/proof/field_arguments"
require "pipeloader/proof/connection_selection"
require "pipeloader/proof/returned_value"
require "pipeloader/proof/cast"
require "pipeloader/proof/plain_scalar"
require "pipeloader/proof/coercion"
require "pipeloader/proof/permit"
require "pipeloader/proof/plain_field"
require "pipeloader/proof/plain_type"
require "pipeloader/proof/family"
require "pipeloader/proof/callbacks"
require "pipeloader/proof/plain_model"
require "pipeloader/proof/resolved_type"
require "pipeloader/proof/footprint"
require "pipeloader/proof/declared_columns"
require "pipeloader/proof/footprints"
require "pipeloader/proof/conditions"
