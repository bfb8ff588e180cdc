# frozen_string_literal: true

module Pipeloader
  # Where a block of Pipeloader.map is written; or which template, or action, a collection is rendered by. What is asked of its
  # records there is known from earlier runs, as what resolvers ask is by the document's fields.
  class BlockSite
    # How many are remembered, and how many bytes of places inside of one, as Forecasts counts them.
    MOST = 1_000
    BYTES = 150_000
    OURS = "#{File.expand_path("..", __dir__)}/".freeze
    private_constant :MOST, :BYTES, :OURS

    @all = Bounded.new(MOST)
    @lock = Mutex.new

    class << self
      # @param site [Proc, Array<String>] a block; or what tells templates and actions from others
      # @return [BlockSite, nil] nil for a block of C's, and for those of this gem's, which stand for many
      def of(site)
        location = Proc === site ? site.source_location : site
        return if location.nil? || location.first.start_with?(OURS)

        @all[location] || @lock.synchronize { @all[location] ||= new }
      end

      # Code is about to be loaded again.
      def forget = @lock.synchronize { @all.clear }
    end

    # Made by Forecasts.of when they are first asked for.
    attr_accessor :forecasts

    alias inspect to_s

    def initialize
      @preloads = Preloads.new
      @bytes = 0
    end

    # As Operation's. Two blocks may be in one line.
    #
    # @param model [Class] of what comes first
    def place(site, model) = [site, model]

    # Who maps by blocks that are evaluated anew each time teaches nothing for long.
    def grow(bytes)
      @forecasts, @bytes = nil, 0 if (@bytes += bytes) > BYTES
    end

    # @return [Preload, nil] as Plans'
    def preload(reflection) = @preloads.of(reflection)
  end
end
