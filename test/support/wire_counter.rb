# frozen_string_literal: true

# Counts round trips as ActiveRecord and Pipeloader report them.
module WireCounter
  class << self
    # @return [Array<Array<String>>] for each round trip of the block the SQL that it carried
    # @param aside [Array<String>] gets what isn't counted: the SQL of schema reads, BEGIN and the like
    def trips(aside = [])
      trips = []
      on_burst = ->(*, payload) { trips << payload[:reads].map(&:sql) }
      on_sql = lambda do |*, payload|
        next if payload[:cached] || payload.key?(:pipeloader)
        next aside << payload[:sql] if %w[SCHEMA TRANSACTION].include?(payload[:name])

        trips << [payload[:sql]]
      end
      subscribed("burst.pipeloader", on_burst) { subscribed("sql.active_record", on_sql) { yield } }
      trips
    end

    # @return [Array<Hash>] payloads of +name+ during the block
    def events(name)
      payloads = []
      subscribed(name, ->(*, payload) { payloads << payload }) { yield }
      payloads
    end

    private

    def subscribed(name, callback, &block)
      ActiveSupport::Notifications.subscribed(callback, name, &block)
    end
  end
end
