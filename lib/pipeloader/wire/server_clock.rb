# frozen_string_literal: true

module Pipeloader
  # Measures how long the server works on the statements of one Pipeline: from one answer to the next. Of answers that come
  # together only the first counts, since that is the one that was waited for.
  #
  # Limits: the first answer of a pipeline has also been on its way, which makes it look slow where the network takes that long;
  # behind another statement it is measured again.
  class ServerClock
    #: (ServerTimes) -> void
    def initialize(times)
      @times = times
    end

    # Statements have been sent, and none before them.
    def start = @at = now

    # What has come is about to be read.
    def listen = @listening = true

    #: (Statement) -> void
    def answered(statement)
      at, @at = @at, now
      statement.tell_time(@at - at, @times) if @listening
      @listening = false
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
  end
end
