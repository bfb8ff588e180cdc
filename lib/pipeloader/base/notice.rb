# frozen_string_literal: true

module Pipeloader
  # Tells the application's log what went wrong where no response fails by it.
  module Notice
    # To standard error where there is no log.
    #
    #: (String) -> void
    def self.warn(text)
      text = "Pipeloader: #{text}"
      (logger = ActiveSupport::LogSubscriber.logger) ? logger.warn(text) : Kernel.warn(text)
    end
  end
end
