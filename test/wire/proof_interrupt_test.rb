# frozen_string_literal: true

require_relative "interrupt_test"
require_relative "unstruck"

# Strikes before any line of ours while an execution is proved, as one that differs each time: by three more in one snapshot. No
# transaction stays open, no connection stays away from its pool, and the answer is what it was.
class ProofInterruptTest < InterruptTest
  include Unstruck::WithTransactions

  def self.runnable_methods = super.grep(/at_every_step\z|at_every_step_is|timeout_around|while_waiting(?!_in_a_transaction)|_twice/)

  def setup
    super
    @differences = []
    Pipeloader.proof = { sample: 1.0, on_difference: ->(difference) { @differences << difference } }
    ActiveSupport::LogSubscriber.logger = Logger.new(nil)
  end

  def teardown
    assert_pool_sound(Gated.connection_pool)
    Gated.connection_pool.connections.each { |it| assert_nil it.pipeloader_session.read_transaction }
    assert_nil Pipeloader::ProofSnapshot.current
  ensure
    Pipeloader.proof = nil
    ActiveSupport::LogSubscriber.logger = nil
    super
  end

  # Nobody strikes.
  def test_at_every_step_is_proved
    2.times { request }
    assert_equal [true] * 2, @differences.map(&:snapshot)
  end


  private

  def rounds(_default) = super(25)

  # All fields differ.
  def schema(_piped, fields)
    (@@proved ||= {})[fields] ||= Class.new(super) do
      use(Pipeloader, breaker: false)
      query(Class.new(query) do
        graphql_name "Query"
        fields.times { |index| define_method(:"f#{index}") { super() && ::Pipeloader::ResolverFiber.current.nil?.to_s } }
      end)
    end
  end
end
