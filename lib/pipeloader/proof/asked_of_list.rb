# frozen_string_literal: true

module Pipeloader
  # As AskedOfRecord: what is asked of an association that leads to several records, and of each of them, by blocks.
  #
  #     object.comments.count                             # a Chain
  #     object.items.sum { |item| item.price }            # a Chain that ends with EACH, and paths: [:price]
  #     object.items.select(&:open?).first(3).map(&:name)
  #     object.items.first(3).map(&:name)
  #     object.items.length
  #     object.items.order(:price).last&.name             # a single Chain, and paths: [:name]
  module AskedOfList
    # What makes something of a list of records: values; others of these records, also of an Array without a block; one of them.
    FOLDS = %i[map collect sum count any? all? none? one? filter_map flat_map].freeze
    CHOOSING = %i[select filter reject sort_by take_while drop_while].freeze
    PICKING = %i[find detect min_by max_by].freeze
    MEASURING = %i[size length count any? none? empty? present? blank?].freeze
    PARTS = %i[first last take drop].freeze
    # What loads them, and asks the Array.
    LOADING = %i[length present? blank? to_a].freeze
    # All that goes through the records, as long as the list is ActiveRecord's.
    LISTING = [*FOLDS, *CHOOSING, *PICKING, *LOADING].freeze
    private_constant :FOLDS, :CHOOSING, :PICKING, :MEASURING, :PARTS

    private

    # A question to an association, of literals; or what is made of its records.
    #
    # @return [Array, nil] the steps behind it
    def of_association(reader, steps)
      stack, calls = [], [Chain::Call.new(reader, [], {})]
      until stack.empty? && Chain::QUESTIONS.include?(calls.last.name)
        further = further(calls, steps) if stack.empty?
        return send(further, @lists[calls] ||= [], steps) if further
        return unless steps.first.is_a?(Array) && Delegation.step(steps.first, stack, calls)

        steps = steps.drop(1)
      end
      chain = Chain.new(calls, {})
      @chains << chain unless @chains.any? { |it| it.calls.eql?(calls) }
      steps
    end

    # @return [Symbol, nil] what goes on with the records that +calls+ lead to; nil where the next one is asked of the association
    def further(calls, steps)
      chain = Chain.new(calls, {})
      if blocks?(steps) then :of_records
      elsif chain.single? then :of_one
      elsif chain.few? then :of_chosen
      elsif loads?(steps) then :of_loaded
      end
    end

    def blocks?(steps)
      case steps
      in [[:block, *], *] | [[:putobject, Symbol], [:send, *], *] then true
      else false
      end
    end

    def loads?(steps)
      case steps
      in [[_, { mid:, orig_argc: 0 } => call], *] then LOADING.include?(mid) && Bytecode.on_object?(call)
      else false
      end
    end

    def of_loaded(paths, steps)
      call, *behind = steps
      call.last[:mid] == :to_a ? of_chosen(paths, behind) : behind
    end

    # What asks records by a block, or by a reader in its place: `items.sum { |item| item.price }`, `items.map(&:name)`.
    #
    # @param paths [Array<Array<Symbol>>] of each of them
    # @return [Array, nil] the steps behind; a block's own come first
    def of_records(paths, steps)
      case steps
      in [[:putobject, Symbol => name], [:send, { mid:, orig_argc: 0 } => call, nil], *behind]
        return unless Bytecode.block_pass?(call) && reader?(name)

        paths << [name] unless paths.include?([name])
        made_of_records(mid, paths, behind)
      in [[:block, number, { mid:, orig_argc: 0 } => call], *behind] if Bytecode.block?(call)
        @blocks[number] = [mid, paths]
        behind
      else nil
      end
    end

    # What a block calls of the record that it is given.
    def of_each(paths, steps)
      reader, behind = taken(steps) { |call| Bytecode.on_object?(call) }
      path(reader, behind, paths) if reader && reader?(reader)
    end

    # @param name [Symbol] of what has asked the records by a block
    def made_of_records(name, paths, steps)
      return unless KnownMethods.iterates?(name)
      return steps if FOLDS.include?(name)
      return of_chosen(paths, steps) if CHOOSING.include?(name)

      of_one(paths, steps) if PICKING.include?(name)
    end

    # Of an Array of them: `items.select(&:open?).size`, `items.sort_by(&:price).first(3).map(&:name)`.
    def of_chosen(paths, steps)
      return of_records(paths, steps) if blocks?(steps)

      size, steps = number(steps)
      case steps
      in [[_, { mid:, orig_argc: } => call], *behind] if orig_argc == (size ? 1 : 0) && Bytecode.on_object?(call)
        return unless KnownMethods.callable?(mid)
        return behind if size.nil? && MEASURING.include?(mid)
        return of_chosen(paths, behind) if size ? PARTS.include?(mid) : mid == :reverse

        of_one(paths, behind) if size.nil? && %i[first last].include?(mid)
      else nil
      end
    end

    # @return [Array(Integer, Array)] which is given to what comes then, if that is a number
    def number(steps)
      case steps
      in [[:putobject, Integer => size], *behind] then [size, behind]
      in [[:putobject_INT2FIX_1_], *behind] then [1, behind]
      else [nil, steps]
      end
    end

    # Of one of them, or of nil: `items.max_by(&:price)&.name`.
    def of_one(paths, steps)
      name, behind = asked_further(steps)
      path(name, behind, paths) if name
    end
  end
end
