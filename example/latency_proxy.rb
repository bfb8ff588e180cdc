# frozen_string_literal: true

require "io/wait"
require "rbconfig"
require "socket"

# A TCP proxy that makes a server seem far away, and counts what goes over the wire.
#
#   proxy = LatencyProxy.start("127.0.0.1:5432", rtt: 5)                 # ms; a Unix socket's path will do as well
#   PG.connect(host: proxy.host, port: proxy.port, …)
#   proxy.count { connection.exec("SELECT 1") }                          # => {round_trips: 1, connections: 0, …}
#   proxy.rtt = 1
#   proxy.stop                                                           # or let the process end
#
# or, by hand: ruby example/latency_proxy.rb --rtt 5 --target localhost:5432
#
# The whole delay is put on the request's way, so that a request and its answer pay it once. It is a delay, not a
# bottleneck: what arrives is released that much later, in order, however much there is.
#
# A round trip is a request with its answer, and everything else that was sent before that answer was there: what pays the
# distance once. (So a burst of which a part is held back until answers come is more than one. Without a delay, answers may
# come while a burst is still being sent; count at some ms.)
#
# It runs in a process of its own, since in a thread it would wait for our lock, and is gone when ours is.
class LatencyProxy
  def self.start(target, rtt: 0) = new(target, rtt)
  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC) # :nodoc:

  # The proxy of a parent process: orders come on stdin, each is answered on stdout.
  def self.serve(target, owner)
    $stdout.binmode.sync = true
    server = Server.new(target)
    $stdout.write(Marshal.dump(server.port))
    while Process.ppid == owner # a forked child may hold the pipe open after its parent's end
      server.turn(0.2, $stdin) do
        exit unless (line = $stdin.gets)
        server.rtt = line[/[\d.]+/].to_f if line.start_with?("rtt")
        $stdout.write(Marshal.dump(server.stats))
      end
    end
  end

  def self.run(arguments)
    require "optparse"
    options = { rtt: 0.0, port: 0 }
    OptionParser.new("Usage: ruby example/latency_proxy.rb --target HOST:PORT [--rtt MS] [--port PORT]") do |parser|
      parser.on("--target HOST:PORT", "where PostgreSQL listens (or its Unix socket's path)")
      parser.on("--rtt MS", Float, "round-trip time in milliseconds")
      parser.on("--port PORT", Integer, "where to listen; default: any free port")
    end.parse!(arguments, into: options)
    server = Server.new(options[:target] || abort("--target is missing: see --help"), port: options[:port])
    server.rtt = options[:rtt]
    puts "127.0.0.1:#{server.port} is #{options[:target]}, #{options[:rtt]} ms away. Ctrl-C ends it."
    loop { server.turn(60) }
  rescue Interrupt
    puts server.stats if server
  rescue OptionParser::ParseError, SystemCallError => e
    abort e.message
  end

  attr_reader :port, :rtt

  def host = "127.0.0.1"

  def initialize(target, rtt)
    orders, @orders = IO.pipe
    @answers, answers = IO.pipe
    # A process group of its own, so that Ctrl-C doesn't cut the connections of somebody who is still tidying up.
    @process = Process.spawn({ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "--disable-gems", __FILE__,
                             "--serve", target, Process.pid.to_s, in: orders, out: answers, pgroup: true)
    [orders, answers].each(&:close)
    @port = Marshal.load(@answers)
    self.rtt = rtt
  end

  # Milliseconds, from the next request on.
  def rtt=(milliseconds)
    order("rtt #{Float(milliseconds)}")
    @rtt = milliseconds
  end

  # Since the start: {connections:, round_trips:, bytes_to_server:, bytes_to_client:}
  def stats = order("stats")

  # What the block caused, as #stats.
  def count
    before = stats
    yield
    stats.to_h { |name, number| [name, number - before[name]] }
  end

  def stop
    [@orders, @answers].each(&:close)
    Process.kill("TERM", @process)
    Process.wait(@process)
  rescue Errno::ESRCH, Errno::ECHILD
    # Gone already.
  end

  private

  def order(text)
    @orders.puts(text)
    Marshal.load(@answers)
  end

  # One direction of a connection: what was read from the source, and when each chunk is due at the sink.
  class Lane
    CHUNK = 256 * 1024
    LIMIT = 64 * 1024 * 1024 # bytes held; beyond, the source has to wait, as on any network

    attr_reader :source, :sink, :bytes

    def initialize(source, sink)
      @source = source
      @sink = sink
      @chunks = [] # [[due, "bytes"], …]
      @held = @bytes = 0
      @ended = @blocked = @closed = false
    end

    # Reads what is there. True if that was anything.
    def take(delay)
      case data = @source.read_nonblock(CHUNK, exception: false)
      when String
        @bytes += data.bytesize
        @held += data.bytesize
        @chunks << [LatencyProxy.now + delay, data]
      when nil then @ended = true
      end
      data.is_a?(String)
    end

    # Passes on what is due.
    def release
      @blocked = false
      while (due, data = @chunks.first) && due <= LatencyProxy.now
        written = @sink.write_nonblock(data, exception: false)
        return @blocked = true if written == :wait_writable
        @held -= written
        written == data.bytesize ? @chunks.shift : @chunks.first[1] = data.byteslice(written..)
      end
      close if done?
    end

    def due = (@chunks.dig(0, 0) unless @blocked)
    def blocked? = @blocked
    def open? = !@ended && @held < LIMIT
    def done? = @ended && @chunks.empty?

    private

    def close
      @sink.close_write unless @closed
      @closed = true
    end
  end

  # One client's connection and the server's.
  class Link
    attr_reader :lanes, :round_trips

    def initialize(client, server)
      @sockets = [client, server]
      @sockets.each { |socket| socket.setsockopt(:TCP, :NODELAY, true) if socket.is_a?(TCPSocket) }
      @lanes = [@requests = Lane.new(client, server), @responses = Lane.new(server, client)]
      @round_trips = 0
      @answerable = nil # when an answer to what was asked first in this round trip may be here; nil: nothing was asked
    end

    def take(lane, delay)
      if lane == @requests
        asked = LatencyProxy.now # before the lane looks at the clock: on a busy machine the answer may be here soon after
        @answerable ||= asked + delay if lane.take(delay)
      elsif lane.take(0) && @answerable && LatencyProxy.now >= @answerable
        @answerable = nil
        @round_trips += 1
      end
    end

    def bytes_to_server = @requests.bytes
    def bytes_to_client = @responses.bytes
    def done? = @lanes.all?(&:done?)
    def close = @sockets.each(&:close)
  end

  # The loop in the proxy's own process.
  class Server
    # By how much a sleep may be late, in seconds: measured, 0.2 to 0.4 ms in a virtual machine.
    OVERSLEEP = 0.0004
    COUNTED = %i[round_trips bytes_to_server bytes_to_client].freeze

    attr_reader :port, :past

    # The target is "host:port" or the path of a Unix socket.
    def initialize(target, port: 0)
      @target = target
      @listener = TCPServer.new("127.0.0.1", port)
      @port = @listener.addr[1]
      @delay = 0
      @links = []
      @past = { connections: 0, round_trips: 0, bytes_to_server: 0, bytes_to_client: 0 } # of the links that are closed
    end

    def rtt=(milliseconds)
      @delay = milliseconds / 1000.0
    end

    def stats = @links.reduce(@past) { |sum, link| add(sum, link) }

    # One round of the loop, which waits at most so many seconds. Yields when there is something to read on the other IO.
    def turn(limit, other = nil)
      lanes = @links.flat_map(&:lanes)
      readable, writable, = IO.select([other, @listener, *lanes.select(&:open?).map(&:source)].compact,
                                      lanes.select(&:blocked?).map(&:sink), nil, patience(lanes, limit))
      yield if other && readable&.include?(other)
      accept if readable&.include?(@listener)
      @links.dup.each { |link| serve(link, readable || [], writable || []) }
    end

    private

    # The last part of a wait is spent spinning, when client and server have nothing to do anyway.
    def patience(lanes, limit)
      first = lanes.filter_map(&:due).min
      first ? (first - OVERSLEEP - LatencyProxy.now).clamp(0, limit) : limit
    end

    def accept
      client = @listener.accept
      @links << Link.new(client, connect)
      @past = { **@past, connections: @past[:connections] + 1 }
    rescue SystemCallError, SocketError
      client&.close # as a server that is down would
    end

    def connect = @target.start_with?("/") ? UNIXSocket.new(@target) : TCPSocket.new(*@target.split(/:(?=\d+\z)/))

    def serve(link, readable, writable)
      link.lanes.each do |lane|
        link.take(lane, @delay) if readable.include?(lane.source)
        lane.release if !lane.blocked? || writable.include?(lane.sink)
      end
      drop(link) if link.done?
    rescue SystemCallError, IOError
      drop(link) # one side hung up: so does the other
    end

    def drop(link)
      @past = add(@past, link)
      @links.delete(link)
      link.close
    end

    def add(sum, link) = sum.to_h { |name, number| [name, COUNTED.include?(name) ? number + link.public_send(name) : number] }
  end
end

if $PROGRAM_NAME == __FILE__
  ARGV.first == "--serve" ? LatencyProxy.serve(ARGV[1], ARGV[2].to_i) : LatencyProxy.run(ARGV)
end
