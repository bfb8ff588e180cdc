# frozen_string_literal: true

# Who runs when: the dataloader that a schema gets, its jobs in serial order, and the fibers that they run on, with the dynamic
# state (scopes, Current, locale, roles) that each takes along when it parks.
#
# In: jobs of graphql-ruby, and blocks of plain Ruby. Out: the same, done, in an order that no answer depends on. Called by: the
# patches.

require "pipeloader/fibers/instrumentation"
require "pipeloader/fibers/query_settings"
require "pipeloader/fibers/read_transactions"
require "pipeloader/fibers/response"
require "pipeloader/fibers/prologue"
require "pipeloader/fibers/lazy_rounds"
require "pipeloader/fibers/loader"
require "pipeloader/fibers/plain_loader"
require "pipeloader/fibers/job"
require "pipeloader/fibers/source_rounds"
require "pipeloader/fibers/fetch_turns"
require "pipeloader/fibers/assignments"
require "pipeloader/fibers/batch"
require "pipeloader/fibers/look_up"
require "pipeloader/fibers/turns"
require "pipeloader/fibers/run"
require "pipeloader/fibers/undivided"
require "pipeloader/fibers/outward_wait"
require "pipeloader/fibers/parking"
require "pipeloader/fibers/delivery"
require "pipeloader/fibers/resolver_fiber"
require "pipeloader/fibers/bystander"
require "pipeloader/fibers/multiplex"
require "pipeloader/fibers/task"
require "pipeloader/fibers/gathering"
require "pipeloader/fibers/side_by_side"
require "pipeloader/fibers/dynamic_state"
require "pipeloader/fibers/fiber_state"
require "pipeloader/fibers/host_state"
require "pipeloader/fibers/snapshot"
require "pipeloader/fibers/fingerprint"
require "pipeloader/fibers/field_position"
require "pipeloader/fibers/argument_group"
