# frozen_string_literal: true

# Run in the generated application by `bin/rails runner`: writes what holds for its schema, and which lines a request has in the log,
# before and after code is reloaded, to the file that ANSWERS names, as JSON.

class Settings
  QUERY = "{ posts { title user { name } comments { body } } }"

  def all
    trips, lines = Array.new(2) { seen.tap { Rails.application.reloader.reload! if Rails.application.config.reloading_enabled? } }.transpose
    { trips: trips, enabled: Pipeloader.enabled, log: Pipeloader.log, lines: lines }
  end

  private

  # Asked twice: the first time ActiveRecord wants to know of the tables, too.
  def seen
    BlogSchema.execute(QUERY)
    ActiveRecord::Base.connection_pool.clear_query_cache
    lines = StringIO.new
    broadcast = ActiveSupport::Logger.new(lines, level: Logger::DEBUG)
    Rails.logger.broadcast_to(broadcast)
    BlogSchema.execute(QUERY)
    Rails.logger.stop_broadcasting_to(broadcast)
    [BlogSchema.pipeloader_options[:trips], told(lines.string.gsub(/\e\[\d*m/, ""))]
  end

  # Words of lines, in order; those of many statements once.
  def told(text)
    words = text.scan(/^  (?:(Burst|Pipeloader:) |\w+ (Load) )/).flatten.compact
    Pipeloader.log == :bursts && Pipeloader.enabled ? words : words.uniq.sort
  end
end

File.write(ENV.fetch("ANSWERS"), JSON.generate(Settings.new.all))
