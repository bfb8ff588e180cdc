# frozen_string_literal: true

# What graphql-ruby adds to the engine: its dataloader, which is the scheduler then, with sources, lazy values and arguments;
# several queries at once; settings and snapshots of queries; which field it is at; and what its documents and types say.
#
# In: what graphql-ruby executes. Out: jobs for the fibers, in the order of a serial run. Called by: the patches of graphql-ruby,
# the rooms of plans, and, by way of Host, the engine. No part of `require "pipeloader/active_record"`.

require "pipeloader/queries/graphql_provenance"
require "pipeloader/queries/type_wrappers"
require "pipeloader/queries/foreseen"
require "pipeloader/queries/query_document"
require "pipeloader/queries/all_types"
require "pipeloader/queries/breaker"
require "pipeloader/queries/field_position"
require "pipeloader/queries/query_settings"
require "pipeloader/queries/read_transactions"
require "pipeloader/queries/proof_snapshot"
require "pipeloader/queries/query_host"
require "pipeloader/queries/lazy_rounds"
require "pipeloader/queries/argument_group"
require "pipeloader/queries/source_rounds"
require "pipeloader/queries/fetch_turns"
require "pipeloader/queries/query_loader"
require "pipeloader/queries/plain_loader"
require "pipeloader/queries/prologue"
require "pipeloader/queries/multiplex"
