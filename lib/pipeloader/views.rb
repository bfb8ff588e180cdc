# frozen_string_literal: true

# What Rails renders of a collection: its partials, and its JSON.
#
# In: a controller that asks for it, a view, a collection. Out: what Rails makes of each item, read together. Called by: the
# patches, and controllers that include Collections.

require "pipeloader/views/collections"
require "pipeloader/views/json_collection"
