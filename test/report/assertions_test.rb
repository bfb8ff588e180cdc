# frozen_string_literal: true

require_relative "../support/test_helper"
require "pipeloader/minitest"

# What a user's test asserts with `require "pipeloader/minitest"`.
class AssertionsTest < UnitTest
  LEVELS = "{ posts { title author { name } comments { body } } }"
  AUDITS = "{ posts { auditNotes } }"
  PLAIN, PIPED = Schemas.pair
  PARKED = Schemas.parked.last

  def run_query(schema, query = LEVELS, **options) = schema.execute(query, **options).to_h

  def complaint(&block) = assert_raises(Minitest::Assertion, &block).message

  def test_every_test_has_them
    assert_includes Minitest::Test.ancestors, Pipeloader::Assertions
  end

  def test_at_most
    answer = assert_round_trips(2) { run_query(PIPED) }
    assert_equal run_query(PLAIN), answer
    assert_round_trips(3) { run_query(PIPED) }
    assert_match(/\Aexpected at most 1 round trip, but there were 2:\n/, complaint { assert_round_trips(1) { run_query(PIPED) } })
  end

  def test_exactly
    assert_round_trips(exactly: 2) { run_query(PIPED) }
    assert_match(/\Aexpected 3 round trips, but there were 2:\n/, complaint { assert_round_trips(exactly: 3) { run_query(PIPED) } })
  end

  def test_a_plain_schema_fails
    reads = WireCounter.events("sql.active_record") { run_query(PLAIN) }.reject { |it| it[:name] == "SCHEMA" }.size
    assert_round_trips(exactly: reads) { run_query(PLAIN) }
    assert_statements(exactly: reads) { run_query(PLAIN) }
    message = complaint { assert_round_trips(2) { run_query(PLAIN) } }
    assert_match(/\Aexpected at most 2 round trips, but there were #{reads}:/, message)
    assert_match(/^Too many by: (Post\.comments; Post\.author|Post\.author; Post\.comments)$/, message)
  end

  def test_outside_of_graphql
    assert_round_trips(exactly: 2) { [Post.count, User.first] }
    assert_round_trips(0) { nil }
    message = complaint { assert_round_trips(0) { Post.count } }
    assert_match(%r{^  1\. 1 statement, 1 row, \d+\.\d ms: test/report/assertions_test.rb:#{__LINE__ - 1}$}, message)
    assert_match(/^       SELECT COUNT\(\*\) FROM "posts"$/, message)
    assert_match(%r{^Too many by: test/report/assertions_test.rb:#{__LINE__ - 3}\z}, message)
  end

  def test_writes
    ActiveRecord::Base.transaction do
      assert_round_trips(exactly: 1) { ActiveRecord::Base.transaction(requires_new: true) { Tag.create!(name: "new") } }
      raise ActiveRecord::Rollback
    end
  end

  def test_the_query_cache
    Post.cache { assert_round_trips(exactly: 1) { 2.times { Post.count } } }
  end

  def test_statements
    assert_statements(3) { run_query(PIPED) }
    message = complaint { assert_statements(2) { run_query(PIPED) } }
    assert_match(/\Aexpected at most 2 statements, but there were 3:/, message)
    assert_match(/^Too many by: Post\./, message)
  end

  def test_rows
    rows = Post.count + User.where(id: Post.distinct.select(:author_id)).count + Comment.where.not(post_id: nil).count
    assert_rows_read(exactly: rows) { run_query(PIPED) }
    message = complaint { assert_rows_read(rows - 1) { run_query(PIPED) } }
    assert_match(/\Aexpected at most #{rows - 1} rows, but there were #{rows}:/, message)
    assert_match(/^Most of them by: /, message)
    assert_rows_read(exactly: Post.count) { run_query(PIPED, "{ posts { title } }") }
    assert_rows_read(exactly: Post.count) { run_query(PLAIN, "{ posts { title } }") }
  end

  # Rows that several reads share come once.
  def test_rows_of_parked_reads
    authors = Post.distinct.count(:author_id)
    assert_rows_read(exactly: Post.count + authors) { run_query(PARKED, "{ posts { author { name } } }") }
  end

  def test_the_levels
    message = complaint { assert_round_trips(0) { run_query(PARKED, "{ posts { audits: auditNotes authorName } }") } }
    assert_match(%r{^  1\. 1 statement, #{Post.count} rows, \d+\.\d ms: Query\.posts, test/support/schemas\.rb:\d+$}, message)
    assert_match(%r{Post\.auditNotes, test/support/schemas\.rb:#{Schemas::Post.instance_method(:audit_notes).source_location.last}( ×\d+)?}, message)
    assert_match(%r{Post\.authorName, test/support/schemas\.rb:#{Schemas::Post.instance_method(:author_name).source_location.last}( ×\d+)?}, message)
    assert_match(/^  2\. \d+ reads in \d+ statements, \d+ rows, \d+\.\d ms: /, message)
    refute_match(/^  3\. /, message) # both databases are asked at the same time
  end

  # The resolver of which each object makes a round trip.
  class Locking < Schemas::Post
    graphql_name "Locking"
    field :locked_notes, [String], null: false
    def locked_notes = Pipeloader.without_parking { ::Audit.where(post_id: object.id).order(:id).pluck(:note) }
  end

  class Query < GraphQL::Schema::Object
    field :posts, [Locking], null: false
    def posts = ::Post.order(:id)
  end

  def test_the_line_of_the_resolver
    schema = Schemas.make(query: Query, mutation: nil).last
    message = complaint { assert_round_trips(2) { run_query(schema, "{ posts { lockedNotes } }") } }
    line = Locking.instance_method(:locked_notes).source_location.last
    assert_match(/but there were #{Post.count + 1}:/, message)
    assert_match(%r{^Too many by: Locking\.lockedNotes, test/report/assertions_test\.rb:#{line}\z}, message)
  end

  def test_an_error_leaves_the_block
    assert_raises(ArgumentError) { assert_round_trips(3) { raise ArgumentError } }
    refute Pipeloader::Measured.now?
    assert_round_trips(2) { run_query(PIPED) }
  end

  def test_one_in_the_other
    assert_round_trips(exactly: 3) { [assert_statements(exactly: 1) { Post.count }, run_query(PIPED)] }
  end

  def test_another_thread_isnt_counted
    assert_round_trips(0) { Thread.new { Post.count.tap { ActiveRecord::Base.connection_handler.clear_active_connections! } }.join }
  end

  def test_no_number
    assert_raises(ArgumentError) { assert_round_trips { nil } }
    assert_raises(ArgumentError) { assert_round_trips(1, exactly: 1) { nil } }
  end

  # -- the same alone, and behind other tests ---------------------------------------------------------------------------

  # One that has been executed often, and saves little, is tried without Pipeloader: three reads are three round trips then.
  def test_no_trials
    schema = Schemas.make(pipeloader: { rest: true }).last
    few = "{ post(id: 1) { author { name } comments { body } } }"
    60.times { assert_round_trips(exactly: 2) { run_query(schema, few) } }
    assert_includes(Array.new(60) { WireCounter.trips { run_query(schema, few) }.size }, 3)
  end

  # What resolvers ask for one after the other is foreseen once it has been seen.
  def test_nothing_is_read_ahead
    post = Class.new(Schemas::Base) { graphql_name("Told"); field(:names, String); def names = context[:ask].call(object) }
    query = Class.new(Schemas::Base) { graphql_name("Query"); field(:posts, [post]); def posts = ::Post.order(:id) }
    text = "{ posts { names } }"
    ask = ->(asked) { asked.comments.map { |it| it.commenter&.name }.join(" ") }
    off, schema = [false, true].map { |on| Schemas.make(query: query, mutation: nil, pipeloader: { forecast: on }).last }
    trips = WireCounter.trips { run_query(off, text, context: { ask: ask }) }.size
    assert_operator Array.new(5) { WireCounter.trips { run_query(schema, text, context: { ask: ask }) }.size }.last, :<, trips
    assert_round_trips(exactly: trips) { run_query(schema, text, context: { ask: ask }) }
  end

  # -- compiled ------------------------------------------------------------------------------------------------------------

  def test_compiled
    assert_equal run_query(PLAIN), assert_compiled("Post.title", "Post.author", "User.name") { run_query(PIPED) }
    message = complaint { refute_compiled("Post.title") { run_query(PIPED) } }
    assert_equal "expected none of these to be compiled:\n  Post.title: compiled", message
  end

  def test_not_compiled
    refute_compiled("Post.auditNotes") { run_query(PIPED, AUDITS) }
    message = complaint { assert_compiled("Post.auditNotes") { run_query(PIPED, AUDITS) } }
    assert_match(%r{\Aexpected these to be compiled:\n  Post\.auditNotes: by graphql-ruby \(.*audit_notes.*\), test/support/schemas\.rb:\d+\z}, message)
  end

  # What hasn't come, says nothing.
  def test_nothing_came
    message = complaint { refute_compiled("Post.auditNotes") { run_query(PIPED, AUDITS.sub("posts", "posts(limit: 0)")) } }
    assert_match(/auditNotes: by graphql-ruby \(nothing came there\)/, message)
  end

  def test_not_selected
    message = complaint { assert_compiled("Post.titel") { run_query(PIPED) } }
    assert_equal "expected these to be compiled:\n  Post.titel: no query that Pipeloader has executed selects it", message
    complaint { refute_compiled("Post.titel") { run_query(PIPED) } }
    complaint { assert_compiled("Post.title") { run_query(PLAIN) } }
    assert_raises(ArgumentError) { assert_compiled { nil } }
  end

  def test_compiled_in_a_multiplex
    assert_compiled("Post.title", "User.name") { PIPED.multiplex([{ query: "{ posts { title } }" }, { query: "{ users { name } }" }]) }
  end

  def test_compiled_below_a_mutation
    ActiveRecord::Base.transaction do
      refute_compiled("Mutation.like") { run_query(PIPED, "mutation { like(id: 1) { title author { name } } }") }
      raise ActiveRecord::Rollback
    end
  end
end
