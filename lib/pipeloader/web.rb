# frozen_string_literal: true

# A page that shows what executions have taken: `mount Pipeloader::Web => "/pipeloader"`. See docs/web.md.
#
# In: the events of bursts, responses, trials and forecasts. Out: a Rack application, which answers by one page and by JSON.
# Called by: the host's router. No part of `require "pipeloader"`; to require this file starts the recording.

require "pipeloader"
require "pipeloader/web/masked"
require "pipeloader/web/field_states"
require "pipeloader/web/query_plan"
require "pipeloader/web/recorded_execution"
require "pipeloader/web/recorded_response"
require "pipeloader/web/recorded_operation"
require "pipeloader/web/revision_store"
require "pipeloader/web/revisions"
require "pipeloader/web/recorder"
require "pipeloader/web/gate"
require "pipeloader/web/web"

Pipeloader::Web.start
