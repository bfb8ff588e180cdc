# frozen_string_literal: true

require "open3"
require_relative "../support/test_helper"

# What ActionPolicy keeps of the rules that it is inside of, in a process of its own: it loads ruby-next, see ActionPoliciesProcessTest.
class PolicyResultsProcessTest < PipeloaderTest
  def test_policy_results
    command = [RbConfig.ruby, "-w", "--disable-error_highlight", "-Itest", "-Ilib", "test/support/policy_results.rb"]
    output, status = Open3.capture2e({ "PIPELOADER_PART" => nil }, *command, chdir: File.expand_path("../..", __dir__))
    assert_predicate status, :success?, output
    assert_match(/^[1-9]\d* runs, \d+ assertions, 0 failures, 0 errors, 0 skips$/, output)
  end
end
