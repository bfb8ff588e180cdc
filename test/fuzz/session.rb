# frozen_string_literal: true

require "fileutils"
require "set"
require "tempfile"

module Fuzz
  # Runs seeds until the time is up, several at once, and counts what they were made of.
  class Session
    FOLDER = File.expand_path("../../tmp/fuzz", __dir__)
    SHRINK = 150 # seconds

    # @param seed [Integer] the first
    # @param minutes [Numeric, nil] nil for that seed alone
    # @param features [Array<String>] names of known defects' features that are on all the same
    def initialize(seed:, minutes: nil, jobs: 2, engine: nil, without: [], known: false, favored: [], shrink: SHRINK, verbose: false)
      @seed, @minutes, @jobs, @engine, @shrink, @verbose = seed, minutes, jobs, engine, shrink, verbose
      @favored = favored
      @without = without + (known ? [] : Fuzz.features.select(&:known).map(&:name))
      @known = known
      @counts = Hash.new(0)
      @fields = Hash.new { |all, name| all[name] = Hash.new(0) }
      @reasons = Hash.new(0)
      @found = []
    end

    # @return [Boolean] whether no difference was found
    def run
      @began = now
      $stdout.sync = true
      %w[INT TERM].each { |name| trap(name) { raise Interrupt } }
      prepare
      @workers = Array.new(@minutes ? @jobs : 1) { |number| start(number) }
      collect
    rescue Interrupt
      warn "\ninterrupted"
    ensure
      stop
      tell
      return @found.empty? # rubocop:disable Lint/EnsureReturn
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    def elapsed = now - @began
    def over? = @minutes && elapsed > @minutes * 60

    def prepare
      @database = PrivateCluster.connection_hash
      name = "fuzz_#{Process.pid}"
      settings = { enable_seqscan: "off", jit: "off" }.map { |setting, value| "ALTER DATABASE #{name} SET #{setting} = #{value}" }
      administer("CREATE DATABASE #{name}", *settings)
      @database = { **@database, database: name }
    end

    def administer(*statements)
      server = PrivateCluster.connection_hash
      connection = PG.connect(host: server[:host], port: server[:port], user: server[:username], password: server[:password], dbname: server[:database])
      statements.each { |it| connection.exec(it) }
    ensure
      connection&.close
    end

    # What is loaded and worked out here, no forked program has to.
    def warm_up
      [ActiveRecord, ActiveRecord::ConnectionAdapters, GraphQL].each { |it| it.eager_load! if it.respond_to?(:eager_load!) }
      ActiveRecord::Base.establish_connection(**@database)
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name("Warm")
        field(:up, Integer)
        define_method(:up) { ActiveRecord::Base.connection.select_value("SELECT 1") }
      end
      [[], [Pipeloader]].each { |plugins| Class.new(GraphQL::Schema) { query(query); plugins.each { |it| use(it) } }.execute("{ up }") }
      ActiveRecord::Base.remove_connection
      %w[UTC Tokyo].each { |zone| Time.use_zone(zone) { Time.zone.now } }
      I18n.t("date.formats")
      GC.start
    end

    # A process that goes through every @jobs-th seed. [reader, pid]
    def start(number)
      reader, writer = IO.pipe(binmode: true)
      pid = fork do
        reader.close
        Process.setpgrp
        trap("INT", "IGNORE")
        trap("TERM") { Trial.stop; exit!(1) }
        work(number, writer)
        exit!(0)
      end
      writer.close
      [reader, pid]
    end

    def work(number, writer)
      warm_up
      seed = @seed + number
      loop do
        report = attempt(seed)
        text = Marshal.dump(report)
        writer.write([text.bytesize].pack("N"), text)
        break if @minutes.nil? || over? || Process.ppid == 1

        seed += @jobs
      end
    rescue Errno::EPIPE
      # Nobody listens any more.
    end

    # @return [Hash] what the session is told of a seed
    def attempt(seed)
      world = Maker.new(seed, engine: @engine, without: @without, favored: @favored).make
      text = Maker.text(world)
      checks = checks(seed)
      report = trial(world, text, checks, explain: true)
      if report.bad?
        file = found(seed, world, report, checks)
      elsif report.status == :invalid || @verbose
        file = "#{FOLDER}/#{report.status}-#{seed}.rb"
        FileUtils.mkdir_p(FOLDER)
        File.write(file, "#{text}\n# #{report.message.to_s.gsub("\n", "\n# ")}")
      end
      { seed: seed, engine: world.engine, status: report.status, file: file, text: report.bad? ? Script.describe(report) : report.message, unsteady: report.unsteady.to_i,
        documents: report.documents.to_i, used: world.used, fields: compiled(world, report.explanations) }
    rescue StandardError => e
      { seed: seed, engine: "", status: :broken, text: "#{e.class}: #{e.message}\n#{e.backtrace.first(8).join("\n")}", unsteady: 0, documents: 0, used: {}, fields: [] }
    end

    def trial(world, text, checks, **options)
      Trial.run(text, engine: world.engine, checks: checks, database: @database, **options)
    end

    # What a program is tried with: always as users have it, and by another way each.
    def checks(seed)
      dice = Dice.new(seed + 1)
      usual = Check.new(run: :execute, compile: true, field_exact: false, cache: false, executions: 4)
      ways = [true, false].product([true, false]).map { |compile, exact| { compile: compile, field_exact: exact } } - [{ compile: true, field_exact: false }]
      others = [Check.new(**usual.to_h, cache: true, executions: 3), Check.new(**usual.to_h, **dice.pick(ways), cache: dice.chance(0.4), executions: 3),
                Check.new(**usual.to_h, run: :threads, cache: dice.chance(0.3)), Check.new(**usual.to_h, run: :multiplex)]
      one = Check.new(**usual.to_h, trips: :one, cache: dice.chance(0.3))
      [usual, *dice.sample([one, *others.map { |it| Check.new(**it.to_h, trips: dice.pick(%i[auto one])) }], 2)]
    end

    def found(seed, world, report, checks)
      if report.finding&.check
        checks = [Check.new(**report.finding.check.to_h, executions: report.finding.execution)]
        leave_documents(world, report, checks)
      end
      explain = report.status == :unexplained
      shrunk = Shrinker.new(world, @shrink) do |text|
        again = trial(world, text, checks, explain: explain, deadline: report.status == :hang ? 15 : Trial::DEADLINE)
        same = again.status == report.status && kind(again) == kind(report)
        report = again if same
        same
      end
      Script.write(FOLDER, seed, world, shrunk.call, report)
    end

    # A difference in one document seldom needs the others.
    def leave_documents(world, report, checks)
      documents = world.sections[:documents].children
      needed = documents[report.finding.document] if report.finding.document
      return unless needed

      others = (documents - [needed]).each { |it| it.gone = true }
      again = trial(world, Maker.text(world), checks)
      others.each { |it| it.gone = false } unless again.status == report.status && kind(again) == kind(report)
    end

    # What stays while a program shrinks: which of the things that are seen differ.
    def kind(report)
      return report.message.to_s[/\A[^\n]{0,60}/] unless report.status == :different

      plain, piped = report.finding.plain, report.finding.piped
      [plain, piped].map { |it| [it.key?(:raised), it[:raised].to_s[/\A[\w:]+/], it[:answer].to_s.include?("\"errors\"")] }
    end

    # [[feature, true or the reason]]
    def compiled(world, explanations)
      features = world.features_by_field
      explanations.to_h.filter_map { |field, told| [features[field], told] if features[field] }
    end

    def collect
      readers = @workers.map(&:first)
      until readers.empty?
        ready, = IO.select(readers, nil, nil, 1)
        ready.to_a.each { |reader| (size = reader.read(4)) ? note(Marshal.load(reader.read(size.unpack1("N")))) : readers.delete(reader) }
      end
    end

    def note(told)
      @counts[:programs] += 1
      @counts[told[:status]] += 1
      @counts[told[:engine]] += 1
      @counts[:documents] += told[:documents]
      @counts[:unsteady] += told[:unsteady]
      told[:used].each { |name, count| (@used ||= Hash.new(0))[name] += count }
      told[:fields].each do |feature, verdict|
        @fields[feature][verdict == true] += 1
        @reasons[verdict.to_s.sub(/\A[A-Z]\w*\.\w+: /, "").gsub(/[`'].*?['`]/, "x").gsub(/\b[A-Z]\w+\b/, "X")] += 1 unless verdict == true
      end
      if %i[different crash hang unexplained broken].include?(told[:status])
        @found << told
        puts "\n#{told[:status]} by seed #{told[:seed]} (#{told[:engine]}): #{told[:file]}", told[:text].to_s.lines.first(6).map { |line| "  #{line[0, 600]}" }
      elsif told[:status] == :invalid
        puts "\nseed #{told[:seed]} makes no program: #{told[:file]}", told[:text].to_s.lines.first(2) if @verbose || !@minutes
      end
      progress
    end

    def progress
      return unless $stdout.tty? || (@counts[:programs] % 20).zero?

      print "#{$stdout.tty? ? "\r" : ""}#{elapsed.round} s: #{@counts[:programs]} programs, #{@counts[:documents]} documents, #{@found.size} found, " \
            "#{@counts[:unsteady]} unsteady, #{@counts[:invalid]} invalid#{"\n" unless $stdout.tty?}"
      $stdout.flush
    end

    def stop
      @workers.to_a.each do |reader, pid|
        Process.kill("TERM", -pid) rescue nil
        Process.wait(pid) rescue nil
        Process.kill("KILL", -pid) rescue nil
        reader.close
      end
      administer("DROP DATABASE IF EXISTS fuzz_#{Process.pid} WITH (FORCE)") if @database
      PrivateCluster.stop
    end

    def tell
      puts "\n#{elapsed.round} s, seeds from #{@seed}: #{@counts.map { |name, count| "#{count} #{name}" }.join(", ")}"
      return unless @used

      puts "feature: programs' uses; fields compiled, by graphql-ruby"
      Fuzz.features.map(&:name).union(@fields.keys.compact).each do |name|
        all = @fields.fetch(name, {})
        puts format("  %-40s %6d  %6s %6s%s", name, @used[name], all[true], all[false], @without.include?(name) ? "  left out" : "")
      end
      puts "why by graphql-ruby:", @reasons.sort_by { |_, count| -count }.first(20).map { |reason, count| "  #{count} #{reason[0, 110]}" }
      @found.each { |it| puts "found: seed #{it[:seed]} #{it[:status]} #{it[:file]}" }
    end
  end
end
