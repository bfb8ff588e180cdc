# frozen_string_literal: true

require "json"
require "net/http"
require "rbconfig"
require "tempfile"
require_relative "kept_process"

# `bin/demo --app`, as somebody at a terminal has it: waits until it serves, asks it by HTTP, interrupts it, and looks for what is left.
class ServedDemo
  LIMIT = 600 # seconds, with all gems to install
  PATIENCE = 20 # seconds to end
  # Puma, and PostgreSQL unless it is another's; each with who keeps it.
  LEAST = PrivateCluster.own? ? 4 : 2
  QUERY = "{ posts(limit: 3) { title author { name } commentCount } }"

  # @return [Array<String>] what isn't as it has to be
  def self.problems = new.problems

  def problems
    start
    return ["bin/demo --app doesn't serve:\n#{said}"] unless within(LIMIT) { said.include?("Ask it yourself") }

    wrong = answers.reject { |_, right| right }.map { |what, _| "bin/demo --app: #{what}" }
    wrong + left_after { interrupt }
  ensure
    interrupt if running?
    @output.close!
  end

  private

  def start
    @port = KeptProcess.free_port
    @output = Tempfile.new("pipeloader-demo-output")
    @pid = Process.spawn(RbConfig.ruby, File.expand_path("../../bin/demo", __dir__), "--app", "--port=#{@port}",
                         in: File::NULL, %i[out err] => @output.path, pgroup: true)
  end

  def said = File.read(@output.path, encoding: Encoding::UTF_8)

  def running? = @status.nil? && (@status = Process.wait2(@pid, Process::WNOHANG)&.last).nil?

  # @return whether the block said so while the demo was running
  def within(seconds)
    (seconds * 10).times do
      return true if yield
      return false unless running?

      sleep 0.1
    end
    false
  end

  # @return [Hash{String => Object}] what has to be => whether it is
  def answers
    operations = JSON.parse(get("/pipeloader/operations.json"))["operations"].to_h { |it| [it["name"], it] }
    { "the query has an answer" => JSON.parse(post(QUERY)).dig("data", "posts", 2, "title"),
      "the page is there" => get("/pipeloader").include?("<title>"),
      "the page tells of the samples" => (%w[Feed Authors Readers] - operations.keys).empty?,
      "GraphiQL is there" => get("/graphiql").include?("graphiql-container"),
      "it prints what the log says" => said.match?(/^    Pipeloader: \d+ reads, \d+ statements, \d+ round trip/),
      "it prints what the log says of our query" => within(PATIENCE) { said.split("Ask it yourself").last.include?("Pipeloader: ") } }
  end

  def get(path) = Net::HTTP.get(URI("http://127.0.0.1:#{@port}#{path}"))

  def post(query) = Net::HTTP.post_form(URI("http://127.0.0.1:#{@port}/graphql"), query: query).body

  # To it alone, as by `kill -INT`; a terminal tells the group, in which nobody else is.
  def interrupt
    Process.kill("INT", @pid)
    within(PATIENCE) { false }
    Process.kill("KILL", @pid) if running?
  end

  # @return [Array<String>] what is still there, by the block
  def left_after
    processes = descendants(@pid)
    folder = said[%r{(\S+)/blog: }, 1]
    yield
    left = processes.select { |pid| there?(pid) }.map { |pid| "process #{pid}" }
    left << folder if File.exist?(folder)
    left << "the port" if (TCPServer.new("127.0.0.1", @port).close rescue true)
    [*("bin/demo --app leaves #{left.join(", ")}" if left.any?), *("bin/demo --app ends by #{@status}:\n#{said}" unless @status&.success?),
     *("bin/demo --app had #{processes.size} processes" if processes.size < LEAST)]
  end

  def descendants(pid)
    children = `ps -e -o pid= -o ppid=`.lines.map { |line| line.split.map(&:to_i) }.group_by(&:last).transform_values { |it| it.map(&:first) }
    below = ->(one) { children.fetch(one, []).flat_map { |it| [it, *below.(it)] } }
    below.(pid)
  end

  def there?(pid)
    Process.kill(0, pid)
    true
  rescue Errno::EPERM
    true
  rescue Errno::ESRCH
    false
  end
end
