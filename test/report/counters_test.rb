# frozen_string_literal: true

require_relative "../support/answers"

class CountersTest < AnswerTest
  def setup = take_first_alias

  def counters(schema, query, **options) = schema.execute(query, **options).context.namespace(:pipeloader).slice(:bursts, :reads, :statements)

  def test_counters
    assert_equal({ bursts: 1, reads: 1, statements: 1 }, counters(Schemas.parked.last, "{ posts { title } }"))
    events = WireCounter.events("burst.pipeloader") { @counters = counters(Schemas.parked.last, "{ posts { author { name } comments { id } } }") }
    assert_equal({ bursts: 2, reads: events.sum { |it| it[:reads].size }, statements: events.sum { |it| it[:statements] } }, @counters)
    assert_operator @counters[:statements], :<, @counters[:reads]
  end

  def test_nothing_to_count
    assert_equal({ bursts: 0, reads: 0, statements: 0 }, counters(Schemas.pair.last, "{ __typename }"))
    assert_empty counters(Schemas.pair.first, "{ posts { title } }")
  end

  def test_each_answer_counts_for_itself
    2.times { assert_equal 2, counters(Schemas.pair.last, "{ posts { author { name } } }")[:bursts] }
  end

  def test_queries_of_a_multiplex_share
    results = Schemas.pair.last.multiplex([{ query: "{ posts { title } }" }, { query: "{ users { name } }" }])
    results.each { |it| assert_equal({ bursts: 1, reads: 2, statements: 2 }, it.context.namespace(:pipeloader)) }
  end

  def test_in_a_mutation
    restoring { assert_equal 3, counters(Schemas.pair.last, "mutation { a: like(id: 1) { author { name } } b: like(id: 4) { author { name } } }")[:bursts] }
  end

  def test_burst_event
    payloads = WireCounter.events("burst.pipeloader") { Schemas.pair.last.execute("{ posts { title auditNotes } }") }
    assert_equal [1, 2], payloads.map { |it| it[:position] }
    payloads.zip([Post.connection, Audit.connection]) do |payload, connection|
      assert_same connection, payload[:connection]
      assert_operator payload[:bytes_sent], :>, 0
      assert_operator payload[:bytes_received], :>, 0
    end
  end

  # Its own duration doesn't contain the wait.
  def test_sql_event_of_a_parked_read
    payloads = WireCounter.events("sql.active_record") { Schemas.parked.last.execute("{ posts { title author { name } } }") }
                          .reject { |it| it[:name] == "SCHEMA" }
    assert_equal [1] + ([2] * 9), payloads.map { |it| it[:pipeloader][:burst] }
    payloads.drop(1).each { |it| assert_operator it[:pipeloader][:wait], :>, 0 }
  end
end
