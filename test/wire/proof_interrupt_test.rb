# frozen_string_literal: true

require_relative "interrupt_test"
require_relative "../support/differing_fields"

# Strikes while an execution is proved that differs each time: by three more in one snapshot. No transaction stays open, no
# connection stays away from its pool, and the answer is what it was.
class ProofInterruptTest < InterruptTest
  include DifferingFields

  # What begins, keeps and ends the snapshot. (All others: InterruptTest.)
  PARTS = %w[queries/proof_snapshot execute/double_check execute/proof_sample wire/read_transaction wire/transaction_control
             wire/session wire/connection_lease patches/postgresql_snapshot].map { |part| "#{LIB}/#{part}.rb" }.freeze

  def self.runnable_methods = super.grep(/at_every_step\z|at_every_step_is|timeout_around|while_waiting(?!_in_a_transaction)|_twice/)

  def setup
    super
    ActiveSupport::LogSubscriber.logger = Logger.new(nil)
  end

  def teardown
    assert_pool_sound(Gated.connection_pool)
    Gated.connection_pool.connections.each { |it| assert_nil it.pipeloader_session.read_transaction }
    assert_nil Pipeloader::ProofSnapshot.current
  ensure
    ActiveSupport::LogSubscriber.logger = nil
    super
  end

  # Nobody strikes.
  def test_at_every_step_is_proved
    2.times { request }
    assert_equal [true] * 2, @differences.map(&:snapshot)
  end

  private

  def ours?(event) = super && PARTS.include?(event.path)
  def rounds(_default) = super(40)
end
