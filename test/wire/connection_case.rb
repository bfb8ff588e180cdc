# frozen_string_literal: true

require_relative "wire_case"

# A pool of a test's own, which is to be sound at the end, whatever became of its connections.
class ConnectionCase < WireCase
  VOLATILE = "SELECT nextval('connection_probe')"

  def setup
    super
    side.exec("DROP SEQUENCE IF EXISTS connection_probe; CREATE SEQUENCE connection_probe")
    connect_gated
  end

  def teardown
    release
    assert_pool_sound
    assert_equal "post 7", Post.find(7).title
    super
  end

  private

  def assert_alike
    plain, piped = [false, true].map do |with|
      side.exec("ALTER SEQUENCE connection_probe RESTART")
      yield(with).tap { release }
    end
    assert_equal strip(plain), strip(piped)
    piped
  end

  # Where two reads meet a dead connection, what the second is told of it may be worded in another way.
  def strip(outcome)
    case outcome
    when Failure
      connection = outcome.class_name.match?(/ConnectionFailed|ConnectionNotEstablished/)
      connection ? "connection lost" : outcome.to_a
    when Array then outcome.map { |it| strip(it) }
    else outcome
    end
  end
end
