# frozen_string_literal: true

require_relative "../support/answers"

# What the blocks of Pipeloader.map have asked of their records in a run before is read before they begin.
class ForecastsOfBlocksTest < AnswerTest
  SERIAL = ->(values, &block) { values.map(&block) }
  TOGETHER = ->(values, &block) { Pipeloader.map(values, &block) }
  RUNS = 4

  class Tenant < ActiveSupport::CurrentAttributes
    attribute :least
  end

  class Article < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    belongs_to :tenants_author, -> { where(id: ..Tenant.least) }, class_name: "User", foreign_key: :author_id, optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
  end

  def setup
    super
    Pipeloader::BlockSite.forget
    Pipeloader.defaults = { trips: :depth } # how far away the server is, is no matter of this test
  end

  def teardown
    super
    Tenant.reset
    Pipeloader.defaults = {}
  end

  def articles = Article.order(:id).to_a

  # The program does the same in a loop and by map, in each of some runs.
  #
  # @yieldparam map [Proc]
  # @return [Array<Integer>] the round trips of map's
  def trips(&program)
    Array.new(RUNS) do
      expected = restoring { program.call(SERIAL) }
      actual = nil
      events = restoring { WireCounter.events("burst.pipeloader") { actual = program.call(TOGETHER) } }
      assert_equal expected, actual
      events.size
    end
  end

  def forecasts(&) = WireCounter.events(Pipeloader::ReadAhead::EVENT, &).map { |it| it[:reads] }

  def names(article) = article.comments.map { |it| it.commenter&.name }

  def test_what_is_known_takes_fewer_round_trips
    found = trips { |map| map.(articles) { |it| [it.author&.name, names(it)] } }
    assert_operator found.first, :>, 3
    assert_equal 2, found.last
  end

  def test_a_map_in_a_map
    found = trips { |map| map.(articles) { |it| [it.author&.name, map.(it.comments.to_a) { |comment| [comment.body, comment.commenter&.name] }] } }
    assert_equal [3, 2], found.values_at(0, -1)
  end

  def test_questions
    found = trips { |map| map.(articles) { |it| [it.comments.count, Comment.find_by(id: it.id)&.body] } }
    assert_equal [2, 1], found.values_at(0, -1)
  end

  def test_what_only_some_ask_for_is_not_read_ahead
    trips { |map| map.(articles) { |it| it.author&.name if it.id.even? } }
    assert_empty(forecasts { Pipeloader.map(articles) { |it| it.author&.name if it.id.even? } })
  end

  def test_what_is_written_meanwhile
    trips do |map|
      map.(articles) do |it|
        name = it.author&.name
        Comment.where(post_id: it.id).update_all(body: "written") if it.id == 3
        [name, it.comments.map(&:body), names(it)]
      end
    end
  end

  def test_what_is_changed_meanwhile
    trips do |map|
      map.(articles) do |it|
        it.author_id = 2 if it.id == 1
        it.comments.load
        [it.author&.name, names(it)]
      end
    end
  end

  def test_under_another_tenant
    trips do |map|
      [1, 3, 100].map { |least| Tenant.set(least: least) { map.(articles) { |it| it.tenants_author&.name } } } +
        map.(articles) { |it| Tenant.set(least: it.id) { it.tenants_author&.name } }
    end
  end

  def test_in_a_transaction
    trips { |map| Article.transaction { Article.where(id: 1).update_all(author_id: 2).then { map.(articles) { |it| it.author&.name } } } }
  end

  def test_failures
    found = trips do |map|
      map.(articles) { |it| it.author&.name || raise(KeyError, it.id.to_s) }
    rescue KeyError => e
      e.message
    end
    assert_equal 1, found.last
  end

  def test_threads_that_learn_at_once
    work = ->(map) { map.(articles) { |it| [it.author&.name, names(it)] } }
    expected = work.call(SERIAL)
    found = Array.new(4) { Thread.new { Array.new(6) { work.call(TOGETHER) } } }.flat_map(&:value)
    assert_equal [expected], found.uniq
  ensure
    ActiveRecord::Base.connection_handler.clear_active_connections!
  end

  def test_without_forecasts
    Pipeloader.defaults = { forecast: false, trips: :depth }
    assert_equal [3, 3], trips { |map| map.(articles) { |it| [it.author&.name, map.(it.comments.to_a) { |comment| comment.commenter&.name }] } }.values_at(0, -1)
  end

  def test_reloaded_code_is_forgotten
    work = -> { Pipeloader.map(articles) { |it| it.author&.name } }
    3.times { work.call }
    assert_equal(1, forecasts(&work).size)
    Pipeloader::Gathering.foresight.forget
    assert_empty forecasts(&work)
  end

  # Each evaluation is a place of its own in the code.
  def test_places_are_bounded
    block = ->(it) { 200.times { |i| Pipeloader.map([it, it.dup], &eval("->(it) { it.author&.name }", binding, "block", i)) } }
    2.times { Pipeloader.map(articles.first(2), &block) }
    assert_nil Pipeloader::BlockSite.of(block).forecasts
  end
end
