# frozen_string_literal: true

require_relative "../support/unit_helper"

# Which statements of a burst become one, by what the connection knows of them.
class CoalescingTest < UnitTest
  BY_KEY = "SELECT * FROM t WHERE a = $1"
  BY_NAME = "SELECT * FROM t WHERE name = $1"
  GREATER = "SELECT * FROM t WHERE a > $1"
  IMPURE = "SELECT f(a) FROM t WHERE a = $1"
  INT, TEXT, MOOD = 23, 25, 90_000

  # What Coalescing asks of a Session.
  Known = Struct.new(:shapes, :guesses, :array_types, :names, :result_sizes) do
    def shape(sql, _name) = shapes[sql]
    def guess(sql, _name) = guesses[sql]
    def statement_name(sql) = names[sql]
    def next_statement_name = "a100"
  end

  def self.reads(sql, values, **options) = values.map { |value| [sql, [value], options] }
  # (Texts that have their values in them.)
  def self.texts(values, **options) = values.map { |value| ["SELECT * FROM t WHERE a = #{value}", [], options] }
  LIFTED = "SELECT * FROM t WHERE a = $1"

  # {what => [reads, types of the parameters of what is known, what is sent: how many reads by one statement; :ask for one that the
  # server is to describe, too; :types for the look-up of arrays]}. (Pure: ActiveRecord says so. Else the text does.)
  SENT = {
    nothing: [[], {}, []],
    two: [reads(BY_KEY, [1, 2]), { BY_KEY => [INT] }, [1, 1]],
    three: [reads(BY_KEY, [1, 2, 3]), { BY_KEY => [INT] }, [3]],
    unknown: [reads(BY_KEY, [1, 2, 3]), {}, [:ask, 1, 1]],
    two_unknown: [reads(BY_KEY, [1, 2]), {}, [1, 1]],
    two_texts: [reads(BY_KEY, [1, 2, 3]) + reads(BY_NAME, %w[a b c]), { BY_KEY => [INT], BY_NAME => [TEXT] }, [3, 3]],
    in_turns: [reads(BY_KEY, [1, 2, 3]).zip(reads(BY_NAME, %w[a b c])).flatten(1), { BY_KEY => [INT], BY_NAME => [TEXT] }, [3, 3]],
    one_of_them_known: [reads(BY_KEY, [1, 2, 3]) + reads(BY_NAME, %w[a b c]), { BY_NAME => [TEXT] }, [:ask, 1, 1, 3]],
    impure_between: [reads(BY_KEY, [1, 2]) + reads("SELECT nextval('s')", [0], pure: false) + reads(BY_KEY, [3, 4]), { BY_KEY => [INT] }, [1, 1, 1, 1, 1]],
    impure_behind: [reads(BY_KEY, [1, 2, 3]) + reads("SELECT nextval('s')", [0], pure: false) + reads(BY_KEY, [4, 5, 6]), { BY_KEY => [INT] }, [3, 1, 3]],
    impure_ones: [reads(IMPURE, [1, 2, 3], pure: false), { IMPURE => [INT] }, [1, 1, 1]],
    raw_ones: [reads(BY_KEY, [1, 2, 3], pure: false), { BY_KEY => [INT] }, [3]],
    not_by_reads_that_must_not: [reads(BY_KEY, [1, 2, 3]) + reads(BY_KEY, [4], coalesces: false), { BY_KEY => [INT] }, [3, 1]],
    null_is_left_out: [reads(BY_KEY, [1, nil, 2, 3]), { BY_KEY => [INT] }, [3, 1]],
    too_few_without_null: [reads(BY_KEY, [1, nil, 2]), { BY_KEY => [INT] }, [1, 1, 1]],
    bytes_that_no_array_holds: [reads(BY_NAME, ["a", "b\0", "\xff".dup.force_encoding("UTF-8"), "c" * 1001, "d", "e"]), { BY_NAME => [TEXT] }, [3, 1, 1, 1]],
    where_they_may_not_differ: [reads(GREATER, [1, 2, 3]), { GREATER => [INT] }, [1, 1, 1]],
    locks: [reads("#{BY_KEY} FOR UPDATE", [1, 2, 3]), { "#{BY_KEY} FOR UPDATE" => [INT] }, [1, 1, 1]],
    unknown_type: [reads(BY_KEY, [1, 2, 3]), { BY_KEY => [MOOD] }, [1, 1, 1, :types]],
    no_parameters: [reads("SELECT 1", [1, 2, 3]).map { |sql, _, options| [sql, [], options] }, { "SELECT 1" => [] }, [1, 1, 1]],
    lifted: [texts([1, 2, 3]), { LIFTED => [INT] }, [3]],
    lifted_unknown: [texts([1, 2, 3]), {}, [:ask, 1, 1]],
    lifted_two: [texts([1, 2]), { LIFTED => [INT] }, [1, 1]],
    lifted_of_two_kinds: [texts([1, "'x'", 2, 3]), { LIFTED => [INT] }, [3, 1]],
    lifted_compared_with_a_float: [texts([1, 2, 3]), { LIFTED => [701] }, [1, 1, 1]],
    lifted_with_one_that_must_not: [texts([1, 2, 3]) + texts([4], coalesces: false), { LIFTED => [INT] }, [3, 1]],
    lifted_with_tags_alike: [texts([1, 2, 3], tag: " /*a*/"), { LIFTED => [INT] }, [3]],
    lifted_with_other_tags: [texts([1, 2], tag: " /*a*/") + texts([3], tag: " /*b*/"), { LIFTED => [INT] }, [1, 1, 1]]
  }.freeze

  each_case(SENT, "sent") do |reads, known, expected|
    sent = coalesce(reads, known_of(known))
    assert_equal expected, sent.map { |statement| kind(statement) }
    # Nobody is forgotten, nobody is asked for twice.
    assert_equal reads.map { |_, params,| params }.sort_by(&:inspect), sent.flat_map { |it| it.reads.map(&:params) }.sort_by(&:inspect)
  end

  # Results of 1 MB: no more by one statement than 4 MB.
  def test_large_results
    known = known_of({ BY_KEY => [INT] }, sizes: Pipeloader::ResultSizes.new)
    known.result_sizes.remember(BY_KEY, 1024 * 1024)
    assert_equal([4, 4, 1, 1], coalesce(self.class.reads(BY_KEY, (1..10).to_a), known).map { |it| kind(it) })
  end

  # Until it's known how large results are, no more than it takes to pay.
  def test_results_of_unknown_size
    assert_equal([3, 3, 1], coalesce(self.class.reads(BY_KEY, (1..7).to_a), known_of({ BY_KEY => [INT] }, sizes: Pipeloader::ResultSizes.new)).map { |it| kind(it) })
  end

  # What another connection knows: the first goes alone, and shows whether it's so.
  def test_guesses
    it = known_of({})
    it.guesses[BY_KEY] = shape(BY_KEY, [INT])
    assert_equal([:ask, 3], coalesce(self.class.reads(BY_KEY, [1, 2, 3, 4], name: "a1"), it).map { |statement| kind(statement) })
    assert_equal([:ask, 1, 1], coalesce(self.class.reads(BY_KEY, [1, 2, 3], name: "a1"), it).map { |statement| kind(statement) })
  end

  # The one for many is prepared, too, where its parts are; once.
  def test_names
    it = known_of({})
    it.shapes[BY_KEY] = shape(BY_KEY, [INT], "a1")
    whole = coalesce(self.class.reads(BY_KEY, [1, 2, 3], name: "a1"), it).first
    assert_equal ["a100", true, ["{1,2,3}"]], [whole.name, whole.prepare?, whole.params]
    it.names[whole.sql] = "a7"
    whole = coalesce(self.class.reads(BY_KEY, [1, 2, 3], name: "a1"), it).first
    assert_equal ["a7", false], [whole.name, whole.prepare?]
    unnamed = coalesce(self.class.reads(BY_KEY, [1, 2, 3]), known_of({ BY_KEY => [INT] })).first
    assert_equal [nil, false, [{ value: "{1,2,3}", type: 1007, format: 0 }]], [unnamed.name, unnamed.prepare?, unnamed.params]
  end

  def test_tags_around_the_one_for_many
    whole = coalesce(self.class.texts([1, 2, 3], tag: " /*a*/"), known_of({ LIFTED => [INT] })).first
    assert whole.sql.end_with?("pipeloader_rows\n /*a*/"), whole.sql
  end

  private

  def shape(sql, types, name = nil) = Pipeloader::Shape.new(sql, name, Pipeloader::Statement::Description.new(types, ["a"]), {})

  # (Results have been small so far.)
  def known_of(known, sizes: Pipeloader::ResultSizes.new.tap { |it| known.each_key { |sql| it.remember(sql, 100) } })
    Known.new(known.to_h { |sql, types| [sql, shape(sql, types)] }, {}, {}, {}, sizes)
  end

  def coalesce(reads, known)
    Pipeloader::Coalescing.new(known).call(reads.map { |read| statement(*read) })
  end

  def statement(sql, params, options)
    text = "#{sql}#{options[:tag]}"
    read = Pipeloader::Read.new(adapter: nil, text: sql, sql: text, name: "T", binds: [], params: params, preparable: false, prepared: false,
                                retryable: options.fetch(:pure, true), cached_as_of: nil)
    read.coalesces = options.fetch(:coalesces, true)
    Pipeloader::Statement.new(read, name: options[:name])
  end

  def kind(statement)
    case statement
    when Pipeloader::TypeLookup then :types
    when Pipeloader::Coalesced then statement.parts.size
    else statement.describe? ? :ask : 1
    end
  end
end
