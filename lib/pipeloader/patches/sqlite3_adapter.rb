# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::SQLite3Adapter
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: a response may read from PostgreSQL besides, and nothing may park there while a transaction of
    #   a resolver's is open here.
    # Falls through when:: the current fiber is not a resolver's; otherwise, too, every read and write is ActiveRecord's own.
    module SQLite3Adapter
      include OtherTransactions

      # ActiveRecord 7.2 and 8.0
      def mark_transaction_written_if_write(sql)
        Attempt.written if Attempt.current && write_query?(sql)
        super
      end

      # ActiveRecord 8.1
      def mark_transaction_written(...)
        Attempt.written
        super
      end
    end
  end
end
