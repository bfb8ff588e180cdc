# frozen_string_literal: true

require "socket"

# A proxy before the server that passes bytes when told: tests wait for what has arrived at it, never for a time.
#
#     gate = Gate.new(**PrivateCluster.tcp_hash.slice(:host, :port))
#     gate.hold(:requests)          # what the client sends stays here
#     gate.await(:requests, 100)    # returns when 100 bytes have come
#     gate.pass(:requests)
#     gate.cut                      # every connection, both ways
class Gate
  attr_reader :port

  def initialize(host:, port:)
    @target = [host, port]
    @listener = TCPServer.open("127.0.0.1", 0)
    @port = @listener.addr[1]
    @monitor = Mutex.new
    @changed = ConditionVariable.new
    @held = { requests: false, answers: false }
    @waiting = { requests: 0, answers: 0 } # bytes that are held back
    @passed = { requests: 0, answers: 0 }
    @sockets = []
    @retarded = nil
    @threads = [Thread.new { accept }]
  end

  def hold(*ways)
    ways = @held.keys if ways.empty?
    @monitor.synchronize { ways.each { |way| @held[way] = true } }
  end

  def pass(*ways)
    ways = @held.keys if ways.empty?
    @monitor.synchronize do
      ways.each { |way| @held[way] = false }
      @changed.broadcast
    end
  end

  # What the client sends by the next connection that it makes, arrives when told; all else passes.
  #
  # @return [Late]
  def retard
    @monitor.synchronize { @retarded = Late.new(Queue.new, Queue.new, Queue.new) }
  end

  # A connection whose requests are late.
  Late = Struct.new(:come, :going, :over) do
    # Returns when the client has sent something.
    def await = come.pop

    # Lets it go on, and returns when the server has ended the connection.
    def pass
      going << true
      over.pop
    end
  end

  # Returns when at least that many bytes are held back.
  def await(way, bytes = 1)
    @monitor.synchronize { @changed.wait(@monitor) until @waiting[way] >= bytes }
  end

  # What is held back, and what comes, goes through the block first.
  def garble(&block)
    @monitor.synchronize { @garbler = block }
  end

  # Each connection that is made from here on gives its answers to an object of its own, which the block makes; what that
  # returns for a piece that has come (`call(bytes)`) is what passes: a list of pieces, each written by itself, or nil for
  # the end of the connection.
  def mangle(&block)
    @monitor.synchronize { @mangler = block }
  end

  def passed(way) = @monitor.synchronize { @passed[way] }

  # Lets that many bytes of answers through, and then cuts the connection. (Once; the next connection works.)
  def cut_after(bytes)
    @monitor.synchronize { @rest = bytes }
  end

  # Ends what is connected, as a router that died. New connections are taken.
  def cut
    sockets = @monitor.synchronize { @sockets.tap { @sockets = [] } }
    sockets.each { |socket| shut(socket) }
  end

  def close
    @listener.close
    cut
    @threads.each(&:kill)
  end

  private

  def accept
    loop do
      client = @listener.accept
      server = TCPSocket.new(*@target)
      late = @monitor.synchronize do
        @sockets.push(client, server)
        @retarded.tap { @retarded = nil }
      end
      @threads << Thread.new { pump(client, server, :requests, late) } << Thread.new { pump(server, client, :answers, late) }
    end
  rescue IOError, SystemCallError
    # Closed.
  end

  def pump(from, to, way, late = nil)
    mangler = @mangler&.call if way == :answers
    loop do
      bytes = from.readpartial(65_536)
      wait_for(way, bytes.bytesize)
      (late.come << true) && late.going.pop if late && way == :requests
      bytes = @garbler.call(bytes) if @garbler
      if mangler
        mangler.call(bytes).each { |piece| piece ? write_piece(to, piece) : raise(IOError, "cut") }
        next
      end
      last = way == :answers && spend(bytes.bytesize)
      to.write(last ? bytes.byteslice(0, last) : bytes)
      break cut if last
    end
  rescue IOError, SystemCallError
    late.over << true if late && way == :answers
    [from, to].each { |socket| shut(socket) }
  end

  # In a packet of its own.
  def write_piece(socket, piece)
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    socket.write(piece)
    socket.flush
  end

  def wait_for(way, bytes)
    @monitor.synchronize do
      @waiting[way] += bytes
      @changed.broadcast
      @changed.wait(@monitor) while @held[way]
      @waiting[way] -= bytes
      @passed[way] += bytes
    end
  end

  # @return [Integer, nil] how many of the bytes are the last that may pass
  def spend(bytes)
    @monitor.synchronize do
      next unless @rest

      rest = @rest
      @rest = rest > bytes ? rest - bytes : nil
      rest unless @rest
    end
  end

  def shut(socket)
    socket.shutdown(Socket::SHUT_RDWR)
  rescue IOError, SystemCallError
    # Already.
  ensure
    # The other way's thread may be reading it. Ruby 3.3 dies of a thread that is killed (see #close) while it closes such a socket.
    Thread.handle_interrupt(Object => :never) { socket.close }
  end
end
