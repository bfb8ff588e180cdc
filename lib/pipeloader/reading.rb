# frozen_string_literal: true

# One read, from the moment that ActiveRecord asks for it until it has its answer: gathered in a level, sent in a burst, replayed.
#
# In: what an adapter is asked to select. Out: an ActiveRecord::Result. Called by: the patches of ActiveRecord.

require "pipeloader/reading/read"
require "pipeloader/reading/steady_rows"
require "pipeloader/reading/replay"
require "pipeloader/reading/lone_read"
require "pipeloader/reading/flight"
require "pipeloader/reading/association_read"
require "pipeloader/reading/known_pool"
require "pipeloader/reading/fixed_scope"
require "pipeloader/reading/association_query"
