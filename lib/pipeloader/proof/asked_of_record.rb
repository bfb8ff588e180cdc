# frozen_string_literal: true

module Pipeloader
  # What the code of methods that work something out asks of a record, as Formula knows it; or that it does anything else.
  #
  #     object.title            # a path: [:title]
  #     object.author&.name     # [:author, :name]
  #     object.comments.count   # a Chain
  class AskedOfRecord
    include AskedOfList

    # Instructions that call nothing of the application's and don't look at `self`.
    STEPS = %i[
      nop pop dup dupn swap topn setn adjuststack putnil putobject_INT2FIX_0_ putobject_INT2FIX_1_
      newarray newhash newrange expandarray concatstrings objtostring anytostring toregexp intern opt_str_freeze opt_str_uminus
      opt_case_dispatch
      getlocal_WC_0 setlocal_WC_0 getlocal_of_block setlocal_of_block block_parameter given leave
    ].to_set.freeze
    JUMPS = %i[jump branchif branchunless branchnil].freeze
    LITERALS = %i[putobject putstring duparray duphash].freeze
    READER = /\A[a-z_]\w*\??\z/
    private_constant :STEPS, :JUMPS, :LITERALS, :READER

    # @param paths [Array<Array<Symbol>>]
    # @param further [Hash] what is known of associated records
    # @return [Array(Array<Symbol>, Hash)] names of readers; what is called of associated records: {boss: {name: {}}}
    def self.split(paths, further = {})
      paths.select(&:many?).each { |path| path.inject(further) { |level, name| level[name] ||= {} } }
      [paths.filter_map { |path| path.first if path.one? }, further]
    end

    # @return [Array<Array<Symbol>>] readers of columns, each with what is called of an associated record
    attr_reader :paths

    # @return [Array<Chain>] of associations
    def chains = @chains + @lists.map { |calls, paths| Chain.of_records(calls, paths) }

    # @return [Array<Symbol>] associations of which it is asked whether there is a record
    attr_reader :tested

    # @return [Array<Array, Symbol>] of the code that was looked through last, the steps from the first that isn't known
    attr_reader :left

    # @param context [Boolean] whether the record is `object`; if not, it is `self`
    # @param association [Proc, nil] :several for the name of an association that may be asked by a Chain, :one for that of one
    #   that leads to one record
    def initialize(context:, association:)
      @context = context
      @association = association
      @paths = []
      @chains = []
      @lists = {} # {calls of a Chain => #paths, of each of its records}
      @tested = []
    end

    # Looks through the code of one method.
    #
    # @param steps [Array<Array, Symbol>]
    # @return [Boolean] false where it does anything else
    def take(steps)
      @passed, @blocks = [], {} # {number of a block that is given records => what is called with it, and #paths of these}
      steps = behind(@left = steps) until steps.nil? || steps.empty?
      !steps.nil?
    end

    # True if an associated record, or one of a list, is used itself, beside what is asked of it or whether it is there.
    def record_itself?
      [@paths + @tested.map { |name| [name, Formula::TESTED] }, *@lists.values].any? do |paths|
        paths.any? { |path| paths.any? { |it| it.size > path.size && it.first(path.size) == path } }
      end
    end

    # @return [Array<Symbol>] all that it calls of records
    def names = [*@paths, *@lists.values.flatten(1)].flatten + @tested + chains.map(&:reader)

    private

    # @return [Array, nil] the steps behind the first ones; nil where these do anything else
    def behind(steps)
      case steps
      in [[:putself], *behind] then of_record(behind)
      in [[:block_parameter, number], *behind] if @blocks.key?(number) then of_each(@blocks[number].last, behind)
      in [[:given, number, _], *behind] if @blocks.key?(number) then made_of_records(*@blocks[number], behind)
      in [[:putobject, Symbol => name], [:send, { mid:, orig_argc: 0 } => call, nil], *behind]
        behind if Bytecode.block_pass?(call) && KnownMethods.iterates?(mid) && KnownMethods.callable?(name)
      in [[:block, _, { mid:, orig_argc: 0 } => call], *behind]
        behind if Bytecode.block?(call) && KnownMethods.iterates?(mid)
      in [[:putobject | :putstring, String], [_, { mid:, orig_argc: 1 } => call], *behind]
        with_text?(call) ? behind : steps.drop(1)
      in [[:context_value, _], *behind] then behind
      in [[:attribute, column], *behind] then path(column, behind, @paths)
      in [Symbol => label, *behind] then @passed.push(label) && behind
      in [step, *behind] then (behind if harmless?(step))
      end
    end

    # @return [Array, nil] the steps behind what is asked of the record
    def of_record(steps)
      reader, behind = reader(steps)
      return unless reader && reader?(reader)

      case @association&.call(reader)
      when :several then of_association(reader, behind) unless LocalVariables.shared?(steps[-behind.size - 1].last)
      when :one then of_associated(reader, behind)
      else path(reader, behind, @paths)
      end
    end

    # What is asked of the record that an association leads to.
    def of_associated(reader, steps)
      return of_either(reader, steps) if either?(steps)

      present = behind_presence(steps)
      tested = present || truth?(steps)
      @tested |= [reader] if tested
      return steps if tested && !present

      path(reader, present || steps, @paths)
    end

    # True if another record of an association's is in its place where it isn't there: `(author || editor)&.name`.
    def either?(steps)
      case steps
      in [[:dup], [:branchif, label], [:pop], [:putself], *behind]
        reader, behind = reader(behind)
        @association&.call(reader) == :one && behind.first == label if reader
      else false
      end
    end

    # What is asked of the other one, is asked of each.
    def of_either(reader, steps)
      other, (label, *behind) = reader(steps.drop(4))
      @passed.push(label)
      @tested |= [reader]
      return (@tested |= [other]) && behind if truth?(behind)

      behind = path(other, behind, found = [])
      @paths |= [*found, [reader, *found.first.drop(1)]]
      behind
    end

    # @return [Array, nil] the steps behind `presence`, if that is asked first
    def behind_presence(steps)
      mid, behind = taken(steps) { |call| Bytecode.on_object?(call) }
      behind if mid == :presence && KnownMethods.callable?(mid)
    end

    def reader?(name) = name.match?(READER) && !(name.end_with?("?") && KnownMethods.callable?(name))

    # Of what a reader of a record returns, as of an associated record.
    #
    # @param paths [Array<Array<Symbol>>] to which that one is added
    # @return [Array] the steps behind
    def path(reader, steps, paths)
      path = [reader]
      while (name, behind = asked_further(steps))
        path << name
        steps = behind
      end
      paths << path unless paths.include?(path)
      steps
    end

    # @return [Array(Symbol, Array), nil] what is called of the record, and the steps behind it
    def reader(steps) = @context ? reader_of_object(steps) : taken(steps) { |call| Bytecode.simple?(call) }

    # @return [Array(Symbol, Array), nil] what is called of `object`, which is there, and the steps behind it
    def reader_of_object(steps)
      case steps
      in [[:opt_send_without_block, { mid: :object, orig_argc: 0 }], [:dup], [:branchnil, _], *behind]
        taken(behind) { |call| Bytecode.on_object?(call) }
      in [[:opt_send_without_block, { mid: :object, orig_argc: 0 }], *behind]
        taken(behind) { |call| Bytecode.on_object?(call) }
      else nil
      end
    end

    # True if no more is asked of a record than whether it is there: in a condition, or by a method of ActiveSupport's.
    def truth?(steps)
      case steps
      in [[:branchif | :branchunless, _], *] | [[:opt_not, _], *] | [[:dup], [:branchunless, _], [:pop], *] then true
      in [[_, { mid: :nil? | :present? | :blank? => mid } => call], *]
        Bytecode.on_object?(call) && KnownMethods.callable?(mid)
      else false
      end
    end

    # What is asked of an associated record, or of one that may not be there: `.name`, `&.name`. No method of NAMES is that.
    #
    # @return [Array(Symbol, Array), nil] the reader, and the steps behind it
    def asked_further(steps)
      case steps
      in [Symbol => label, [:dup], [:branchnil, _], *behind] then nil
      in [[:dup], [:branchnil, _], *behind] then nil
      else behind = steps
      end
      name, behind = taken(behind) { |call| Bytecode.on_object?(call) && further?(call[:mid]) }
      @passed << label if name && label
      [name, behind] if name
    end

    def further?(name) = name.match?(READER) && !KnownMethods.callable?(name)

    def taken(steps)
      case steps
      in [[_, { mid:, orig_argc: 0 } => call], *steps] then [mid, steps] if yield(call)
      else nil
      end
    end

    def with_text?(call) = Bytecode.on_object?(call) && KnownMethods.callable_with_text?(call[:mid])

    def harmless?(step)
      case step
      in [name, literal] if LITERALS.include?(name) then KnownMethods.literal?(literal)
      in [name, label] if JUMPS.include?(name) then !@passed.include?(label) # there are no loops
      in [name, *] then STEPS.include?(name) || harmless_call?(name, step.grep(Hash))
      end
    end

    # An instruction may have two: `!=` falls back on `==`.
    def harmless_call?(name, calls)
      calls.any? && name.start_with?("opt_") && calls.all? { |call| Bytecode.simple?(call) && KnownMethods.callable?(call[:mid]) }
    end
  end
end
