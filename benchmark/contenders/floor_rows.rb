# frozen_string_literal: true

require_relative "../floor/tree"
require_relative "../floor/statement"

module Bench
  # No GraphQL and no ActiveRecord while it is timed: rows straight from pg to Hashes by code that is made for the query. One
  # statement per association, all of a level in one burst of libpq's pipeline. What can be had in Ruby, not a way to write
  # an application.
  class FloorRows < Contender
    called "floor-rows", "rows from pg to Hashes, one statement per association, a burst per level"

    def self.serves?(workload) = super && workload.tree?

    def load
      require_gems
      @dataset.define
    end

    def connect(address)
      @wire&.close
      # (The models are asked for their columns.)
      ActiveRecord::Base.establish_connection(address)
      @root = Floor::Tree.new(@workload).root
      @wire = Floor.connect(address)
      @levels = levels([@root]).each { |level| level.each { |node| node.statement.prepare(@wire) } }
    end

    attr_reader :wire

    def backend = @wire.backend_pid

    def answer
      @levels.each { |level| fetch(level) }
      JSON.generate({ "data" => { @root.response_name => @root.build } })
    end

    private

    def levels(nodes) = nodes.empty? ? [] : [nodes, *levels(nodes.flat_map(&:children))]

    def fetch(level)
      @wire.enter_pipeline_mode
      level.each { |node| node.statement.send_to(@wire, node.keys) }
      @wire.pipeline_sync
      level.each { |node| node.receive(node.statement.receive_from(@wire)) }
      @wire.get_result # of the Sync
    ensure
      @wire.exit_pipeline_mode
    end
  end
end
