# frozen_string_literal: true

require "coverage"
require "tempfile"
require "tmpdir"
require_relative "../wire/wire_case"
require_relative "../wire/subprocess"

# Code that runs in between, and must be over before a sibling field goes on: a debugger's, a TracePoint's or a signal's handler, a
# file that is being loaded, a prompt. Each test runs in a process of its own.
class UndividedTest < WireCase
  include Subprocess

  FIELDS = 4

  # A thread that answers what it is asked, as a debugger's does. Whoever asks waits for the answer.
  class Server
    def initialize
      @asked, @answers = Queue.new, Queue.new
      @thread = Thread.new { @answers << "#{@asked.pop}!" while true }
      @inside = 0
      @faults = []
    end

    # @return [Array<String>] what was asked while another question was open
    attr_reader :faults

    def ask(question)
      @faults << question if (@inside += 1) > 1
      @asked << question
      @answers.pop.tap { |answer| @faults << "#{question} #{answer}" unless answer == "#{question}!" }
    ensure
      @inside -= 1
    end
  end

  # What fires in it, and reads before and after.
  module Code
    class << self
      def run(index)
        before = WireCase::GatedPost.find(index + 1).title
        eval("class UndividedTest::Made#{index}; #{index}; end", binding, __FILE__, __LINE__) # rubocop:disable Security/Eval
        [1].each { |it| it.to_s }
        failing(index)
        [before, WireCase::GatedPost.where(id: ..index + 1).count]
      end

      def failing(index)
        raise IndexError, index.to_s
      rescue IndexError
        nil
      end
    end
  end

  EVENTS = %i[line call return b_call c_call class end raise script_compiled].freeze

  def test_handlers_that_wait_for_a_thread
    assert_alike_in_processes do |piped|
      server = Server.new
      EVENTS.to_h do |event|
        handler = trace(event) { |tp| server.ask("#{event} #{tp.lineno}") }
        [event, [handler.enable { resolve(piped, FIELDS) { |index| Code.run(index) } }, server.faults.dup]]
      end
    end
    assert_empty @outcomes.values.flat_map(&:last)
  end

  def test_handlers_that_read
    assert_alike_in_processes do |piped|
      EVENTS.to_h do |event|
        inside, faults, seen = 0, [], []
        handler = trace(event) do |tp|
          faults << tp.lineno if (inside += 1) > 1
          seen << GatedPost.count
        ensure
          inside -= 1
        end
        [event, [handler.enable { resolve(piped, FIELDS) { |index| Code.run(index) } }, seen.uniq, faults]]
      end
    end
    assert_equal [1], @outcomes.values.map { |_, seen, _| seen.size }.uniq
    assert_empty @outcomes.values.flat_map(&:last)
  end

  # Where handlers are on, the code around them reads in one burst as ever.
  def test_code_beside_a_handler_parks
    bursts = in_process do
      resolve(true, FIELDS) { |index| Code.run(index) }
      handler = trace(:script_compiled) { |_| GatedPost.count }
      WireCounter.events("burst.pipeloader") { handler.enable { resolve(true, FIELDS) { |index| GatedPost.find(index + 1).title } } }
                 .map { |burst| burst[:reads].size }
    end
    assert_equal [FIELDS], bursts
  end

  # Ruby's own gem of that name, which every new Rails application has.
  def test_a_session_of_debug
    assert_alike_in_processes do |piped|
      start_debug
      Array.new(5) { resolve(piped, FIELDS) { |index| [GatedPost.count, *Code.run(index), fresh_model.find(index + 1).title] } }
    end
  end

  # The answer of each prompt is there before the next field begins.
  def test_a_prompt_of_debug_that_reads
    assert_alike_in_processes do |piped|
      start_debug
      $asked = []
      answers = resolve(piped, FIELDS) do |index|
        $asked << "begun #{index}"
        binding.break(do: "eval $asked << WireCase::GatedPost.where(id: ..#{index + 1}).count") # rubocop:disable Lint/Debugger
        $asked << "going on with #{index}"
        GatedPost.find(index + 1).title
      end
      [answers, $asked]
    end
    assert_equal [1, 2, 3, 4], @outcomes.last.grep(Integer)
  end

  # The answer of each line is there before the next field begins, whose prompt would read the other's lines.
  def test_a_prompt_of_irb_that_reads
    assert_alike_in_processes do |piped|
      prompted do |lines|
        resolve(piped, FIELDS) do |index|
          lines.puts("puts \"seen: #{index} \#{WireCase::GatedPost.where(id: ..#{index + 1}).count}\"", "puts 'seen: #{index} is over'", "exit")
          puts "seen: #{index} has begun"
          binding.irb # rubocop:disable Lint/Debugger
          GatedPost.find(index + 1).title
        end
      end.scan(/^seen: .*/)
    end
    assert_equal Array.new(FIELDS) { |index| ["seen: #{index} has begun", "seen: #{index} #{index + 1}", "seen: #{index} is over"] }.flatten, @outcomes
  end

  # SimpleCov's.
  def test_coverage
    code = <<~RUBY
      module UndividedTest::Covered
        def self.run(index)
          title = WireCase::GatedPost.find(index + 1).title
          return title if index.even?

          [title, WireCase::GatedPost.count]
        end
      end
    RUBY
    assert_alike_in_processes do |piped|
      in_file(code) do |file|
        Coverage.start(:all)
        load(file)
        [resolve(piped, FIELDS) { |index| Covered.run(index) }, Coverage.result[file][:lines]]
      end
    end
  end

  LOADED = <<~RUBY
    class UndividedTest::Loaded
      FIRST = %s
      SECOND = "second \#{FIRST}"
      def self.both = [FIRST, SECOND]
    end
  RUBY

  # The siblings would find half a class.
  { reads: "WireCase::GatedPost.find(1).title", waits: "UndividedTest.server.ask(:loaded)",
    reads_twice: "[WireCase::GatedPost.find(1), WireCase::GatedPost.find(2)].map(&:title)" }.each do |kind, first|
    define_method(:"test_a_file_is_autoloaded_that_#{kind}") do
      assert_alike_in_processes do |piped|
        loaded_by_siblings(piped, format(LOADED, first)) { |file| UndividedTest.autoload(:Loaded, file) }
      end
    end

    define_method(:"test_a_file_is_required_that_#{kind}") do
      assert_alike_in_processes { |piped| loaded_by_siblings(piped, format(LOADED, first)) { |file| -> { require file } } }
    end

    define_method(:"test_a_file_is_loaded_that_#{kind}") do
      assert_alike_in_processes do |piped|
        loaded_by_siblings(piped, format(LOADED, first)) { |file| -> { load(file) unless UndividedTest.const_defined?(:Loaded) } }
      end
    end
  end

  # As bootsnap loads a file: what it has compiled has another label.
  def test_a_file_is_loaded_by_bootsnap_that_reads
    assert_alike_in_processes do |piped|
      loaded_by_siblings(piped, format(LOADED, "WireCase::GatedPost.find(1).title")) do |file|
        RubyVM::InstructionSequence.define_singleton_method(:load_iseq) { |path| compile_file(path) if path == File.realpath(file) }
        UndividedTest.autoload(:Loaded, file)
        nil
      end
    end
  end

  # A task of rake's, say: its file is loaded by then, and whatever it has compiled is done.
  def test_a_block_of_a_file_parks
    bursts = in_process do
      in_file("UndividedTest::BLOCK = ->(index) { eval('index') && WireCase::GatedPost.find(index + 1).title }") do |file|
        load(file)
        WireCounter.events("burst.pipeloader") { resolve(true, FIELDS, &BLOCK) }.map { |burst| burst[:reads].size }
      end
    end
    assert_equal [FIELDS], bursts
  end

  # What is read after it, in the same field, is in one burst with the siblings' again.
  def test_who_has_loaded_a_file_parks
    bursts = in_process do
      in_file(format(LOADED, '"first"')) do |file|
        UndividedTest.autoload(:Loaded, file)
        resolve(true, FIELDS) { |index| GatedPost.find(index + 1) }
        WireCounter.events("burst.pipeloader") { resolve(true, FIELDS) { |index| [Loaded.both, GatedPost.find(index + 1).title] } }
                   .map { |burst| burst[:reads].size }
      end
    end
    assert_equal [FIELDS], bursts
  end

  # A fiber of the resolver's own, which never parks.
  def test_a_file_is_loaded_by_an_enumerator
    assert_alike_in_processes do |piped|
      in_file(format(LOADED, "WireCase::GatedPost.find(1).title")) do |file|
        UndividedTest.autoload(:Loaded, file)
        resolve(piped, FIELDS) do |index|
          enumerator = Enumerator.new { |yielder| yielder << [GatedPost.find(index + 1).title, Loaded.both, GatedPost.count] }
          [GatedPost.find(index + 2).title, enumerator.next]
        end
      end
    end
  end

  def test_a_signal_handler_that_waits_for_a_thread
    assert_alike_in_processes do |piped|
      server, handled = Server.new, 0
      trap(:USR1) do
        server.ask("signal")
        handled += 1
      end
      outcomes = resolve(piped, FIELDS) do |index|
        before = handled
        Process.kill(:USR1, Process.pid)
        Thread.pass until handled > before
        [handled, GatedPost.find(index + 1).title]
      end
      [outcomes, server.faults]
    end
    assert_empty @outcomes.last
  end

  # Of a log whose thread writes, and which is full.
  def test_a_subscriber_that_waits_for_a_thread
    assert_alike_in_processes do |piped|
      lines, written, inside, faults = SizedQueue.new(1), [], 0, []
      Thread.new { written << lines.pop while true }
      subscriber = lambda do |*|
        faults << inside if (inside += 1) > 1
        2.times { lines << "line" }
      ensure
        inside -= 1
      end
      outcomes = ActiveSupport::Notifications.subscribed(subscriber, "told") do
        resolve(piped, FIELDS) do |index|
          ActiveSupport::Notifications.instrument("told")
          GatedPost.find(index + 1).title
        end
      end
      [outcomes, faults]
    end
    assert_empty @outcomes.last
  end

  def self.server = @server ||= Server.new

  private

  # The block runs without Pipeloader and with it, each in a process of its own; what it returns must be equal.
  def assert_alike_in_processes
    connect_gated
    plain, @outcomes = [false, true].map { |piped| in_process { [yield(piped)] } }.map(&:first)
    assert_equal plain, @outcomes
  end

  # Of this file's code alone, on this thread.
  def trace(event)
    thread = Thread.current
    TracePoint.new(event) { |tp| yield(tp) if tp.path == __FILE__ && tp.lineno.between?(*code_lines) && thread == Thread.current }
  end

  def code_lines = @code_lines ||= [Code.method(:run).source_location.last, Code.method(:failing).source_location.last + 5]

  # (Bundler shows no gem that isn't in the Gemfile; it comes with Ruby.)
  def start_debug
    folders = Gem.default_path.flat_map { |path| Dir["#{path}/gems/debug-*/lib", "#{path}/extensions/*/*/debug-*"] }
    flunk "Ruby's own gem debug isn't there" if folders.empty?
    $LOAD_PATH.unshift(*folders)
    $stdout.reopen(File::NULL)
    $stdin.reopen(File::NULL)
    Warning[:deprecated] = false
    $VERBOSE = nil
    require "debug/session"
    DEBUGGER__.start(no_sigint_hook: true, nonstop: true)
  end

  # ActiveRecord compiles methods for it.
  def fresh_model = Class.new(Gated) { self.table_name = "posts" }

  def in_file(code)
    Dir.mktmpdir do |folder|
      file = "#{folder}/code.rb"
      File.write(file, code)
      yield file
    end
  end

  # Yields where it is, and loads it by what is returned, if that can be called.
  def loaded_by_siblings(piped, code)
    in_file(code) do |file|
      load_it = yield(file)
      resolve(piped, FIELDS) do |index|
        before = GatedPost.find(index + 1).title
        load_it&.call
        [before, Loaded.both, GatedPost.find(index + 2).title]
      end
    end
  end

  # Yields where the prompts' lines come from.
  #
  # @return [String] what the prompts said
  def prompted
    reader, writer = IO.pipe
    writer.sync = true
    $stdin.reopen(reader)
    ENV["IRBRC"] = File::NULL
    Tempfile.create do |file|
      $stdout.reopen(file)
      $stdout.sync = true
      yield writer
      File.read(file)
    end
  end
end
