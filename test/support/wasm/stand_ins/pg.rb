# frozen_string_literal: true

# Names of the pg gem, and nothing behind them: where there are no sockets, nobody calls anything.
module PG
  module Names
    # A class or a module for `TextEncoder`, `Connection`; a value for `PGRES_TUPLES_OK`.
    def const_missing(name) = const_set(name, name.match?(/[a-z]/) ? Class.new { extend Names } : name)
  end
  extend Names

  VERSION = "0"
  # Where an adapter is made without a connection.
  class Connection
    extend Names

    def self.conndefaults_hash = {}
  end

  Error = Class.new(StandardError) { extend Names }
end
