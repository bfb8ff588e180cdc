# frozen_string_literal: true

module Fuzz
  # Leaves out what the difference doesn't need: sections of the tree, then what is in them, as long as something goes.
  class Shrinker
    attr_reader :tries

    # @param seconds [Numeric] how long it may take
    # @yieldparam text [String] a program
    # @yieldreturn [Boolean] whether the difference is still there
    def initialize(world, seconds, &still)
      @world, @still = world, still
      @until = now + seconds
      @tries = 0
    end

    # @return [String] the smallest program found
    def call
      loop do
        before = size
        World::SECTIONS.reverse_each { |name| shrink(@world.sections[name]) }
        break if size == before || late?
      end
      Maker.text(@world)
    end

    private

    def size = World::SECTIONS.sum { |name| @world.sections[name].size }
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    def late? = now > @until

    def shrink(node)
      halve(node.children.reject { |it| it.gone || it.keep? })
      node.children.each { |it| shrink(it) unless it.gone || it.children.empty? }
    end

    # All of them, then halves, then each.
    def halve(nodes)
      return if nodes.empty? || late? || without(nodes)
      return if nodes.one?

      nodes.each_slice((nodes.size + 1) / 2) { |half| halve(half) }
    end

    def without(nodes)
      nodes.each { |it| it.gone = true }
      @tries += 1
      return true if @still.call(Maker.text(@world))

      nodes.each { |it| it.gone = false }
      false
    end
  end
end
