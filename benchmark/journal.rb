# frozen_string_literal: true

require "digest"
require "fileutils"

module Bench
  # What has been measured already: a file per contest, so that an interrupted run goes on where it was. Figures of other
  # versions have another folder, and are never taken over. Those of other code, settings or processors are if asked for.
  class Journal
    FOLDER = File.expand_path("../tmp/benchmark/journal", __dir__)

    # @param versions what has to be the same, as #inspect tells it
    # @param stamp of this run
    # @param older [Boolean] whether figures with another stamp are taken over
    def initialize(versions, stamp = nil, fresh: false, older: false)
      @folder = File.join(FOLDER, Digest::SHA256.hexdigest(versions.inspect)[0, 16])
      @stamp = stamp.inspect
      @older = older
      FileUtils.rm_rf(@folder) if fresh
      FileUtils.mkdir_p(@folder)
    end

    # What is known under that name, or what the block makes of it.
    def fetch(name)
      file = File.join(@folder, name)
      stamp, result = Marshal.load(File.binread(file)) if File.file?(file)
      return result if stamp && (@older || stamp == @stamp)

      yield.tap do |result|
        File.binwrite("#{file}.new", Marshal.dump([@stamp, result]))
        File.rename("#{file}.new", file)
      end
    end

    # A run that got to its end needs no going on.
    def forget = FileUtils.rm_rf(@folder)
  end
end
