# frozen_string_literal: true

module Pipeloader
  # A fiber that no loader knows, so that it can't park: its read goes at once, and takes along what is gathered.
  class Bystander < ResolverFiber
    def initialize(response)
      @response = response
      @parking = Parking.new(self, nil)
      @delivery = Delivery.new
      park_no_more
    end

    def coalesces? = false
    def at_rest? = true
    def abandoned? = false
  end
end
