# frozen_string_literal: true

module Pipeloader
  # Stands in for a resolver's fiber while ActiveRecord says what it would ask: its first statement is caught, and not sent.
  class DryRun < Bystander
    # Yields inside a response; begins one if there is none.
    def self.within_response
      return yield if ResolverFiber.current

      Response.within { |response| as(Bystander.new(response)) { yield } }
    end

    # @yield does what is to be asked for
    # @return [Arel::SelectManager, nil] nil if nothing was asked
    def self.of
      dry_run = new(ResolverFiber.current.response)
      as(dry_run) { catch(dry_run) { yield && nil } }
    end

    def take(arel) = throw(self, arel)
    def dry? = true
  end
end
