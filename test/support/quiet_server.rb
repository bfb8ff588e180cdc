# frozen_string_literal: true

# What PostgreSQL says of itself (a transaction that is open already, a backend that a test has killed) would stand between the tests'
# own lines: libpq writes it to standard error. A test that wants to hear it sets a processor or receiver of its own.
module QuietServer
  SILENCE = proc {}

  module New
    def new(...) = super.tap { |connection| connection.set_notice_processor(&SILENCE) if connection.is_a?(PG::Connection) && !connection.finished? }
  end

  # libpq forgets it.
  def reset(...) = super.tap { set_notice_processor(&SILENCE) }
end
PG::Connection.singleton_class.prepend(QuietServer::New)
PG::Connection.prepend(QuietServer)
