# frozen_string_literal: true

module Pipeloader
  # Asks PostgreSQL how it would execute a recorded SELECT. Nothing is executed, and values aren't needed:
  #
  #     SET LOCAL plan_cache_mode = force_generic_plan; …    -- in a transaction that is rolled back
  #     (Parse) SELECT * FROM "users" WHERE "id" = $1        -- libpq's message, which takes one statement and no more
  #     EXPLAIN EXECUTE pipeloader_plan (NULL)
  #
  # EXPLAIN (GENERIC_PLAN) of PostgreSQL 16 would go as text, in which a second statement may follow.
  #
  # Limits: the plan is that of a connection without the query's own settings.
  class QueryPlan
    NAME = "pipeloader_plan"
    # Milliseconds: planning waits for locks.
    PATIENCE = 2_000
    SAFELY = "SET LOCAL transaction_read_only = on; SET LOCAL statement_timeout = #{PATIENCE}; " \
             "SET LOCAL plan_cache_mode = force_generic_plan; SAVEPOINT #{NAME}".freeze
    private_constant :NAME, :PATIENCE, :SAFELY

    # True if there may be a plan.
    #
    #: (String) -> bool
    def self.of?(sql) = sql.match?(/\A[\s(]*+(?:SELECT|WITH)\b/i)

    # @param sql [String] with $1, $2 … where it has binds
    # @param values [Boolean] whether those in the plan are shown
    def initialize(sql, pool, values:)
      @sql = sql
      @pool = pool
      @values = values
    end

    # @return [Hash] {plan: "Index Scan using …\n  Index Cond: …"} or {failure: "…"}
    def to_h
      plan = rolled_back { |connection| explain(connection) }
      { plan: @values ? Masked.utf8(plan) : Masked.plan(plan) }
    rescue ActiveRecord::ActiveRecordError, PG::Error => e
      { failure: message(e.cause || e) }
    end

    private

    # Of the pool that its process has by now: after a fork there is another.
    def rolled_back
      told = nil
      @pool.pool_config.pool.with_connection do |adapter|
        adapter.transaction(requires_new: true) do
          told = adapter.pipeloader_connection(allow_retry: false) { |connection| yield connection }
          raise ActiveRecord::Rollback
        end
      end
      told
    end

    #: (PG::Connection) -> String
    def explain(connection)
      connection.exec(SAFELY)
      prepared = connection.prepare(NAME, @sql)
      connection.exec("EXPLAIN EXECUTE #{NAME}#{arguments(connection)}").column_values(0).join("\n")
    ensure
      # As prepared statements outlive a transaction, and nothing is taken in one that has failed.
      connection.exec("ROLLBACK TO #{NAME}")
      connection.exec("DEALLOCATE #{NAME}") if prepared
    end

    def arguments(connection)
      count = connection.describe_prepared(NAME).nparams
      "(#{Array.new(count, "NULL").join(", ")})" if count.positive?
    end

    # What the server says, without the statement that ActiveRecord and libpq add.
    def message(error)
      said = error.result&.error_field(PG::Result::PG_DIAG_MESSAGE_PRIMARY) if error.is_a?(PG::Error)
      said ||= "#{error.class}: #{error.message.lines.first}".chomp
      @values ? Masked.utf8(said) : Masked.message(said)
    end
  end
end
