# frozen_string_literal: true

module Pipeloader
  VERSION = "0.1.0"
end
