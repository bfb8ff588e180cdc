# frozen_string_literal: true

require "etc"
require "fileutils"
require "io/wait"
require "rbconfig"
require "socket"
require "tmpdir"
require "uri"

# A PostgreSQL server of this process's own: started in a temporary folder when its address is first asked for, stopped
# and removed when the process ends, however it ends. If PIPELOADER_DATABASE_URL is set, that server is used instead.
#
#   PrivateCluster.url               # "postgresql:///postgres?host=%2Ftmp%2Fpipeloader-x&port=40123&user=postgres"
#   PrivateCluster.connection_hash   # for ActiveRecord's establish_connection, over the Unix socket
#   PrivateCluster.tcp_hash          # the same over 127.0.0.1, for a proxy in between
#
# This process holds no more than a pipe. A Keeper, a process beside it, makes the folder and runs the server; it does so
# until the pipe closes or its parent is gone. So nothing is left even after SIGKILL, and forked children, which inherit
# the pipe, may use the server but neither stop it nor keep it alive. (The Keeper is a child process: Process.waitall
# would wait for it; wait for your own children by their ids.)
class PrivateCluster
  # The server could not be found or started. The message says what to do.
  class Error < RuntimeError; end

  START_LIMIT = 60 # seconds
  EXTERNAL_URL = "PIPELOADER_DATABASE_URL"

  @starting = Mutex.new

  class << self
    def url = external_url || "postgresql:///#{database}?#{query(host: host, port: port, user: user)}"

    # What ActiveRecord and PG.connect need, as {adapter:, host:, port:, username:, password:, database:}. An external
    # URL's parameters (sslmode …) are carried over.
    def connection_hash = { adapter: "postgresql", **address }

    # An external server is named as it is: where it listens is its own affair.
    def tcp_hash
      external_url ? connection_hash : { **connection_hash, host: "127.0.0.1", sslmode: "disable", gssencmode: "disable" }
    end

    def host = address[:host]
    alias socket_dir host

    def port = address[:port]
    def user = address[:username]
    def database = address[:database]

    # The server's log so far. (This and restart are for our own server only.)
    def log = File.read(log_path)
    def log_path = File.join(own.folder, "log")

    # Stops the server with "QUIT" (like a crash), "INT" (connections are cut) or "TERM" (waits for them to close), and
    # starts it again at the same address.
    def restart(signal = "QUIT") = own.restart(signal)

    # Whether there is a server of our own.
    def own? = external_url.nil?

    # What the server of that data folder says of itself, "ready" for one: the eighth line of postmaster.pid, where pg_ctl
    # looks too.
    def status(data)
      File.readlines("#{data}/postmaster.pid")[7]&.strip
    rescue Errno::ENOENT
      nil
    end

    # Needed only by who wants the server gone before the process ends.
    def stop
      @current&.stop
      @current = nil
    end

    # The folder of PostgreSQL's server programs.
    def bindir
      @bindir ||= bindir_candidates.find { |folder| %w[initdb postgres].all? { |name| File.executable?("#{folder}/#{name}") } }
      @bindir or raise Error, "PostgreSQL's server programs (initdb, postgres) were not found: run bin/setup, " \
                              "or set #{EXTERNAL_URL} to a server that you have"
    end

    private

    def external_url = ENV[EXTERNAL_URL].to_s.then { |url| url unless url.empty? }

    def address = external_url ? parse(external_url) : current.address

    def current = @current || @starting.synchronize { @current ||= new }

    def own = external_url ? raise(Error, "#{EXTERNAL_URL} is set: that server is not ours to look into or stop") : current

    def parse(url)
      uri = URI.parse(url)
      named = URI.decode_www_form(uri.query.to_s).to_h.transform_keys(&:to_sym)
      named[:username] = named.delete(:user) if named.key?(:user)
      given = { host: uri.host, port: uri.port, username: uri.user, password: uri.password, database: uri.path.delete_prefix("/") }
      { host: "localhost", port: 5432 }.merge(given.reject { |_, part| part.to_s.empty? }.transform_values { |part| unescape(part) })
                                       .merge(named).tap { |parts| parts[:port] = parts[:port].to_i }
    end

    def unescape(part) = part.is_a?(String) ? URI.decode_www_form_component(part.gsub("+", "%2B")) : part

    # libpq doesn't read "+" as a space.
    def query(**pairs) = URI.encode_www_form(pairs).gsub("+", "%20")

    def bindir_candidates
      on_path = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).map { |folder| "#{folder}/initdb" }
                   .select { |file| File.executable?(file) }.map { |file| File.dirname(File.realpath(file)) }
      by_pg_config = IO.popen(%w[pg_config --bindir], err: File::NULL, &:read).chomp rescue nil
      installed = Dir["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin",
                      "/usr/local/opt/postgresql*/bin", "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin"]
      [*on_path, *by_pg_config, *installed.sort_by { |folder| -folder[/\d+/].to_i }]
    end
  end

  attr_reader :folder, :address

  def initialize
    bindir = self.class.bindir
    orders, @orders = IO.pipe
    @reports, reports = IO.pipe
    @owner = Process.pid
    # In a process group of its own: Ctrl-C must reach this process, not the Keeper. On none of our outputs: who reads
    # them (a CI) would wait for the Keeper to close them. Without Bundler, which costs a third of a second.
    @keeper = Process.spawn({ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "--disable-gems", __FILE__, "--keep", bindir,
                            @owner.to_s, in: orders, out: reports, err: File::NULL, pgroup: true)
    [orders, reports].each(&:close)
    # Not at_exit: that would run before the tests if minitest/autorun was loaded first. Finalizers come after it all.
    ObjectSpace.define_finalizer(self.class, proc { stop })
    @folder, port = await_report
    @address = { host: @folder, port: port, username: "postgres", database: "postgres" }
  rescue Exception # rubocop:disable Lint/RescueException -- an interrupt leaves nothing behind either
    stop if @keeper
    raise
  end

  def restart(signal)
    @orders.puts("restart #{signal}")
    await_report
  end

  def stop
    return if Process.pid != @owner || @orders.closed?
    @orders.puts("stop") # as closing alone would not do while a forked child holds the pipe
    @orders.close
    Process.wait(@keeper)
  rescue Errno::EPIPE, Errno::ECHILD
    # The Keeper is gone already.
  end

  private

  def await_report
    slow = !@reports.wait_readable(1)
    tell = slow && ($stderr.tty? || ENV["PIPELOADER_VERBOSE"])
    $stderr.print "Starting a private PostgreSQL server … " if tell
    raise Error, "PostgreSQL did not start within #{START_LIMIT} s" if slow && !@reports.wait_readable(START_LIMIT)
    Marshal.load(@reports).tap do |report|
      $stderr.puts report.is_a?(String) ? "failed" : "ready" if tell
      raise Error, report if report.is_a?(String)
    end
  rescue EOFError
    raise Error, "the process that runs PostgreSQL (#{__FILE__} --keep) died"
  end

  # Runs the server for its parent process: orders come on stdin, reports go to stdout. A report is [folder, port], or a
  # String that says what went wrong.
  class Keeper
    CONFIGURATION = <<~CONF
      listen_addresses = '127.0.0.1'
      max_connections = 200
      max_prepared_transactions = 0
      fsync = off
      synchronous_commit = off
      full_page_writes = off
      timezone = 'UTC'
      log_timezone = 'UTC'
      lc_messages = 'C'
    CONF

    def initialize(bindir, owner)
      @bindir = bindir
      @owner = owner
    end

    def run
      become_ordinary
      make_folder
      initialize_data
      start
      report
      obey while Process.ppid == @owner
    rescue SystemCallError, Error => e
      $stdout.write(Marshal.dump(e.message))
    ensure
      clean_up
    end

    private

    # PostgreSQL refuses to run as root. The whole process changes, as then nothing can be made that it can't remove.
    def become_ordinary
      return unless Process.uid.zero?
      account = %w[postgres nobody].lazy.filter_map { |name| account(name) }.first
      raise Error, "PostgreSQL can't run as root, and there is no user postgres or nobody to run it" unless account
      Process.initgroups(account.name, account.gid)
      Process::GID.change_privilege(account.gid)
      Process::UID.change_privilege(account.uid)
    end

    def account(name) = (Etc.getpwnam(name) rescue nil)

    def make_folder
      ENV.delete_if { |name, _| name.start_with?("PG") }
      ENV.update("LC_ALL" => "C", "TZ" => "UTC")
      # Dir.tmpdir, asked after the change of user, gives a folder which that user can write to.
      @folder = Dir.mktmpdir("pipeloader-")
      return move_to_folder if "#{@folder}/.s.PGSQL.65535".bytesize < 104 # macOS's limit to the path of a Unix socket
      Dir.rmdir(@folder)
      @folder = Dir.mktmpdir("pipeloader-", "/tmp")
      move_to_folder
    end

    # The folder we were started in may be closed to this user.
    def move_to_folder = Dir.chdir(@folder)

    def initialize_data
      done = system("#{@bindir}/initdb", "--pgdata=data", "--username=postgres", "--auth=trust", "--encoding=UTF8",
                    "--no-locale", "--no-sync", "--no-instructions", in: File::NULL, %i[out err] => %w[log a])
      raise Error, "initdb failed:\n#{last_words}" unless done
      File.write("data/postgresql.conf", "#{CONFIGURATION}unix_socket_directories = '#{@folder}'\n", mode: "a")
    end

    def start
      3.times do
        port = @port || free_port
        @postmaster = Process.spawn("#{@bindir}/postgres", "-D", "data", "-p", port.to_s, in: File::NULL, %i[out err] => %w[log a])
        return @port = port if ready?
        @postmaster = nil
      end
      raise Error, "PostgreSQL did not start:\n#{last_words}"
    end

    # Somebody may take it before PostgreSQL does: hence the attempts above.
    def free_port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }

    def ready?
      (START_LIMIT * 80).times do
        return true if PrivateCluster.status("data") == "ready"
        return false if Process.wait(@postmaster, Process::WNOHANG)
        sleep 0.01
      end
      raise Error, "PostgreSQL takes too long to start:\n#{last_words}"
    end

    def last_words = File.readlines("log").last(10).join

    def report = $stdout.write(Marshal.dump([@folder, @port]))

    def obey
      return unless $stdin.wait_readable(0.2)
      case $stdin.gets
      when /\Arestart (\w+)/
        stop($1)
        start
        report
      else exit
      end
    end

    def stop(signal)
      Process.kill(signal, @postmaster)
      Process.wait(@postmaster)
      @postmaster = nil
    rescue Errno::ESRCH, Errno::ECHILD
      # Killed by somebody else.
    end

    def clean_up
      stop("QUIT") if @postmaster
      Dir.chdir("/")
      FileUtils.rm_rf(@folder) if @folder
    end
  end
end

if $PROGRAM_NAME == __FILE__
  case ARGV.first
  when "--keep"
    $stdout.sync = true
    PrivateCluster::Keeper.new(ARGV[1], ARGV[2].to_i).run
  when "--bindir"
    begin
      puts PrivateCluster.bindir
    rescue PrivateCluster::Error => e
      abort e.message
    end
  end
end
