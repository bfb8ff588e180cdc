# frozen_string_literal: true

module Bench
  # As an application would write it that knows this one query: the root field's relation preloads all.
  class Includes < Contender
    called "includes", "ActiveRecord's includes, chosen by hand for this query"

    def self.serves?(workload) = super && workload.includes.any?

    private

    def adapt
      by_hand, way = @workload.includes, self.way
      @dataset.query_type.prepend(Module.new do
        by_hand.each do |field, associations|
          define_method(field) { |**arguments| super(**arguments).public_send(way, *associations) }
        end
      end)
    end

    def way = :includes
  end
end
