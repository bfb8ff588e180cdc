# frozen_string_literal: true

module Fuzz
  # A piece of source text that can be left out: a line, or a block with more of them inside. A program is a tree of these, which is
  # why one shrinker does for rows, columns, models, fields and selections alike.
  #
  #     Node.new("class Post < ApplicationRecord", "end", feature: "models") << "belongs_to :author"
  class Node
    attr_reader :head, :tail, :children, :feature
    attr_accessor :gone

    # @param keep [Boolean] whether the shrinker leaves it where it is
    def initialize(head, tail = nil, feature: Fuzz.feature_now, keep: false)
      @head, @tail, @feature, @keep = head&.dup, tail, feature, keep
      @children = []
      @gone = false
    end

    def <<(child)
      child = Node.new(child) if child.is_a?(String)
      @children << child
      self
    end

    # Adds a block, and returns it.
    def open(head, tail = "end", **options) = Node.new(head, tail, **options).tap { |node| self << node }

    def keep? = @keep

    def to_s = lines.join("\n")

    def lines
      return [] if @gone

      inside = @children.flat_map(&:lines)
      [*@head&.lines(chomp: true), *(@head ? inside.map { |line| line.empty? ? line : "  #{line}" } : inside), *@tail&.lines(chomp: true)]
    end

    # Itself and all that is below it, outermost first.
    def each(&block)
      return enum_for(:each) unless block

      yield self
      @children.each { |child| child.each(&block) }
    end

    def size = @gone ? 0 : 1 + @children.sum(&:size)
  end

  # A GraphQL document. What of its variables and fragments is no longer used, isn't written either.
  class DocumentNode < Node
    attr_reader :variables

    # @param kind [String] "query" or "mutation"
    # @param options [Hash] for Runner#document
    def initialize(kind, options)
      super(nil)
      @kind, @options = kind, options
      @variables = {} # {name => [type, value]}
      @fragments = {} # {name => Node}
      @operation = Node.new(nil, keep: true)
      @children << @operation
    end

    attr_reader :operation, :kind

    def fragment(name, node)
      @fragments[name] = node
      @children << node
    end

    def lines
      return [] if @gone || @operation.children.all?(&:gone)

      text = [*@operation.lines, *used_fragments.flat_map(&:lines)]
      used = @variables.select { |name, _| text.any? { |line| line.match?(/\$#{name}\b/) } }
      declared = "(#{used.map { |name, (type, _)| "$#{name}: #{type}" }.join(", ")})" unless used.empty?
      operation = ["#{@kind} Q#{declared} {", *@operation.lines.map { |line| "  #{line}" }, "}"]
      options = { **@options, **(used.empty? ? {} : { variables: used.transform_values(&:last) }) }
      ["document(<<~'GRAPHQL'#{options.map { |key, value| ", #{key}: #{value.inspect}" }.join})",
       *[*operation, *used_fragments.flat_map(&:lines)].map { |line| "  #{line}" }, "GRAPHQL"]
    end

    private

    def used_fragments
      found = []
      loop do
        text = [@operation, *found].flat_map(&:lines).join("\n")
        more = @fragments.select { |name, node| text.match?(/\.\.\.#{name}\b/) && !found.include?(node) }.values
        return found if more.empty?

        found.concat(more)
      end
    end
  end
end
