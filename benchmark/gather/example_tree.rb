# frozen_string_literal: true

require_relative "../../example/schema"
require_relative "level"

module Gather
  # Those of the example's tables, whose rows are always the same: a tree may be smaller, not larger.
  class ExampleTree < Tree
    def records = self.class::MODEL.order(:id).limit(@size)

    def seed
      Example.seed(ActiveRecord::Base.connection)
      there = self.class::MODEL.count
      abort "There are #{there} #{self.class::MODEL.table_name}, not #{@size}" if @size > there
    end
  end
end
