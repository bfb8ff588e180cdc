# frozen_string_literal: true

# `rake release:check` does what a machine can before a release, and says what is left to a person. All steps run, whatever
# fails; then the task fails. Needs a network for the gem's dependencies, and PostgreSQL's server programs (bin/setup).
class ReleaseCheck
  FOLDER = File.expand_path("../tmp/release", __dir__)
  # There is no public address yet, and none is made up for a quieter build.
  KNOWN_WARNING = /no homepage specified|specification-reference/

  BY_HAND = [
    "homepage and source_code_uri in pipeloader.gemspec, once the project has a public address (gem build warns until then)",
    "CHANGELOG.md: give the top section the version and the date",
    "bin/matrix --write (docs/compatibility.md), bin/rails-app, bin/fuzz --minutes 60",
    "bin/bench, if figures in README.md or docs/benchmarks.md are older than what they measure",
    "signed tag: git tag -s v<version>",
    "provenance: publish from CI by trusted publishing, which attests where the gem was built; MFA is required by the gemspec",
    "compare the published file's SHA-256 with the one above"
  ].freeze

  class Failed < RuntimeError; end

  STEPS = {
    "git has nothing uncommitted" => :clean,
    "CHANGELOG.md, version and packed files" => :description,
    "gem build without warnings" => :build,
    "gem install into an empty folder" => :install,
    "README's example by the installed gem, SQLite" => -> { example("sqlite3") },
    "README's example by the installed gem, PostgreSQL" => -> { example("postgresql") },
    "signatures" => -> { quietly("bundle", "exec", "rake", "rbs") },
    "signatures against an application" => -> { quietly("bundle", "exec", "rake", "steep") },
    "the house's rules" => -> { test("test/unit/house_test.rb") },
    "documentation site" => -> { quietly("bundle", "exec", "rake", "site") },
    "Ruby in README and docs" => -> { test("test/docs/blocks_test.rb") },
    "rubocop" => -> { quietly("bundle", "exec", "rubocop", "--format", "simple") }
  }.freeze

  def run_all
    failed = STEPS.each_with_index.reject { |(name, step), index| done?("#{index + 1}/#{STEPS.size} #{name}", step) }
    puts("", "Left to you:", BY_HAND.map { |it| "  - #{it}" })
    abort "\nrelease:check: #{failed.size} of #{STEPS.size} failed" if failed.any?
    puts "\nrelease:check: all #{STEPS.size} passed"
  end

  private

  def done?(name, step)
    print "#{name} … "
    $stdout.flush
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    said = step.is_a?(Symbol) ? send(step) : instance_exec(&step)
    puts "ok, #{(Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun).round} s#{" (#{said})" if said.is_a?(String)}"
    true
  rescue Failed, SystemCallError => e
    puts("FAILED", e.message.lines.last(30).map { |line| "    #{line}" })
    false
  end

  def clean
    changed = run("git", "status", "--porcelain")
    raise Failed, changed unless changed.empty?
  end

  def description = test("test/unit/release_test.rb")

  def build
    FileUtils.rm_rf(FOLDER)
    FileUtils.mkdir_p(FOLDER)
    said = run("gem", "build", "pipeloader.gemspec", "--output", gem_file)
    others = said.lines.grep(/WARNING|ERROR/).grep_v(KNOWN_WARNING)
    raise Failed, others.join if others.any?

    digest = Digest::SHA256.file(gem_file).hexdigest
    "#{File.size(gem_file) / 1024} kB, SHA-256 #{digest}#{"; it has no homepage, says gem build" if said.match?(KNOWN_WARNING)}"
  end

  def install
    raise Failed, "there is no file to install" unless File.file?(gem_file)

    sqlite = RUBY_VERSION < "3.2" ? "sqlite3:~>1.7.3" : "sqlite3:~>2.1"
    alone { run("gem", "install", "--no-document", gem_file, env: home) }
    alone { run("gem", "install", "--no-document", "pg:~>1.5", sqlite, env: home) }
    nil
  end

  def example(adapter)
    script = File.expand_path("../test/support/readme_example.rb", __dir__)
    alone { run(RbConfig.ruby, script, adapter, env: home) }.lines.last.to_s.chomp
  end

  def test(file) = quietly("bundle", "exec", "ruby", "-w", "--disable-error_highlight", "-Itest", "-Ilib", file)

  # What it says is of interest if it fails.
  def quietly(*command)
    run(*command)
    nil
  end

  def gem_file = "#{FOLDER}/pipeloader.gem"

  # Nothing but what is installed there, and what comes with Ruby.
  def home = { "GEM_HOME" => "#{FOLDER}/gems", "GEM_PATH" => "#{FOLDER}/gems", "RUBYOPT" => nil, "RUBYLIB" => nil }

  def alone(&block) = Bundler.with_unbundled_env(&block)

  def run(*command, env: {})
    said, status = Open3.capture2e(env, *command)
    raise Failed, "#{command.join(" ")}\n#{said}" unless status.success?

    said
  end
end

namespace :release do
  desc "Check all that can be checked before a release, and list what is left to do by hand"
  task :check do
    require "digest"
    require "open3"
    ReleaseCheck.new.run_all
  end
end
