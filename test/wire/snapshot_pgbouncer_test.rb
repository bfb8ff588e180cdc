# frozen_string_literal: true

require_relative "pgbouncer_case"

# A snapshot through PgBouncer in transaction mode: its transaction stays with one server.
class SnapshotPgbouncerTest < PgbouncerCase
  def test_the_server_stays_between_levels
    3.times do
      servers = nil
      resolve(true, 2) do |index|
        first = server
        servers = [first, on_another_server { server }] if index.zero?
      end
      assert_equal 1, servers.uniq.size
    end
  end

  def test_nothing_is_left_on_the_servers
    resolve(true, 7) { |index| form(index) }
    assert_equal "read committed", value("SHOW transaction_isolation")
    on_another_server { assert_equal "read committed", value("SHOW transaction_isolation") }
  end

  def test_many_threads
    through(bouncer, pool: 6)
    assert_many_threads(6)
  end

  private

  def options = { snapshot: true }
end
