# frozen_string_literal: true

module Pipeloader
  # One statement that asks for many of one Shape. Each of those gets its own rows, as if it had been sent by itself; where
  # this one fails, for whatever reason, they have no answer yet, and are sent singly.
  class Coalesced < Statement
    # From how many on it pays.
    WORTH = 3

    # Bytes of results that one may bring, going by what single ones have brought; and how many it may ask for.
    HELD = 4 * 1024 * 1024
    MOST = 10_000

    # Bytes of a value: what is longer isn't one to look rows up by.
    LONGEST = 1000

    # SQLSTATE of errors that no value is to blame for.
    UNSUITABLE = /\A(?:42|0A)/
    private_constant :UNSUITABLE

    class << self
      # True if what asks with these +params+ may be part of one: in an array they must be written as each by itself would be.
      def takes?(params) = params.all? { |value| encodable?(value) }

      private

      def encodable?(value)
        case value
        when Integer, Float, true, false then true
        when String
          value.bytesize <= LONGEST && (value.encoding == Encoding::UTF_8 || value.ascii_only?) && value.valid_encoding? &&
            !value.include?("\0")
        end
      end
    end

    attr_reader :parts

    # See Slice.
    attr_accessor :template

    # @param parts [Array<Statement>] of +shape+, no two the same
    # @param wrapped [Shape::Wrapped] them as one
    # @param name [String, nil] under which the server knows this one, or will; nil sends it unprepared
    # @param witness [Statement, nil] sent before this one, and described: whether +shape+ is right. Without one this asks
    #   itself, unless the server knows +name+: types and columns of what is prepared don't change.
    def initialize(shape, parts, wrapped, name: nil, prepare: false, witness: nil)
      super(wrapped, name: name, prepare: prepare)
      @witness = witness
      @shape = shape
      @parts = parts
      @types = wrapped.types
      witness_itself unless witness || (name && !prepare)
      return if name

      @params = params.zip(@types).map { |value, type| { value: value, type: type, format: 0 } }
    end

    # OIDs of its parameters: the server couldn't infer what is in an array.
    attr_reader :types

    def reads = @parts.flat_map(&:reads)

    def limited? = @parts.any?(&:limited?)

    # As of a Statement: each of its parts counts for one answer of that SQL.
    def size_by(sizes) = (sizes.known(@shape.sql) || sizes.expect(@shape.sql)) * @parts.size
    def tell_size(bytes, sizes) = sizes.remember(@shape.sql, bytes / @parts.size, @parts.size)
    def tell_time(milliseconds, times) = super(milliseconds / @parts.size, times)

    # Its Sync has come, and with it all rows.
    def complete(clearing)
      super
      @shape.give_up if !unset? && UNSUITABLE.match?(sqlstate.to_s)
      share_out if answered? && !spoiled?
    end

    def spoiled? = answered? && (failed? || @result.nfields != @shape.columns.size + 1 || changed?)

    # {names: ["id", …], types: [20, …], modifiers: [-1, …]}, as of a single one. The names are the single one's: what has
    # none of its own gets another where a parameter was.
    Columns = Struct.new(:names, :types, :modifiers)

    def columns
      @columns ||= begin
        indexes = 0...(@result.nfields - 1)
        Columns.new(@shape.columns, indexes.map { |index| @result.ftype(index) }, indexes.map { |index| @result.fmod(index) })
      end
    end

    # @return [Array<Array<Array>>] the rows of each part, decoded once
    def rows
      @rows || begin
        columns
        rows = @parts.map { [] }
        @result.values.each { |row| rows[row.pop.to_i - 1] << row }
        @rows = rows
        @result.clear # Last: an interrupt may come in with it.
        rows
      end
    end

    private

    # What the server has said of the single one may have changed since.
    def witness_itself
      @witness = self
      describe(@shape.sql)
    end

    def changed? = @witness && @witness.description != @shape.description

    def share_out
      @parts.each_with_index { |part, index| part.answer(Slice.new(self, index)) }
    end
  end
end
