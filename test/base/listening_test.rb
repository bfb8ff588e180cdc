# frozen_string_literal: true

require_relative "../support/unit_helper"

class ListeningTest < Minitest::Test
  EVENT = "listening_test.pipeloader"

  def setup
    @listening = Pipeloader::Listening.new(EVENT) { Thread.current }
    @notifier = ActiveSupport::Notifications.notifier
  end

  def sent(payload) = ActiveSupport::Notifications.instrument(EVENT, payload)

  def test_who_listens_hears
    heard = []
    returned = @listening.during(->(name, began, ended, _id, payload) { heard << [name, ended >= began, payload] }) do
      sent(a: 1)
      1
    end
    assert_equal 1, returned
    sent(a: 2)
    assert_equal [[EVENT, true, { a: 1 }]], heard
    refute @notifier.listening?(EVENT)
  end

  def test_inside_one_another
    outer, inner = [], []
    @listening.during(->(*event) { outer << event.last[:a] }) do
      sent(a: 1)
      @listening.during(->(*event) { inner << event.last[:a] }) { sent(a: 2) }
      assert_raises(IOError) { @listening.during(inner) { raise IOError } }
      sent(a: 3)
    end
    assert_equal [[1, 2, 3], [2]], [outer, inner]
    refute @notifier.listening?(EVENT)
  end

  def test_others_do_not
    heard = []
    @listening.during(->(*event) { heard << event.last }) do
      Thread.new { sent(a: 1) }.join
      refute(Thread.new { @notifier.listening?(EVENT) }.value)
      assert @notifier.listening?(EVENT)
    end
    assert_empty heard
  end

  # As who begins in a test's setup, and ends in its teardown.
  def test_from_here_to_there
    outer, inner = [], []
    ends = [outer, inner].map { |heard| @listening.begin_with(->(*event) { heard << event.last[:a] }) }
    sent(a: 1)
    ends.first.call
    sent(a: 2)
    2.times { ends.each(&:call) }
    sent(a: 3)
    assert_equal [[1], [1, 2]], [outer, inner]
    refute @notifier.listening?(EVENT)
  end

  def test_several_events
    names = %w[one.pipeloader two.pipeloader]
    listening = Pipeloader::Listening.new(*names) { Thread.current }
    heard = []
    listening.during(->(name, *) { heard << name }) { [*names, "one_pipeloader", "one.pipeloader.more"].each { |name| ActiveSupport::Notifications.instrument(name) } }
    assert_equal names, heard
  end

  # Fanout's two locks are taken in either order by who subscribes and by who sends: nobody subscribes here but the first.
  def test_subscribes_once
    3.times { @listening.during(->(*) {}) { sent(a: 1) } }
    assert_equal 1, @notifier.all_listeners_for(EVENT).count { |it| it.delegate.equal?(@listening) }
  end
end
