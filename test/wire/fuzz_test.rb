# frozen_string_literal: true

require "digest"
require_relative "wire_case"

# A server whose messages are garbled, cut short, left out, sent twice, swapped, or come in small pieces: whoever reads gets
# its own rows, or an error; never another's, and never no end. Each row says which read it is for, and carries a
# digest of that which the server made. (What changes inside a value nobody can tell; so only types, lengths, order and
# number of messages are changed.)
#
#     PIPELOADER_ROUNDS=5000 PIPELOADER_SEED=1 bundle exec ruby -Itest -Ilib test/wire/fuzz_test.rb
class FuzzTest < WireCase
  # Splits a server's answers into messages (type, length, body), and hands each to the block, which returns what is sent
  # in its place. The first +pass+ messages are those of connecting, and go as they are.
  class Mangler
    def initialize(gate, random)
      @gate = gate
      @random = random
      @rest = +"".b
    end

    #: (String) -> Array[String?]
    def call(bytes)
      @rest << bytes
      pieces = []
      while (message = next_message)
        pieces.concat(@gate.mutate(message, self))
      end
      pieces
    end

    attr_reader :random

    # Held back until the next has gone.
    attr_accessor :kept

    private

    def next_message
      return if @rest.bytesize < 5

      size = 1 + @rest.byteslice(1, 4).unpack1("N")
      return if @rest.bytesize < size

      @rest.slice!(0, size)
    end
  end

  # {kind => what goes in the message's place}. Lists are pieces, each in a packet of its own; nil is the end.
  MUTATIONS = {
    type: ->(message, random) { [random.bytes(1) + message.byteslice(1..)] },
    other_known_type: ->(message, random) { [%w[T D C Z E 1 2 n I S N t s].sample(random: random) + message.byteslice(1..)] },
    longer: ->(message, random) { [message.byteslice(0, 1) + [message.bytesize - 1 + random.rand(1..40)].pack("N") + message.byteslice(5..)] },
    shorter: ->(message, random) { [message.byteslice(0, 1) + [[message.bytesize - 1 - random.rand(1..8), 0].max].pack("N") + message.byteslice(5..)] },
    huge_length: ->(message, random) { [message.byteslice(0, 1) + [random.rand(1 << 32)].pack("N") + message.byteslice(5..)] },
    short_body: ->(message, random) { (cut = [random.rand(1..8), message.bytesize - 5].min).zero? ? [message] : [message.byteslice(0, 1) + [message.bytesize - 1 - cut].pack("N") + message.byteslice(5...-cut)] },
    lost: ->(_message, _random) { [] },
    twice: ->(message, _random) { [message, message] },
    cut: ->(message, random) { [message.byteslice(0, random.rand(message.bytesize)), nil] },
    noise: ->(message, random) { [message, random.bytes(random.rand(1..20))] },
    pieces: ->(message, random) { message.scan(/.{1,#{random.rand(1..7)}}/mn) },
    late: nil # swapped with the next one
  }.freeze

  # What can't change the meaning.
  HARMLESS = %i[pieces].freeze

  FIELDS = 5

  # Mutates one message, when it is told to.
  class FuzzyGate
    attr_reader :done

    def initialize
      @done = Queue.new
    end

    def disarm = @armed = false

    # The +at+th message from here on.
    def arm(kind, at)
      @kind = kind
      @left = at
      @armed = true
    end

    def mutate(message, mangler)
      late, mangler.kept = mangler.kept, nil
      return [message, late] if late
      return [message] unless @armed && (@left -= 1).negative?

      @armed = false
      @done << [@kind, message.byteslice(0, 1)]
      return [].tap { mangler.kept = message } if @kind == :late

      MUTATIONS.fetch(@kind).call(message, mangler.random)
    end
  end

  def setup
    super
    @fuzzy = FuzzyGate.new
    @counts = Hash.new { |hash, kind| hash[kind] = Hash.new(0) }
  end

  MUTATIONS.each_key.with_index do |kind, number|
    define_method(:"test_#{kind}") { fuzz(kind, Random.new(seed + number)) }
    define_method(:"test_#{kind}_in_a_transaction") { fuzz(kind, Random.new(seed + number + 100), transaction: true) }
    define_method(:"test_#{kind}_unprepared") { fuzz(kind, Random.new(seed + number + 200), prepared_statements: false) }
  end

  private

  def fuzz(kind, random, transaction: false, **settings)
    @gate = put_gate(pool: 1, checkout_timeout: 5, **settings)
    @gate.mangle { Mangler.new(@fuzzy, Random.new(random.rand(1 << 30))) }
    Gated.connection_pool.disconnect! # what comes next is mangled
    ask(transaction, 0)
    rounds(12).times { |round| fuzz_once(kind, random, transaction, round + 1) }
    puts "  #{kind}#{" in a transaction" if transaction}: #{@counts.map { |type, ends| "#{type} #{ends}" }.join(", ")} (seed #{seed})" if ENV["PIPELOADER_VERBOSE"] || ENV["PIPELOADER_ROUNDS"]
  end

  def fuzz_once(kind, random, transaction, round)
    label = "#{kind}, round #{round}, seed #{seed}"
    # A burst of five reads has some twenty messages; those after it hit the reads that come next.
    @fuzzy.arm(kind, random.rand(25))
    stalled = false
    asking = in_thread { Array.new(2) { |level| ask(transaction, (round * 10) + level) } }
    # It stands still when both sides wait for the other: then the proxy gives up, as a router does. No answer can be lost
    # by that, for what had come has passed.
    until asking.join(0.05)
      next if HARMLESS.include?(kind) || !stands_still?(asking)

      stalled = true
      @gate.cut
    end
    outcomes = asking.value
    @fuzzy.disarm
    note(outcomes, stalled)
    check(outcomes, round, label, harmless: HARMLESS.include?(kind))
    assert_equal expected(900), ask(false, 900), "the next request after #{label}"
    assert_pool_sound(Gated.connection_pool, label)
  end

  # Two looks at it find it waiting at the same place, with nothing under way in the proxy.
  def stands_still?(thread)
    look = -> { [thread.stop?, @gate.passed(:answers), @gate.passed(:requests), thread.backtrace&.first(6)] }
    before = look.call
    thread.join(0.25).nil? && before.first && before == look.call
  end

  def ask(transaction, number)
    outcomes = nil
    begin
      transaction ? Gated.transaction { outcomes = ask_all(number) } : outcomes = ask_all(number)
    rescue ActiveRecord::ActiveRecordError, PG::Error, NoMethodError => e
      # ActiveRecord's own, of BEGIN's result that isn't there.
      raise if e.is_a?(NoMethodError) && !e.backtrace.first.include?("/lib/active_record/")

      ended = Failure.of(e)
    end
    outcomes || Array.new(FIELDS) { ended }
  end

  # Prepared or not by settings; with parameters, and without; of one row, of none, of several.
  def ask_all(number)
    resolve(true, FIELDS) do |index|
      tag = "#{number} #{index}"
      GatedPost.with_connection do |connection|
        case index
        when 0, 1 then connection.select_rows("SELECT '#{tag}', md5('#{tag}')")
        when 2 then GatedPost.where(id: 1).pluck(Arel.sql("'#{tag}'"), Arel.sql("md5('#{tag}')"))
        when 3 then connection.select_all("SELECT $1::text, md5($1::text)", "Tag", [bind(tag)], preparable: true).rows
        else connection.select_rows("SELECT '#{tag}', md5('#{tag}') FROM generate_series(1, 3)")
        end
      end
    end
  end

  def bind(text) = ActiveRecord::Relation::QueryAttribute.new("text", text, ActiveModel::Type::String.new)

  def expected(number)
    Array.new(FIELDS) { |index| "#{number} #{index}".then { |tag| [[tag, Digest::MD5.hexdigest(tag)]] * (index == 4 ? 3 : 1) } }
  end

  def check(outcomes, round, label, harmless:)
    outcomes.each_with_index do |level, at|
      expected((round * 10) + at).zip(level) do |right, got|
        refute_nil got, "no answer: #{label}"
        next assert_equal(right, got, label) if harmless
        next if got.is_a?(Failure)

        # A row that is lost, or comes twice, isn't missed, nor is it without us; but it's never another read's.
        assert_empty got - right, "rows of another read: #{label}"
      end
    end
  end

  def note(outcomes, stalled)
    type = @fuzzy.done.empty? ? "none" : @fuzzy.done.pop.last.inspect
    @counts[type][[outcomes.flatten(1).any?(Failure) ? "error" : "answer", ("stalled" if stalled)].compact.join(" ")] += 1
  end
end
