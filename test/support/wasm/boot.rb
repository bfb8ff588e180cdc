# frozen_string_literal: true

require "json"
require "rubygems" unless Gem.respond_to?(:path) # Ruby 4.0 there has half of it

# What runs in a Ruby that is WebAssembly, see bin/wasm.
module Wasm
  ORDERS = JSON.parse(ENV.delete("PIPELOADER_ORDERS"))

  # Keeps what the tests came to, as test/support/report.rb has it.
  class Kept
    def self.reporter(*options)
      Class.new(Minitest::StatisticsReporter) do
        def to_report
          skipped, failed = results.partition(&:skipped?)
          { versions: Wasm.versions, runs: count, assertions: assertions,
            failures: failed.map { |result| "#{result.klass}##{result.name}" },
            skips: skipped.map { |result| result.failure.message }.tally }
        end
      end.new(*options)
    end
  end

  class << self
    # @return [String] JSON
    def main
      prepare
      first, code = ORDERS["arguments"]
      JSON.generate(first == "-e" ? evaluate(code) : test)
    end

    def versions
      { ruby: RUBY_VERSION, activerecord: ActiveRecord.version.to_s, graphql: GraphQL::VERSION, engine: "none", postgresql: "none" }
    end

    private

    def prepare
      $stdout.sync = true
      $LOAD_PATH.unshift("#{__dir__}/stand_ins", "/pipeloader/lib", "/pipeloader/test", *ORDERS["gems"].values.flat_map { |gem| gem["paths"] })
      ORDERS["gems"].each { |name, gem| Gem.loaded_specs[name] = specification(name, gem) }
      Kernel.module_eval { private def gem(*) = true } # all are on the load path
    end

    def specification(name, gem)
      Gem::Specification.new(name, gem["version"]).tap do |made|
        made.full_gem_path = File.dirname(gem["paths"].first)
        made.require_paths = gem["paths"].map { |path| File.basename(path) }
      end
    end

    def evaluate(code)
      require "pipeloader"
      eval(code, TOPLEVEL_BINDING, "-e") # rubocop:disable Security/Eval
      { failures: [] }
    end

    # Nothing can be done at exit there: Minitest is run by us.
    def test
      require "minitest"
      Minitest.define_singleton_method(:autorun) { nil }
      ORDERS["arguments"].each { |file| require "/pipeloader/#{file}" }
      kept = nil
      Minitest.extensions << "wasm"
      Minitest.define_singleton_method(:plugin_wasm_init) { |options| reporter << (kept = Kept.reporter(options[:io], options)) }
      Minitest.run(ENV["PIPELOADER_SEED"] ? ["--seed", ENV["PIPELOADER_SEED"]] : [])
      kept.to_report
    end
  end
end
