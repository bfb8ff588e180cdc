# frozen_string_literal: true

require_relative "station"

module Bench
  # Who takes part, under which name: a contender, with the lib/ of a commit.
  Entry = Struct.new(:name, :contender, :lib, keyword_init: true) do
    def self.of(contender) = new(name: contender, contender: contender, lib: Worker::LIB)

    def start(workload, address, yjit: false)
      Station.new(Worker.new(contender, workload.name, lib: lib, name: name, yjit: yjit), address)
    end
  end
end
