# frozen_string_literal: true

require "open3"
require_relative "../support/test_helper"

# Guards that apply a rule of ActionPolicy's, in a process of their own: it loads ruby-next, which refines methods of Ruby's such
# as `String#strip`. No method that calls one of these is compiled then.
class ActionPoliciesProcessTest < PipeloaderTest
  def test_action_policies
    command = [RbConfig.ruby, "-w", "--disable-error_highlight", "-Itest", "-Ilib", "test/support/action_policies.rb"]
    output, status = Open3.capture2e({ "PIPELOADER_PART" => nil }, *command, chdir: File.expand_path("../..", __dir__))
    assert_predicate status, :success?, output
    assert_match(/^2\d runs, \d+ assertions, 0 failures, 0 errors, 0 skips$/, output)
  end
end
