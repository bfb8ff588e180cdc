# frozen_string_literal: true

module Pipeloader
  # What an execution state contained when a Snapshot found it to be as it knows it, as flat lists. To see that nothing has
  # changed since costs a third of comparing, and it is asked whenever a job parks or ends.
  #
  # Where it says no, only the Snapshot can tell: nothing (nil, an empty stack) is the same as what isn't there.
  class Fingerprint
    MISSING = Object.new
    private_constant :MISSING

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
    end

    #: (Hash[Symbol, untyped]) -> bool
    def of?(execution)
      @sure && execution.size == @size && entries?(execution) && fields? && empty? && pairs? && items?
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

    # (`while`, here and below: a block for each takes twice as long.)
    def entries?(execution)
      index = -1
      while (key = @keys[index += 1])
        return false unless @values[index].equal?(execution[key])
      end
      (@nils.empty? || @nils.all? { |name| execution.fetch(name, MISSING).nil? }) &&
        (@counters.empty? || @counters.all? { |name| Snapshot.counter?(name, execution[name]) })
    end

    def fields?
      index = 0
      while (object = @fields[index])
        return false unless object.instance_variable_get(@fields[index + 1]).equal?(@fields[index + 2])

        index += 3
      end
      true
    end

    def empty?
      index = -1
      while (container = @empty[index += 1])
        return false unless container.empty?
      end
      @nothing.empty? || @nothing.all? { |hash| hash.values.count(nil) == hash.size }
    end

    def pairs?
      index = 0
      while (hash = @sizes[index])
        return false unless hash.size == @sizes[index + 1]

        index += 2
      end
      index = 0
      while (hash = @pairs[index])
        return false unless @pairs[index + 2].equal?(hash.fetch(@pairs[index + 1], MISSING))

        index += 3
      end
      true
    end

    def items?
      @items.empty? || @items.all? do |array, was|
        array.size == was.size && was.each_with_index.all? { |item, index| item.equal?(array[index]) }
      end
    end
  end
end
