# frozen_string_literal: true

module Pipeloader
  # What `use Pipeloader` takes, and what holds where neither a schema nor the application says: DEFAULTS.
  module Options
    DEFAULTS = { fiber_limit: nil, coalesce: true, compile: true, plan_bytes: 32 * 1024 * 1024, forecast: true, trips: :auto,
                 rest: true, lanes: 1, settings: nil, snapshot: false, breaker: true, extensions: nil }.freeze
    # {DEFAULTS: …, and field_exact, of which object types have a say}
    NAMES = [*DEFAULTS.keys, :field_exact].freeze
    TRIPS = %i[auto depth one].freeze
    BOOLEAN = [[true, false], "true or false"].freeze
    SETTINGS = 'nil or callable: ->(context) { { "app.tenant_id" => context[:tenant].id } }'

    # Which values each may have, and how that is said. (`lanes` is up to Lanes.)
    ALLOWED = {
      fiber_limit: [[->(it) { it.nil? || (it.is_a?(Integer) && it > 3) }], "nil or an Integer >= 4"],
      plan_bytes: [[->(it) { it.is_a?(Integer) && !it.negative? }], "an Integer >= 0"],
      trips: [TRIPS, "one of #{TRIPS.inspect}"],
      settings: [[nil, ->(it) { it.respond_to?(:call) }], SETTINGS],
      **%i[extensions field_exact].to_h { |name| [name, [[true, false, nil], "true, false or nil"]] },
      **%i[breaker coalesce compile forecast rest snapshot].to_h { |name| [name, BOOLEAN] }
    }.freeze
    private_constant :TRIPS, :BOOLEAN, :SETTINGS, :ALLOWED

    class << self
      # @param given [Hash{Symbol => Object}]
      # @param others [Array<Symbol>] names that there are beside these
      # @raise [ArgumentError] that says which options there are, or which values
      def check(given, *others)
        given.each do |name, value|
          raise ArgumentError, "#{name}: no such option. There are #{[*NAMES, *others].sort.join(", ")}" if NAMES.none?(name)

          allowed, words = ALLOWED[name]
          raise ArgumentError, "#{name} must be #{words}, got #{shown(value)}" if allowed&.none? { |it| it === value }
        end
      end

      # True if it is a part of all executions.
      def part?(value) = value.is_a?(Numeric) && (0..1).cover?(value)

      # @param given [Hash] what a schema has been given
      # @param defaults [Hash] what it takes from the application
      # @return [Hash] what holds for it
      def merge(given, defaults)
        merged = { **defaults, **given }
        merged[:rest] &&= merged[:settings].nil? && !merged[:snapshot]
        merged.freeze
      end

      private

      # (An object of the application's may be long.)
      def shown(value)
        case value
        when nil, true, false, Numeric, String, Symbol, Array then value.inspect
        else value.class
        end
      end
    end
  end
end
