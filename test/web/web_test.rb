# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/web_case"

# The page and its JSON, by calls as Rack makes them.
class WebTest < PipeloaderTest
  include WebCase

  # -- what is recorded ----------------------------------------------------------------------------------------------------

  def test_same_answer
    assert_same_answer(QUERY)
    assert_nil json("/operations.json")[:failure]
  end

  def test_an_operation
    # How many there are, depends on what the forecasts of other tests have learned.
    trips = WireCounter.trips([]) { piped.execute(QUERY) }.size
    found = operations
    assert_equal [["Posts", "query", 1, trips]], found.map { |it| it.values_at(:name, :kind, :executions, :round_trips) }
    assert_equal trips, details[:last][:bursts].size
    assert_equal found.first[:rows], details[:last][:bursts].sum { |it| it[:rows] }
    assert_equal found.first[:reads], details[:last][:bursts].sum { |it| it[:reads] }
    2.times { piped.execute(QUERY) }
    assert_equal 3, operations.first[:executions]
  end

  def test_timeline
    piped.execute(QUERY)
    last = details[:last]
    ends = last[:bursts].map { |it| it[:at] + it[:milliseconds] }
    assert_equal 0, last[:bursts].first[:at]
    assert_equal last[:bursts].map { |it| it[:at] }.sort, last[:bursts].map { |it| it[:at] }
    assert_operator last[:milliseconds], :>=, ends.max - 0.01
  end

  # Bursts that are on their way at the same time are waited for once.
  def test_waited
    execution = Pipeloader::RecordedExecution.new(false)
    [[0.030, 0.040], [0.0, 0.020], [0.001, 0.015], [0.015, 0.025]].each do |began, ended|
      execution.burst(began, ended, { connection: ActiveRecord::Base.connection, reads: [], statements: 1, rows: 0 })
    end
    execution.ended = 0.050
    assert_equal [50.0, 35.0], execution.to_h.values_at(:milliseconds, :waited)
  end

  # At most each half second.
  def test_not_each_execution_is_shown
    3.times { piped.execute(QUERY) }
    recorded = recorder.instance_variable_get(:@operations).values.first
    before = recorded.shown_at
    piped.execute(QUERY)
    assert_in_delta before, recorded.shown_at, Pipeloader::Recorder::SHOWN_EVERY
  end

  # Of an execution that isn't shown nobody hears but by its response: rows are counted all the same.
  def test_executions_that_are_not_shown
    rows = WireCounter.events("burst.pipeloader") { 2.times { piped.execute(QUERY) } }.last(2).sum { |burst| burst[:rows] }
    Pipeloader::Web.clear
    piped.execute(QUERY)
    once = operations.first[:rows]
    piped.execute(QUERY)
    assert_equal 2 * once, operations.first[:rows]
    assert_operator once, :>, 0
    assert_operator rows, :>, 0
    heard = 0
    counting = Module.new { define_method(:burst) { |*given| super(*given).tap { heard += 1 } } }
    recorder.singleton_class.prepend(counting)
    made = WireCounter.events("burst.pipeloader") { piped.execute(QUERY) }.size
    assert_equal [0, true], [heard, made.positive?]
  end

  # However many operations there are.
  def test_executions_that_are_shown_in_a_second
    real = Process.method(:clock_gettime)
    Process.stub(:clock_gettime, ->(clock, unit = :float_second) { unit == :second ? 1_000 : real.call(clock, unit) }) do
      25.times { |at| piped.execute("query Q#{at} { posts { title } }") }
    end
    shown = operations.count { |it| details(it)[:last] }
    assert_equal [25, Pipeloader::Recorder::MOST_SHOWN], [operations.size, shown]
  end

  def test_time_saved
    12.times { piped.execute(QUERY) }
    Pipeloader::Web.clear # the next is shown, and the distance is known by now
    piped.execute(QUERY)
    found = operations.first
    assert_operator found[:round_trip], :>, 0
    assert_operator found[:saved], :>, 0
  end

  def test_operations_are_told_apart
    piped.execute("query One { posts { title } }")
    piped.execute("query Two { posts { title } }")
    piped.execute("{ posts { title } }")
    text = "query A { posts { title } } query B { posts { likes } }"
    piped.execute(text, operation_name: "A")
    piped.execute(text, operation_name: "B")
    assert_equal ["", "A", "B", "One", "Two"], operations.map { |it| it[:name] }.sort
    assert_equal 5, operations.map { |it| it[:id] }.uniq.size
  end

  def test_multiplex
    piped.multiplex([{ query: "query One { posts { title } }" }, { query: "query Two { users { name } }" }])
    assert_equal [["One + Two", "multiplex"]], operations.map { |it| it.values_at(:name, :kind) }
    assert_match(/executed together/, details[:fields_missing])
  end

  def test_trial
    piped.execute(QUERY)
    query = GraphQL::Query.new(piped, QUERY)
    ActiveSupport::Notifications.instrument("trial.pipeloader", query: query, rests: true, seconds_without: 0.002, seconds_with: 0.003)
    assert_equal({ rests: true, with: 3.0, without: 2.0 }, operations.first[:trial])
  end

  # -- fields --------------------------------------------------------------------------------------------------------------

  def states(fields) = fields.to_h { |it| [it[:field], it[:state]] }.merge(*fields.map { |it| states(it[:fields] || []) })

  def test_fields
    piped.execute(QUERY)
    posts = details[:fields].first
    assert_equal({ "Query.posts" => "once", "Post.title" => "compiled", "Post.author" => "compiled", "User.name" => "compiled",
                   "Post.authorName" => "opaque" }, states([posts]))
    opaque = posts[:fields].find { |it| it[:key] == "authorName" }
    assert_match(/asks `User` for something/, [opaque[:reason], opaque[:obstacle]].join)
    assert_match(%r{\Atest/support/schemas\.rb:\d+\z}, opaque[:location])
  end

  def test_connections_and_fragments
    piped.execute("query Posts { posts { ...on Post { commentsConnection(first: 2) { nodes { body } pageInfo { hasNextPage } } ...Title } } } " \
                  "fragment Title on Post { title }")
    assert_equal %w[Post.commentsConnection Comment.body Post.title CommentConnection.nodes].sort,
                 states(details[:fields]).keys.grep_v(/Query|PageInfo|pageInfo/).sort
  end

  # To look at a mutation's, or a query's, fields executes nothing.
  def test_details_execute_nothing
    piped.execute(QUERY)
    details
    heard = []
    listen = ->(*, payload) { heard << payload[:sql] unless payload[:name] == "SCHEMA" }
    ActiveSupport::Notifications.subscribed(listen, "sql.active_record") { details }
    assert_empty heard
    assert_equal 1, operations.first[:executions]
  end

  # -- values --------------------------------------------------------------------------------------------------------------

  def secret_schema
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field(:found, [String], null: false) { argument :title, String }
      def found(title:) = Post.where("title = '#{title}' OR likes = 4711").pluck(:title) + Post.where(title: title).pluck(:title)
    end
    Class.new(GraphQL::Schema) do
      query(query)
      use(Pipeloader)
    end
  end

  def test_no_values
    secret_schema.execute('query Find { found(title: "hush") }')
    text = JSON.generate([operations, details])
    refute_match(/hush|4711/, text)
    assert_match(/title = '…' OR likes = …/, text)
  end

  def test_values_if_asked_for
    Pipeloader::Web.binds = true
    secret_schema.execute('query Find { found(title: "hush") }')
    assert_match(/hush.*4711|4711.*hush/m, JSON.generate(details))
    Pipeloader::Web.binds = false
    assert_empty operations
  end

  def test_values_of_an_execution_that_was_underway
    Pipeloader::Web.binds = true
    schema_of { |title| Post.where(title: title).pluck(:title).tap { Pipeloader::Web.binds = false } }.execute('query Find { found(title: "hush") }')
    assert_equal 1, operations.size
    refute_match(/hush/, JSON.generate([operations, details]))
    assert_nil details[:last]
  end

  # -- who may see it ------------------------------------------------------------------------------------------------------

  def test_closed
    Pipeloader::Web.authorize = nil
    ["/", "/operations.json", "/operations/0123456789abcdef.json", "/nothing"].each do |path|
      status, headers, body = call(path)
      assert_equal [403, "text/plain; charset=utf-8"], [status, headers["content-type"]]
      assert_match(/Pipeloader::Web\.authorize/, body.join)
    end
    assert_equal 403, call("/clear", method: "POST", sec_fetch_site: "same-origin").first
    assert_equal([403] * 2, %w[production staging].map { |env| with_rails(env) { call.first } })
  end

  def test_open_where_one_develops
    Pipeloader::Web.authorize = nil
    assert_equal([200] * 2, %w[development test].map { |env| with_rails(env) { call.first } })
  end

  def test_authorize
    Pipeloader::Web.authorize { |env| env["HTTP_X_USER"] == "admin" }
    assert_equal [200, 403], [call(x_user: "admin").first, call(x_user: "other").first]
    assert_equal(403, with_rails("development") { call.first })
    Pipeloader::Web.authorize { nil }
    assert_equal 403, call.first
    assert_raises(ArgumentError) { Pipeloader::Web.authorize = :everybody }
    Pipeloader::Web.authorize { raise "no database" }
    assert_raises(RuntimeError) { call }
  end

  def test_clear
    piped.execute(QUERY)
    refused = [{}, { sec_fetch_site: "cross-site" }, { sec_fetch_site: "none" }, { sec_fetch_site: "same-site" }, { origin: "http://evil.test" }, { origin: "null" },
               { origin: "http://app.test:81" }, { origin: "http:// x" }, { sec_fetch_site: "cross-site", origin: "http://app.test" }]
    assert_equal([403] * refused.size, refused.map { |headers| call("/clear", method: "POST", **headers).first })
    nowhere = { "REQUEST_METHOD" => "POST", "PATH_INFO" => "/clear", "rack.url_scheme" => "http", "HTTP_ORIGIN" => "http://" }
    assert_equal 403, Pipeloader::Web.call(nowhere).first
    assert_equal 1, operations.size
    assert_equal 404, call("/clear").first
    assert_equal 200, call("/clear", method: "POST", origin: "http://app.test").first
    assert_empty operations
    assert_equal 200, call("/clear", method: "POST", sec_fetch_site: "same-origin").first
  end

  # -- Rack ----------------------------------------------------------------------------------------------------------------

  def test_headers
    status, headers, body = call("")
    assert_equal 200, status
    assert_equal headers.keys, headers.keys.map(&:downcase)
    assert_equal body.join.bytesize.to_s, headers["content-length"]
    nonce = headers["content-security-policy"][/script-src 'nonce-([^']+)'/, 1]
    assert_equal 2, body.join.scan(%(nonce="#{nonce}")).size
    refute_equal nonce, call[1]["content-security-policy"][/'nonce-([^']+)'/, 1]
    refute_match(/\son\w+=|\sstyle=|https?:|\{\{/, body.join)
    assert_equal [200, headers["content-length"], []], call("", method: "HEAD").then { |it| [it[0], it[1]["content-length"], it[2]] }
  end

  def test_methods_and_paths
    %w[DELETE OPTIONS PUT TRACE X].each do |method|
      assert_equal [405, "GET, HEAD, POST"], call(method: method).then { |it| [it[0], it[1]["allow"]] }
    end
    assert_equal([404] * 5, ["/x", "/operations/0123456789abcdef.json", "/operations/..%2f.json", "/operations.json\n", "/operations/\xff.json"].map { |path| call(path).first })
    assert_equal 404, call("/", method: "POST", sec_fetch_site: "same-origin").first
  end

  # Also with values: what is recorded reaches the page as JSON only, and no attribute of it leads anywhere.
  def test_markup_in_values
    Pipeloader::Web.binds = true
    markup = %q(</script><img src=x onerror="alert(1)">'")
    secret_schema.execute("query Find { found(title: #{markup.delete("'").to_json}) }")
    found = details
    assert_includes found[:text], "onerror"
    assert_includes found[:last][:bursts].flat_map { |it| it[:sql] }.map { |it| it[:text] }.join, "onerror"
    ["/operations.json", "/operations/#{found[:id]}.json"].each do |path|
      assert_equal ["application/json; charset=utf-8", "nosniff"], call(path)[1].values_at("content-type", "x-content-type-options")
    end
    page = call[2].join
    refute_includes page, "onerror"
    refute_match(/\b(href|src|srcdoc|action)\b(?!="data:,")|javascript:|setAttribute\("on|new Function|createContextualFragment|DOMParser/, page)
  end

  # Nothing that was recorded is in the page: it comes as JSON, of which text nodes are made.
  def test_no_markup
    piped.execute("query Posts { posts { title } } # <script>alert(1)</script>")
    refute_includes call[2].join, "alert"
    status, headers, body = call("/operations.json")
    assert_equal [200, "application/json; charset=utf-8", "nosniff"], [status, *headers.values_at("content-type", "x-content-type-options")]
    refute_includes body.join, "<script"
    refute_match(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/, call[2].join)
    page = Pipeloader::Web.call({ "REQUEST_METHOD" => "GET", "PATH_INFO" => "", "SCRIPT_NAME" => %q(/"><script>alert(1)</script>) })[2].join
    assert_includes page, "&quot;&gt;&lt;script&gt;"
  end

  # -- limits --------------------------------------------------------------------------------------------------------------

  def test_operations_are_bounded
    most = Pipeloader::Recorder::MOST_OPERATIONS
    piped.execute("query Kept { posts { title } }")
    (most + 20).times do |at|
      piped.execute("query Q#{at} { posts { title } }")
      piped.execute("query Kept { posts { title } }") if (at % 50).zero?
    end
    assert_equal [most, 21], [operations.size, json("/operations.json")[:forgotten]]
    assert_includes operations.map { |it| it[:name] }, "Kept"
  end

  def test_bytes_are_bounded
    long = "x" * 19_000
    130.times { |at| piped.execute("query Q#{at} { posts { title } } # #{long}") }
    found = json("/operations.json")
    assert_operator found[:bytes], :<=, Pipeloader::Recorder::MOST_BYTES
    assert_operator found[:forgotten], :>, 0
    assert_equal found[:bytes], recorder.instance_variable_get(:@operations).each_value.sum(&:bytes)
  end

  def test_long_texts_are_not_kept
    piped.execute("query Long { posts { title } } # #{"x" * 21_000}")
    assert_nil details[:text]
    assert_match(/too long/, details[:fields_missing])
  end

  # A name of megabytes, a multiplex of large texts: neither is kept, not even as a key.
  def test_keys_are_bounded
    piped.execute("query #{"Q" * 50_000} { posts { title } }")
    piped.multiplex(Array.new(3) { |at| { query: "query M#{at} { posts { title } } # #{"x" * 15_000}" } })
    assert_equal [Pipeloader::RecordedResponse::LONGEST_NAME, 12], operations.map { |it| it[:name].size }
    assert_operator recorder.instance_variable_get(:@operations).each_key.sum { |key| key.sum(&:bytesize) }, :<, 1_000
  end

  # Code is reloaded: what was recorded of a schema doesn't keep it, nor its types.
  def test_a_schema_that_is_gone
    schema = secret_schema
    schema.execute('query Find { found(title: "x") }')
    assert_equal ["Query.found"], details[:fields].map { |it| it[:field] }
    recorded = recorder.instance_variable_get(:@operations).values.first
    assert_same schema, recorded.schema
    assert_kind_of WeakRef, recorded.instance_variable_get(:@schema)
    gone = Object.new.tap { |it| it.define_singleton_method(:__getobj__) { raise WeakRef::RefError } }
    recorded.instance_variable_set(:@schema, gone)
    assert_match(/was reloaded/, details[:fields_missing])
    schema.execute('query Find { found(title: "x") }')
    assert_nil details[:fields_missing]
  end

  def test_threads
    piped.execute(QUERY)
    Pipeloader::Web.clear
    threads = Array.new(4) do |at|
      Thread.new do
        10.times { ActiveRecord::Base.with_connection { piped.execute("query Q#{at % 2} { posts { title author { name } } }") } }
      ensure
        ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
      end
    end
    20.times { operations }
    threads.each(&:join)
    assert_equal [["Q0", 20], ["Q1", 20]], operations.map { |it| it.values_at(:name, :executions) }.sort
    assert_equal 80, operations.sum { |it| it[:round_trips] }
  end

  # What goes wrong while it is recorded, no response hears of.
  def test_failures
    original = Pipeloader::RecordedExecution.instance_method(:burst)
    replace = ->(body) { Pipeloader::RecordedExecution.send(:remove_method, :burst).send(:define_method, :burst, body) }
    replace.call(->(*) { raise "broken" })
    assert_nil piped.execute(QUERY).to_h["errors"]
    assert_match(/RuntimeError/, json("/operations.json")[:failure])
  ensure
    replace.call(original)
  end

  # Nobody goes on to listen for its bursts.
  def test_an_execution_that_an_exception_ends
    failing = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :count, Integer
      def count = raise(NotImplementedError, "#{Post.count} and #{Post.where(id: 1).count}")
    end
    schema = Schemas.make(query: failing, mutation: nil).last
    assert_raises(NotImplementedError) { schema.execute("{ count }") }
    assert_predicate recorder, :idle?
    assert_empty operations
    piped.execute(QUERY)
    assert_predicate recorder, :idle?
  end

  # What a resolver executes is a part of the outer execution's figures, and nothing of its own.
  def test_an_execution_within_another
    inner = piped
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :titles, Integer
      define_method(:titles) { inner.execute("query Inner { posts { title } }").to_h["data"]["posts"].size + Post.count }
    end
    schema = Schemas.make(query: query, mutation: nil).last
    sent = WireCounter.events("burst.pipeloader") { schema.execute("query Outer { titles }") }
    found = operations
    assert_equal ["Outer"], found.map { |it| it[:name] }
    assert_equal [sent.size, sent.sum { |it| it[:rows] }], found.first.values_at(:round_trips, :rows)
    assert_predicate recorder, :idle?
  end

  def test_stopped
    Pipeloader::Web.stop
    piped.execute(QUERY)
    assert_empty operations
    refute json("/operations.json")[:recording]
  end
end
