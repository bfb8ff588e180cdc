# frozen_string_literal: true

require "etc"
require "rbconfig"
require "time"

module Bench
  # Where and with what the figures were made.
  class Environment
    LIBRARIES = %w[graphql activerecord pg graphql-batch batch-loader goldiloader ar_lazy_preload puma falcon].freeze

    def initialize(arguments)
      @arguments = arguments
      @load = load_average
    end

    # What makes figures comparable with others: not when, nor how busy the machine was.
    def signature = [code, versions, processor]

    def to_h(postgresql)
      { date: Time.now.utc.strftime("%Y-%m-%d"), command: command, commit: code, machine: processor, versions: versions,
        postgresql: postgresql, load_before: @load, load_after: load_average }
    end

    def command = ["bin/bench", *@arguments].join(" ")

    # The commit, and a digest of what isn't committed.
    def code
      commit = git("rev-parse", "--short", "HEAD")
      changes = git("status", "--porcelain", "lib", "benchmark", "example")
      changes.empty? ? commit : "#{commit} with changes (#{Digest::SHA256.hexdigest(changes + git("diff", "HEAD"))[0, 8]})"
    end

    def versions
      { "Ruby" => RUBY_DESCRIPTION[/\Aruby (\S+)/, 1], **LIBRARIES.to_h { |name| [name, Gem.loaded_specs[name]&.version.to_s] } }
    end

    def processor
      model = File.read("/proc/cpuinfo")[/^model name\s*: (.*)/, 1] rescue nil
      "#{Etc.nprocessors} × #{model || RbConfig::CONFIG["host_cpu"]}, #{Etc.uname.values_at(:sysname, :release).join(" ")}"
    end

    private

    def load_average = (File.read("/proc/loadavg").to_f rescue nil)

    def git(*arguments) = IO.popen(["git", "-C", File.dirname(__dir__), *arguments], err: File::NULL, &:read).strip
  end
end
