# frozen_string_literal: true

require_relative "private_cluster"

# A program that runs beside this process, in a temporary folder of its own, and ends with it, however it ends: see
# PrivateCluster, whose way this is. Its output is its log.
#
#   bouncer = KeptProcess.new("pgbouncer", "its.ini", files: { "its.ini" => "…" }, ordinary: true)
#   bouncer.folder   # "/tmp/pipeloader-x", the program's working folder
#   bouncer.stop
#
# `ordinary: true` runs it as the user that runs the cluster, if this process is root's.
class KeptProcess
  # It could not be started, or isn't ready in time.
  class Error < RuntimeError; end

  START_LIMIT = 60 # seconds

  # A port that nobody has at the moment.
  def self.free_port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }

  # The same for a program that somebody else keeps, where there is no +process+.
  def self.await(what, process = nil)
    (START_LIMIT * 100).times do
      if (result = yield)
        return result
      end
      raise Error, "#{what}: the program has ended\n#{process.log}" unless process.nil? || process.alive?

      IO.select(nil, nil, nil, 0.01)
    end
    raise Error, "#{what}: not in #{START_LIMIT} s\n#{process&.log}"
  end

  attr_reader :folder, :pid

  def initialize(*command, files: {}, environment: {}, ordinary: false)
    orders, @orders = IO.pipe
    @reports, reports = IO.pipe
    @owner = Process.pid
    @keeper = Process.spawn({ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "--disable-gems", __FILE__, @owner.to_s,
                            in: orders, out: reports, err: File::NULL, pgroup: true)
    [orders, reports].each(&:close)
    @orders.write(Marshal.dump({ command: command, files: files, environment: environment, ordinary: ordinary }))
    @folder, @pid = await_report
    ObjectSpace.define_finalizer(self, self.class.stopper(@orders, @owner, @keeper))
  rescue Exception # rubocop:disable Lint/RescueException -- an interrupt leaves nothing behind either
    stop if @keeper
    raise
  end

  def log = File.read("#{folder}/log")

  # Returns what the block returns, as soon as that isn't false or nil.
  #
  # @param what [String] what is waited for
  def await(what, &block) = self.class.await(what, self, &block)

  # (A zombie that its keeper is about to bury counts as alive.)
  def alive?
    Process.kill(0, @pid)
    true
  rescue Errno::ESRCH
    false
  rescue Errno::EPERM
    true
  end

  def signal(name) = Process.kill(name, @pid)

  def stop = self.class.stopper(@orders, @owner, @keeper).call

  def self.stopper(orders, owner, keeper)
    proc do
      unless Process.pid != owner || orders.closed?
        begin
          orders.puts("stop") # as closing alone would not do while a forked child holds the pipe
          orders.close
          Process.wait(keeper)
        rescue Errno::EPIPE, Errno::ECHILD
          # It is gone already.
        end
      end
    end
  end

  private

  def await_report
    report = Marshal.load(@reports)
    report.is_a?(String) ? raise(Error, report) : report
  rescue EOFError
    raise Error, "the process that keeps the program died"
  end

  # Runs the program for its parent process. A report is [folder, pid], or a String that says what went wrong.
  class Keeper < PrivateCluster::Keeper
    def initialize(owner)
      super(nil, owner)
    end

    def run
      order = Marshal.load($stdin)
      environment = ENV.to_h
      become_ordinary if order[:ordinary]
      make_folder
      order[:files].each { |name, text| File.write(name, text) }
      # In a group of its own, which is stopped as one: a server's workers too.
      @program = Process.spawn(environment.merge(order[:environment]), *order[:command],
                               in: File::NULL, %i[out err] => %w[log a], pgroup: true, unsetenv_others: true)
      $stdout.write(Marshal.dump([@folder, @program]))
      obey while Process.ppid == @owner
    rescue SystemCallError, PrivateCluster::Error => e
      $stdout.write(Marshal.dump(e.message))
    ensure
      clean_up
    end

    private

    def obey
      exit if $stdin.wait_readable(0.2)
      # So that its pid is nobody else's, it is buried last.
      bury if @program && Process.wait(@program, Process::WNOHANG)
    end

    def bury = @program = nil

    def clean_up
      end_program if @program
      Dir.chdir("/")
      FileUtils.rm_rf(@folder) if @folder
    end

    def end_program
      Process.kill("TERM", -@program)
      200.times do
        return if Process.wait(@program, Process::WNOHANG)

        sleep 0.02
      end
    rescue Errno::ESRCH, Errno::ECHILD
      # Killed by somebody else.
    ensure
      kill_group
    end

    def kill_group
      Process.kill("KILL", -@program)
    rescue Errno::ESRCH, Errno::EPERM
      # All are gone.
    end
  end
end

if $PROGRAM_NAME == __FILE__
  $stdout.sync = true
  KeptProcess::Keeper.new(ARGV.first.to_i).run
end
