# frozen_string_literal: true

require_relative "../support/test_helper"
require "pipeloader/rspec"
require "rspec/expectations"

# What a user's example expects with `require "pipeloader/rspec"`.
class MatchersTest < UnitTest
  include RSpec::Matchers
  include Pipeloader::Matchers

  LEVELS = "{ posts { title author { name } comments { body } } }"
  PLAIN, PIPED = Schemas.pair

  # Counts as an assertion, for a test without one fails.
  def expect(...)
    self.assertions += 1
    super
  end

  def run_query(schema = PIPED, query = LEVELS) = schema.execute(query)

  def complaint(&block) = assert_raises(RSpec::Expectations::ExpectationNotMetError, &block).message

  def test_round_trips
    expect { run_query }.to make_round_trips(2)
    expect { run_query }.to make_round_trips(at_most: 2)
    expect { run_query }.to make_round_trips
    expect { nil }.not_to make_round_trips
    assert_match(/\Aexpected 3 round trips, but there were 2:\n  1\. /, complaint { expect { run_query }.to make_round_trips(3) })
    assert_match(/\Aexpected at most 2 round trips, but there were 22:/, complaint { expect { run_query(PLAIN) }.to make_round_trips(at_most: 2) })
    assert_match(/\Aexpected 0 round trips, but there were 2:/, complaint { expect { run_query }.not_to make_round_trips })
    assert_equal("expected round trips, but there were none", complaint { expect { nil }.to make_round_trips })
  end

  def test_statements
    expect { run_query }.to send_statements(at_most: 3)
    expect { nil }.not_to send_statements
    assert_match(/\Aexpected at most 2 statements, but there were 3:/, complaint { expect { run_query }.to send_statements(at_most: 2) })
  end

  def test_rows
    expect { run_query(PIPED, "{ posts { title } }") }.to read_at_most(Post.count).rows
    assert_match(/\Aexpected at most 3 rows, but there were #{Post.count}:/, complaint { expect { run_query(PIPED, "{ posts { title } }") }.to read_at_most(3).rows })
  end

  def test_compiled
    expect { run_query }.to have_compiled("Post.author", "User.name")
    expect { run_query(PIPED, "{ posts { auditNotes } }") }.not_to have_compiled("Post.auditNotes")
    assert_match(/\Aexpected these to be compiled:\n  Post\.nothing: no query/, complaint { expect { run_query }.to have_compiled("Post.nothing") })
    assert_match(/\Aexpected none of these to be compiled:\n  Post\.author: compiled/, complaint { expect { run_query }.not_to have_compiled("Post.author") })
  end

  def test_composed
    runs = 0
    expect { run_query.tap { runs += 1 } }.to make_round_trips(at_most: 2).and(have_compiled("Post.author")).and(read_at_most(1000).rows)
    assert_equal 1, runs
    message = complaint { expect { run_query }.to make_round_trips(at_most: 1).and have_compiled("Post.author") }
    assert_match(/expected at most 1 round trip, but there were 2:/, message)
    expect { Post.count }.to make_round_trips(2).or send_statements(1)
  end

  # What an error is expected beside, leaves the block.
  def test_beside_an_error
    expect { expect { Post.find(0) }.to make_round_trips(1) }.to raise_error(ActiveRecord::RecordNotFound)
  end

  def test_negated_with_a_number
    assert_raises(ArgumentError) { expect { run_query }.not_to make_round_trips(at_most: 3) }
    assert_raises(ArgumentError) { expect { run_query }.not_to read_at_most(3).rows }
  end

  def test_descriptions
    descriptions = [make_round_trips(at_most: 3), make_round_trips, make_round_trips(1), send_statements(2), read_at_most(100).rows, have_compiled("Post.author", "User.name")]
    assert_equal ["make at most 3 round trips", "make round trips", "make 1 round trip", "send 2 statements", "read at most 100 rows",
                  "have compiled Post.author, User.name"], descriptions.map(&:description)
  end
end
