# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Subscriptions
    # Since:: graphql 2.5.2
    # Why no public seam does it:: it deletes a subscription that is gone before it executes anything; and one that the delivery
    #   to an earlier subscriber deletes may have been read by then.
    # Falls through when:: no Pipeloader.multiplex is around it.
    module SubscriptionUpdates
      def execute_update(subscription_id, event, object)
        branch = ResolverFiber.current&.branch or return super
        singleton_class.prepend(SubscriptionDeletes) unless singleton_class.include?(SubscriptionDeletes)
        update = branch.in_turn { super }
        branch.multiplex.deleted?(self, subscription_id, branch) ? super : update.value
      end
    end

    # Host:: the singleton class of a GraphQL::Subscriptions, as each store has a #delete_subscription of its own
    # Since:: graphql 2.5.2
    # Why no public seam does it:: as above.
    # Falls through when:: as above.
    module SubscriptionDeletes
      def delete_subscription(subscription_id)
        branch = ResolverFiber.current&.branch or return super
        branch.await_turn
        branch.multiplex.delete(self, subscription_id, branch)
        super
      end
    end
  end
end
