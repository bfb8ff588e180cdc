# frozen_string_literal: true

module Pipeloader
  # Settings of database sessions that one job changes. What it leaves changed holds, without Pipeloader, for the fields below and
  # for those after it.
  #
  # Limits: what `raw_connection`, or a function of the server's but `set_config`, sets; `RESET ALL`.
  class LeftSettings
    NAMES = [/(?:\A|;)\s*set\s+(?!local\b|transaction\b|constraints\b)(?:session\s+)?"?([\w.]+)/i,
             /(?:\A|;)\s*reset\s+(?!all\b)"?([\w.]+)/i,
             /\bset_config\s*\(\s*'([\w.]+)'\s*,[^()]*,\s*false\s*\)/i].freeze
    COMMENT = %r{/\*.*?\*/}m
    private_constant :NAMES, :COMMENT

    # A setting of a connection, and its value before; nil where it had none, which is empty once it has been reset.
    Setting = Struct.new(:connection, :name, :value) do
      def changed? = connection.pipeloader_setting(name).to_s != value.to_s
      def put_back = connection.pipeloader_set(name, value)
    end

    alias inspect to_s

    def initialize
      @settings = {} # {[connection, name] => Setting}
    end

    # A text is about to be sent.
    def note(sql, connection)
      text = sql.gsub(COMMENT, "")
      NAMES.each { |pattern| text.scan(pattern) { |name,| keep(name.downcase, connection) } }
    end

    # A setting is about to be changed.
    def keep(name, connection)
      @settings[[connection, name]] ||= Setting.new(connection, name, connection.pipeloader_setting(name))
    end

    # @return [Array<Setting>] that aren't as they were
    def left = @settings.each_value.select(&:changed?)
  end
end
