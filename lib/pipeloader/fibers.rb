# frozen_string_literal: true

# Who runs when: a scheduler's jobs in serial order, and the fibers that they run on, with the dynamic state (scopes, Current,
# locale, roles) that each takes along when it parks.
#
# In: blocks of plain Ruby, and jobs of graphql-ruby. Out: the same, done, in an order that no answer depends on. Called by: the
# public face, the patches, and whoever executes queries.

require "pipeloader/fibers/instrumentation"
require "pipeloader/fibers/host"
require "pipeloader/fibers/canceled"
require "pipeloader/fibers/abandonment"
require "pipeloader/fibers/response"
require "pipeloader/fibers/resolver_fiber"
require "pipeloader/fibers/left_settings"
require "pipeloader/fibers/task"
require "pipeloader/fibers/loader"
require "pipeloader/fibers/scheduler"
require "pipeloader/fibers/job"
require "pipeloader/fibers/assignments"
require "pipeloader/fibers/batch"
require "pipeloader/fibers/look_up"
require "pipeloader/fibers/turns"
require "pipeloader/fibers/run"
require "pipeloader/fibers/undivided"
require "pipeloader/fibers/outward_wait"
require "pipeloader/fibers/open_transactions"
require "pipeloader/fibers/parking"
require "pipeloader/fibers/delivery"
require "pipeloader/fibers/bystander"
require "pipeloader/fibers/task_loader"
require "pipeloader/fibers/gathering"
require "pipeloader/fibers/side_by_side"
require "pipeloader/fibers/dynamic_state"
require "pipeloader/fibers/fiber_state"
require "pipeloader/fibers/host_state"
require "pipeloader/fibers/snapshot"
require "pipeloader/fibers/fingerprint"
