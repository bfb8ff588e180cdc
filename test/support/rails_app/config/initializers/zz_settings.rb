# frozen_string_literal: true

# Read behind Pipeloader's own initializer.
Rails.application.config.pipeloader.trip = :one if ENV["WRONG"]
