# frozen_string_literal: true

module Pipeloader
  # Classifies SQL by its text, where ActiveRecord has nothing but the text.
  module SQLText
    # Plain SELECTs, VALUES and the like, but no WITH that writes.
    PLAIN = %r{\A(?:[\s(]|/\*.*?\*/|--[^\n]*\n)*(?:select|values|table|with\b(?!.*\b(?:insert|update|delete|merge)\b))}mi
    QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/

    # Changes the session, or opens a transaction that ActiveRecord knows nothing of.
    SETS = %r{(?:\A|;)(?:\s|/\*.*?\*/|--[^\n]*\n)*(?:set|reset|discard|do|begin|start)\b}mi
    SETS_BY_FUNCTION = /\b(?:set_config|setseed|pg_(?:try_)?advisory_lock(?:_shared)?)\s*\(/i

    # Begins or ends a transaction, once what is quoted is left out.
    CONTROLS = %r{(?:\A|;)(?:\s|/\*.*?\*/|--[^\n]*\n)*(?:begin|start|commit|end|rollback|abort|prepare\s+transaction)\b}mi
    DOLLAR_QUOTED = /\$(\w*)\$.*?\$\1\$/m

    # Tokens that may look like parameters, such as names with a dollar in them; then a parameter.
    TOKEN = %r{'(?:[^']|'')*'|"(?:[^"]|"")*"|/\*.*?\*/|--[^\n]*|[[:alpha:]_][[:alnum:]_$]*|\$(\d+)}m
    private_constant :PLAIN, :QUOTED, :SETS, :SETS_BY_FUNCTION, :CONTROLS, :DOLLAR_QUOTED

    class << self
      # True if a pipeline can carry it: the extended protocol takes one statement at a time.
      #
      #: (String) -> bool
      def plain?(sql)
        PLAIN.match?(sql) && one_statement?(sql)
      rescue ArgumentError # invalid encoding: ActiveRecord reports it
        false
      end

      # True if it may change what the session answers to later statements.
      #
      #: (String) -> bool
      def sets?(sql) = SETS.match?(sql) || SETS_BY_FUNCTION.match?(sql)

      # True if it begins or ends a transaction.
      #
      #: (String) -> bool
      def controls_transactions?(sql)
        CONTROLS.match?(sql) && CONTROLS.match?(sql.gsub(DOLLAR_QUOTED, "").gsub(QUOTED, ""))
      end

      #: (String) -> bool
      def sets_by_function?(sql) = SETS_BY_FUNCTION.match?(sql)

      private

      # A semicolon in a literal ends nothing. Where a backslash could quote a quote, the answer is no.
      def one_statement?(sql)
        !sql.include?(";") || (!sql.include?("\\") && !sql.gsub(QUOTED, "").rstrip.delete_suffix(";").include?(";"))
      end
    end
  end
end
