# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/fiber_scheduler"
require_relative "../support/sibling_fields"

# An exception that leaves the response: siblings that have begun, which a serial run hasn't come to, end there. What they had
# taken they give back, in their `ensure`.
class AbandonedTest < PipeloaderTest
  class Stop < Exception; end # rubocop:disable Lint/InheritException

  class Current < ActiveSupport::CurrentAttributes
    attribute :user
  end

  # The first field reads, then raises; each of the +others+ is a sibling's resolver, which begins meanwhile.
  def abandon(*others)
    schema = SiblingFields.schemas(others.size + 1).last
    resolve = lambda do |index|
      next others[index - 1].call unless index.zero?

      Post.count
      raise Stop
    end
    assert_raises(Stop) { schema.execute("{ #{Array.new(others.size + 1) { |index| "f#{index}" }.join(" ")} }", context: { resolve: resolve }) }
  end

  def test_what_was_taken_is_given_back
    semaphore = Queue.new << :token
    pool = Post.connection_pool
    abandon(lambda {
      token = semaphore.pop(true)
      begin
        Post.count
      ensure
        semaphore << token
      end
    }, lambda {
      connection = pool.checkout
      begin
        connection.select_value("SELECT 1")
      ensure
        pool.checkin(connection)
      end
    })
    assert_equal 1, semaphore.size
    assert_equal 0, pool.stat[:busy] - (pool.active_connection? ? 1 : 0)
  end

  def test_a_subscriber
    seen = []
    abandon(-> { ActiveSupport::Notifications.subscribed(->(*) { seen << 1 }, "sql.active_record") { Post.count; Post.count } })
    seen.clear
    Post.count
    assert_empty seen
  end

  # The last first, and each once.
  def test_in_which_order
    ended = []
    reading = lambda do |index|
      Post.count
    ensure
      ended << index
    end
    abandon(*[1, 2, 3].map { |index| -> { reading.call(index) } })
    assert_equal [3, 2, 1], ended
  end

  # What `ensure` reads goes at once, and brings nothing along that siblings were waiting for.
  def test_ensure_that_reads
    counts = []
    read = lambda {
      begin
        User.count
      ensure
        counts << Post.where(id: 1).count
      end
    }
    bursts = WireCounter.events("burst.pipeloader") { abandon(read, read, -> { Author.count }) }
    assert_equal [1, 1], counts
    refute_includes bursts.drop(1).flat_map { |it| it[:reads] }.join, "authors"
  end

  def test_ensure_that_writes
    abandon(lambda {
      begin
        User.count
      ensure
        Post.where(id: 1).update_all(title: "written")
      end
    }, -> { Author.count })
    assert_equal "written", Post.find(1).title
  ensure
    Post.where(id: 1).update_all(title: "post 1")
  end

  # `rescue` isn't asked, and nobody but Rails is told of what `ensure` raises.
  def test_what_ensure_raises
    rescued, reported = [], []
    subscriber = Object.new
    subscriber.define_singleton_method(:report) { |error, handled:, source:, **| reported << [error.message, handled, source] }
    ActiveSupport.error_reporter.subscribe(subscriber)
    abandon(lambda {
      begin
        Post.count
      rescue StandardError => e
        rescued << e
      ensure
        raise "in vain"
      end
    }, lambda {
      begin
        Post.count
      ensure
        rescued << :ended
      end
    })
    assert_equal [:ended], rescued
    assert_equal [[true, "pipeloader"]], reported.map { |it| it.drop(1) }
    assert_match(/in vain/, reported.first.first)
  ensure
    ActiveSupport.error_reporter.unsubscribe(subscriber)
  end

  # Who rescues that goes on; but nothing else begins.
  def test_a_resolver_that_goes_on
    said = []
    others = Array.new(2) do
      lambda do
        begin
          Post.count
        ensure
          raise "in vain"
        end
      rescue StandardError
        said << :rescued
      end
    end
    limited = Schemas.make(query: SiblingFields.schemas(9).last.query, mutation: nil, pipeloader: { fiber_limit: 6 }).last
    resolve = lambda do |index|
      said << index
      next others[index - 1].call if index.between?(1, 2)

      Post.count
      raise Stop
    end
    assert_raises(Stop) { limited.execute("{ #{Array.new(9) { |index| "f#{index}" }.join(" ")} }", context: { resolve: resolve }) }
    begun = said.take_while { |it| it.is_a?(Integer) }
    assert_operator begun.size, :<, 9
    assert_equal begun, said.grep(Integer)
    assert_includes said, :rescued
  end

  # Whatever `ensure` raises: what leaves is what has left, and all others end, too.
  def test_what_is_no_standard_error
    ended = []
    failing = lambda { |error|
      begin
        Post.count
      ensure
        raise error
      end
    }
    abandon(lambda {
      begin
        Post.count
      ensure
        ended << 1
      end
    }, -> { failing.call(NotImplementedError) }, -> { failing.call(SystemExit) })
    assert_equal [1], ended
  end

  # In `ensure` nobody waits for others, whatever these do.
  def test_ensure_that_writes_in_a_block
    abandon(lambda {
      Pipeloader.gather do |gathering|
        3.times { |index| gathering.async { Post.where(id: index).count } }
        begin
          Post.count
        ensure
          Post.where(id: 1).update_all(title: "written")
        end
      end
    })
    assert_equal "written", Post.find(1).title
  ensure
    Post.where(id: 1).update_all(title: "post 1")
  end

  # Under a fiber scheduler the fibers of a dataloader are its own all the same.
  def test_under_a_fiber_scheduler
    ended = []
    FiberScheduler.run do
      abandon(lambda {
        begin
          Post.count
        ensure
          ended << Post.count
        end
      })
    end
    assert_equal [12], ended
  end

  # What they see, and what they assign.
  def test_dynamic_state
    seen = []
    abandon(lambda {
      Current.user = 7
      begin
        Post.where(id: 1).scoping { Post.count }
      ensure
        seen << Current.user << Post.count
        Current.user = 8
      end
    }, lambda {
      begin
        Current.set(user: 3) { Post.count }
      ensure
        seen << Current.user
      end
    })
    assert_equal [nil, 7, 12], seen
    assert_nil Current.user
  end

  def test_blocks_of_a_map
    ended = []
    abandon(lambda {
      Pipeloader.map([1, 2]) do |index|
        Post.where(id: index).count
      ensure
        ended << index
      end
    })
    assert_equal [1, 2], ended.sort
  end

  # A query that a resolver executes: only its own.
  def test_an_inner_query
    ended = []
    inner = SiblingFields.schemas(2).last
    read = lambda { |name|
      begin
        Post.count
      ensure
        ended << name
      end
    }
    schema = SiblingFields.schemas(2).last
    failing = lambda { |index|
      next read.call(:inner) if index == 1

      Post.count
      raise Stop
    }
    results = []
    schema.execute("{ f0 f1 }", context: { resolve: lambda { |index|
      next results << read.call(:outer).size if index == 1

      begin
        inner.execute("{ f0 f1 }", context: { resolve: failing })
      rescue Stop
        results << ended.dup
      end
    } })
    assert_includes results, [:inner]
    assert_equal %i[inner outer], ended.sort
  end

  # Whatever strikes the thread.
  def test_a_thread_that_is_killed
    ended, waiting = Queue.new, Queue.new
    schema = SiblingFields.schemas(2).last
    thread = Thread.new do
      schema.execute("{ f0 f1 }", context: { resolve: lambda { |index|
        begin
          Post.count
          waiting << 1 && sleep if index.zero?
          Post.count
        ensure
          ended << index
        end
      } })
    ensure
      ActiveRecord::Base.connection_handler.clear_active_connections!
    end
    waiting.pop
    thread.kill.join
    assert_equal [0, 1], Array.new(ended.size) { ended.pop }.sort
  end
end
