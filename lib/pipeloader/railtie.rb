# frozen_string_literal: true

require "active_support/ordered_options"

module Pipeloader
  # Gives a Rails application `config.pipeloader`, and Pipeloader's tasks. Its settings hold for all schemas, whenever these are
  # loaded; see docs/rails.md.
  class Railtie < Rails::Railtie
    config.pipeloader = ActiveSupport::OrderedOptions.new

    # Behind config/application.rb, config/environments/ and config/initializers/, and before all code is loaded.
    initializer "pipeloader.settings", after: :load_config_initializers do |application|
      settings = application.config.pipeloader.to_h
      settings[:log] ||= :bursts if Rails.env.development? && Pipeloader.log == :reads
      Pipeloader.configure(**settings)
      application.middleware.use(ExtensionHeader) if ResponseExtension.on?(settings[:extensions])
    rescue ArgumentError => e
      raise ArgumentError, "config.pipeloader.#{e.message}"
    end

    initializer("pipeloader.reload") { |app| app.reloader.before_class_unload { Gathering.foresight&.forget } }

    # They are about schemas.
    rake_tasks { load File.expand_path("tasks.rake", __dir__) if Pipeloader.respond_to?(:use) }
  end
end
