# frozen_string_literal: true

module Pipeloader
  # Is raised in a fiber that waits and won't be woken, so that its `ensure` runs. A serial run wouldn't have come to what the
  # fiber does, or an interrupt has ended the response.
  class Canceled < Exception # rubocop:disable Lint/InheritException -- code that rescues its own errors has nothing to do with it
  end
end
