# frozen_string_literal: true

module Pipeloader
  # Classifies SQL by its text, where ActiveRecord has nothing but the text.
  module SQLText
    # What may come before a query, and before any statement.
    OPENING = %r{(?:[\s(]|/\*.*?\*/|--[^\n]*\n)*}m
    GAP = %r{(?:\s|/\*.*?\*/|--[^\n]*\n)*}m

    # Plain SELECTs, VALUES and the like; and WITH, which may write. A text may be long, so each is looked for once.
    PLAIN = /\A#{OPENING}(?:select|values|table)/i
    WITH = /\A#{OPENING}with\b/i
    WRITES = /\b(?:insert|update|delete|merge)\b/i
    QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/

    # Functions that set something, by their names: the application's may be called set_tenant. What becomes of set_config, its
    # arguments say.
    SETTING = /setseed|set_(?!config\b|bit\b|byte\b|masklen\b)\w+/i

    # Changes the session, or opens a transaction that ActiveRecord knows nothing of: as the first statement, and as any.
    SETTERS = /#{GAP}(?:set|reset|discard|do|begin|start)\b/i
    SETS_FIRST = /\A#{SETTERS}/
    SETS = /(?:\A|;)#{SETTERS}/
    SETS_BY_FUNCTION = /\b(?:#{SETTING}|set_config|pg_(?:try_)?advisory_lock(?:_shared)?)\s*\(/i

    # Lasting changes of a session that makes it answer otherwise than others of its pool: as above, but for what ends with the
    # transaction; temporary tables; and, since who knows what it does, a procedure, or a SELECT of nothing but a function.
    CHANGES = %r{
      (?:\A|;)(?:\s|/\*.*?\*/|--[^\n]*\n)*+(?:
        set\b(?!\s+(?:local|transaction|constraints)\b)|(?:reset|discard|do|call|load|listen|declare|prepare)\b
        |create\s+(?:or\s+replace\s+)?(?:(?:global|local)\s+)?temp(?:orary)?\b
        |select\s+(?!(?:pg_\w+|current_\w+|nextval|currval|lastval|now|version|set_config)\s*\()[\w.]+\s*\((?!.*\bfrom\b)
      )
      |\binto\s+(?:(?:global|local)\s+)?temp(?:orary)?\b|\bpg_temp\b
      |\b#{SETTING}\s*\(|\bset_config\s*\((?!(?:[^()']|'[^']*')*,\s*true\s*\))
    }xmi
    LOCKS = /\bpg_(?:try_)?advisory_lock(?:_shared)?\s*\(/i

    # What a read-only transaction lets happen besides, once it is committed.
    STAYS = /(?:\A|;)#{GAP}(?:notify|insert|update|delete|merge|copy|truncate)\b|\bpg_notify\s*\(/i

    # Begins or ends a transaction, once what is quoted is left out.
    CONTROLS = /(?:\A|;)#{GAP}(?:begin|start|commit|end|rollback|abort|prepare\s+transaction)\b/i
    DOLLAR_QUOTED = /\$(\w*)\$.*?\$\1\$/m

    # Tokens that may look like parameters, such as names with a dollar in them; then a parameter.
    TOKEN = %r{'(?:[^']|'')*'|"(?:[^"]|"")*"|/\*.*?\*/|--[^\n]*|[[:alpha:]_][[:alnum:]_$]*|\$(\d+)}m
    private_constant :OPENING, :GAP, :PLAIN, :WITH, :WRITES, :QUOTED, :SETTING, :SETTERS, :SETS_FIRST, :SETS, :SETS_BY_FUNCTION,
                     :CHANGES, :LOCKS, :STAYS, :CONTROLS, :DOLLAR_QUOTED

    # {SQL => what #effect_on_session, and #left_in_transaction, say of it; how many parameters it has}
    EFFECTS, LEFT, PARAMETERS = Array.new(3) { Bounded.new(1000) }
    KEPT_LENGTH = 2000
    private_constant :EFFECTS, :LEFT, :PARAMETERS, :KEPT_LENGTH

    class << self
      # True if a pipeline can carry it: the extended protocol takes one statement at a time.
      #
      #: (String) -> bool
      def plain?(sql)
        (PLAIN.match?(sql) || reads_with?(sql)) && one_statement?(sql)
      rescue ArgumentError # invalid encoding: ActiveRecord reports it
        false
      end

      # True if it has as many parameters as there are values. It takes long to look through a long text: one that comes with
      # values is a list of ActiveRecord's.
      #
      #: (String, Integer) -> bool
      def takes?(sql, values)
        return values.zero? unless sql.include?("$")

        (sql.size > KEPT_LENGTH && values.positive?) || keep(PARAMETERS, sql) { parameters_of(sql) } == values
      end

      # True if it may change what the session answers to later statements.
      #
      #: (String) -> bool
      def sets?(sql)
        (sql.include?(";") ? SETS : SETS_FIRST).match?(sql) || SETS_BY_FUNCTION.match?(sql)
      rescue ArgumentError # invalid encoding: ActiveRecord reports it
        false
      end

      # True if it sets something that ends with the transaction.
      #
      #: (String) -> bool
      def sets_locally?(sql) = sets?(sql) && effect_on_session(sql).nil? && !controls_transactions?(sql)

      # True if it begins or ends a transaction.
      #
      #: (String) -> bool
      def controls_transactions?(sql)
        CONTROLS.match?(sql) && CONTROLS.match?(sql.gsub(DOLLAR_QUOTED, "").gsub(QUOTED, ""))
      end

      #: (String) -> bool
      def sets_by_function?(sql) = SETS_BY_FUNCTION.match?(sql)

      # What is left behind by it in a transaction that goes on.
      #
      # @return [Symbol, nil] :stays, as without a transaction; :ends, as by `SET LOCAL`, which should end with the statement
      def left_in_transaction(sql)
        keep(LEFT, sql) { left_by(sql) }
      end

      # What it leaves in its session when its transaction is over.
      #
      # @return [Symbol, nil] :changes, if later statements may be answered otherwise; :locks for advisory locks
      def effect_on_session(sql)
        keep(EFFECTS, sql) { effect_of(sql) }
      end

      private

      def keep(known, sql) = sql.size > KEPT_LENGTH ? yield : known.fetch(sql) { known[sql] = yield }

      def parameters_of(sql) = sql.scan(TOKEN).map { |(number)| number.to_i }.max

      def left_by(sql)
        return :stays if effect_on_session(sql) == :changes

        sets?(sql) ? :ends : (:stays if STAYS.match?(sql))
      end

      def effect_of(sql)
        return :changes if CHANGES.match?(sql)

        :locks if LOCKS.match?(sql)
      rescue ArgumentError # invalid encoding
        :changes
      end

      def reads_with?(sql) = (begun = WITH.match(sql)) ? !WRITES.match?(sql, begun.end(0)) : false

      # A semicolon in a literal ends nothing. Where a backslash could quote a quote, the answer is no.
      def one_statement?(sql)
        !sql.include?(";") || (!sql.include?("\\") && !sql.gsub(QUOTED, "").rstrip.delete_suffix(";").include?(";"))
      end
    end
  end
end
