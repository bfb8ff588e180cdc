# frozen_string_literal: true

# The ground that every room stands on: our errors, which adapters are PostgreSQL's, what schemas and the application may set,
# and what is known of the field that is running, of what can be read, of open transactions, of who waits for whom outside, of
# who measures, of what has gone wrong, and of the figures that Rails shows.
#
# In: nothing of ours. Out: constants. Called by: all.

require "pipeloader/base/errors"
require "pipeloader/base/options"
require "pipeloader/base/switch"
require "pipeloader/base/revision"
require "pipeloader/base/postgresql"
require "pipeloader/base/rows"
require "pipeloader/base/bounded"
require "pipeloader/base/weak_reference"
require "pipeloader/base/listening"
require "pipeloader/base/outcome"
require "pipeloader/base/asker"
require "pipeloader/base/transactions"
require "pipeloader/base/waiting"
require "pipeloader/base/measured"
require "pipeloader/base/notice"
require "pipeloader/base/bugs"
require "pipeloader/base/attempt"
require "pipeloader/base/readable"
require "pipeloader/base/runtime_figures"
require "pipeloader/base/plain_reads"
