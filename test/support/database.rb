# frozen_string_literal: true

# Two databases of this process's own on the test server, with the tables of models.rb. Dropped when the tests are done.
module TestDatabase
  NAME = "pipeloader_test_#{Process.pid}"
  SECOND = "#{NAME}_second"

  class << self
    # Without a reaper: from ActiveRecord 8.1 on it leases idle connections to see if they live, and the tests look into idle
    # connections themselves.
    def hash(database = NAME, **more) = PrivateCluster.connection_hash.merge(database: database, reaping_frequency: nil, **more)

    def create
      admin { |connection| [NAME, SECOND].each { |name| make(connection, name) } }
      owner = Process.pid
      Minitest.after_run { drop if Process.pid == owner }
    end

    def drop
      ActiveRecord::Base.connection_handler.clear_all_connections!(:all)
      admin { |connection| [NAME, SECOND].each { |name| connection.exec("DROP DATABASE IF EXISTS #{name} WITH (FORCE)") } }
    end

    # A connection of one's own, outside ActiveRecord.
    def connect(database = NAME)
      hash = PrivateCluster.connection_hash
      PG.connect(host: hash[:host], port: hash[:port], user: hash[:username], password: hash[:password], dbname: database)
    end

    private

    # By their indexes rows that no ORDER BY orders come as they were inserted. A sequential scan gives those last that were
    # updated, and whether a table this small is read by one depends on when autovacuum last came by: between two answers
    # that are compared, for one. (What is off counts as costing so much that each statement over a table without an index
    # would be worth compiling, were jit on: 100 ms for one of 0.1.)
    def make(connection, name)
      connection.exec("CREATE DATABASE #{name}")
      { enable_seqscan: "off", jit: "off" }.each { |setting, value| connection.exec("ALTER DATABASE #{name} SET #{setting} = #{value}") }
    end

    def admin
      connection = connect(PrivateCluster.database)
      yield connection
    ensure
      connection&.close
    end
  end
end

TestDatabase.create
ActiveRecord::Base.establish_connection(TestDatabase.hash)
