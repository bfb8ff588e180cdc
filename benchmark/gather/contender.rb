# frozen_string_literal: true

module Gather
  # One contender in a process of its own, which does its work whenever it is told to.
  class Contender
    SERIAL = "a serial loop"
    # {name => [what it needs before it connects, what makes JSON of a tree by a serializer]}
    ALL = {
      SERIAL => [-> {}, ->(tree, one) { tree.records.map(&one) }],
      "includes" => [-> {}, ->(tree, one) { tree.included.map(&one) }],
      "load_async" => [-> { asynchronously }, ->(tree, one) { tree.load_async.map(&one) }],
      "goldiloader" => [-> { require "goldiloader" }, ->(tree, one) { tree.records.map(&one) }],
      "ar_lazy_preload" => [-> { lazily }, ->(tree, one) { tree.records.map(&one) }],
      "Pipeloader.map" => [-> { require "pipeloader" }, ->(tree, one) { Pipeloader.map(tree.records, &one) }]
    }.freeze

    # On as many threads as ActiveRecord has by default, four, and with a pool of five connections.
    def self.asynchronously
      ActiveRecord.async_query_executor = :global_thread_pool
    end

    def self.lazily
      require "ar_lazy_preload"
      ArLazyPreload.install_hooks
      ArLazyPreload.config.auto_preload = true
    end

    def initialize(name, tree, serializer, address)
      need, work = ALL.fetch(name)
      orders, @into = IO.pipe
      @out, answers = IO.pipe(binmode: true)
      @pid = fork do
        [@into, @out].each(&:close)
        need.call
        ActiveRecord::Base.establish_connection(address)
        serve(orders, answers) { work.call(tree, serializer) }
      end
      [orders, answers].each(&:close)
    end

    # @return [Array(Float, String)] seconds, and JSON
    def run
      @into.puts("run")
      Marshal.load(@out)
    end

    # Not by closing the pipe: those that were forked later have it, too.
    def stop
      @into.puts("stop")
      Process.wait(@pid)
    end

    private

    def serve(orders, answers, &work)
      5.times(&work)
      Marshal.dump(timed(&work), answers) while orders.gets == "run\n"
      exit!(0)
    end

    def timed
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      found = yield
      [Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, JSON.generate(found)]
    end
  end
end
