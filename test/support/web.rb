# frozen_string_literal: true

# The page, which other tests of the process don't want to record them.
require "pipeloader/web"
Pipeloader::Web.stop
