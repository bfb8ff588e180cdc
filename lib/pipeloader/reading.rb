# frozen_string_literal: true

# One read, from the moment that ActiveRecord asks for it until it has its answer: gathered in a level, sent in a burst, replayed.
# And the reads that stand for many: those of one association for all of its owners.
#
# In: what an adapter is asked to select, or keys and a Lookup. Out: an ActiveRecord::Result, or rows.
# Called by: the patches of ActiveRecord, and by whatever executes plans.

require "pipeloader/reading/read"
require "pipeloader/reading/replay"
require "pipeloader/reading/flight"
require "pipeloader/reading/association_read"
require "pipeloader/reading/association_reads"
require "pipeloader/reading/unloaded"
require "pipeloader/reading/sketch"
require "pipeloader/reading/preload"
require "pipeloader/reading/batch"

# PostgreSQL's alone.
ActiveSupport.on_load(:active_record_postgresqladapter) do
  require "pipeloader/reading/wording"
  require "pipeloader/reading/lookup"
  require "pipeloader/reading/record_lookup"
  require "pipeloader/reading/chain_lookup"
  require "pipeloader/reading/calculation_lookup"
  require "pipeloader/reading/page_lookup"
end

# reading/inline is required by the patches of the adapters that have no pipeline.
