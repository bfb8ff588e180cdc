# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::PostgreSQLAdapter; put on when a schema first asks for lanes
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: what a statement changes in its session (a tenant's setting, `search_path`, a temporary table)
    #   is seen by the statements behind it on that connection, and by none on another. Everything that ActiveRecord sends
    #   passes `log`, also outside of a response: a filter of a controller, say.
    # Falls through when:: always; this only takes note.
    module SessionWatch
      # Of connections that somebody uses already, nobody knows what they were asked.
      def self.begin
        ActiveRecord::Base.connection_handler.each_connection_pool do |pool|
          pool.connections.each { |it| it.pipeloader_session.changed = true if it.in_use? && PostgreSQL.adapter?(it.class) }
        end
      end

      # Nobody sees what is done with it.
      def raw_connection
        pipeloader_session.changed = true
        super
      end

      # It goes back to its pool, or is taken from somebody.
      def expire(...)
        pipeloader_session.locking = false
        super
      end

      private

      # How it is set up is the same for all of its pool.
      def configure_connection(...) = super.tap { pipeloader_session.changed = false }

      def log(sql, ...)
        effect = SQLText.effect_on_session(sql)
        pipeloader_session.note(effect) if effect
        super
      end
    end
  end
end
