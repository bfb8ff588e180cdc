# frozen_string_literal: true

require "io/wait"
require "rbconfig"
require_relative "sample"

module Bench
  # A contender in a process of its own, seen from here: each method is an order to it, see Serving.
  class Worker
    # The contender can't do what was asked. The message says which, and why.
    class Failed < StandardError; end

    PATIENCE = 180 # seconds for one order
    LIB = File.expand_path("../lib", __dir__)

    attr_reader :name, :pid

    # lib: the folder that Pipeloader is loaded from. name: what the reports call it, if there are several of a contender.
    def initialize(contender, workload, lib: LIB, name: contender, yjit: false)
      @name = name
      orders, @orders = IO.pipe(binmode: true)
      @answers, answers = IO.pipe(binmode: true)
      @pid = Process.spawn(RbConfig.ruby, *("--yjit" if yjit), "#{__dir__}/serving.rb", lib, contender, workload,
                           in: orders, out: answers)
      [orders, answers].each(&:close)
    end

    %i[load seed connect warm answer sample statements peak yjit? profile].each do |order|
      define_method(order) { |*arguments, **options| ask(order, arguments, options) }
    end

    # Loads without waiting for it: others can do so at the same time. Its answer is that to the next #loaded.
    def start_loading = send_order(:load)
    def loaded = receive

    # By force: it may hang.
    def stop
      [@orders, @answers].each(&:close)
      Process.kill("KILL", @pid)
      Process.wait(@pid)
    rescue Errno::ESRCH, Errno::ECHILD
      # Gone already.
    end

    private

    def ask(order, arguments, options)
      send_order(order, arguments, options)
      receive
    end

    def send_order(order, arguments = [], options = {})
      Marshal.dump([order, arguments, options], @orders)
    rescue Errno::EPIPE
      raise Failed, "#{@name}: its process died"
    end

    def receive
      raise Failed, "#{@name}: no answer within #{PATIENCE} s" unless @answers.wait_readable(PATIENCE)
      status, value = Marshal.load(@answers)
      raise Failed, "#{@name}: #{value}" if status == :failed
      value
    rescue EOFError
      raise Failed, "#{@name}: its process died"
    end
  end
end
