# frozen_string_literal: true

# Generates models, types, resolvers, data and queries from a seed, and compares what they answer with Pipeloader and without: see
# docs/fuzzing.md. In the order in which a program comes about:
require "json"
require "logger"
require "pg"
require "active_record"
require "graphql"
require "graphql/batch"
require "pipeloader"
require_relative "../support/private_cluster"
require_relative "feature"
require_relative "node"
require_relative "world"
require_relative "maker"
Dir["#{__dir__}/features/*.rb"].each { |file| require file }
require_relative "runner"
require_relative "trial"
require_relative "shrinker"
require_relative "script"
require_relative "session"
