# frozen_string_literal: true

require_relative "read_forms_case"
require_relative "../support/coalesced_from_two"

module ReadFormsTwice
  # Of these we know that they are.
  COALESCED = ["find", "find_by key", "find_by attribute", "pick", "take", "sole", "reload", "find_by_sql prepared", "select_all",
               "belongs_to", "has_many", "has_many through", "has_one"].freeze

  def runs(...)
    super
    most = 0
    note = ->(*, payload) { most = [most, *payload[:answers].map(&:last)].max }
    ActiveSupport::Notifications.subscribed(note, "burst.pipeloader") { super }
  ensure
    # (Two of the four ask the same.)
    assert_operator most, :>, 2, "nothing was coalesced" if most && coalesced.include?(name.delete_prefix("test_"))
  end

  def coalesced = COALESCED
end

class ReadFormsCoalescedTest < ReadFormsCase
  include CoalescedFromTwo
  include ReadFormsTwice
  test_all_forms
end

class ReadFormsCoalescedUnpreparedTest < ReadFormsCase
  extend WithoutPreparedStatements
  include CoalescedFromTwo
  include ReadFormsTwice

  test_all_forms
end

class ReadFormsCoalescedTransformedTest < ReadFormsCase
  include CoalescedFromTwo
  include ReadFormsTwice
  # (A comment in SQL of one's own could hide something.)
  def coalesced = COALESCED - ["find_by_sql prepared", "select_all"]

  def setup = super.tap { ActiveRecord.query_transformers << ->(sql, _connection = nil) { "/* it's $1 */ #{sql} -- app:test" } }
  def teardown = super.tap { ActiveRecord.query_transformers.pop }
  test_all_forms
end

# As QueryLogs does it, which switches prepared statements off.
class ReadFormsCoalescedUnpreparedTransformedTest < ReadFormsCase
  extend WithoutPreparedStatements
  include CoalescedFromTwo
  include ReadFormsTwice

  def setup = super.tap { ActiveRecord.query_transformers << ->(sql, _connection = nil) { "/* it's $1, now() */ #{sql} -- id = 1" } }
  def teardown = super.tap { ActiveRecord.query_transformers.pop }
  test_all_forms
end
