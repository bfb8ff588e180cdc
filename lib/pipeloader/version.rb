# frozen_string_literal: true

module Pipeloader
  VERSION = "0.1.0" # of the gem; UPGRADING.md says what it promises
end
