# frozen_string_literal: true

module Pipeloader
  # A statement, and those that look up what its rows lead to, level by level: each finds its keys where the one above it has left
  # them (KeySettings). One Sync ends them all, so that they are one transaction.
  #
  # Where any fails, for whatever reason, none has an answer: its reads are sent by themselves, and what the others would have
  # brought is asked for later.
  class Tree < Statement
    class << self
      # True if +read+ may be the first of one.
      def of?(read) = !Shape.alone?(read.sql) && [read, *read.followers.reads].all? { |it| sendable?(it) }

      private

      # What pg refuses would leave the others alone.
      def sendable?(read) = read.params.all? { |value| encodable?(value) }

      def encodable?(value)
        return value.valid_encoding? && !value.include?("\0") if value.is_a?(String)

        value.nil? || value.is_a?(Integer) || value.is_a?(Float) || value == true || value == false
      end
    end

    # @return [Array<Statement>] each behind the one that leaves its keys
    attr_reader :followers

    def initialize(read, followers)
      super(read)
      @sql = read.followers.leave(read.sql)
      @followers = followers
    end

    def size_by(sizes) = super + @followers.sum { |follower| follower.size_by(sizes) }
    def bytesize = super + @followers.sum(&:bytesize)

    def rows_next? = awaited ? super : !!follower&.rows_next?
    def tell_size(bytes, sizes) = awaited ? super : follower&.tell_size(bytes, sizes)
    def expects?(result) = awaited ? super : !!follower&.expects?(result)
    def take(result) = awaited ? super : follower.take(result)
    def complete? = failed? || (super && @followers.all?(&:complete?))

    def complete(clearing)
      @followers.each { |follower| follower.complete(clearing) }
      super
      @failed = failed? # asked now: ActiveRecord clears each result that it has read
    end

    def failed? = @failed.nil? ? super || @followers.any?(&:failed?) : @failed
    def spoiled? = answered? && failed?

    # It isn't what its reads have asked for.
    def repairable? = false

    private

    # The one whose answer comes next.
    def follower = @followers.find { |it| it.awaited && !it.refused? }
  end
end
