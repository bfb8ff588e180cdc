# frozen_string_literal: true

require "digest"
require_relative "../test/support/generated_application"

module Demo
  # The application of `bin/demo --app`: what the generators write is kept in tmp/demo-app/ until they change, and copied to a
  # folder that is this run's alone; examples/rails_app is laid over the copy.
  class RailsApplication
    ROOT = GeneratedApplication::ROOT
    TEMPLATE = "#{ROOT}/examples/rails_app".freeze
    # Newer Rails need a newer Ruby.
    RAILS = RUBY_VERSION < "3.2" ? GeneratedApplication::RAILS : "8.1"
    KEPT = "#{ROOT}/tmp/demo-app/#{GeneratedApplication.version(RAILS)}".freeze
    LOG = "#{KEPT}/log".freeze
    ROUTES = <<-RUBY
  require "pipeloader/web"
  mount Pipeloader::Web => "/pipeloader"
    RUBY

    # What GraphiQL's page loads; Sprockets has to be told, Propshaft hasn't.
    GRAPHIQL = "//= link graphiql/rails/application.js\n"

    attr_reader :generated

    # @param folder [String] the run's own
    def initialize(folder)
      @generated = GeneratedApplication.new("#{folder}/blog", rails: RAILS, lock: "demo", log: LOG)
    end

    # @yieldparam what [String] what is being done while the block that it gets runs
    def make(&step)
      keep(step) unless kept?
      FileUtils.cp_r(kept.path, generated.path)
      generated.lay(TEMPLATE)
      mount_pages
    end

    private

    def mount_pages
      generated.edit("config/routes.rb", /^Rails\.application\.routes\.draw do\n/) { |it| "#{it}#{ROUTES}\n" }
      return unless File.exist?("#{generated.path}/app/assets/config/manifest.js")

      generated.edit("app/assets/config/manifest.js", /\z/) { GRAPHIQL }
    end

    def kept = @kept ||= GeneratedApplication.new("#{KEPT}/blog", rails: RAILS, lock: "demo", log: LOG)

    def keep(step)
      FileUtils.rm_rf(KEPT)
      step.call("Generating an application of Rails #{RAILS}") { kept.create }
      step.call("Installing its gems, some minutes where none are there yet") { kept.install }
      step.call("rails generate graphql:install") { kept.rails("generate", "graphql:install") }
      step.call("rails generate pipeloader:install") { kept.rails("generate", "pipeloader:install") }
      File.write(stamp, digest)
    end

    # Its gems may have been removed since.
    def kept? = File.exist?(stamp) && File.read(stamp) == digest && kept.installed?

    def stamp = "#{KEPT}/made-by"

    # Of whatever decides what is generated.
    def digest
      @digest ||= begin
        files = [__FILE__, "#{ROOT}/test/support/generated_application.rb", *Dir["#{ROOT}/lib/generators/**/*.*"]].sort
        Digest::SHA256.hexdigest([ROOT, RUBY_VERSION, *files.map { |file| File.read(file) }].join("\0"))
      end
    end
  end
end
