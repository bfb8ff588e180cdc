# frozen_string_literal: true

require_relative "interrupt_test"
require_relative "settings_case"

# Strikes before any line of ours, with settings: nothing of them stays on a connection, and no field has other ones.
class SettingsInterruptTest < InterruptTest
  include SettingsCase

  def self.runnable_methods = super.grep(/at_every_step|_is_begun\z/)

  def setup
    super
    fill
  end

  def teardown
    release
    assert_nothing_left
  ensure
    super
  end

  STRIKES.each_key do |strike|
    define_method(:"test_#{strike}_at_every_step_of_writes") { strike_everywhere(strike, :writing_request) }
    define_method(:"test_#{strike}_at_every_step_of_writes_in_a_transaction") { strike_everywhere(strike, :writing_request_in_transaction) }
  end

  # ActiveRecord doesn't know of that transaction: it must not be what the next one on the connection works in.
  def test_a_strike_while_a_transaction_is_begun
    strike_while_begun { |write| write.call }
    assert_equal ["t1 note 2"], TenantNote.where(id: 2).pluck(:body)
  end

  # Whoever masks interrupts, gets none.
  def test_a_masked_strike_while_a_transaction_is_begun
    strike_while_begun { |write| Thread.handle_interrupt(Stop => :never) { write.call } }
    assert_equal ["t1 written"], TenantNote.where(id: 2).pluck(:body)
  end

  private

  # @yieldparam write [Proc] to be called by a field, which waits for the server's answer to BEGIN when it is struck
  def strike_while_begun
    Unstruck::Transactions.on = false
    gate = put_gate
    TenantNote.primary_key # else what it would wait for is the schema
    begins = lambda do |_|
      yield(-> { gate.hold(:answers) && TenantNote.where(id: 2).update_all(body: "t1 written") })
    end
    thread = in_thread { PIPED.execute("{ run }", context: { tenant: 1, run: begins }) }
    gate.await(:answers)
    thread.raise(Stop, "struck")
    Thread.pass until thread.stop?
    gate.pass
    assert_equal "struck", assert_raises(Stop) { thread.join }.message
    assert_pool_sound(Gated.connection_pool)
  end

  def rounds(_default) = super(20)

  # What strikes the callable is its error. Of two fields that fail the first one's error comes out: one that still reads, when
  # a later one is struck that writes, meets what this leaves of their transaction.
  def assert_struck(outcome, strike, *rest)
    return if strike == :error && lost_with_the_transaction?(outcome)

    super(outcome.is_a?(Pipeloader::SettingsError) && outcome.cause.is_a?(Mishap) ? outcome.cause : outcome, strike, *rest)
  end

  def lost_with_the_transaction?(error)
    case error
    when ActiveRecord::ConnectionNotEstablished then error.message.include?("connection is broken")
    when ActiveRecord::StatementInvalid then error.cause.is_a?(PG::InFailedSqlTransaction)
    end
  end

  # Each field says whose rows it sees, too.
  def select(...)
    rows = super
    seen = TenantNote.pluck(:tenant_id).uniq
    raise ActiveRecord::SoleRecordExceeded, "rows of #{seen}" unless seen == [2]

    rows
  end

  # What a sibling's failure has left isn't asked for.
  def writing_request(tag = fresh_tag)
    execute do |index|
      TenantNote.update_all("body = body") if index == 1
      TenantNote.transaction { TenantNote.update_all("body = body") } if index == 2
      select(["#{tag} #{index}"]) + select(["#{tag} #{index} again"], prepared: index.odd?)
    end
  end

  def writing_request_in_transaction(tag = fresh_tag) = Gated.transaction { writing_request(tag) }

  OPTIONS = { settings: ->(_) { { "role" => ROLE, "app.tenant_id" => 2 } } }.freeze

  def options = OPTIONS
end
