# frozen_string_literal: true

require "open3"

# Runs a file of tests in a process of its own: what it loads changes Ruby for all others.
module OwnProcess
  # @param file [String] in test/support
  # @param runs [Regexp] how many tests it has
  def assert_passes(file, runs: /[1-9]\d*/)
    command = [RbConfig.ruby, "-w", "--disable-error_highlight", "-Itest", "-Ilib", "test/support/#{file}"]
    output, status = Open3.capture2e({ "PIPELOADER_PART" => nil }, *command, chdir: File.expand_path("../..", __dir__))
    assert_predicate status, :success?, output
    assert_match(/^#{runs} runs, \d+ assertions, 0 failures, 0 errors, 0 skips$/, output)
  end
end
