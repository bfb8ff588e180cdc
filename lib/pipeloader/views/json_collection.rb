# frozen_string_literal: true

module Pipeloader
  # Stands for a collection whose JSON is asked for. To ActiveSupport's encoder it is an object that says by `as_json` what the
  # collection would.
  class JSONCollection
    # What reads nothing.
    SCALARS = [String, Symbol, Numeric, NilClass, TrueClass, FalseClass].freeze
    private_constant :SCALARS

    class << self
      # @param controller [ActionController::Base] that renders it
      # @return [Object] in whose place JSON is to be made: +resource+ itself, unless it is a collection that says nothing else of
      #   its JSON than what its items say
      def of(resource, controller)
        values = plain?(resource) ? resource.to_a : []
        return resource if values.size < 2 || SCALARS.any? { |it| it === values.first }

        name = controller.class.name
        new(values, ([name, controller.action_name.to_s] if name))
      end

      private

      def plain?(resource)
        case resource
        when ::Array then resource.instance_of?(::Array) && encoded?(resource)
        when ::ActiveRecord::Relation then of_its_records?(resource) && encoded?(resource)
        end
      end

      # Not where somebody has given it an `as_json` of its own.
      def of_its_records?(relation) = [::ActiveRecord::Delegation, ::Enumerable].include?(relation.method(:as_json).owner)

      # Not where a gem has its own way to write Arrays.
      def encoded?(resource)
        resource.method(:to_json).owner.equal?(::ActiveSupport::ToJsonWithActiveSupportEncoder) &&
          ::ActiveSupport::JSON::Encoding.json_encoder.name.to_s.start_with?("ActiveSupport::")
      end
    end

    # @param values [Array]
    # @param site [Array<String>, nil] as Gathering#each's
    def initialize(values, site)
      @values = values
      @site = site
    end

    # Array#as_json itself, for each.
    def as_json(options = nil) = Gathering.map(@values, site: @site) { |value| [value].as_json(options).first }
  end
end
