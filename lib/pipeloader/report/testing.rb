# frozen_string_literal: true

# What users' tests assert, whichever framework they are written for. No part of `require "pipeloader"`.

require "pipeloader"
require "pipeloader/report/call_site"
require "pipeloader/report/ledger"
require "pipeloader/report/budget"
require "pipeloader/report/budgets"
require "pipeloader/report/compiled_fields"
