# frozen_string_literal: true

module Pipeloader
  # Settings of database sessions that one job changes. What it leaves changed holds, without Pipeloader, for the fields below and
  # for those after it.
  #
  # Limits: what `raw_connection`, or a function of the server's but `set_config` of a name that is written there, sets;
  # `RESET ALL`, `SET SESSION CHARACTERISTICS`.
  class LeftSettings
    NAME = /(?:"?([\w.]+)"?\s*(?:=|to\b)|(time\s+zone|schema|names|role|session\s+authorization)\b)/i
    SET = /(?:\A|;)\s*set\s+(?!local\b)(?:session\s+(?!authorization\b))?#{NAME}/i
    RESET = /(?:\A|;)\s*reset\s+(?!all\b)(?:(time\s+zone|session\s+authorization)\b|"?([\w.]+))/i
    FUNCTION = /\bset_config\s*\(\s*'([\w.]+)'/i
    ALONE = /\A(?:(?:set|reset)\b|select\s+set_config\s*\([^()]*,\s*false\s*\)\z)/i
    COMMENT = %r{/\*.*?\*/|--[^\n]*}m
    # What SQL has words of its own for.
    NAMES = { "time zone" => "timezone", "schema" => "search_path", "names" => "client_encoding",
              "session authorization" => "session_authorization" }.freeze
    private_constant :NAME, :SET, :RESET, :FUNCTION, :ALONE, :COMMENT, :NAMES

    # A setting of a connection, its value before, and whether no transaction was open. nil where it had none; :unknown where
    # nobody could ask.
    Setting = Struct.new(:connection, :name, :value, :idle) do
      # True if it isn't as it was. Of a connection that was given back nobody knows.
      def changed?
        now = connection.pipeloader_setting(name)
        return false if [value, now].include?(:unknown) || now.to_s == value.to_s

        !value.nil? || now != connection.pipeloader_default(name)
      end

      # True if it can be put back: in a transaction it may have been set for that alone.
      def known? = idle && value != :unknown && connection.pipeloader_settles?

      def put_back = connection.pipeloader_set(name, value)
    end

    class << self
      # @return [Array<String>] the names of all settings that a text changes for longer than a transaction
      def names(sql)
        text = sql.gsub(COMMENT, " ")
        names = [SET, RESET, FUNCTION].flat_map { |pattern| text.scan(pattern).flatten.compact }
        names.map { |name| name.downcase.squeeze(" ").then { |it| NAMES.fetch(it, it) } }
      end

      # True if a setting is all that a text changes.
      def alone?(sql)
        text = sql.gsub(COMMENT, " ").strip.chomp(";")
        !text.include?(";") && ALONE.match?(text) && names(text).any?
      end
    end

    alias inspect to_s

    def initialize
      @settings = {} # {[connection, name] => Setting}
    end

    # A text is about to be sent.
    def note(sql, connection) = LeftSettings.names(sql).each { |name| keep(name, connection) }

    # A setting is about to be changed.
    def keep(name, connection)
      @settings[[connection, name]] ||=
        Setting.new(connection, name, connection.pipeloader_setting(name), connection.pipeloader_settles?)
    end

    # @return [Array<Setting>] that aren't as they were
    def left = @settings.each_value.select(&:changed?)
  end
end
