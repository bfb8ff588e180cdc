# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: any other adapter, put on when a response first meets its connection pool
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: what would happen to a read there is known to nobody, so it must not happen silently.
    # Falls through when:: the current fiber is not a resolver's, or Pipeloader is disabled.
    module UnsupportedAdapter
      include OtherTransactions

      # By our own patches, which ActiveRecord's classes and what is derived from them include.
      def self.supports?(adapter_class)
        PostgreSQL.adapter?(adapter_class) || adapter_class <= SQLite3Adapter || adapter_class <= UnsupportedAdapter
      end

      def self.refuse(adapter_class)
        adapter_class.prepend(self) unless supports?(adapter_class)
      end

      def select_all(...)
        return super if ResolverFiber.current.nil? || Pipeloader.disabled?

        raise UnsupportedAdapterError,
              "Pipeloader reads from PostgreSQL and, without pipelining, from SQLite, but this read is for #{adapter_name}. " \
              "Wrap it in `Pipeloader.disabled { … }`, or take `use Pipeloader` out of the schema."
      end

      private

      # Whatever it sends, where that is wrapped so, may write: only the adapter could tell.
      def with_raw_connection(...)
        Attempt.written
        super
      end
    end
  end
end
