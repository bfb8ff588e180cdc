# frozen_string_literal: true

require_relative "../test/support/private_cluster"
require_relative "worker"

module Bench
  # The PostgreSQL that all contenders use, with each dataset in a namespace of its own.
  class Database
    def initialize(progress)
      @progress = progress
      @seeded = {}
    end

    attr_reader :version

    # Of the server, for whoever runs the workload. Fills the tables when they are first needed.
    def address(workload)
      dataset = workload.dataset
      address = PrivateCluster.tcp_hash.merge(schema_search_path: dataset.namespace)
      @seeded[dataset.name] ||= seed(workload, address)
      address
    end

    private

    # Models are needed for it: so a process of its own does it.
    def seed(workload, address)
      @progress.say("#{workload.name}: making the data")
      worker = Worker.new("naive", workload.name)
      worker.load
      @version = worker.seed(address)
    ensure
      worker&.stop
    end
  end
end
