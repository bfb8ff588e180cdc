# frozen_string_literal: true

require_relative "pgbouncer_case"
require_relative "settings_case"

# Settings through PgBouncer in transaction mode, where the next statement of the server may be another client's.
class SettingsPgbouncerTest < PgbouncerCase
  include SettingsCase

  def setup
    super
    fill
  end

  def test_each_tenant_has_its_rows
    3.times { TENANTS.each { |tenant| [ALL, OPAQUE].each { |query| assert_as_local(query, tenant) } } }
  end

  def test_nothing_is_left_on_the_servers
    TENANTS.each { |tenant| piped(ALL, tenant) }
    on_another_server { piped(ALL, 1) }
    left = "SELECT concat(current_user = session_user, ' ', current_setting('role'), ' ', current_setting('app.tenant_id', true))"
    assert_equal "t none ", value(left)
    on_another_server { assert_equal "t none ", value(left) }
  end

  def test_the_server_changes_between_levels
    answer = run_piped(2) do
      [TenantNote.first.body, *on_another_server { TenantNote.order(:id).pluck(:body).last }]
    end
    assert_equal '["t2 note 1", "t2 note 11"]', answer
  end

  def test_many_threads
    through(bouncer, pool: 12)
    threads = Array.new(12) do |number|
      random = Random.new(seed + number)
      in_thread do
        Array.new(rounds(8)) do
          tenant = TENANTS.sample(random: random)
          run = ->(_) { random.rand(3).zero? ? TenantNote.update_all("body = body") : TenantNote.transaction { TenantNote.pluck(:body) } }
          query = [ALL, OPAQUE, "mutation { a: change b: change }", "{ a: run bodies b: run }"].sample(random: random)
          [piped(query, tenant, context: { run: run }), tenant]
        end
      end
    end
    threads.each { |thread| thread.value.each { |answer, tenant| assert_own(answer, tenant) } }
  end
end
