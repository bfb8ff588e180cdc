# frozen_string_literal: true

require_relative "chinook"

module Demo
  # The PostgreSQL that the queries run on: Chinook in a namespace of its own, as far away as is asked for.
  class Database
    FILE = File.expand_path("../tmp/chinook/Chinook.sqlite", __dir__)
    NAMESPACE = "pipeloader_demo_#{Process.pid}".freeze
    PATIENCE = 10 # seconds to connect

    attr_reader :rows

    def open
      connect(PrivateCluster.connection_hash)
      connection.verify!
    end

    def load
      raise Problem, "the Chinook sample database is missing: run bin/setup --chinook" unless File.file?(FILE)

      @loaded = true
      connection.create_schema(NAMESPACE)
      @rows = Chinook.new(FILE, connection).load
    end

    # Runs the block with a connection to a server that is +rtt+ milliseconds away (farther than it is, strictly). Yields the
    # proxy that makes it so, if there has to be one.
    def at(rtt, &block)
      rtt.zero? ? yield : far_away(rtt, &block)
    end

    def version = connection.select_value("SHOW server_version")[/\S+/]

    # On a connection of its own: the present one may have been left in the middle of something.
    def drop
      return unless @loaded

      connect(PrivateCluster.connection_hash)
      connection.drop_schema(NAMESPACE, if_exists: true)
    rescue ActiveRecord::ActiveRecordError, PG::Error
      # The server is gone.
    ensure
      ActiveRecord::Base.remove_connection
    end

    private

    def connect(address)
      ActiveRecord::Base.establish_connection(connect_timeout: PATIENCE, **address, schema_search_path: NAMESPACE)
    end

    def connection = ActiveRecord::Base.connection

    def far_away(rtt)
      proxy = LatencyProxy.start(target, rtt: rtt)
      connect(PrivateCluster.tcp_hash.merge(host: proxy.host, port: proxy.port))
      yield proxy
    ensure
      connect(PrivateCluster.connection_hash)
      proxy&.stop
    end

    def target
      host, port = PrivateCluster.tcp_hash.values_at(:host, :port)
      host.start_with?("/") ? "#{host}/.s.PGSQL.#{port}" : "#{host}:#{port}"
    end
  end
end
