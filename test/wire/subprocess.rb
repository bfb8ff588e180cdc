# frozen_string_literal: true

# For tests whose subject is a whole process: its memory, or that none of its threads can go on.
module Subprocess
  KILOBYTE = 1024

  private

  # Runs the block in a process of its own, which shares nothing with this one but its beginnings.
  #
  # @return what it returns
  def in_process
    ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
    ActiveRecord::Base.connection_handler.clear_all_connections!(:all)
    reader, writer = IO.pipe
    writer.binmode
    child = fork do
      reader.close
      result = begin
        yield
      rescue Exception => e # rubocop:disable Lint/RescueException
        "#{e.class}: #{e.message}\n#{e.backtrace.first(15).join("\n")}"
      end
      Marshal.dump(result, writer)
      writer.close
      exit!(0)
    end
    writer.close
    result = Marshal.load(reader)
    result.is_a?(String) ? flunk(result) : result
  ensure
    reader.close
    # One that hangs has said nothing.
    Process.kill(:KILL, child) unless result
    Process.wait(child)
    # ActiveRecord 8.1 turns no query cache on while a pool has no connection.
    ActiveRecord::Base.connection_pool.with_connection { |connection| connection.select_value("SELECT 1") }
  end

  # Kilobytes of memory that this process had at most.
  def peak
    skip "no /proc here" unless File.readable?("/proc/self/status")

    File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1].to_i
  end

  # @return [Integer] kilobytes that it has now
  def reset_peak
    GC.start
    File.write("/proc/self/clear_refs", "5")
    peak
  end
end
