# frozen_string_literal: true

# Reads that stand for many: one statement for the records of an association, the page of one, or a number of them, for all of its
# owners at once.
#
# In: the keys of owners, and what the association's scopes say. Out: rows by key, or records that are put in place.
# Called by: plans, and whatever executes them.

require "pipeloader/lookup/dry_run"
require "pipeloader/lookup/page_range"
require "pipeloader/lookup/preload"

# PostgreSQL's alone.
ActiveSupport.on_load(:active_record_postgresqladapter) do
  require "pipeloader/lookup/wording"
  require "pipeloader/lookup/queried_model"
  require "pipeloader/lookup/owners_key"
  require "pipeloader/lookup/lookup"
  require "pipeloader/lookup/record_lookup"
  require "pipeloader/lookup/target_lookup"
  require "pipeloader/lookup/chain_lookup"
  require "pipeloader/lookup/calculation_lookup"
  require "pipeloader/lookup/listed_lookup"
  require "pipeloader/lookup/page_lookup"
end
