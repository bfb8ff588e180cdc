# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/own_process"

# What ActionPolicy keeps of the rules that it is inside of. It loads ruby-next, see ActionPoliciesProcessTest.
class PolicyResultsProcessTest < PipeloaderTest
  include OwnProcess

  def test_policy_results = assert_passes("policy_results.rb")
end
