# frozen_string_literal: true

module Pipeloader
  # The values of a narrowed row, as the attributes of its record ask for them: like the Hash, or IndexedRow, of a whole one. What
  # was left out is fetched when it is first read, or when all are listed (PartialRows#complete).
  class PartialRow
    alias inspect to_s

    # @param values [#fetch] of the columns that were read, as they came from the database
    def initialize(rows, values)
      @rows = rows
      @values = values
      @whole = nil
    end

    def fetch(name, &)
      @values.fetch(name) { omitted?(name) ? whole(name).fetch(name, &) : yield }
    end

    def [](name) = fetch(name) { nil }

    def key?(name) = @values.key?(name) || omitted?(name)

    def keys = (@rows ? whole : @values).keys

    def each_key(&) = keys.each(&)

    def size = keys.size
    alias length size

    def to_h = keys.to_h { |name| [name, fetch(name)] }
    alias to_hash to_h

    def ==(other) = to_h == other.to_h

    # @param values [#fetch, nil] of the whole row; nil if it is gone
    def complete_by(values)
      @whole ||= values
    end

    def whole? = !@whole.nil?

    # A copy is whole, and knows of no others.
    def marshal_dump = to_h

    def marshal_load(values)
      @values = values
    end

    private

    def omitted?(name) = @rows ? @rows.projection.omits?(name) : false

    # @param name [String, nil] the column that is asked for; nil for all
    def whole(name = nil)
      @rows.complete(self, name) unless @whole
      @whole || raise(RowGoneError, @rows.gone(name))
    end
  end
end
