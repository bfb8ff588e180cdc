# frozen_string_literal: true

# What resolvers will ask for, as far as earlier executions of the same document have shown, is read before they begin.
#
# In: records that a field has brought, or that blocks of Pipeloader.map are called with. Out: their associations' records, and
# other answers, held until somebody asks for them.
# Called by: Gathering; the patches of graphql-ruby's engines where records come, those of ActiveRecord's associations where one
# is read, and LoneRead for any other read.

require "pipeloader/forecast/record_attributes"
require "pipeloader/forecast/trust"
require "pipeloader/forecast/question"
require "pipeloader/forecast/chained_answer"
require "pipeloader/forecast/chained_question"
require "pipeloader/forecast/questions"
require "pipeloader/forecast/forecast"
require "pipeloader/forecast/forecasts"
require "pipeloader/forecast/block_site"
require "pipeloader/forecast/observation"
require "pipeloader/forecast/ahead_link"
require "pipeloader/forecast/arrival"
require "pipeloader/forecast/ahead"
require "pipeloader/forecast/inquiry"
require "pipeloader/forecast/tally"
require "pipeloader/forecast/wave"
require "pipeloader/forecast/line"
require "pipeloader/forecast/read_ahead"

Pipeloader::Gathering.foresight = Pipeloader::ReadAhead
