# frozen_string_literal: true

require_relative "../support/test_helper"

# A Snapshot's short cut never says that nothing has changed where a comparison says otherwise.
class FingerprintTest < PipeloaderTest
  ROUNDS = Integer(ENV.fetch("PIPELOADER_ROUNDS", 8)) * 100
  SEED = Integer(ENV.fetch("PIPELOADER_SEED", Random.new_seed % 1_000_000))

  class Settings < ActiveSupport::CurrentAttributes
    attribute :user, :tags
  end

  def test_random_changes
    random = Random.new(SEED)
    short = 0
    ROUNDS.times do |round|
      execution = Array.new(random.rand(1..6)) { |index| [:"#{"active_record_" if random.rand < 0.2}key#{index}", value(random)] }.to_h
      snapshot = Pipeloader::Snapshot.new(execution, :en, [])
      12.times do
        same = snapshot.send(:compare, execution)
        short += 1 if snapshot.instance_variable_get(:@fingerprint)&.of?(execution)
        assert_equal same, snapshot.like?(execution), "PIPELOADER_SEED=#{SEED}, round #{round}: #{execution.inspect}"
        change(execution, random)
      end
    end
    assert_operator short, :>, ROUNDS
  end

  def test_what_it_is_about
    execution = { registry: ActiveRecord::Scoping::ScopeRegistry.new, stack: [], set: Set.new, count: 1 }
    snapshot = Pipeloader::Snapshot.new(execution, :en, [])
    assert snapshot.like?(execution)
    { stack: 1, set: 2 }.each do |key, item|
      execution[key] << item
      refute snapshot.like?(execution), key
      execution[key].delete(item)
      assert snapshot.like?(execution), key
    end
    execution[:registry].set_current_scope(Post, Post.all)
    refute snapshot.like?(execution)
    execution[:registry].set_current_scope(Post, nil)
    assert snapshot.like?(execution)
    assert snapshot.like?(execution)
  end

  # ActiveRecord leaves false behind where it has looked at a model's default scope.
  def test_default_scopes_that_were_looked_at
    execution = { registry: ActiveRecord::Scoping::ScopeRegistry.new }
    snapshot = Pipeloader::Snapshot.new(execution, :en, [])
    assert snapshot.like?(execution)
    execution[:registry].set_ignore_default_scope(Post, true)
    refute snapshot.like?(execution)
    inside = Pipeloader::Snapshot.new(execution, :en, [])
    execution[:registry].set_ignore_default_scope(Post, false)
    2.times { assert snapshot.like?(execution) }
    refute inside.like?(execution)
    assert_empty Pipeloader::Snapshot.new(execution, :en, []).entries
  end

  # A thread's first response begins without them. Making them must not look like an assignment.
  def test_memos
    execution = { stack: [] }
    snapshot = Pipeloader::Snapshot.new(execution, :en, [])
    2.times { assert snapshot.like?(execution) }
    execution[:active_support_notifications_registry] = {}
    execution[:active_record_instrumenter] = Object.new
    2.times { assert snapshot.like?(execution) }
    other = { stack: [], time_zone: "UTC", locale: "de" } # as large as that
    2.times { refute snapshot.like?(other) }
    snapshot.restore(execution)
    assert_includes execution, :active_record_instrumenter
  end

  def test_what_is_replaced
    execution = { registry: ActiveRecord::Scoping::ScopeRegistry.new }
    snapshot = Pipeloader::Snapshot.new(execution, :en, [])
    2.times { assert snapshot.like?(execution) }
    execution[:registry].instance_variable_set(:@current_scope, { "Post" => OBJECTS.first })
    refute snapshot.like?(execution)
    execution[:registry].instance_variable_set(:@current_scope, {})
    2.times { assert snapshot.like?(execution) }
  end

  # Something where deep down there was nothing.
  def test_what_lies_deep
    execution = { nested: { 1 => { 2 => [] } } }
    snapshot = Pipeloader::Snapshot.new(execution, :en, [])
    2.times { assert snapshot.like?(execution) }
    execution[:nested][1][2] << 1
    refute snapshot.like?(execution)
  end

  private

  OBJECTS = Array.new(4) { Object.new }.freeze

  def value(random, depth = 0)
    case random.rand(depth > 2 ? 3 : 8)
    when 0 then nil
    when 1 then OBJECTS.sample(random: random)
    when 2 then random.rand(3)
    when 3 then Array.new(random.rand(3)) { value(random, 3) }
    when 4 then Array.new(random.rand(3)) { OBJECTS.sample(random: random) }.to_set
    when 5 then Array.new(random.rand(3)) { |index| [index, value(random, depth + 1)] }.to_h
    when 6 then ActiveRecord::Scoping::ScopeRegistry.new
    else Settings.new.tap { |it| it.instance_variable_get(:@attributes)[:user] = value(random, 3) if random.rand < 0.5 }
    end
  end

  # What there is, anywhere in it; often nothing, or forth and back.
  def change(container, random)
    case container
    when Hash then change_hash(container, random)
    when Array, Set then change_list(container, random)
    when ActiveRecord::Scoping::ScopeRegistry
      change(container.instance_variable_get(container.instance_variables.sample(random: random)), random)
    when Settings then change(container.instance_variable_get(:@attributes), random)
    end
  end

  def change_hash(hash, random)
    case random.rand(6)
    when 0 then hash[:added] = value(random, 3)
    when 1 then hash.delete(hash.keys.sample(random: random))
    when 2 then hash[hash.keys.sample(random: random)] = value(random) unless hash.empty?
    when 3..4 then change(hash.values.sample(random: random), random)
    end
  end

  def change_list(list, random)
    case random.rand(3)
    when 0 then list << OBJECTS.sample(random: random)
    when 1 then list.clear
    end
  end
end
