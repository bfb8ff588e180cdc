# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/comparison"

# What random runs have left, with and without Pipeloader, compared.
#
# PIPELOADER_ROUNDS sets how many of each are tried, PIPELOADER_SEED where to begin; a failure says what to set.
class RandomCase < PipeloaderTest
  ROUNDS = Integer(ENV.fetch("PIPELOADER_ROUNDS", 8))
  SEED = Integer(ENV.fetch("PIPELOADER_SEED", Random.new_seed % 1_000_000))

  # For all fibers that a query of Writer's may need: at the limit, a field that failed no longer waits its turn, and errors
  # may be listed in another order (docs/internals.md).
  ROOM = { fiber_limit: 16_000 }.freeze

  QUERY_CACHE = ->(run) { ActiveRecord::Base.cache { Audit.cache(&run) } }

  # What Rails keeps for a thread or fiber.
  class Current < ActiveSupport::CurrentAttributes
    attribute :who
  end

  def pair = @@pair ||= Schemas.make(pipeloader: ROOM)

  private

  def each_round
    # What a thread of an earlier test took along when it was killed is noticed by the first of two equal runs alone.
    ActiveRecord::Base.connection_pool.reap
    ROUNDS.times do |round|
      seed = SEED + round
      @seed = "PIPELOADER_SEED=#{seed} PIPELOADER_ROUNDS=1"
      yield Random.new(seed)
    end
  end

  # @param trips [Integer, false] how many round trips more than the first the second may take
  def assert_same(plain, piped, show:, trips: 0)
    more = trips
    trips = []
    answers = [plain, piped].map do |run|
      answer = nil
      trips << WireCounter.trips { answer = outcome(&run) }.size
      [answer, left_behind]
    end
    explain = -> { "#{@seed}\n#{show.is_a?(Hash) && show[:query] ? show.values.join("\n") : show.pretty_inspect}" }
    bytes = answers.map { |answer, _| JSON.generate(answer) }
    assert bytes.uniq.one?, -> { "#{explain.call}#{differences(*answers.map(&:first)).join("\n")}" }
    assert_equal(*answers.map(&:last), explain)
    assert_operator trips.last, :<=, trips.first + more, explain unless !more || bytes.first.include?('"errors":')
  end

  def outcome
    yield
  rescue StandardError => e
    [e.class.name, e.message]
  end

  # @return [Array<String>] "path: expected … but was …", the first four
  def differences(plain, piped, path = "answer")
    return [] if JSON.generate(plain) == JSON.generate(piped)
    children = if plain.is_a?(Hash) && piped.is_a?(Hash) && plain.keys == piped.keys then plain.keys
               elsif plain.is_a?(Array) && piped.is_a?(Array) && plain.size == piped.size then plain.each_index
               end
    return ["#{path}: expected\n  #{plain.inspect[0, 700]}\nbut was\n  #{piped.inspect[0, 700]}"] unless children
    children.flat_map { |key| differences(plain[key], piped[key], "#{path}.#{key}") }.first(4)
  end

  def left_behind
    connection = ActiveRecord::Base.lease_connection
    [I18n.locale, Time.zone, Current.who, Post.current_scope, connection.query_cache_enabled, connection.open_transactions,
     connection.raw_connection.pipeline_status, connection.raw_connection.transaction_status, Post.count, Tag.count,
     ActiveRecord::Base.connection_pool.stat.slice(:busy, :dead)]
  end
end
