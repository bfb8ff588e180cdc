# frozen_string_literal: true

require "fileutils"
require "open3"

module Bench
  # Another commit of this project: its lib/, beside this checkout's. Contenders, workloads and gems are this checkout's.
  class Revision
    # There is no such commit.
    class Unknown < StandardError; end

    ROOT = File.expand_path("..", __dir__)
    FOLDER = File.join(ROOT, "tmp/benchmark/revisions")

    attr_reader :name, :commit

    def initialize(name)
      @name = name
      @commit = git("rev-parse", "--verify", "--quiet", "#{name}^{commit}").strip
      raise Unknown, "there is no commit #{name}" if @commit.empty?
    end

    # The same contender with that lib/.
    def entry(contender) = Entry.new(name: name_of(contender), contender: contender, lib: lib)

    def name_of(contender) = "#{contender}@#{@commit[0, 7]}"

    # Complete or not there: it is unpacked beside, then renamed.
    def lib
      folder = File.join(FOLDER, @commit)
      return File.join(folder, "lib") if File.directory?(folder)

      unpacked = "#{folder}.#{Process.pid}"
      FileUtils.mkdir_p(unpacked)
      statuses = Open3.pipeline(["git", "-C", ROOT, "archive", @commit, "lib"], ["tar", "-x", "-C", unpacked])
      raise Unknown, "commit #{@name} has no lib/" unless statuses.all?(&:success?)
      File.rename(unpacked, folder)
      File.join(folder, "lib")
    ensure
      FileUtils.rm_rf(unpacked) if unpacked
    end

    private

    def git(*arguments) = IO.popen(["git", "-C", ROOT, *arguments], err: File::NULL, &:read)
  end
end
