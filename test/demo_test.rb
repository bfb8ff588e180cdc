# frozen_string_literal: true

require_relative "support/test_helper"
require "minitest/mock"
require "open3"
require "stringio"
require "tmpdir"
require_relative "../demo/options"
require_relative "../demo/queries"
require_relative "../demo/paint"
require_relative "../demo/progress"
require_relative "../demo/comparison"
require_relative "../demo/report"
require_relative "../demo/svg"

# What bin/demo says, drawn from canned events; then the demo as a program, on the private cluster. The models and the
# schema are not loaded here: they are an application of their own.
class DemoTest < PipeloaderTest
  ROOT = File.expand_path("..", __dir__)
  CHINOOK = File.file?("#{ROOT}/tmp/chinook/Chinook.sqlite")

  # Stands in for a schema: answers with what it is given, and says what it sends as ActiveRecord or Pipeloader would.
  Schema = Struct.new(:answer, :events) do
    def execute(_text)
      events.each { |name, payload| ActiveSupport::Notifications.instrument(name, payload) }
      answer.is_a?(Exception) ? raise(answer) : answer
    end
  end
  Read = Struct.new(:name)

  def trip(start, finish, reads, position: nil, statements: reads.values.sum)
    Demo::Trip.new(start: start, finish: finish, statements: statements, reads: reads, position: position)
  end

  # 100 ms, of which 10 × 8 ms were spent waiting.
  def plain
    trips = Array.new(10) { |i| trip(i * 10, (i * 10) + 8, { (i.zero? ? "Album Load" : "Track Load") => 1 }) }
    Demo::Recording.new(answer: "{}", ms: 100.0, trips: trips)
  end

  # 40 ms, of which 10 and 20 ms were spent waiting.
  def piped
    Demo::Recording.new(answer: "{}", ms: 40.0, trips: [
      trip(0, 10, { "Album Load" => 1 }, position: 1),
      trip(20, 40, { "Track Load" => 1200, "Artist Load" => 7, "Track Count" => 1 }, position: 2, statements: 9)
    ])
  end

  def comparison(plain_answer = { "data" => { "a" => 1 } }, piped_answer = plain_answer)
    statements = Array.new(3) { ["sql.active_record", { name: "Album Load" }] }
    burst = ["burst.pipeloader", { position: 1, statements: 2, reads: Array.new(3) { Read.new("Album Load") } }]
    ways = { plain: Schema.new(plain_answer, statements), piped: Schema.new(piped_answer, [burst]) }
    # Of all that the tests have made so far there is nothing to collect, 32 times a comparison.
    Demo::Comparison.new(Demo::Query.new("narrow", "a <test>", "{ a }"), ways).tap { |made| GC.stub(:start, nil) { made.run(0) } }
  end

  def report(comparison)
    StringIO.new.tap { |out| Demo::Report.new(out, paint: Demo::Paint.for(out)).print(comparison) }.string
  end

  def demo(*arguments, program: "demo/run.rb", env: {}, input: "")
    env = { "PIPELOADER_DATABASE_URL" => PrivateCluster.url, **env }
    out, err, status = Open3.capture3(env, RbConfig.ruby, "#{ROOT}/#{program}", *arguments, stdin_data: input)
    [out.force_encoding("UTF-8"), err.force_encoding("UTF-8"), status.exitstatus]
  end

  # One line says why, after what progress there was.
  def assert_refused(pattern, *arguments, status: 1, **options)
    _, err, code = demo(*arguments, **options)
    lines = err.lines.grep_v(/\Ademo: /)
    assert_equal [status, 1], [code, lines.size], err
    assert_match pattern, lines.first
  end

  ## Options

  def test_options_have_defaults
    options = Demo::Options.parse([])

    assert_equal [%w[narrow wide aggregates], [0, 1], nil, nil], [options.names, options.rtts, options.query, options.svg]
  end

  def test_options_are_taken
    options = Demo::Options.parse(%w[wide --rtt 5,0 --svg x.svg])

    assert_equal [%w[wide], [0, 5], "x.svg"], [options.names, options.rtts, options.svg]
    assert_equal [true, false], [%w[--field-exact], []].map { |given| Demo::Options.parse(given).field_exact }
    assert_equal [0.5], Demo::Options.parse(%w[--rtt 0.5]).rtts
    assert_equal "{ ä }", Demo::Options.parse(["--query", "{ ä }".b]).query
    assert_match(/--rtt MS/, Demo::Options.parse(%w[--help]).help)
    assert_equal [[false, 3000], [true, 3000], [true, 4000]],
                 ["", "--app", "--app --port 4000"].map { |given| Demo::Options.parse(given.split).then { |it| [it.app, it.port] } }
  end

  def test_options_that_make_no_sense_are_refused
    ["--rtt x", "--rtt -1", "--rtt ,", "--rtt 1000", "--wat", "deep", "--query {a} wide", "--svg",
     "--port 4000", "--app wide", "--app --rtt 1", "--app --field-exact", "--app --port x", "--app --port 0"].each do |arguments|
      error = assert_raises(OptionParser::ParseError, arguments) { Demo::Options.parse(arguments.split) }
      assert_equal 1, error.message.lines.size
    end
  end

  ## What is recorded

  def test_recorder_counts_what_goes_to_the_server
    recording = Demo::Recorder.record do
      [{ name: "Album Load" }, { name: nil }, { name: "Album Load", cached: true }, { name: "SCHEMA" },
       { name: "TRANSACTION" }, { name: "Track Load", pipeloader: 1 }].each do |payload|
        ActiveSupport::Notifications.instrument("sql.active_record", payload)
      end
      reads = %w[Track Track Album].map { |name| Read.new("#{name} Load") }
      ActiveSupport::Notifications.instrument("burst.pipeloader", position: 2, statements: 2, reads: reads)
      "answer"
    end

    assert_equal ["answer", 3, 4], [recording.answer, recording.round_trips, recording.statements]
    assert_equal [{ "Album Load" => 1 }, { "SQL" => 1 }, { "Track Load" => 2, "Album Load" => 1 }], recording.trips.map(&:reads)
    assert_equal [nil, nil, 2], recording.trips.map(&:position)
    assert(recording.trips.all? { |trip| trip.start >= 0 && trip.finish <= recording.ms })
  end

  def test_recorder_stops_listening
    recording = Demo::Recorder.record { "" }
    ActiveSupport::Notifications.instrument("sql.active_record", name: "Album Load")

    assert_empty recording.trips
  end

  ## What is drawn

  def test_timeline
    lines = Demo::Timeline.new(plain, piped, paint: Demo::Paint.new(false)).lines

    assert_equal <<~TEXT, "|\n#{lines.join("\n")}\n"
      |
            plain ██▒██▒▓█▓▓█▓▒██▒██▒██▒██▒██▒██▒   100 ms              10 round trips
       Pipeloader ███░░░▓█████▒                      40 ms              2 round trips

            burst                                  waiting  statements  reads
                1 ███████▊                           10 ms           1  Album
                2                ████████████████    20 ms           9  Track ×1,200, Artist ×7,
                                                                        Track Count
    TEXT
  end

  def test_timeline_of_a_query_without_reads
    nothing = Demo::Recording.new(answer: "{}", ms: 0.4, trips: [])

    assert_equal 2, Demo::Timeline.new(nothing, nothing, paint: Demo::Paint.new(false)).lines.size
  end

  def test_timeline_of_very_many_bursts
    many = Demo::Recording.new(answer: "{}", ms: 1000.0, trips: Array.new(900) { |i| trip(i, i + 1, { "Album Load" => 1 }) })

    assert_match(/… and 870 more/, Demo::Timeline.new(many, many, paint: Demo::Paint.new(false)).lines.last)
    drawn = comparison.tap { |made| made.define_singleton_method(:medians) { |_rtt| [many, many] } }
    assert_match(/… and 870 more/, Demo::Svg.draw([drawn]))
  end

  def test_colour_is_for_terminals
    terminal = StringIO.new.tap { |io| io.define_singleton_method(:tty?) { true } }

    assert_equal "x", Demo::Paint.for(StringIO.new).bold("x")
    assert_equal "\e[1mx\e[0m", Demo::Paint.for(terminal).bold("x") unless ENV["NO_COLOR"]
  end

  def test_numbers_are_written_shortly
    assert_equal(["0.8 ms", "10 ms", "1,235 ms"], [0.84, 9.96, 1234.6].map { |ms| Demo::Words.ms(ms) })
    assert_equal(["1.8×", "16×", "1,000×"], [1.84, 16.4, 1000].map { |ratio| Demo::Words.times(ratio) })
    assert_equal ["Track ×1,200", "Album Count ×2", "SQL"],
                 Demo::Words.reads("SQL" => 1, "Album Count" => 2, "Track Load" => 1200)
  end

  def test_report
    text = report(comparison)

    assert_match(/^      plain +3 +3 +/, text)
    assert_match(/^ Pipeloader +2 +1 +/, text)
    assert_match(/ 3\.0× fewer /, text)
    assert_match(/The same answer, byte for byte: 16 bytes of JSON/, text)
    assert_match(/ 1 +\S+ +\d.* ms +2  Album ×3$/, text)
    assert_operator text.lines.map { |line| line.chomp.length }.max, :<=, 100
  end

  def test_report_of_answers_that_differ
    different = comparison({ "data" => { "a" => "é1" } }, { "data" => { "a" => "é2" } })

    refute_predicate different, :same?
    assert_equal 16, different.first_difference.first
    text = report(different)
    assert_includes text, "THE ANSWERS DIFFER, first at byte 16:"
    assert_includes text, %(       plain …{"data":{"a":"é1"}}\n  Pipeloader …{"data":{"a":"é2"}}\n)
  end

  def test_report_of_a_burst_that_took_several_round_trips
    made = comparison
    made.median(:piped, 0).wire = 2

    assert_match(/^ Pipeloader +2 +2 .*1 burst took 2 round trips: large ones are sent in several goes/m, report(made))
  end

  def test_an_error_that_only_pipeloader_raises_is_a_different_answer
    different = comparison({}, ActiveRecord::StatementInvalid.new("lost"))

    assert_equal [0, "{}", "ActiveRecord::StatementInvalid: lost"], different.first_difference
    assert_raises(ActiveRecord::StatementInvalid) { comparison(ActiveRecord::StatementInvalid.new("lost"), {}) }
  end

  def test_svg
    drawn = Demo::Svg.draw([comparison, comparison])

    assert_match(/\A<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="1000" height="\d+" viewBox="0 0 1000 \d+"/, drawn)
    assert_match(/a &lt;test&gt;/, drawn)
    assert_match(/<title>Album ×3<\/title>/, drawn)
    refute_match(/NaN|Infinity|=""|\e/, drawn)
    assert_balanced drawn
  end

  # Each element is closed, in turn.
  def assert_balanced(xml)
    open = []
    xml.scan(%r{<(/?)(\w+)[^>]*?(/?)>}) do |closing, name, empty|
      closing.empty? ? (open << name if empty.empty?) : assert_equal(open.pop, name)
    end
    assert_empty open
  end

  ## The program

  def test_wrong_usage_is_refused_before_any_set_up
    assert_refused(/invalid option: --wat/, "--wat", program: "bin/demo", status: 2)
    assert_refused(/the queries are narrow, wide, aggregates/, "deep", program: "bin/demo", status: 2)
  end

  def test_help_needs_no_set_up
    out, err, code = demo("--help", program: "bin/demo")

    assert_equal [0, ""], [code, err]
    assert_match(/\AUsage: bin\/demo.*^ +--app /m, out)
  end

  # What it serves is tried by bin/rails-app, which has the gems: see test/support/served_demo.rb.
  def test_a_port_that_is_taken_is_refused
    TCPServer.open("127.0.0.1", 0) do |server|
      port = server.addr[1].to_s
      assert_refused(/port #{port} is taken: name another, as in bin\/demo --app --port \d+/, "--app", "--port", port, program: "demo/app.rb")
    end
  end

  def test_a_bad_query_is_refused
    assert_refused(/not valid: Field 'nope' doesn't exist on type 'Query' \(line 1, column 3\)/, "--query", "{ nope }")
    assert_refused(/not valid: .*\(line 1/, "--query", "-", input: "{ artists")
    assert_refused(/not valid: Unexpected end of document/, "--query", "")
  end

  def test_a_file_that_cannot_be_written_is_refused
    assert_refused(/the SVG can't be written to no\/such\/folder\/x.svg/, "--svg", "no/such/folder/x.svg")
  end

  def test_a_server_that_is_not_there_is_named
    { "postgresql://127.0.0.1:1/nothing" => /PostgreSQL can't be reached: .*refused/,
      "postgresql://not a url" => /is not the URL of a PostgreSQL server/ }.each do |url, pattern|
      assert_refused(pattern, env: { "PIPELOADER_DATABASE_URL" => url })
    end
  end

  # Ctrl-C while it is being set up, or loaded, whatever of it.
  def test_an_interrupt_before_it_has_begun
    Dir.mktmpdir do |folder|
      File.write("#{folder}/strike.rb", <<~RUBY)
        module Strike
          def system(*) = ENV["STRIKE"] == "setup" ? strike : true
          def require(name) = ENV["STRIKE"] == name ? strike : super
          def strike = Process.kill("INT", Process.pid) && sleep
        end
        Object.prepend(Strike)
      RUBY
      %w[optparse setup bundler/setup active_record pipeloader].each do |point|
        env = { "STRIKE" => point, "RUBYOPT" => "#{ENV.fetch("RUBYOPT", "")} -r#{folder}/strike" }
        assert_equal ["", "bin/demo: interrupted\n", 130], demo("narrow", program: "bin/demo", env: env), point
      end
    end
  end

  # Without the sample database, which tests don't fetch, there is still the way to it.
  def test_a_whole_run
    # bin/test fetches the data; a bare `rake test` may be without.
    return assert_refused(/run bin\/setup --chinook/, "narrow") unless CHINOOK

    Dir.mktmpdir do |folder|
      query = "{ artists(limit: 3) { name albumCount albums { title tracks { name } } } }"
      out, err, code = demo("--query", query, "--rtt", "0,1", "--svg", "#{folder}/x.svg")

      assert_equal 0, code, err
      # By how many the tree comes, is learned from what takes less time. Before 17, libpq sends each statement as it comes, so that an
      # answer may cross with the rest of its burst.
      trips = PG::Connection.method_defined?(:send_pipeline_sync) ? "[1-3]" : "[1-9]"
      assert_match(/RTT 0 ms +RTT 1 ms\n +plain +12 +12 .*\n Pipeloader +[1-9]\d? +#{trips} /, out)
      assert_match(/The same answer, byte for byte/, out)
      assert_balanced File.read("#{folder}/x.svg")
    end
    assert_empty demo_schemas
  end

  def test_a_run_with_projection
    return assert_refused(/run bin\/setup --chinook/, "narrow", "--field-exact") unless CHINOOK

    out, err, code = demo("--query", "{ tracks(limit: 3) { name album { title } } }", "--rtt", "0", "--field-exact")

    assert_equal 0, code, err
    assert_match(/use Pipeloader, field_exact: true/, out)
    assert_match(/The same answer, byte for byte/, out)
    assert_match(/^ +albums +2 of 3 +id, title\n +tracks +3 of 9 +id, name, album_id\n/, out)
    assert_operator(*out[/(\S+) bytes from the server; whole rows are ([\d,]+)/] && [$1, $2].map { |it| it.delete(",").to_i }.then { |exact, whole| [exact, :<, whole] })
  end

  def demo_schemas
    connection = PG.connect(PrivateCluster.url)
    connection.exec("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pipeloader_demo%'").to_a
  ensure
    connection&.close
  end

  def test_a_query_that_the_server_refuses
    return assert_refused(/run bin\/setup --chinook/, "wide") unless CHINOOK

    assert_refused(/PostgreSQL refused: .*LIMIT must not be negative/, "--query", "{ artists(limit: -1) { name } }")
  end
end
