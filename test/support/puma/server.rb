# frozen_string_literal: true

require_relative "../kept_process"

# Puma, with two workers that serve app.rb; which is loaded before they are forked (+preload+), or by each of them.
class PumaServer < KeptProcess
  LIB = File.expand_path("../../../lib", __dir__)

  attr_reader :port

  def initialize(preload:)
    @port = KeptProcess.free_port
    databases = { "PIPELOADER_PUMA_DATABASE" => TestDatabase::NAME, "PIPELOADER_PUMA_SECOND" => TestDatabase::SECOND }
    super(*command, "-C", "puma.rb", files: { "puma.rb" => configuration(preload) },
                                     environment: databases.transform_values { |it| JSON.generate(TestDatabase.hash(it, pool: 8)) })
    await("Puma") { booted == 2 }
  end

  # How many workers it has started so far.
  def booted = log.scan("booted in").size

  private

  # Puma doesn't take all of the environment along when it restarts.
  def command
    bundler = ENV.to_h.slice("BUNDLE_GEMFILE", "BUNDLE_APP_CONFIG", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH")
    ["env", *bundler.map { |name, value| "#{name}=#{value.split.grep(/bundler/).first || value.strip}" }, RbConfig.ruby, "-I#{LIB}", Gem.bin_path("puma", "puma")]
  end

  def configuration(preload)
    <<~RUBY
      bind "tcp://127.0.0.1:#{port}"
      workers 2
      threads 8, 8
      # (In Ruby 3.3 a worker that has answered all may wait forever, in Puma's Server#handle_servers, for IO#close of its own pipe.)
      worker_shutdown_timeout 10
      restart_command "#{command.join(" ")}"
      #{"preload_app!" if preload}
      app { |env| PumaApp.call(env) }
      #{preload ? "require '#{__dir__}/app'" : "on_worker_boot { require '#{__dir__}/app' }"}
    RUBY
  end
end
