# frozen_string_literal: true

require_relative "../support/answers"

# Pipeloader.map and Pipeloader.gather: what they return, raise and leave behind is what a serial loop does.
class GatheringTest < AnswerTest
  class Viewer < ActiveSupport::CurrentAttributes
    attribute :who
  end

  SERIAL = ->(values, &block) { values.map(&block) }
  TOGETHER = ->(values, &block) { Pipeloader.map(values, &block) }

  def teardown
    super
    Viewer.reset
  end

  # @param trips [Integer, nil]
  # @yieldparam map [Proc] of a serial loop, and of ours
  # @return what both return
  def assert_maps(trips, &block)
    expected = block.call(SERIAL)
    actual = nil
    events = WireCounter.events("burst.pipeloader") { actual = block.call(TOGETHER) }
    assert_equal expected, actual
    assert_equal trips, events.size, events.map { |payload| payload[:reads].map(&:sql) } if trips
    actual
  end

  # Both raise the same, and leave the same rows. @yieldparam log [Array]
  def assert_fails_alike(error)
    logs = [SERIAL, TOGETHER].map do |map|
      log = []
      restoring do
        raised = assert_raises(error) { yield map, log }
        log << raised.message << Post.order(:id).pluck(:likes)
      end
    end
    assert_equal(*logs)
  end

  def posts = Post.order(:id).to_a

  # -- what is read

  def test_reads_of_a_level_are_one_round_trip
    assert_maps(3) { |map| map.(posts) { |post| [post.title, post.author&.name, post.comments.count, post.comments.map(&:body)] } }
  end

  def test_one_read_of_its_own_for_each
    assert_maps(1) { |map| map.((1..6).to_a) { |id| Post.find_by(id: id)&.title } }
  end

  def test_nested
    assert_maps(3) do |map|
      map.(User.order(:id).to_a) do |user|
        map.(user.posts.order(:id).to_a) { |post| map.(post.comments.order(:id).to_a) { |comment| [comment.body, comment.commenter&.name] } }
      end
    end
  end

  def test_no_values_and_one
    assert_maps(0) { |map| map.([]) { flunk } }
    assert_maps(1) { |map| map.([1]) { |id| Post.find(id).title } }
  end

  # A fiber's stack is small.
  def test_deep_inside_one_another
    deep = lambda do |map, depth|
      map.([1, 2]) { |value| value == 2 ? Post.where(id: depth).count : (depth.zero? ? Post.find(1).title : deep.call(map, depth - 1)) }
    end
    assert_maps(nil) { |map| deep.call(map, 120) }
  end

  def test_any_enumerable
    assert_equal [[1, 2], [3, 4]], Pipeloader.map({ 1 => 2, 3 => 4 }) { |a, b| [a, b] }
    assert_equal posts.map(&:title), Pipeloader.map(Post.order(:id), &:title)
    assert_equal posts.map(&:title), Pipeloader.map(Post.find_each, &:title)
    assert_raises(ArgumentError) { Pipeloader.map([1]) }
    assert_raises(ArgumentError) { Pipeloader.gather }
  end

  def test_more_than_there_can_be_fibers
    ids = (1..5000).map { |i| (i % 9) + 1 }
    assert_maps(nil) { |map| map.(ids) { |id| [Post.find_by(id: id)&.title, Comment.where(post_id: id).count] } }
  end

  # -- what is written

  def test_writes_in_turn
    sqls = [SERIAL, TOGETHER].map do |map|
      restoring do
        WireCounter.events("sql.active_record") do
          map.(posts) do |post|
            post.author&.name
            post.update!(likes: post.comments.count) if post.id.odd?
            Post.where(id: post.id).update_all(likes: post.id * 2) if post.comments.any?
          end
        end.map { |payload| [payload[:sql], payload[:type_casted_binds]] }.reject { |sql, _| sql.start_with?("SELECT", "SHOW") }
      end
    end
    assert_equal(*sqls.map { |all| all.map { |sql, binds| [sql, binds.respond_to?(:call) ? binds.call : binds] } })
    assert_operator sqls.first.size, :>, 4
  end

  # Inside of a mask of interrupts, as what takes a connection of a pool is: Sidekiq's, a cache's.
  def test_writes_inside_of_masks_wait
    require "connection_pool"
    pool = ConnectionPool.new(size: 2) { Object.new }
    [->(&write) { pool.with { write.call } }, ->(&write) { Thread.handle_interrupt(IOError => :never) { write.call } }].each do |inside|
      outcomes = [SERIAL, TOGETHER].map do |map|
        restoring do
          said = []
          raised = assert_raises(IOError) do
            map.([1, 2, 3]) do |id|
              Post.find(id)
              Comment.where(post_id: id).count if id == 2
              raise IOError, "no" if id == 2

              inside.call { said << id && User.create!(name: "made by #{id}") }
            end
          end
          [raised.message, said, User.where("name LIKE 'made%'").order(:id).pluck(:name)]
        end
      end
      assert_equal(*outcomes)
    end
  end

  # BEGIN without ActiveRecord's knowing: nobody else writes in that transaction.
  def test_a_transaction_that_is_begun_by_hand
    outcomes = [SERIAL, TOGETHER].map do |map|
      restoring do
        map.([1, 2]) do |id|
          connection = Post.lease_connection
          Post.find(id)
          if id == 1
            Comment.count
            Post.where(id: 1).update_all(likes: 7)
          else
            connection.begin_db_transaction
            Post.where(id: 2).update_all(likes: 8)
            connection.rollback_db_transaction
          end
        end
        Post.order(:id).limit(2).pluck(:likes)
      end
    end
    assert_equal(*outcomes)
  end

  # Code that reads and then writes what it hasn't found: nobody comes in between, and the first to write is the first block.
  { find_or_create_by: ->(post) { Comment.create_with(post_id: post.id).find_or_create_by!(body: "made") }, first_or_create: ->(post) { Comment.where(body: "made").first_or_create!(post_id: post.id) },
    without_parking: ->(post) { Pipeloader.without_parking { Comment.find_by(body: "made") || Comment.create!(body: "made", post_id: post.id) } } }.each do |name, make|
    define_method(:"test_#{name}_in_turn") do
      found = [SERIAL, TOGETHER].product([nil, 1]).map do |map, failing|
        restoring do
          raised = assert_raises(IOError) do
            map.(posts) do |post|
              post.comments.map { |comment| comment.commenter&.name } if post.id == 1
              raise IOError if post.id == failing

              make.call(post)
            end
            raise IOError, "done"
          end
          [raised.message, Comment.where(body: "made").pluck(:post_id)]
        end
      end
      assert_equal(*found.each_slice(2))
      assert_equal [["done", [1]], ["IOError", []]], found.first(2)
    end
  end

  GATHERING_LOCK = Mutex.new

  # Whoever holds a lock may wait for nobody who wants it.
  def test_without_parking_with_a_lock_held
    counts = Pipeloader.gather do |gathering|
      task = gathering.async { GATHERING_LOCK.synchronize { Post.count } }
      own = GATHERING_LOCK.synchronize { Pipeloader.without_parking { User.count } }
      [task.value, own, GATHERING_LOCK.synchronize { Pipeloader.disabled { Tag.count } }]
    end
    assert_equal [Post.count, User.count, Tag.count], counts
  end

  # What a block does in `ensure`, when an earlier one has failed, is all done.
  def test_without_parking_in_what_ends_a_block
    ended = []
    assert_raises(IOError) do
      Pipeloader.map(posts) do |post|
        Post.find(post.id)
        raise IOError if post.id == 1

        post.comments.to_a
      ensure
        [Pipeloader.without_parking { User.count }, Pipeloader.disabled { Tag.count }, Comment.find_or_create_by(id: 1).id].then { |read| ended << [post.id, *read] } if post.id > 1
      end
    end
    assert_operator ended.size, :>, 1
    assert_equal [[User.count, Tag.count, 1]], ended.map { |_, *read| read }.uniq
  end

  def test_one_fails
    assert_fails_alike(RuntimeError) do |map, log|
      map.(posts) do |post|
        post.comments.to_a
        raise "no. #{post.id}" if [3, 5].include?(post.id)

        post.update!(likes: 100 + post.id)
        log << post.id
      end
    end
  end

  def test_one_fails_early_that_comes_late
    assert_fails_alike(ActiveRecord::RecordNotFound) do |map, _|
      map.(posts) do |post|
        Post.find(-post.id) if post.id > 4
        post.comments.to_a
        post.author&.name
        Post.find(-1000 - post.id) if post.id == 2
        post.update!(likes: 0)
      end
    end
  end

  def test_a_value_that_is_waited_for_elsewhere
    error = Pipeloader.gather do |gathering|
      count = gathering.async { Post.count }
      found = Thread.new { assert_raises(ThreadError) { count.value } }.value
      assert_equal Post.count, count.value
      found
    end
    assert_match(/another thread/, error.message)
    left = Pipeloader.gather { |gathering| gathering.async { Post.count } }
    assert_equal Post.count, left.value
  end

  def test_those_that_have_begun_are_ended
    ended, through = [], []
    assert_raises(KeyError) do
      Pipeloader.map(posts) do |post|
        post.comments.to_a
        raise KeyError if post.id == 3

        begin
          4.times { |i| Comment.where(post_id: post.id).offset(i).count } if post.id > 3
          through << post.id
        rescue StandardError => e
          flunk "an error of another block: #{e.message}"
        end
      ensure
        ended << post.id
        Comment.where(post_id: post.id).count if post.id > 3
      end
    end
    assert_equal posts.map(&:id), ended.sort
    assert_equal [1, 2], through
    assert_equal posts.size, Pipeloader.map(posts, &:comments).size
  end

  def test_transactions
    restore # what another test has left of a row that is rolled back here shows
    assert_fails_alike(RuntimeError) do |map, log|
      map.(posts) do |post|
        Post.transaction do
          log << [post.id, post.comments.count]
          post.update!(likes: 50)
          raise ActiveRecord::Rollback if post.id == 2
        end
        raise "later" if post.id == 4
      end
    end
  end

  # -- what is around

  def test_state_of_a_block
    assert_maps(2) do |map|
      map.(posts) do |post|
        Viewer.set(who: "viewer #{post.id}") do
          Time.use_zone(post.id.odd? ? "Tokyo" : "Paris") { [Post.find(post.id).title, Viewer.who, Time.zone.name, post.comments.count, Viewer.who] }
        end
      end
    end
    assert_nil Viewer.who
  end

  def test_state_around
    Viewer.who = "outside"
    assert_maps(1) { |map| Post.where("id < 4").scoping { map.([1, 2, 3, 4, 5]) { |id| [Post.find_by(id: id)&.title, Viewer.who] } } }
  end

  # Whatever a block assigns, no other sees; nor does the code behind, with Pipeloader or without.
  def test_assigned_state_ends_with_its_block
    [true, false].each do |disabled|
      Viewer.who = "outside"
      map = -> { Pipeloader.map([1, 2, 3]) { |id| [Viewer.who, Viewer.who = "no. #{id}", Post.find(id).title, Viewer.who, Time.zone = "Tokyo"] } }
      seen = disabled ? Pipeloader.disabled(&map) : map.call
      assert_equal((1..3).map { |id| ["outside", "no. #{id}", Post.find(id).title, "no. #{id}", "Tokyo"] }, seen)
      assert_equal ["outside", nil], [Viewer.who, Time.zone]
    end
  end

  def test_in_a_block_of_one
    assert_maps(nil) do |map|
      map.(posts) do |post|
        Viewer.set(who: post.title) { map.(post.comments.order(:id).to_a) { |comment| [comment.commenter&.name, Viewer.who] } }
      end
    end
  end

  def test_a_lock
    lock = Mutex.new
    assert_maps(nil) { |map| map.(posts) { |post| [post.author&.name, lock.synchronize { post.comments.count }] } }
    refute_predicate lock, :locked?
  end

  def test_in_a_transaction
    Post.transaction do
      assert_maps(3) { |map| map.(posts) { |post| [post.title, post.author&.name, post.comments.count, post.comments.map(&:body)] } }
    end
  end

  # -- inside a response

  def test_joins_a_response
    plain = piped = nil
    events = WireCounter.events("burst.pipeloader") do
      plain, piped = Schemas.resolve(4) do |index|
        case index
        when 0 then Pipeloader.map((1..5).to_a) { |id| Post.find_by(id: id)&.comments&.count }
        when 1 then Comment.count
        else User.where(id: index).pick(:name)
        end
      end
    end
    assert_equal plain, piped
    assert_equal [5, 5, 8, 5], (events.map { |payload| payload[:reads].size }) # of the plain schema's map, then of the response
  end

  # -- gather

  def test_gather
    result = nil
    events = WireCounter.events("burst.pipeloader") do
      result = Pipeloader.gather do |gathering|
        posts = gathering.async { Post.count }
        user = gathering.async { User.find(1).posts.count }
        [posts.value, user.value, Comment.count]
      end
    end
    assert_equal [Post.count, User.find(1).posts.count, Comment.count], result
    assert_equal 3, events.size # the block's own read comes after the values that it waits for
  end

  def test_gather_rescues
    result = Pipeloader.gather do |gathering|
      missing = gathering.async { Post.find(-1) }
      there = gathering.async { Post.find(1).title }
      found = begin
        missing.value
      rescue ActiveRecord::RecordNotFound
        :none
      end
      [found, there.value]
    end
    assert_equal [:none, Post.find(1).title], result
  end

  def test_nobody_asks_for_a_value
    done = []
    error = assert_raises(RuntimeError) do
      Pipeloader.gather do |gathering|
        gathering.async { Post.count.tap { raise "first" } }
        gathering.async { Post.count.tap { raise "second" } }
        gathering.async { done << Post.count }
      end
    end
    assert_equal "first", error.message
    assert_equal [Post.count], done
  end

  def test_the_block_fails
    ended = []
    assert_raises(KeyError) do
      Pipeloader.gather do |gathering|
        gathering.async do
          Post.count
          ended << :never
        ensure
          ended << :ensure
        end
        Comment.count
        raise KeyError
      end
    end
    assert_includes [[:ensure], %i[never ensure]], ended
  end

  def test_acts_of_the_block_come_after_its_tasks
    log = []
    restoring do
      Pipeloader.gather do |gathering|
        2.times { |i| gathering.async { Post.find(i + 1).comments.to_a.then { Post.where(id: i + 1).update_all(likes: 1) }.then { log << i } } }
        Post.where(id: 3).update_all(likes: 1)
        log << :block
      end
    end
    assert_equal [0, 1, :block], log
  end

  # Who waits for a Task doesn't lend it what its block has changed.
  def test_what_is_open_where_a_value_is_asked_for
    count = User.count
    found = Pipeloader.gather { |g| User.where(id: -1).scoping { g.async { User.count }.then { |it| [it.value, User.count] } } }
    assert_equal [0, 0], found # it begins where it is asked for, inside the scope
    task = nil
    assert_equal([0, count], Pipeloader.gather { |g| [(task = g.async { User.count }).then { User.where(id: -1).scoping { User.count } }, task.value] })
    assert_equal count, Pipeloader.gather { |g| g.async { User.count }.then { |it| User.where(id: -1).scoping { it.value } } }
    assert_equal([nil, 9], Pipeloader.gather { |g| g.async { Viewer.who }.then { |it| (Viewer.who = 9) && [it.value, Viewer.who] } })
    assert_equal([9], Pipeloader.gather { |g| g.async { Viewer.who } && (Viewer.who = 9) && [Viewer.who] })
  end

  def test_what_is_open_in_a_task_that_asks_for_another
    of_two = lambda do |first, second|
      Pipeloader.gather do |gathering|
        other = nil
        one = gathering.async { first.(->(*) { other.value }) }
        other = gathering.async(&second)
        [one.value, other.value]
      end
    end
    assert_equal [User.count] * 2, of_two.(->(value) { User.where(id: -1).scoping(&value) }, -> { User.count })
    assert_equal [nil, nil], of_two.(->(value) { Viewer.set(who: 7, &value) }, -> { Viewer.who })
    assert_equal [[1, nil], nil], of_two.(->(value) { (Viewer.who = 1) && value.call.then { |it| [Viewer.who, it] } }, -> { Viewer.who })
    assert_equal [nil, nil], of_two.(->(value) { (Thread.current[:of_a_task] = 5) && value.call }, -> { Thread.current[:of_a_task] })
  end

  # -- from outside

  def test_interrupted
    ended = []
    assert_raises(Interrupt) do
      Pipeloader.map(posts) do |post|
        post.comments.to_a
        raise Interrupt if post.id == 3

        post.author&.name
      ensure
        ended << post.id
      end
    end
    assert_equal posts.map(&:id), ended.sort
    assert_maps(1) { |map| map.(posts) { |post| post.comments.to_a.size } }
  end

  def test_timeout
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { Pipeloader.map([1, 2, 3]) { Post.connection.select_value("SELECT pg_sleep(5)") } } }
    assert_maps(1) { |map| map.(posts) { |post| post.comments.to_a.size } }
  end

  def test_disabled
    assert_maps(0) { |map| Pipeloader.disabled { map.(posts) { |post| post.comments.count } } }
  end

  def test_threads
    expected = posts.map { |post| post.comments.map(&:body) }
    all = Array.new(4) { Thread.new { ActiveRecord::Base.connection_pool.with_connection { Pipeloader.map(posts) { |post| post.comments.map(&:body) } } } }
    assert_equal [expected] * 4, all.map(&:value)
  end

  def test_queries_inside
    schema = Schemas.pair.last
    query = "query($id: ID!) { post(id: $id) { title comments { body } } }"
    assert_maps(nil) { |map| map.([1, 2, 3]) { |id| schema.execute(query, variables: { id: id }).to_h } }
  end
end
