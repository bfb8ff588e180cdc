# frozen_string_literal: true

require_relative "../wire/wire_case"

# `Thread.handle_interrupt` in user code: Ruby keeps its masks in one stack per thread, whichever fiber pushed and pops.
class MasksTest < WireCase
  def setup
    super
    connect_gated
  end

  # A fiber that is abandoned pops nothing.
  def test_a_mask_ends_with_its_response
    thread = in_thread do
      schema(true, 2).execute("{ f0 f1 }", context: { resolver: lambda { |index|
        index == 1 ? raise(Hang, "ends it at once") : Thread.handle_interrupt(Stop => :never) { GatedPost.find(1) }
      } })
    rescue Hang
      masked?
    end
    refute thread.value, "the thread's next request can't be interrupted"
  end

  # In the order of a serial run: each sees its own.
  def test_a_mask_is_its_own_fibers
    thread = in_thread do
      resolve(true, 4) do |index|
        next [GatedPost.find(index + 1).title, masked?] if index.even?

        inside = Thread.handle_interrupt(Stop => :never) { [GatedPost.find(index + 1).title, masked?] }
        [*inside, masked?]
      end
    end
    assert_equal [["post 1", false], ["post 2", true, false], ["post 3", false], ["post 4", true, false]], thread.value
  end

  private

  # Whether this thread keeps a Stop waiting.
  def masked?
    thread = Thread.current
    striker = Thread.new { thread.raise(Stop, "now") }
    Thread.pass while striker.alive? # (#join lets siblings go on)
    pending = Thread.pending_interrupt? # (asked for a class, Ruby 3.1 crashes)
    Thread.handle_interrupt(Stop => :immediate) { Thread.pass } # let in what waits
    pending
  rescue Stop
    pending || false
  end
end
