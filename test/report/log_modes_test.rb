# frozen_string_literal: true

require_relative "../support/answers"

# What the log says of a response, by Pipeloader.log. Whoever else subscribes to ActiveRecord's events hears of all reads.
class LogModesTest < AnswerTest
  QUERY = "{ posts { title author { name } comments { body } } }"

  def setup
    take_first_alias
    2.times { Schemas.parked.last.execute(QUERY) }
    @outer = [ActiveSupport::LogSubscriber.logger, ActiveRecord::Base.logger]
  end

  def teardown
    Pipeloader.log = :reads
    ActiveSupport::LogSubscriber.logger, ActiveRecord::Base.logger = @outer
    super
  end

  # @return [Array<String>] the lines, without colors and numbers of milliseconds
  def logged(mode, level: Logger::DEBUG)
    Pipeloader.log = mode
    logger = Logger.new(log = StringIO.new, level: level, formatter: ->(*, text) { "#{text}\n" })
    ActiveSupport::LogSubscriber.logger = ActiveRecord::Base.logger = logger
    yield
    log.string.lines(chomp: true).map { |line| line.gsub(/\e\[\d*m/, "").strip.gsub(/[\d.]+(?= ?ms)/, "1") }
  end

  def executed(mode, query = QUERY, schema = Schemas.parked.last, **options) = logged(mode) { schema.execute(query, **options) }

  SUMMARY = /\APipeloader: 22 reads, \d+ statements, 2 round trips, 1 ms\z/

  def test_summary
    lines = executed(:summary)
    assert_equal 1, lines.size
    assert_match SUMMARY, lines.first
  end

  def test_bursts
    lines = executed(:bursts)
    assert_equal 3, lines.size
    assert_match(/\ABurst 1 \(1ms\)  1 read in 1 statement, /, lines[0])
    assert_match(/\ABurst 2 \(1ms\)  21 reads in /, lines[1])
    assert_match SUMMARY, lines[2]
  end

  def test_reads
    lines = executed(:reads)
    assert_equal [22, 2, 0], [lines.grep(/ Load \(1ms\)  SELECT/).size, lines.grep(/\ABurst/).size, lines.grep(/\APipeloader/).size]
    assert_equal :reads, Pipeloader.log
  end

  def test_nothing_above_debug
    assert_empty(logged(:bursts, level: Logger::INFO) { Schemas.parked.last.execute(QUERY) })
  end

  # As with Pipeloader.log = :reads.
  def test_others_hear_of_all_reads
    counts = %i[summary bursts reads].map do |mode|
      events = nil
      logged(mode) { events = WireCounter.events("sql.active_record") { Schemas.parked.last.execute(QUERY) } }
      events.map { |it| it[:name] }.tally
    end
    assert_equal({ "Post Load" => 1, "User Load" => 9, "Comment Load" => 12 }, counts.first)
    assert_equal 1, counts.uniq.size
  end

  # What no burst has brought: writes, transactions, statements outside a response, and one without Pipeloader.
  def test_all_else_has_its_line
    lines = restoring { executed(:summary, "mutation { like(id: 1) { title } }", Schemas.pair.last) }
    assert_equal 1, lines.grep(/\A(?:Post Update|TRANSACTION|SQL).* UPDATE|\APost Update/).size
    assert_match(/\APipeloader: \d+ reads?, /, lines.last)
    assert_match(/\APost Count .* SELECT COUNT/, logged(:summary) { Post.count }.first)
    plain, off = [Schemas.parked.first, Schemas.parked.last].map { |schema| logged(:summary) { Pipeloader.disabled { schema.execute(QUERY) } } }
    assert_equal plain, off
    assert_operator plain.size, :>, 20
  end

  # Of which no response tells: without a schema, and in a resolver of one without Pipeloader.
  def test_what_is_read_outside_of_graphql_has_its_lines
    posts = Post.order(:id).limit(4).to_a
    map = -> { Pipeloader.map(posts) { |post| User.find_by(id: post.author_id)&.name }.size }
    gather = -> { Pipeloader.gather { |gathering| posts.each { |post| gathering.async { User.find_by(id: post.author_id) } } } && 4 }
    [map, gather].each do |read|
      assert_equal 4, logged(:summary, &read).grep(/\AUser Load/).size
      assert_equal ["Burst 1 (1ms)"], logged(:bursts, &read).map { |line| line[/\A\S+ \d \(1ms\)/] }
    end
    lines = logged(:summary) { Pipeloader.multiplex([1, 2]) { Schemas.parked.last.execute(QUERY).to_h } }
    assert_equal [2, 18, 24], %w[Post User Comment].map { |name| lines.grep(/\A#{name} Load/).size }
    plain, piped = Schemas.pair.map { |schema| logged(:summary) { within(schema, &map) } }
    assert_equal 4, plain.grep(/\AUser Load/).size
    assert_equal [1, 1], [piped.size, piped.grep(/\APipeloader: 4 reads/).size]
  end

  # Executes a field of which the block is the resolver.
  def within(schema, &block)
    query = Class.new(Schemas::Base) do
      graphql_name "Query"
      field :it, Integer
      define_method(:it, &block)
    end
    assert_equal 4, Class.new(schema) { query(query) }.execute("{ it }").to_h.dig("data", "it")
  end

  # Its line says what was sent.
  def test_a_read_that_fails
    lines = logged(:summary) do
      Schemas.resolve(2) { Post.where("no_such_column = 1").first rescue nil }
    end
    piped = lines.drop_while { |line| line.match?(/no_such_column/) }
    assert_equal 4, lines.grep(/no_such_column/).size
    assert_match(/\APipeloader: 2 reads/, piped.last)
  end

  def test_what_reads_nothing_says_nothing
    assert_empty executed(:summary, "{ __typename }")
  end

  # A multiplex's queries share their bursts; what a resolver executes is a part of its own response.
  def test_one_line_for_all_that_is_executed_together
    lines = logged(:summary) { Schemas.parked.last.multiplex([{ query: QUERY }, { query: QUERY }]) }
    assert_equal 1, lines.size
    assert_match(/\APipeloader: 44 reads, /, lines.first)
    inner = Schemas.parked.last
    lines = logged(:summary) { Schemas.resolve(1) { inner.execute(QUERY).to_h.size } }
    assert_equal 2, lines.grep(/\APipeloader: 22 reads/).size # (without Pipeloader around it the inner one is one of its own)
  end

  def test_event
    payload = nil
    subscriber = ActiveSupport::Notifications.subscribe("response.pipeloader") { |*, it| payload = it }
    result = Schemas.parked.last.execute(QUERY)
    assert_equal result.context.namespace(:pipeloader), payload.slice(:bursts, :reads, :statements)
    assert_equal [result.query], payload[:queries]
    assert_operator payload[:waited], :>, 0
  ensure
    ActiveSupport::Notifications.unsubscribe(subscriber)
  end

  def test_refused
    assert_match(/log must be one of \[:summary, :bursts, :reads\], got "bursts"/, assert_raises(ArgumentError) { Pipeloader.log = "bursts" }.message)
  end
end
