# frozen_string_literal: true

require_relative "unit_helper"

# PIPELOADER_FIELD_EXACT=1: all tests with projection on. Nothing may change but the SELECT lists.
Pipeloader.field_exact = true if ENV["PIPELOADER_FIELD_EXACT"]
# The tests run with the options that users have. A test that counts parked reads says `compile: false`, because a plan parks
# none; a test about plans says `compile: true`. And none rests: which test has executed a document often enough for a trial, is
# chance; see TrialTest.
# PIPELOADER_COMPILE=0: plans are off in all other tests. Answers must not change.
# A bug fails its test: no breaker.
# By how many round trips a tree comes, would depend on how far the server seems to be. PIPELOADER_TRIPS=one: all in one, where tests
# that count them fail; answers must not change.
module UnlessTold
  TRIPS = ENV.fetch("PIPELOADER_TRIPS", "depth").to_sym

  def use(schema, compile: ENV["PIPELOADER_COMPILE"] != "0", rest: false, trips: TRIPS, breaker: false, **options) = super
end
Pipeloader.singleton_class.prepend(UnlessTold)
require_relative "engine"
require_relative "private_cluster"
require_relative "database"
require_relative "models"
require_relative "schemas"
require_relative "quiet_server"
require_relative "wire_counter"
require_relative "report" if ENV["PIPELOADER_REPORT"]

[ActiveSupport, ActiveRecord].each { |host| host.deprecator.behavior = :raise }

# Parity first: what a schema answers with Pipeloader must be, byte by byte, what it answers without.
class PipeloaderTest < UnitTest
  def before_setup
    super
    reason = Engine.skip_reason("#{self.class}##{name}")
    skip(reason) if reason
  end

  # ActiveRecord takes each thread, or each fiber, for a world of its own: by +level+ until the test ends.
  def isolate_by(level)
    @level_before ||= ActiveSupport::IsolatedExecutionState.isolation_level
    ActiveSupport::IsolatedExecutionState.isolation_level = level
  end

  # Behind teardown, which may read. What fibers of the plain schema's dataloader have leased, they leave behind when they end.
  def after_teardown
    super
    return unless @level_before

    ActiveRecord::Base.connection_handler.each_connection_pool { |pool| [pool.release_connection, pool.reap] }
    ActiveSupport::IsolatedExecutionState.isolation_level = @level_before
  end

  # Executes +query+ by both schemas and returns the answer (a Hash), which must be the same JSON.
  #
  # @param schemas [Array(Class, Class)] the plain one, the one with Pipeloader
  def assert_same_answer(query, schemas = Schemas.pair, **options)
    plain, piped = schemas.map { |schema| schema.execute(query, **options.transform_values { |it| it.is_a?(Proc) ? it.call : it }).to_h }
    assert_equal JSON.generate(plain), JSON.generate(piped)
    piped
  end

  # The block must take exactly +count+ round trips: bursts, and statements that go alone. Where it doesn't, the message
  # shows what went when.
  #
  # @return [Array<Array<String>>] the SQL of each
  def assert_round_trips(count, message = nil, &block)
    take_first_alias
    trips = WireCounter.trips(aside = [], &block)
    assert_equal count, trips.size, "#{message}\n#{trips.map.with_index(1) { |trip, i| "#{i}: #{trip.join("\n   ")}" }.join("\n")}\nNot counted: #{aside.inspect}"
    trips
  end

  # Before bursts are counted: a new connection's first alias asks the server how long names may be, and takes along what is
  # gathered. (Which test finds the connection new, is chance.)
  def take_first_alias = ActiveRecord::Base.with_connection(&:table_alias_length)

  # Runs the block in a transaction, of which nothing stays.
  #
  # @return what the block returns
  def rolled_back(model = ActiveRecord::Base)
    result = nil
    model.transaction do
      result = yield
      raise ActiveRecord::Rollback
    end
    result
  end
end
