# frozen_string_literal: true

require_relative "interrupt_test"

# Strikes before any line of ours, with a snapshot: no connection goes back in a transaction, and what is read is of one moment.
class SnapshotInterruptTest < InterruptTest
  def self.runnable_methods = super.grep(/at_every_step(?!_in_a_transaction)|while_waiting(?!_in_a_transaction)|_twice/)

  def teardown
    assert_pool_sound(Gated.connection_pool)
    Gated.connection_pool.connections.each { |it| assert_nil it.pipeloader_session.read_transaction }
  ensure
    super
  end

  STRIKES.each_key do |strike|
    define_method(:"test_#{strike}_at_every_step_of_other_ways") { strike_everywhere(strike, :other_ways) }

    define_method(:"test_#{strike}_at_every_step_with_lanes") do
      @lanes = { most: 3, declared: [/./] }
      connect_gated
      strike_everywhere(strike, :request)
      assert_operator Gated.connection_pool.stat[:connections], :>, 2
    end
  end

  private

  def rounds(_default) = super(20)
  def connect_gated(**settings) = super(**settings, pool: @lanes ? 5 : 2)

  # Each field says in which transaction it is, too.
  def select(...)
    rows = super
    isolation = Gated.with_connection { |it| it.select_value("SELECT current_setting('transaction_isolation')") } if Pipeloader::ResolverFiber.current
    raise ActiveRecord::SoleRecordExceeded, "read in #{isolation}" unless isolation.nil? || isolation == "repeatable read"

    rows
  end

  def other_ways(tag = fresh_tag)
    execute do |index|
      Gated.transaction { GatedPost.count } if index == 1
      Gated.with_connection { |it| it.execute("SELECT 1") } if index.zero?
      select(["#{tag} #{index}"]) + select(["#{tag} #{index} again"], prepared: index.odd?)
    end
  end

  def options = { snapshot: true, lanes: @lanes || 1 }
end
