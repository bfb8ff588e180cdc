# frozen_string_literal: true

require_relative "kept_process"

# A streaming replica of the private cluster, on loopback: what the primary commits can be read there when `catch_up` returns.
# If PIPELOADER_REPLICA_PORT is set, that one is used instead (see serve.rb).
class Replica
  # It could not be made or started.
  class Error < RuntimeError; end

  # Queries never hold up what comes from the primary.
  SETTINGS = { listen_addresses: "127.0.0.1", unix_socket_directories: "", max_standby_streaming_delay: 0, max_standby_archive_delay: 0,
               hot_standby_feedback: "off" }.freeze

  EXTERNAL_PORT = "PIPELOADER_REPLICA_PORT"

  # A server of this process's own.
  class Server
    attr_reader :port, :process

    def initialize
      primary = PrivateCluster.connection_hash
      bindir = PrivateCluster.bindir
      @port = KeptProcess.free_port
      settings = SETTINGS.map { |name, value| "-c #{name}='#{value}'" }.join(" ")
      @process = KeptProcess.new("sh", "-c", <<~SH, ordinary: true)
        #{bindir}/pg_basebackup -D data -R -X stream -c fast --no-sync -h #{primary[:host]} -p #{primary[:port]} -U #{primary[:username]} &&
        exec #{bindir}/postgres -D data -p #{@port} #{settings}
      SH
      @process.await("the replica") { PrivateCluster.status("#{@process.folder}/data") == "ready" }
    rescue KeptProcess::Error => e
      raise Error, "the replica did not start (its primary must allow replication): #{e.message}"
    end
  end

  def initialize
    @port = ENV.fetch(EXTERNAL_PORT) { (@server = Server.new).port }
    @admin = connect
  end

  # For establish_connection.
  def hash(database = TestDatabase::NAME, **more)
    TestDatabase.hash(database).slice(:adapter, :username, :password, :database).merge(host: "127.0.0.1", port: @port, sslmode: "disable", gssencmode: "disable", **more)
  end

  # A connection of one's own, outside ActiveRecord.
  def connect(database = TestDatabase::NAME)
    PG.connect(host: "127.0.0.1", port: @port, user: PrivateCluster.user, dbname: database, sslmode: "disable", gssencmode: "disable")
  end

  # Returns when all that the primary has committed can be read here. (The private cluster's commits don't wait for the log to
  # be written, and what isn't written isn't sent: one does that takes along all before it.)
  #
  # @param primary [PG::Connection]
  def catch_up(primary)
    primary.exec("BEGIN; SET LOCAL synchronous_commit = local; SELECT pg_logical_emit_message(true, 'catch up', ''); COMMIT")
    position = primary.exec("SELECT pg_current_wal_flush_lsn()").getvalue(0, 0)
    await("what the primary has committed") { @admin.exec("SELECT pg_last_wal_replay_lsn() >= '#{position}'").getvalue(0, 0) == "t" }
  end

  # While the block runs, what the primary commits isn't to be seen here.
  def paused
    @admin.exec("SELECT pg_wal_replay_pause()")
    await("the pause") { @admin.exec("SELECT pg_get_wal_replay_pause_state()").getvalue(0, 0) == "paused" }
    yield
  ensure
    @admin.exec("SELECT pg_wal_replay_resume()")
  end

  private

  def await(what, &block) = KeptProcess.await(what, @server&.process, &block)
end
