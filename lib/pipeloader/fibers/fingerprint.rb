# frozen_string_literal: true

module Pipeloader
  # The content of an execution state when a Snapshot found it unchanged, as flat lists. To see that nothing has
  # changed since costs a third of comparing, and it is asked whenever a job parks or ends.
  #
  # Where it says no, only the Snapshot can tell: nothing (nil, an empty stack) is the same as what isn't there.
  class Fingerprint
    MISSING = Object.new
    # Code that compares each kind of list; the names are those of one entry.
    COMPARISONS = {
      values: [%w[k v], "v%<i>d.equal?(x[k%<i>d])"],
      fields: [%w[o n v], "o%<i>d.instance_variable_get(n%<i>d).equal?(v%<i>d)"],
      empty: [%w[e], "e%<i>d.empty?"],
      nothing: [%w[h], "h%<i>d.each_value { |value| return false unless value.nil? }"],
      sizes: [%w[h s], "h%<i>d.size == s%<i>d"],
      pairs: [%w[h k v], "v%<i>d.equal?(h%<i>d.fetch(k%<i>d, MISSING))"]
    }.freeze
    LONGEST = 8 # entries that one check compares; longer lists take several
    NOTHING_LEFT = ->(_) { true }

    # Ruby code for so many entries of each, without a loop: that takes half. It is compiled when this file is loaded: on a
    # resolver's fiber, a debugger would stop to look at it.
    CHECKS = COMPARISONS.transform_values do |names, comparison|
      Array.new(LONGEST) do |last|
        taken = Array.new(last + 1) { |i| names.map { |name| "#{name}#{i}, " } }.join
        compared = Array.new(last + 1) { |i| format(comparison, i: i) }.join(" && ")
        code = "->(list, rest) { #{taken}* = list; ->(x) { #{compared} && rest.call(x) } }"
        eval(code, binding, __FILE__, __LINE__) # rubocop:disable Security/Eval
      end
    end
    private_constant :MISSING, :COMPARISONS, :LONGEST, :NOTHING_LEFT, :CHECKS

    # @param lists [Hash{Symbol => Array}] by kind, flat; the last one is compared first
    # @return [Proc] (execution) -> bool
    def self.check(lists)
      lists.inject(NOTHING_LEFT) do |rest, (kind, list)|
        width = COMPARISONS.fetch(kind).first.size
        list.each_slice(LONGEST * width).inject(rest) { |after, part| CHECKS[kind][(part.size / width) - 1].call(part, after) }
      end
    end

    # @param execution [Hash] as DynamicState's
    def initialize(execution)
      counters, others = execution.partition { |key, value| Snapshot.counter?(key, value) }
      nils, entries = others.partition { |_, value| value.nil? }
      @size = execution.size
      @counters, @nils = counters.map(&:first), nils.map(&:first)
      @fields = []  # [#<ScopeRegistry>, :@current_scope, {…}, …]
      @empty = []   # [[], {}, …]
      @nothing = [] # [{"Post" => nil}, …]
      @sizes = []   # [{Current => #<Current>}, 1, …]
      @pairs = []   # [{Current => #<Current>}, Current, #<Current>, …]
      @items = []
      @sure = true
      entries.each { |key, value| note(value) unless Snapshot.collection?(key) || Snapshot.memo?(key) }
      @check = Fingerprint.check(pairs: @pairs, sizes: @sizes, nothing: @nothing, empty: @empty, fields: @fields,
                                 values: entries.flatten(1))
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
      when :object, :scopes then note_object(value)
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

    # Deeper down only identity matters, except for what is empty.
    def note_inner(value)
      case Snapshot.kind(value)
      when :object, :scopes then note_object(value)
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
