# frozen_string_literal: true

require_relative "kept_process"

# A PgBouncer of this process's own before the test server: transaction mode, few connections to the server.
#
#   bouncer = Bouncer.new(pool_size: 2, max_prepared_statements: 100)
#   bouncer.hash             # {host:, port:} for establish_connection
#   bouncer.admin("RECONNECT")
class Bouncer
  # PgBouncer isn't there, or refuses to run.
  class Error < RuntimeError; end

  FOLDERS = [*ENV.fetch("PATH", "").split(File::PATH_SEPARATOR), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/local/bin"].freeze

  class << self
    def program
      FOLDERS.map { |folder| "#{folder}/pgbouncer" }.find { |file| File.executable?(file) } or
        raise Error, "PgBouncer was not found: run bin/setup as root on Debian, or install it (Debian and Ubuntu: apt-get install " \
                     "pgbouncer; macOS: brew install pgbouncer)"
    end

    def version = Gem::Version.new(IO.popen([program, "--version"], &:read)[/PgBouncer (\S+)/, 1])

    # From 1.21 on it can follow named statements from one server connection to another.
    def follows_statements? = version >= Gem::Version.new("1.21")
  end

  def initialize(pool_size:, **settings)
    3.times do
      @port = KeptProcess.free_port
      @process = KeptProcess.new(self.class.program, "bouncer.ini", ordinary: true,
                                                                    files: { "bouncer.ini" => configuration(pool_size, settings), "users" => users })
      return if ready?
    end
    raise Error, "PgBouncer did not start:\n#{@process.log}"
  end

  def hash = { host: "127.0.0.1", port: @port, sslmode: "disable", gssencmode: "disable" }

  # A command of its console.
  #
  # @return [Array<Hash>]
  def admin(command)
    connection = PG.connect(**address, dbname: "pgbouncer")
    connection.exec(command).to_a
  ensure
    connection&.close
  end

  # A connection of one's own through it, outside ActiveRecord.
  def connect = PG.connect(**address, dbname: TestDatabase::NAME)

  def log = @process.log

  def stop = @process.stop

  private

  def address = { **hash, user: server[:username] }

  def server = PrivateCluster.connection_hash

  def users = "\"#{server[:username]}\" \"#{server[:password]}\"\n"

  def configuration(pool_size, settings)
    # Its Unix sockets would be in /tmp, for all to see.
    settings = { listen_addr: "127.0.0.1", listen_port: @port, unix_socket_dir: "", auth_type: "trust", auth_file: "users",
                 admin_users: server[:username], pool_mode: "transaction", default_pool_size: pool_size,
                 ignore_startup_parameters: "extra_float_digits", **settings }
    "[databases]\n* = host=#{server[:host]} port=#{server[:port]}\n[pgbouncer]\n" + settings.map { |name, value| "#{name} = #{value}\n" }.join
  end

  # False if somebody else has taken the port.
  def ready?
    @process.await("PgBouncer") { listening? }
    @process.alive? && admin("SHOW VERSION").any?
  rescue KeptProcess::Error, PG::Error
    raise Error, "PgBouncer did not start:\n#{@process.log}" unless @process.log.include?("in use")
  end

  def listening?
    TCPSocket.new("127.0.0.1", @port).close
    true
  rescue SystemCallError
    false
  end
end
