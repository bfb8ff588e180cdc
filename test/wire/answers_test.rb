# frozen_string_literal: true

require_relative "../support/unit_helper"

# What a Statement makes of the messages that come for it, by how it was sent: each is a result with a status, and maybe an SQLSTATE.
class AnswersTest < UnitTest
  Asked = Struct.new(:sql, :params) do
    def time_limit = nil
    def late? = false
    def tags = nil
    def pure? = true
    def coalesces? = true
  end

  # Of a PG::Result that which Statement asks for.
  Message = Struct.new(:result_status, :state, :source, :rows) do
    def error_field(field) = { PG::PG_DIAG_SQLSTATE => state, PG::PG_DIAG_SOURCE_FUNCTION => source }.fetch(field)
    def ntuples = rows || 1
    def cmd_tuples = ntuples
    def nparams = 1
    def paramtype(_) = 23
    def fields = [+"id"]
  end

  OK, ROWS, ERROR, ABORTED = PG::PGRES_COMMAND_OK, PG::PGRES_TUPLES_OK, PG::PGRES_FATAL_ERROR, PG::PGRES_PIPELINE_ABORTED

  def self.ok = Message.new(OK, nil)
  def self.rows = Message.new(ROWS, nil)
  def self.aborted = Message.new(ABORTED, nil)
  def self.error(state, source = nil) = Message.new(ERROR, state, source)

  # {what => [how it was sent, what comes, what holds then of %i[answered? failed? unprepared? repairable? follow_up?]]}
  SEEN = {
    rows: [{}, [rows], %i[answered?]],
    nothing: [{}, [], []],
    error: [{}, [error("22012")], %i[answered? failed?]],
    aborted_transaction: [{}, [error("25P02")], %i[answered? failed? follow_up?]],
    aborted_pipeline: [{}, [aborted], []],
    prepared: [{ name: "a1", prepare: true }, [ok, rows], %i[answered?]],
    prepared_only: [{ name: "a1", prepare: true }, [ok], []],
    prepare_fails: [{ name: "a1", prepare: true }, [error("42P01"), aborted], %i[answered? failed? unprepared?]],
    fails_when_prepared: [{ name: "a1", prepare: true }, [ok, error("22012")], %i[answered? failed?]],
    by_name: [{ name: "a1" }, [rows], %i[answered?]],
    forgotten: [{ name: "a1" }, [error("26000")], %i[answered? failed? repairable?]],
    forgotten_without_a_name: [{}, [error("26000")], %i[answered? failed?]],
    changed: [{ name: "a1" }, [error("0A000", "RevalidateCachedQuery")], %i[answered? failed? repairable?]],
    not_supported: [{ name: "a1" }, [error("0A000", "transformSomething")], %i[answered? failed?]],
    described: [{ name: "a1", describe: true }, [rows, ok], %i[answered?]],
    description_to_come: [{ name: "a1", describe: true }, [rows], []],
    refused_to_describe: [{ describe: "SELECT $1" }, [rows, error("42P18"), aborted], %i[answered?]],
    fails_before_it_is_described: [{ describe: true }, [error("22012"), aborted], %i[answered? failed?]]
  }.freeze
  STATES = SEEN.values.flat_map(&:last).uniq.freeze

  # {what came => whether it can be the statement's, when it awaits rows, and when all has come}
  EXPECTED = {
    rows: [rows, [true, false]], error: [error("22012"), [true, false]], aborted: [aborted, [true, true]],
    lost_row: [rows.tap { |it| it.define_singleton_method(:cmd_tuples) { 2 } }, [false, false]], command: [ok, [true, false]]
  }.freeze

  # {what => [name, parameters, how large it is about]}
  SIZES = {
    none: [nil, [], 8], named: ["a1", [1, "abcd"], 32 + 8 + 4], numbers: [nil, [1, nil, true], 8 + 24],
    unnamed: [nil, ["abc"], 8 + 3], typed: [nil, [{ value: "abcd", type: 25, format: 0 }], 8 + 4]
  }.freeze

  each_case(SEEN, "seen") do |options, messages, expected|
    it = statement(options)
    messages.each do |message|
      assert it.expects?(message)
      it.take(message)
    end
    it.complete(false)
    assert_equal(expected, STATES.select { |state| it.public_send(state) })
  end

  each_case(EXPECTED, "expected") do |message, expected|
    it = statement({})
    awaiting = it.expects?(message)
    it.take(self.class.rows)
    assert_equal expected, [awaiting, it.expects?(message)]
  end

  each_case(SIZES, "size") { |name, params, size| assert_equal size, statement({ name: name }, params).bytesize }

  # While the pipeline is cleared by cancelling, whoever was cancelled hasn't been answered.
  def test_cancelled
    { true => false, false => true }.each do |clearing, answered|
      it = statement({})
      it.take(self.class.error("57014"))
      it.complete(clearing)
      assert_equal answered, it.answered?
    end
  end

  # A name whose PREPARE failed is another's: what came by it is nobody's answer.
  def test_preparer
    preparer = statement({ name: "a1", prepare: true })
    it = statement({ name: "a1", preparer: preparer })
    preparer.take(self.class.error("42P05"))
    [it.take(self.class.rows), it.complete(false)]
    assert_equal [true, true], [it.repairable?, it.nameless?]
    assert_equal [nil, "SELECT 1"], it.without_name.then { |twin| [twin.name, twin.sql] }
  end

  # What was to prepare a name isn't sent any more.
  def test_who_prepares_instead
    dropped = statement({ name: "a1", prepare: true })
    first, second = Array.new(2) { statement({ name: "a1", preparer: dropped }) }
    other = statement({ name: "a2", prepare: true })
    third = statement({ name: "a2", preparer: other })
    Pipeloader::Statement.prepare_instead([dropped, statement({})], [third, first, other, second])
    assert_equal [true, false, true, false], [first, second, other, third].map(&:prepare?)
    assert_equal [nil, first, nil, other], [first, second, other, third].map(&:preparer)
    assert_equal %w[a1 a1 a2 a2], [first, second, other, third].map(&:name)
  end

  # As above, where the time of the one that was to prepare is up.
  def test_who_prepares_for_one_that_is_late
    limit = Struct.new(:at).new(0)
    late = statement({ name: "a1", prepare: true })
    late.reads.first.define_singleton_method(:time_limit) { limit }
    late.reads.first.define_singleton_method(:late?) { true }
    other = statement({ name: "a1", preparer: late })
    waiting = [late, other]
    Pipeloader::Schedule.of(waiting, true).keep([], waiting)
    assert_equal [[other], true, nil], [waiting, other.prepare?, other.preparer]
  end

  def test_description
    it = statement({ describe: "SELECT $1" })
    [self.class.rows, self.class.ok, self.class.ok].each { |message| it.take(message) }
    it.complete(false)
    assert_equal [[23], ["id"]], it.description.to_a
    refute it.undescribed?
    refused = statement({ describe: "SELECT $1" })
    [self.class.rows, self.class.error("42P18"), self.class.aborted].each { |message| refused.take(message) }
    refused.complete(false)
    assert refused.undescribed?
  end

  private

  def statement(options, params = [])
    Pipeloader::Statement.new(Asked.new("SELECT 1", params), **options.slice(:name, :prepare, :preparer)).tap do |it|
      it.describe(options[:describe].is_a?(String) ? options[:describe] : nil) if options[:describe]
    end
  end
end
