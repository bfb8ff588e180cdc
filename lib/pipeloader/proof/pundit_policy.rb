# frozen_string_literal: true

module Pipeloader
  # The policy that Pundit finds for a model's records, by their name:
  #
  #     Pundit.policy!(context[:viewer], object).show?      # PostPolicy.new(context[:viewer], object).show?
  #
  # Pundit's own code runs with a stand-in for the record, whose class says by `policy_class` which one was found.
  #
  # Limits: a `policy_class` of the application's; namespaces; heirs of which Pundit finds others.
  class PunditPolicy
    FINDING = %i[policy policy!].freeze
    # What Pundit asks of a record and its class.
    OVERRIDE = :policy_class
    NAMED = :model_name
    OF_RECORD = [NAMED, :respond_to?, :class, :is_a?].freeze
    private_constant :FINDING, :OVERRIDE, :NAMED, :OF_RECORD

    class << self
      # @param host [Object] of which the policy is asked
      # @param model [Class] of records
      # @return [PunditPolicy, nil] nil where it isn't proved which one that is
      def of(host, model)
        return unless Provenance.rubygem?(:Pundit) && host.equal?(::Pundit) && pundits? && by_name?(model)

        policy = found(model)
        new(model, policy) if policy.instance_of?(Class) && Provenance.ruby_makes?(policy)
      end

      # @return [Class, nil] nil also where it isn't the same for all heirs
      def found(model)
        policies = members(model).map { |it| ::Pundit::PolicyFinder.new(it).policy }.uniq(&:__id__)
        policies.first if policies.one?
      rescue StandardError, ScriptError # where one is loaded
        nil
      end

      # True if it goes by ActiveModel's names alone.
      def by_name?(model)
        members(model).all? do |it|
          !it.method_defined?(OVERRIDE) && !it.respond_to?(OVERRIDE) &&
            [it.method(NAMED), it.method(:respond_to?), *OF_RECORD.map { |name| it.instance_method(name) }]
              .all? { |method| Provenance.active_record_alone?(method) } && !missing?(it)
        end
      end

      private

      def members(model) = [model, *model.descendants]

      # True if nobody else has a say in what it finds.
      def pundits?
        makers = [::Pundit::Context, ::Pundit::PolicyFinder]
        methods = [*makers, ::Pundit::CacheStore::NullStore].flat_map do |host|
          [*host.instance_methods(false), *host.private_instance_methods(false)].map { |name| host.instance_method(name) }
        end
        methods += FINDING.map { |name| ::Pundit.method(name).unbind }
        makers.all? { |it| Provenance.ruby_makes?(it) } && methods.all? { |it| Provenance.gem_alone?(:Pundit, it) } &&
          [OVERRIDE, :policy].none? { |name| KnownMethods.refined?(name) }
      end

      # True if it may respond to more than it has.
      def missing?(model)
        [model.method(:respond_to_missing?), model.instance_method(:respond_to_missing?)]
          .any? { |method| !Provenance.active_record_alone?(method) }
      end
    end

    # @return [Class] of the policy
    attr_reader :policy

    def initialize(model, policy)
      @model = model
      @policy = policy
    end

    alias inspect to_s

    # True if Pundit finds another one by now.
    def over? = !PunditPolicy.found(@model).equal?(@policy) || !PunditPolicy.by_name?(@model)

    # @param names [Array<Symbol>] of what is asked of a record
    # @return [Class] of Structs of these, for which Pundit finds the policy
    def record(names)
      policy = @policy
      Struct.new(*(names.empty? ? [:there] : names)) { define_singleton_method(OVERRIDE) { policy } }
    end
  end
end
