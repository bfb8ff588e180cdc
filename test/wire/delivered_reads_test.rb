# frozen_string_literal: true

require_relative "wire_case"

# A delivered read is handed to its own statement alone: not to what ActiveRecord quotes before it, and not to what a subscriber sends.
class DeliveredReadsTest < WireCase
  SETTINGS = { unprepared: { prepared_statements: false }, prepared: {} }.freeze
  # What is quoted when ActiveRecord compiles the Arel once more, prepared statements or not.
  TITLED = ->(title) { GatedPost.where(GatedPost.arel_table[:title].eq(Arel::Nodes::Quoted.new(title))) }

  # Hears of a statement before it goes, and sends one.
  class Writer
    attr_reader :written

    def initialize(sql, model)
      @sql, @model, @written = sql, model, []
    end

    def start(_name, _id, payload)
      return if !@written.empty? || !payload[:sql].include?("posts") || payload[:name] == "SCHEMA"

      @written << nil # what it sends itself is heard of, too
      @written[-1] = @model.with_connection { |connection| connection.execute(@sql).cmd_tuples }
    end

    def finish(*) = nil
  end

  def setup
    super
    side.exec("DROP SEQUENCE IF EXISTS locked_reads; CREATE SEQUENCE locked_reads")
  end

  SETTINGS.each do |mode, settings|
    define_method(:"test_a_lock_that_somebody_has_#{mode}") do
      connect_gated(min_messages: "error", **settings)
      locked_outside(1) do
        outcomes = assert_resolves_alike(2, around: method(:rolled_back)) do |index|
          index.zero? ? TITLED.call("post 1").lock("FOR UPDATE NOWAIT").first!.id : GatedPost.find(2).title
        end
        assert_equal "ActiveRecord::LockWaitTimeout", outcomes.first.class_name
      end
    end

    define_method(:"test_a_sequence_is_drawn_from_once_#{mode}") do
      connect_gated(min_messages: "error", **settings)
      [false, true].each { |piped| resolve(piped, 2) { |index| TITLED.call("post #{index + 1}").lock.select("nextval('locked_reads') AS n").first.n } }
      assert_equal "4", side.exec("SELECT last_value FROM locked_reads").getvalue(0, 0)
    end

    { other: ["UPDATE audits SET note = note WHERE id < 3", Audit], same: ["UPDATE posts SET body = body WHERE id < 3", GatedPost] }.each do |whose, (sql, model)|
      [1, 2].each do |fields|
        define_method(:"test_a_subscriber_that_writes_to_the_#{whose}_database_#{mode}_#{fields}") do
          connect_gated(min_messages: "error", **settings)
          outcomes = assert_alike do |piped|
            writer = Writer.new(sql, model)
            found = ActiveSupport::Notifications.subscribed(writer, "sql.active_record") do
              resolve(piped, fields) { |index| GatedPost.where(id: index + 1).pluck(:title) }
            end
            [found, writer.written]
          end
          assert_equal [Array.new(fields) { |index| ["post #{index + 1}"] }, [2]], outcomes
        end
      end
    end
  end

  # … of bursts, where the read goes alone.
  def test_a_subscriber_of_bursts_that_writes
    connect_gated(min_messages: "error")
    written = ->(*) { GatedPost.with_connection { |connection| connection.execute("UPDATE posts SET likes = likes WHERE id = 1") } }
    told = WireCounter.events("sql.active_record") do
      ActiveSupport::Notifications.subscribed(written, "burst.pipeloader") do
        assert_equal [["post 1"], nil], resolve(true, 2) { |index| GatedPost.where(id: 1).pluck(:title) if index.zero? }
      end
    end
    assert_equal({ "SELECT" => true, "UPDATE" => false }, told.to_h { |it| [it[:sql][/\w+/], it.key?(:pipeloader)] })
  end

  private

  # While the block runs, another session has locked that row.
  def locked_outside(id)
    side(:lock).exec("BEGIN; SELECT 1 FROM posts WHERE id = #{id} FOR UPDATE")
    yield
  ensure
    side(:lock).exec("ROLLBACK")
  end
end
