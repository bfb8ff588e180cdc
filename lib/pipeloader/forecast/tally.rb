# frozen_string_literal: true

module Pipeloader
  # How much of what one response has read ahead was asked for.
  class Tally
    Count = Struct.new(:owners, :asked)
    private_constant :Count

    # @return [String] "Post.author ×25 (2 not asked for)"
    def self.told(name, owners:, asked:) = "#{name} ×#{owners}#{" (#{owners - asked} not asked for)" if asked < owners}"

    def initialize
      @counts = {}.compare_by_identity # {Forecast or Question => Count}
    end

    def any? = @counts.any?

    # It has been read ahead for so many records.
    def read(learned, owners) = (@counts[learned] ||= Count.new(0, 0)).owners += owners

    # One of them has asked.
    def asked(learned) = @counts[learned].asked += 1

    # Says to each how right it was.
    def judge = @counts.each { |learned, count| learned.judge(count.owners, count.asked) }

    # {"Comment.commenter" => {owners: 53, asked: 51}, "Comment Count" => …}
    def to_h
      @counts.group_by { |learned, _| learned.name }.transform_values do |same|
        { owners: same.sum { |_, count| count.owners }, asked: same.sum { |_, count| count.asked } }
      end
    end
  end
end
