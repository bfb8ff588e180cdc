# frozen_string_literal: true

require_relative "station"

module Bench
  # Who takes part, under which name: a contender, with the lib/ of a commit, with YJIT or without.
  Entry = Struct.new(:name, :contender, :lib, :yjit, keyword_init: true) do
    def self.of(contender) = new(name: contender, contender: contender, lib: Worker::LIB)

    def with_yjit = self.class.new(**to_h, name: "#{name} +YJIT", yjit: true)

    def start(workload, address)
      Station.new(Worker.new(contender, workload.name, lib: lib, name: name, yjit: yjit), address)
    end
  end
end
