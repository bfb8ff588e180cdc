# frozen_string_literal: true

require "digest"
require "fileutils"

module Bench
  # What has been measured already: a file per contest, so that an interrupted run goes on where it was. Figures of other
  # code, versions or settings aren't taken over: they have another signature.
  class Journal
    FOLDER = File.expand_path("../tmp/benchmark/journal", __dir__)

    def initialize(signature, fresh: false)
      @folder = File.join(FOLDER, Digest::SHA256.hexdigest(signature.inspect)[0, 16])
      FileUtils.rm_rf(@folder) if fresh
      FileUtils.mkdir_p(@folder)
    end

    # What is known under that name, or what the block makes of it.
    def fetch(name)
      file = File.join(@folder, name)
      return Marshal.load(File.binread(file)) if File.file?(file)

      yield.tap do |result|
        File.binwrite("#{file}.new", Marshal.dump(result))
        File.rename("#{file}.new", file)
      end
    end

    # A run that got to its end needs no going on.
    def forget = FileUtils.rm_rf(@folder)
  end
end
