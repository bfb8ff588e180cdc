# frozen_string_literal: true

require "fileutils"
require "json"

module Pipeloader
  # Where Revisions are kept beyond the process: a file, or a store like Rails.cache.
  #
  # Limits: what two processes write into a store in the same moment, one of them loses. Into a file they write by turns.
  class RevisionStore
    NAME = "pipeloader/revisions"
    # Bytes. What is larger, isn't ours.
    LARGEST = 1_000_000
    private_constant :NAME, :LARGEST

    # @param place [String, Pathname, #read & #write]
    # @raise [ArgumentError]
    def self.of(place)
      return new(RevisionFile.new(place.to_s)) if place.is_a?(String) || place.is_a?(Pathname)
      return new(place) if place.respond_to?(:read) && place.respond_to?(:write)

      raise ArgumentError, "history must be a path, a store with read and write, or nil; got #{place.class}"
    end

    def initialize(store)
      @store = store
    end

    # Yields what is kept, to have it replaced by what the block returns.
    #
    # @param wait [Boolean] whether for other processes that do so
    # @yieldparam kept [Hash]
    # @return [Hash, nil] nil where others do so, and aren't waited for
    def change(wait = true, &) = @store.is_a?(RevisionFile) ? @store.alone(wait) { replace(&) } : replace(&)

    private

    def replace = yield(parsed(@store.read(NAME))).tap { |all| @store.write(NAME, JSON.generate(all)) }

    def parsed(text)
      kept = JSON.parse(text) if text.is_a?(String) && text.bytesize <= LARGEST
      kept.is_a?(Hash) ? kept : {}
    rescue JSON::ParserError
      {}
    end

    # It is there whole at any time: it is written beside its place, and renamed.
    class RevisionFile
      def initialize(path)
        @path = path
      end

      # Yields where no other process does, or returns nil where it isn't to wait for that.
      def alone(wait)
        FileUtils.mkdir_p(File.dirname(@path))
        File.open("#{@path}.lock", File::CREAT | File::RDWR) do |lock|
          yield if lock.flock(wait ? File::LOCK_EX : File::LOCK_EX | File::LOCK_NB)
        end
      end

      def read(_name)
        File.read(@path, LARGEST + 1, encoding: Encoding::UTF_8)
      rescue Errno::ENOENT
        nil
      end

      def write(_name, text)
        File.write("#{@path}.new", text)
        File.rename("#{@path}.new", @path)
      end
    end
    private_constant :RevisionFile
  end
end
