# frozen_string_literal: true

# From statements to rows: what has been gathered for one connection goes to PostgreSQL in one pipeline, and comes back.
# In: a Burst of reads, each with a Statement. Out: each read's result or error. Called by: reading, and the adapter's patches.

require "pipeloader/wire/sql_text"
require "pipeloader/wire/time_limit"
require "pipeloader/wire/tags"
require "pipeloader/wire/statement"
require "pipeloader/wire/result_sizes"
require "pipeloader/wire/distance"
require "pipeloader/wire/server_times"
require "pipeloader/wire/server_clock"
require "pipeloader/wire/learned"
require "pipeloader/wire/burst"
require "pipeloader/wire/lane"
require "pipeloader/wire/lanes"
require "pipeloader/wire/level"
require "pipeloader/wire/connection_lease"
require "pipeloader/wire/settings"

# What only PostgreSQL's adapter needs. Burst and Statement name PG's constants, too, but only while they run.
ActiveSupport.on_load(:active_record_postgresqladapter) do
  require "pipeloader/wire/shape"
  require "pipeloader/wire/key_settings"
  require "pipeloader/wire/literals"
  require "pipeloader/wire/type_lookup"
  require "pipeloader/wire/coalescing"
  require "pipeloader/wire/coalesced"
  require "pipeloader/wire/tree"
  require "pipeloader/wire/statements"
  require "pipeloader/wire/slice"
  require "pipeloader/wire/result_template"
  require "pipeloader/wire/cancel_request"
  require "pipeloader/wire/transaction_control"
  require "pipeloader/wire/read_transaction"
  require "pipeloader/wire/schedule"
  require "pipeloader/wire/pipeline"
  require "pipeloader/wire/session"
end
