# frozen_string_literal: true

# Pipeloader's own reports: the events of each burst and response, their lines in the log, and explanations of queries and
# schemas.
#
# In: bursts and operations. Out: notifications and text. Called by: the public face.
#
# Loaded when Pipeloader.strict is first called: pipeloader/report/strict and pipeloader/report/read_loop; when
# Pipeloader.interleavings is: pipeloader/report/interleavings. Loaded for what tests
# assert, by pipeloader/minitest and pipeloader/rspec: pipeloader/report/testing, with pipeloader/report/ledger, which hears of
# round trips, pipeloader/report/call_site, pipeloader/report/budget, pipeloader/report/budgets and
# pipeloader/report/compiled_fields.

require "pipeloader/report/summary"
require "pipeloader/report/response_extension"
require "pipeloader/report/extension_header"
require "pipeloader/report/log_subscriber"
require "pipeloader/report/witness"
require "pipeloader/report/code_location"
require "pipeloader/report/obstacle"
require "pipeloader/report/trips_taken"
require "pipeloader/report/explanation"
require "pipeloader/report/schema_explanation"
