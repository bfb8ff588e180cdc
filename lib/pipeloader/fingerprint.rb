# frozen_string_literal: true

module Pipeloader
  # What an execution state contained when a Snapshot found it to be as it knows it, as flat lists. To see that nothing has
  # changed since costs a third of comparing, and it is asked whenever a job parks or ends.
  #
  # Where it says no, only the Snapshot can tell: nothing (nil, an empty stack) is the same as what isn't there.
  class Fingerprint
    MISSING = Object.new
    MOST = 200 # checks that are kept
    private_constant :MISSING, :MOST

    @checks = {}

    class << self
      # Ruby code for so many of each, without a loop: that takes half.
      #
      # @param lists [Array<Array>] keys, values, fields, empty, nothing, sizes, pairs
      # @return [Proc] (execution) -> bool
      def check(*lists)
        sizes = lists.map(&:size)
        @checks.clear if @checks.size > MOST
        (@checks[sizes] ||= eval(source(sizes), binding, __FILE__, __LINE__)).call(*lists) # rubocop:disable Security/Eval
      end

      private

      # What is compared with has a variable each: k0, k1, …
      def source(sizes)
        lists = "kvfensp".each_char.zip(sizes)
        taken = lists.map { |name, size| "#{Array.new(size) { |i| "#{name}#{i}, " }.join}* = #{name}" }
        "->(k, v, f, e, n, s, p) { #{taken.join("; ")}; ->(x) { #{comparisons(*sizes).join(" && ")} } }"
      end

      def comparisons(keys, _values, fields, empty, nothing, sizes, pairs) # rubocop:disable Metrics/ParameterLists
        ["true", *Array.new(keys) { |i| "v#{i}.equal?(x[k#{i}])" },
         *Array.new(fields / 3) { |i| "f#{3 * i}.instance_variable_get(f#{(3 * i) + 1}).equal?(f#{(3 * i) + 2})" },
         *Array.new(empty) { |i| "e#{i}.empty?" },
         *Array.new(nothing) { |i| "n#{i}.each_value { |value| return false unless value.nil? }" },
         *Array.new(sizes / 2) { |i| "s#{2 * i}.size == s#{(2 * i) + 1}" },
         *Array.new(pairs / 3) { |i| "p#{(3 * i) + 2}.equal?(p#{3 * i}.fetch(p#{(3 * i) + 1}, MISSING))" }]
      end
    end

    # @param execution [Hash] as DynamicState's
    def initialize(execution)
      counters, others = execution.partition { |key, value| Snapshot.counter?(key, value) }
      nils, entries = others.partition { |_, value| value.nil? }
      @size = execution.size
      @counters, @nils = counters.map(&:first), nils.map(&:first)
      @keys, @values = entries.map(&:first), entries.map(&:last)
      @fields = []  # [#<ScopeRegistry>, :@current_scope, {…}, …]
      @empty = []   # [[], {}, …]
      @nothing = [] # [{"Post" => nil}, …]
      @sizes = []   # [{Current => #<Current>}, 1, …]
      @pairs = []   # [{Current => #<Current>}, Current, #<Current>, …]
      @items = []
      @sure = true
      @values.each { |value| note(value) }
      @check = Fingerprint.check(@keys, @values, @fields, @empty, @nothing, @sizes, @pairs)
    end

    #: (Hash[Symbol, untyped]) -> bool
    def of?(execution)
      @sure && execution.size == @size && @check.call(execution) &&
        (@nils.empty? || @nils.all? { |name| execution.fetch(name, MISSING).nil? }) &&
        (@counters.empty? || @counters.all? { |name| Snapshot.counter?(name, execution[name]) }) && items?
    end

    private

    def note(value)
      case Snapshot.kind(value)
      when :array then value.empty? ? @empty << value : @items << [value, value.dup]
      when :set then value.empty? ? @empty << value : @sure = false
      when :hash then note_hash(value)
      when :object then note_object(value)
      end
    end

    def note_hash(hash)
      return @empty << hash if hash.empty?
      return @nothing << hash if hash.each_value.all?(&:nil?)

      @sizes << hash << hash.size
      hash.each do |key, value|
        @pairs << hash << key << value
        note_inner(value)
      end
    end

    # (Whether it is the same object is all that matters of what is deeper down; unless that is nothing.)
    def note_inner(value)
      case Snapshot.kind(value)
      when :object then note_object(value)
      when :array, :set then @empty << value if value.empty?
      when :hash
        return note_hash(value) if value.empty? || value.each_value.all?(&:nil?)

        @sure = false unless value.each_value.any? { |it| !it.nil? && Snapshot.kind(it) == :plain }
      end
    end

    def note_object(object)
      Snapshot.variables_of(object).each do |name|
        value = object.instance_variable_get(name)
        @fields << object << name << value
        note(value)
      end
    end

    def items?
      @items.empty? || @items.all? do |array, was|
        array.size == was.size && was.each_with_index.all? { |item, index| item.equal?(array[index]) }
      end
    end
  end
end
