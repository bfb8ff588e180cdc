# frozen_string_literal: true

# Which columns a query asks of which records, so that no others are read.
#
# In: an operation's selections. Out: for each type and place the columns of a model; rows that fetch what they lack.
# Called by: plans, which read nothing but columns, and by the patches that are installed where a schema asks for field_exact.

require "pipeloader/projection/demands"
require "pipeloader/projection/demand"
require "pipeloader/projection/model_demand"
require "pipeloader/projection/needed_preloads"
require "pipeloader/projection/projection"
require "pipeloader/projection/partial_rows"
require "pipeloader/projection/partial_row"
