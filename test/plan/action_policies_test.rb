# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/own_process"

# Guards that apply a rule of ActionPolicy's, in a process of their own: it loads ruby-next, which refines methods of Ruby's such
# as `String#strip`. No method that calls one of these is compiled then.
class ActionPoliciesProcessTest < PipeloaderTest
  include OwnProcess

  def test_action_policies = assert_passes("action_policies.rb", runs: /2\d/)
end
