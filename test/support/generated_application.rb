# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "private_cluster"

# A Rails application as the generators of Rails, graphql-ruby and Pipeloader write it, for bin/rails-app and `bin/demo --app`. Its gems
# are kept in vendor/rails/, or where PIPELOADER_RAILS_GEMS says. Needs the standard library only.
#
#   blog = GeneratedApplication.new("tmp/x/blog")
#   blog.create                              # rails new
#   blog.install                             # bundle install
#   blog.rails("generate", "graphql:install")
#   blog.rails("generate", "pipeloader:install")
#   blog.lay("examples/rails_app")           # our models, types, migration and seeds over it
#   blog.rails("db:create", **blog.database)
#
# What commands say is in the log, `tmp/x/log`, unless another is named. A command that fails raises Failure; one that is interrupted ends with all it has started.
class GeneratedApplication
  # The message ends with the command's last words.
  class Failure < RuntimeError; end

  ROOT = File.expand_path("../..", __dir__)
  RAILS = "7.2"
  GRAPHQL = "2.6.14"
  SCHEMA = "app/graphql/blog_schema.rb"

  # What has no part in a request for JSON, and needs a browser, Node or a network.
  LEFT_OUT = %w[bundle git docker ci javascript system-test brakeman rubocop kamal solid thruster].freeze

  # (Bundler of Ruby 3.1 can't have an error_highlight that isn't Ruby's.)
  NOT_INSTALLED = RUBY_VERSION < "3.2" ? /\A(source|ruby) |gem "error_highlight"/ : /\A(source|ruby) /

  # Bundler and Rails see nothing of what this process runs in.
  INHERITED = %w[RUBYOPT RUBYLIB BUNDLER_VERSION BUNDLE_BIN_PATH BUNDLE_APP_CONFIG BUNDLE_WITHOUT RAILS_ENV RACK_ENV CI]
              .to_h { |it| [it, nil] }.freeze

  # "7.2-ruby3.1": what is kept for one version is of no use to another.
  def self.version(rails) = "#{rails}-ruby#{RUBY_VERSION[/\A\d+\.\d+/]}"

  attr_reader :path, :log

  # @param path [String] the application's folder, named blog: the schema is BlogSchema
  # @param gems [String] more lines of its Gemfile
  # @param lock [String] under which name its Gemfile.lock is kept
  # @param log [String] a file
  def initialize(path, rails: RAILS, gems: "", lock: "blog", log: "#{File.dirname(path)}/log")
    @path = path
    @rails = rails
    @more_gems = gems
    @lock = lock
    @folder = File.dirname(path)
    @log = log
    @gems = ENV["PIPELOADER_RAILS_GEMS"] || "#{ROOT}/vendor/rails"
  end

  def create
    FileUtils.mkdir_p(@folder)
    gemfile("#{@folder}/Gemfile", %(gem "rails", "~> #{@rails}.0"))
    bundle_install(@folder, "generator")
    run(@folder, "bundle", "exec", "rails", "new", path, "--database=postgresql", *LEFT_OUT.map { |it| "--skip-#{it}" })
    gemfile("#{path}/Gemfile", <<~RUBY)
      #{read("Gemfile").lines.grep_v(NOT_INSTALLED).join}
      gem "graphql", "#{GRAPHQL}"
      gem "graphiql-rails", group: :development
      gem "pipeloader", path: "#{ROOT}"
      #{@more_gems}
    RUBY
  end

  def install = bundle_install(path, @lock)

  def installed? = run?(path, "bundle", "check")

  # Ours, over what has been generated.
  #
  # @param template [String] a folder that has app/graphql/types/blog_fields.rb, what the query has besides what the generator gives it
  def lay(template)
    FileUtils.cp_r((Dir.children(template) - ["README.md"]).map { |it| "#{template}/#{it}" }, path)
    edit(SCHEMA, /^    # TODO: Implement this method\n.*?\n    raise.*?\n/m) do
      %(    "Types::\#{obj.class.name}Type".constantize\n)
    end
    edit("app/graphql/types/query_type.rb", /^  class QueryType.*\n/) { |it| "#{it}    include Types::BlogFields\n" }
    # As the controller's comment says: for who sends no token.
    edit("app/controllers/graphql_controller.rb", /# (?=protect_from_forgery)/) { "" }
  end

  def read(file) = File.read("#{path}/#{file}")

  def edit(file, pattern, &)
    text = read(file)
    raise Failure, "#{file} isn't as it was: #{pattern.inspect} is missing" unless text.match?(pattern)

    File.write("#{path}/#{file}", text.sub(pattern, &))
  end

  ## The database: of its own, on the private server or on the one that is named

  # @return [Hash{String => String}] the environment that says where it is
  def database
    @database ||= begin
      address = PrivateCluster.url.split("?", 2)
      address[0] = address[0].sub(%r{/[^/]*\z}, "/pipeloader_rails_#{Process.pid}")
      { "DATABASE_URL" => address.join("?") }
    end
  end

  # True if it was asked for, and won't go with the server, which goes with this process.
  def database_stays? = !@database.nil? && !PrivateCluster.own?

  def drop_database = rails("db:drop", **database)

  ## Commands

  # (The database's server is told by its address alone.)
  def rails(*arguments, **environment) = run(path, "bundle", "exec", "rails", *arguments, **environment)

  # @return [Boolean, nil] whether it succeeded
  def rails?(*arguments, **environment) = run?(path, "bundle", "exec", "rails", *arguments, **environment)

  # @return [Hash{String => String, nil}] what a command of the application needs around it
  def environment(folder = path)
    { **INHERITED, "BUNDLE_GEMFILE" => "#{folder}/Gemfile", "BUNDLE_PATH" => @gems, "BUNDLE_SILENCE_ROOT_WARNING" => "1" }
  end

  private

  # (The RubyGems of Ruby 3.1 takes no compiled nokogiri of the newer ones, and to compile it takes minutes.)
  def gemfile(file, gems)
    File.write(file, <<~RUBY)
      source Gem.sources.to_a.first
      #{'gem "nokogiri", "< 1.17"' if RUBY_VERSION < "3.2"}
      #{gems}
    RUBY
  end

  def bundle_install(folder, name)
    lock = "#{@gems}/#{self.class.version(@rails)}/#{name}.lock"
    FileUtils.mkdir_p(File.dirname(lock))
    FileUtils.cp(lock, "#{folder}/Gemfile.lock") if File.exist?(lock)
    run(folder, "bundle", "install", "--jobs=2", "--quiet") unless run?(folder, "bundle", "check")
    FileUtils.cp("#{folder}/Gemfile.lock", lock)
  end

  def run(folder, *command, **environment)
    return if run?(folder, *command, **environment)

    last_words = File.readlines(log).last(30).join
    raise Failure, "#{command.join(" ")} failed:\n#{last_words}all of it: #{log.delete_prefix("#{ROOT}/")}"
  end

  # In a group of its own: it doesn't hear of Ctrl-C, but ends when this process is told to.
  def run?(folder, *command, **environment)
    pid = Process.spawn({ **environment(folder), **environment }, *command, chdir: folder, in: File::NULL, %i[out err] => [log, "a"],
                                                                            pgroup: true)
    Process.wait(pid)
    Process.last_status.success?.tap { pid = nil }
  ensure
    end_group(pid) if pid
  end

  def end_group(pid)
    Process.kill("KILL", -pid)
    Process.wait(pid)
  rescue Errno::ESRCH, Errno::ECHILD
    # It has just ended.
  end
end
