# frozen_string_literal: true

module Demo
  # Says on standard error what is being done: in a terminal on one line that vanishes, elsewhere in a line per step.
  class Progress
    def initialize(err)
      @err = err
    end

    # detail: what changes within a step; shown in a terminal only.
    def say(step, detail = nil)
      if @err.tty?
        @err.print "\r\e[K#{step} … #{detail}"
      elsif step != @said
        @err.puts "demo: #{step}"
      end
      @said = step
    end

    def clear
      @err.print "\r\e[K" if @err.tty? && @said
      @said = nil
    end
  end
end
