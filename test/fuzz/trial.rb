# frozen_string_literal: true

module Fuzz
  # One run of a program in a forked process, with a deadline. What it leaves behind is removed by whoever forked it.
  class Trial
    # @!attribute status [Symbol] as Runner::Finding's, or :crash, :hang, :invalid
    Report = Struct.new(:status, :finding, :message, :unsteady, :documents, :explanations, keyword_init: true) do
      def bad? = %i[different crash hang unexplained].include?(status)
    end

    DEADLINE = 90 # seconds
    KNOWN = [].freeze # what explain raises, where that is known and not mended yet

    class << self
      # @param source [String] the program
      # @return [Report]
      def run(source, engine:, checks:, database:, explain: false, deadline: DEADLINE)
        reader, writer = IO.pipe(binmode: true)
        space = "fuzz_#{Process.pid}"
        log = Tempfile.new("fuzz")
        @child = fork do
          reader.close
          new(source, engine, checks, { **database, space: space }, log.path).call(explain).then { |it| writer.write(Marshal.dump(it)) }
          writer.close
          exit!(0)
        end
        writer.close
        await(reader, deadline, log)
      ensure
        reader&.close
        log&.close!
        @child = nil
      end

      def stop
        Process.kill("KILL", @child) if @child
      rescue Errno::ESRCH
        # It has ended.
      end

      private

      def await(reader, deadline, log)
        limit = now + deadline
        text = +""
        while (left = limit - now).positive?
          next unless reader.wait_readable(left)

          part = reader.read_nonblock(1 << 20, exception: false)
          break if part.nil?

          text << part unless part == :wait_readable
        end
        return hang(log) if left <= 0

        _, status = Process.wait2(@child)
        text.empty? ? Report.new(status: :crash, message: "#{status.inspect}\n#{File.read(log.path)[0, 20_000]}") : Marshal.load(text)
      end

      # By SIGUSR1 it says where its threads are.
      def hang(log)
        Process.kill("USR1", @child)
        sleep 1
        Process.kill("KILL", @child)
        Process.wait(@child)
        Report.new(status: :hang, message: File.read(log.path)[-20_000..] || File.read(log.path))
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def initialize(source, engine, checks, database, log)
      @source, @engine, @checks, @log = source, engine, checks, log
      @space = database[:space]
      @database = database.except(:space)
    end

    def call(explain)
      quiet
      runner = Runner.new(engine: @engine, database: @database, space: @space)
      begin
        runner.load(@source)
      rescue StandardError, ScriptError => e
        return Report.new(status: :invalid, message: "#{e.class}: #{e.message}\n#{e.backtrace.first(8).join("\n")}")
      end
      finding = runner.check(@checks)
      report = Report.new(status: finding.status, finding: finding, unsteady: runner.unsteady, documents: runner.documents.size)
      explain(runner, report) if explain && finding.status == :same
      report
    rescue StandardError => e
      Report.new(status: :crash, message: "#{e.class}: #{e.message}\n#{e.backtrace.first(40).join("\n")}")
    ensure
      runner&.close rescue nil
    end

    private

    def explain(runner, report)
      report.explanations = runner.explanations
    rescue StandardError => e
      return if KNOWN.any? { |it| e.message.match?(it) }

      report.status = :unexplained
      report.message = "Pipeloader.explain raises #{e.class}: #{e.message}\n#{e.backtrace.first(12).join("\n")}"
    end

    def quiet
      $stderr.reopen(@log, "a")
      $stdout.reopen(@log, "a")
      $stderr.sync = $stdout.sync = true
      trap("INT", "IGNORE")
      trap("TERM", "DEFAULT")
      trap("USR1") do
        Thread.list.each { |thread| $stderr.puts thread.inspect, *thread.backtrace.to_a.first(60), "" }
      end
    end
  end
end
