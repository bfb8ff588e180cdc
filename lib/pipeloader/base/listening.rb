# frozen_string_literal: true

module Pipeloader
  # Hears events while somebody listens, by one subscriber that stays. To subscribe while other threads send events may lock up
  # the process: ActiveSupport's Fanout#subscribe holds its mutex and wants a map's, Fanout#groups_for holds that one and wants
  # the mutex. Where nobody listens, ActiveSupport skips it.
  class Listening
    alias inspect to_s

    # @param events [Array<String>] by name
    # @yieldreturn whose events are heard by who listens: a thread, or ActiveSupport's context
    def initialize(*events, &whose)
      @pattern = events.one? ? events.first : /\A(?:#{Regexp.union(events)})\z/
      @whose = whose
      @heard = {}.compare_by_identity # {whose => [#call]}
      @mutex = Mutex.new
    end

    # It is in place from now on: to be called when the application starts.
    def subscribe
      @mutex.synchronize { @subscription ||= ActiveSupport::Notifications.monotonic_subscribe(@pattern, self) }
    end

    # Yields while +heard+ is called for each event here, innermost listener first.
    #
    # @param heard [#call] (name, began, ended, id, payload), times in seconds of the monotonic clock
    def during(heard)
      finish = begin_with(heard)
      yield
    ensure
      finish&.call
    end

    # As #during, until what is returned is called.
    #
    # @return [Proc]
    def begin_with(heard)
      subscribe
      whose = @whose.call
      @heard[whose] = [heard, *@heard[whose]]
      -> { finish(whose, heard) }
    end

    # ActiveSupport asks before each event.
    def silenced?(_name) = !@heard.key?(@whose.call)

    def call(*event)
      @heard[@whose.call]&.each { |heard| heard.call(*event) }
    end

    private

    def finish(whose, heard)
      others = @heard.fetch(whose, []).reject { |it| it.equal?(heard) }
      others.any? ? @heard[whose] = others : @heard.delete(whose)
    end
  end
end
