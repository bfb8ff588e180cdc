# frozen_string_literal: true

module Pipeloader
  # The Operations that a schema keeps, by the texts of their documents: bounded in bytes, as they are estimated.
  #
  # A quarter is for texts that are new, three quarters for those that came a third time. So documents that somebody makes up push
  # out one another, and the application's only if they come more often than those.
  class KeptOperations
    LIMIT = Options::DEFAULTS.fetch(:plan_bytes)

    # Bytes of a text that is kept when it first comes. Of longer ones a number is noted, and the second time they are kept.
    SMALL = 2_000
    SEEN = 10_000

    # Queries after which a text is one of the application's, and the most that are counted: else it would never go again.
    OFTEN = 3
    MOST = 100

    # Bytes: of what an operation is at least, and of what there is for each byte of a text. Measured on Ruby 3.1.
    BASE = 6_000
    NODES = 15
    private_constant :OFTEN, :MOST, :BASE, :NODES

    # operations: {text:, asked: Conditions::Asked, trials: {name => Trial}, [schema, values, seen] => Operation}
    Entry = Struct.new(:text, :operations, :bytes, :hits)
    private_constant :Entry

    #: (?Integer) -> void
    def initialize(limit = LIMIT)
      @limit = limit
      @lock = Mutex.new
      @new, @proved = {}, {} # {text => Entry}, least recently used first
      @bytes = {}.compare_by_identity # of each
      @bytes[@new] = @bytes[@proved] = 0
      @seen = {} # {hash of a text that came once => true}
    end

    # To be called once for a query.
    #
    # @return [Hash] of the operations of +text+, which may be kept
    def fetch(text)
      @lock.synchronize do
        entry = take(@proved, text) || take(@new, text) || Entry.new(text, { text: text }, BASE + (NODES * text.bytesize), 0)
        entry.hits += 1 if entry.hits < MOST
        keep(entry) if entry.hits > 1 || text.bytesize <= SMALL || seen?(text)
        entry.operations
      end
    end

    # @return [Hash, nil] as #fetch, of a text that is kept
    def [](text) = (@proved[text] || @new[text])&.operations

    # Its plans have become more by so many bytes.
    def grow(text, bytes)
      @lock.synchronize do
        next unless (all = [@new, @proved].find { |it| it.key?(text) })

        all[text].bytes += bytes
        @bytes[all] += bytes
        bound
      end
    end

    # @return [Array<Hash>] those of all texts
    def values = [*@new.each_value, *@proved.each_value].map(&:operations)

    def size = @new.size + @proved.size

    def key?(text) = @new.key?(text) || @proved.key?(text)

    # Of all that is kept.
    def bytes = @bytes.each_value.sum

    private

    def take(all, text)
      return unless (entry = all.delete(text))

      @bytes[all] -= entry.bytes
      entry
    end

    def put(all, entry)
      all[entry.text] = entry
      @bytes[all] += entry.bytes
    end

    def keep(entry)
      put(entry.hits >= OFTEN && room_for?(entry) ? @proved : @new, entry)
      bound
    end

    # Whoever has been asked for more often stays, and counts for less the next time.
    def room_for?(entry)
      until @bytes[@proved] + entry.bytes <= @limit * 3 / 4
        oldest = @proved.each_value.first or return false
        return false.tap { oldest.hits -= 1 } if oldest.hits > entry.hits

        renew
      end
      true
    end

    # The one that was asked for the longest ago counts as new again: it stays as long as there is room.
    def renew = put(@new, take(@proved, @proved.each_key.first))

    # An entry may have grown since.
    def bound
      renew while @bytes[@proved] > @limit * 3 / 4
      take(@new, @new.each_key.first) while bytes > @limit && @new.any?
    end

    # True if it came before.
    def seen?(text)
      return true if @seen.delete(text.hash)

      @seen.shift if @seen.size >= SEEN
      @seen[text.hash] = true
      false
    end
  end
end
