# frozen_string_literal: true

require_relative "replica"

# A private cluster and a replica of it for other processes, over 127.0.0.1, until stdin is closed. On stdout: the address of the
# one, and the port of the other.

ADDRESS = "postgresql://#{PrivateCluster.user}@127.0.0.1:#{PrivateCluster.port}/#{PrivateCluster.database}?sslmode=disable&gssencmode=disable"
REPLICA = Replica::Server.new

puts ADDRESS, REPLICA.port
$stdout.flush
$stdin.read
