# frozen_string_literal: true

# The first examples of README.md by the installed gem, outside Bundler: the same answer with Pipeloader and without. For
# `rake release:check`.
#
#   ruby test/support/readme_example.rb sqlite3 | postgresql

require "pipeloader"
require "json"
require_relative "readme"

abort "#{$LOADED_FEATURES.grep(%r{/pipeloader\.rb\z}).first} isn't an installed gem's" unless Gem.loaded_specs.key?("pipeloader")

address = { "sqlite3" => -> { { adapter: "sqlite3", database: ":memory:" } },
            "postgresql" => -> { require_relative("private_cluster") && PrivateCluster.connection_hash } }.fetch(ARGV.fetch(0)).call
ActiveRecord::Base.establish_connection(address)
Readme.create

plain, piped = [false, true].map { |with| Readme.schema(with: with).execute(Readme::QUERY) }
abort "The answers differ:\n#{plain.to_json}\n#{piped.to_json}" if plain.to_json != piped.to_json
abort "An error: #{piped.to_json}" if piped["errors"] || piped["data"]["posts"].empty?
counters = piped.context.namespace(:pipeloader)
abort "More than three round trips: #{counters}" if ARGV.first == "postgresql" && counters.fetch(:bursts) > 3
puts "Pipeloader #{Pipeloader::VERSION}: #{counters}"
