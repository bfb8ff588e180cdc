# frozen_string_literal: true

require_relative "wire_case"

# A connection that Pipeloader gave up (it stands still, or its messages are out of step) is to all that comes after what
# a connection that broke is to ActiveRecord: inside a transaction nothing is read, written or committed any more.
class GivenUpTest < WireCase
  # Passes what the server says, until it is told to end the connection, or to lose a row.
  class Spoiler
    attr_writer :way

    #: (String) -> Array[String?]
    def call(bytes)
      way, @way = @way, nil
      case way
      when :cut then [nil]
      when :out_of_step then [without_a_row(bytes) || (@way = way) && bytes]
      else [bytes]
      end
    end

    private

    # @return [String, nil] nil if there is none
    def without_a_row(bytes)
      start = 0
      start += 1 + bytes.byteslice(start + 1, 4).unpack1("N") until start >= bytes.bytesize || bytes.getbyte(start) == "D".ord
      return if start >= bytes.bytesize

      bytes.byteslice(0, start) + bytes.byteslice(start + 1 + bytes.byteslice(start + 1, 4).unpack1("N")..)
    end
  end

  # What ends the connection in the middle of the resolvers' reads. Serially it can only be cut.
  GIVEN_UP = %i[stalled out_of_step].freeze
  WAYS = [:cut, *GIVEN_UP].freeze

  # What the block of the transaction does when its reads are through, and which ActiveRecord tells that its connection broke.
  THEN = {
    writes: ->(test) { test.write("after") },
    reads: ->(_test) { GatedPost.find(1).title },
    writes_in_a_savepoint: ->(test) { GatedPost.transaction(requires_new: true) { test.write("after") } },
    locks: ->(_test) { GatedPost.with_connection { |connection| connection.execute("SELECT pg_advisory_xact_lock(41)") } }
  }.freeze

  # The COMMIT of these ActiveRecord sends by a new connection, and takes that for success.
  ENDS = {
    ends: ->(_test) { "the end" },
    rescues_and_ends: lambda { |test|
      begin
        test.write("after")
      rescue ActiveRecord::ActiveRecordError
        "rescued"
      end
    }
  }.freeze

  AROUND = {
    transaction: ->(&block) { GatedPost.transaction(&block) },
    savepoint: ->(&block) { GatedPost.transaction { GatedPost.transaction(requires_new: true, &block) } },
    serializable: ->(&block) { GatedPost.transaction(isolation: :serializable, &block) }
  }.freeze

  def setup
    super
    @spoilers = []
    @gate = put_gate(pool: 1)
    @gate.mangle { Spoiler.new.tap { |spoiler| @spoilers << spoiler } }
    connect_anew
  end

  def teardown
    side.exec("DELETE FROM posts WHERE title LIKE 'given up %'")
    super
  end

  AROUND.each_key do |around|
    THEN.each do |what, block|
      define_method(:"test_in_a_#{around}_that_#{what}") do
        expected = outcome(false, :cut, around, &block)
        assert_match(/\AActiveRecord::Connection/, expected.first)
        assert_equal [[], false, "next", ["given up next"]], expected.drop(1)
        WAYS.each { |way| assert_equal expected, outcome(true, way, around, &block), "#{way}, #{around}, #{what}" }
      end
    end

    ENDS.each do |what, block|
      define_method(:"test_in_a_#{around}_that_#{what}") do
        assert_equal outcome(false, :cut, around, &block), outcome(true, :cut, around, &block), "#{around}, #{what}"
        expected = outcome(false, :cut, around, &THEN[:writes])
        GIVEN_UP.each { |way| assert_equal expected, outcome(true, way, around, &block), "#{way}, #{around}, #{what}" }
      end
    end
  end

  # The statement was cancelled, and with it the transaction. (Serially nothing is cancelled: what comes next waits until the
  # statement is done.) COMMIT of an aborted transaction is no error to the server.
  { **THEN.except(:writes_in_a_savepoint), **ENDS }.each do |what, block|
    define_method(:"test_an_interrupt_in_a_transaction_that_#{what}") do
      ended = ending do
        GatedPost.transaction do
          write("before")
          interrupted_reads { |index| rescued_read(index) }
          block.call(self)
        end
      end
      assert_equal ["ActiveRecord::StatementInvalid", []], [ended, written]
      assert_equal ["next", ["given up next"]], [ending { GatedPost.transaction { write("next") && "next" } }, written]
    end
  end

  def test_an_interrupt_in_a_savepoint_that_is_rolled_back
    GatedPost.transaction do
      write("before")
      assert_raises(Stop) { GatedPost.transaction(requires_new: true) { interrupted_reads { |index| locked_read(index) } } }
      write("later")
    end
    assert_equal ["given up before", "given up later"], written
  end

  # Outside of transactions ActiveRecord connects anew.
  def test_outside_of_a_transaction_a_write_goes_on
    WAYS.each do |way|
      GatedPost.with_connection do
        write("before")
        broken_reads(true, way)
        write("after #{way}")
      end
      assert_equal 1, side.exec_params("SELECT 1 FROM posts WHERE title = $1", ["given up after #{way}"]).ntuples
      assert_pool_sound(Gated.connection_pool)
    end
  end

  def write(what) = GatedPost.create!(title: "given up #{what}")

  private

  # @return [Array] what the transaction raised or returned, which of its writes there are, whether its callbacks were told
  #   that it was committed, and whether the next one works
  def outcome(piped, way, around, &block)
    side.exec("DELETE FROM posts WHERE title LIKE 'given up %'")
    committed = []
    ended = ending { AROUND.fetch(around).call { transaction_block(piped, way, committed, &block) } }
    [ended, written, committed.any?, ending { GatedPost.transaction { write("next") && "next" } }, written]
  ensure
    connect_anew
  end

  def transaction_block(piped, way, committed)
    GatedPost.current_transaction.after_commit { committed << true }
    write("before")
    assert broken_reads(piped, way).any?(Failure), "the connection is as good as it was"
    yield self
  end

  def ending
    yield.to_s
  rescue ActiveRecord::ActiveRecordError => e
    e.class.name
  end

  def written = side.exec("SELECT title FROM posts WHERE title LIKE 'given up %' ORDER BY title").values.flatten

  # Reads of resolvers who rescue whatever it is, while the connection comes to its end.
  def broken_reads(piped, way)
    return stalled_reads if way == :stalled

    @spoilers.last.way = way
    read(piped)
  end

  # The answer never comes, and somebody has no more patience.
  def stalled_reads
    @gate.hold(:answers)
    reader = Thread.current
    impatient = in_thread do
      @gate.await(:answers)
      reader.raise(Stop, "enough")
    end
    read(true)
  ensure
    impatient.join
  end

  def read(piped)
    resolve(piped, 3) do |index|
      GatedPost.find(index + 1).title
    rescue Stop => e
      @gate.pass # what is connected from here on
      Failure.of(e)
    end
  end

  # Reads of resolvers, one of which waits for a lock, until somebody has no more patience.
  def interrupted_reads(&block)
    reader = Thread.current
    advisory_locked(42) do
      impatient = in_thread do
        await_waiter
        reader.raise(Stop, "enough")
      end
      schema(true, 3).execute("{ f0 f1 f2 }", context: { resolver: block })
      impatient.join
    end
  end

  def locked_read(index)
    GatedPost.with_connection do |connection|
      connection.select_value(index == 1 ? "SELECT 1 FROM pg_advisory_xact_lock(42)" : "SELECT #{index}")
    end
  end

  def rescued_read(index)
    locked_read(index)
  rescue Stop, ActiveRecord::StatementInvalid => e
    e
  end

  # A new connection, with which names and types are known.
  def connect_anew
    Gated.connection_pool.disconnect!
    2.times { resolve(true, 3) { |index| GatedPost.find(index + 1).title } }
  end
end
