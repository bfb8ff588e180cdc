# frozen_string_literal: true

module Pipeloader
  # Gives a Rails application Pipeloader's tasks.
  class Railtie < Rails::Railtie
    rake_tasks { load File.expand_path("tasks.rake", __dir__) }
  end
end
