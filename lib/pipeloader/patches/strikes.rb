# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: Thread (Ruby's own)
    # Since:: Ruby 3.1
    # Why no public seam does it:: Ruby doesn't tell an exception that another thread raises here (Timeout, Puma, rack-timeout)
    #   from one that code has raised. SafeExecution doesn't repeat an execution that another thread has ended.
    # Falls through when:: never: it takes note, and raises.
    module Strikes
      def raise(...)
        Attempt.strike(self)
        super
      end
    end
  end
end
