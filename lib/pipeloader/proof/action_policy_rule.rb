# frozen_string_literal: true

module Pipeloader
  # What ActionPolicy does to apply a policy's rule, where that is no more than to call it:
  #
  #     PostPolicy.new(object, user: context[:viewer]).apply(:show?)
  #
  # Limits: pre-checks, aliases, cached rules; `allowed_to?` in rules; targets that aren't given.
  module ActionPolicyRule
    CALLED = %i[initialize apply apply_r __apply__ resolve_rule with_result run_pre_checks respond_to? public_send class
                instance_variable_set].freeze
    OF_CLASS = %i[authorization_targets pre_checks rules_aliases lookup_alias cached_rules result_class].freeze
    OF_RESULT = %i[initialize load value].freeze
    # Whoever hears of these is told of each record once.
    EVENTS = %w[action_policy.init action_policy.apply_rule].freeze
    private_constant :CALLED, :OF_CLASS, :OF_RESULT, :EVENTS

    class << self
      # @param policy [Class]
      # @param values [Array] what it is made with: the record, and what the +names+ are given
      # @return [Hash{Symbol => Object}, nil] which of these each instance variable is; nil where more runs than the +rule+
      def kept(policy, rule, values, names)
        return unless Provenance.rubygem?(:ActionPolicy) && policy < ::ActionPolicy::Base && values.size == names.size + 1

        { "@record": values.first, **names.map { |it| :"@#{it}" }.zip(values.drop(1)).to_h } if
          action_policys?(policy) && targets?(policy, names) && just_called?(policy, rule) && !heard?
      end

      private

      # True if nobody else has a say in how it is made, and applies rules.
      def action_policys?(policy)
        result = policy.result_class
        methods = CALLED.map { |name| policy.instance_method(name) } + OF_CLASS.map { |name| policy.method(name).unbind } +
                  OF_RESULT.map { |name| result.instance_method(name) }
        Provenance.ruby_makes?(result) && methods.all? { |it| Provenance.gem_alone?(:ActionPolicy, it) }
      end

      def heard? = EVENTS.any? { |event| ActiveSupport::Notifications.notifier.listening?(event) }

      def targets?(policy, names)
        targets = policy.authorization_targets
        (names - targets.keys).empty? && targets.except(*names).empty? && !targets.key?(:record)
      end

      def just_called?(policy, rule)
        policy.public_method_defined?(rule) && policy.lookup_alias(rule).nil? && policy.pre_checks.empty? &&
          !policy.cached_rules.key?(rule)
      end
    end
  end
end
