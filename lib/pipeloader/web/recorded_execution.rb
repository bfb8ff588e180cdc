# frozen_string_literal: true

module Pipeloader
  # What one execution has sent so far, burst by burst. It keeps texts and numbers, and neither reads nor rows.
  class RecordedExecution
    # Of one execution; of one burst; characters of each.
    MOST_BURSTS = 50
    MOST_TEXTS = 20
    LONGEST_TEXT = 2_000
    private_constant :MOST_BURSTS, :MOST_TEXTS, :LONGEST_TEXT

    # texts: [["SELECT …", how many reads], …], the most frequent ones
    SeenBurst = Struct.new(:began, :ended, :lane, :reads, :statements, :rows, :texts, keyword_init: true)

    # @return [Integer] of all its bursts
    attr_reader :rows

    # @return [Float, nil] milliseconds to the server and back, as the latest burst's pool has measured
    attr_reader :distance

    # {"Post.author" => {owners: 25, asked: 23}}: what was read ahead
    attr_accessor :ahead

    # True if its bursts are shown one by one.
    def detailed? = @detailed

    def initialize(detailed, binds)
      @detailed = detailed
      @binds = binds
      @rows = @count = 0
      @bursts = []
      @ahead = {}
    end

    # @param began, ended [Float] seconds
    # @param payload [Hash] of Burst's event
    def burst(began, ended, payload)
      @rows += payload[:rows].to_i
      @count += 1
      @distance = payload[:connection].pipeloader_session.distance.to_f || @distance
      return unless @detailed && @bursts.size < MOST_BURSTS

      @bursts << SeenBurst.new(began: began, ended: ended, lane: payload[:lane] || false, reads: payload[:reads].size,
                               statements: payload[:statements], rows: payload[:rows].to_i, texts: texts(payload[:reads]))
    end

    def bytes = @bursts.sum { |burst| 200 + burst.texts.sum { |text, _| text.bytesize + 80 } }

    # The execution is over.
    #
    #     {milliseconds: 12.3, left_out: 0, bursts: [{at: 0.0, milliseconds: 1.2, lane: false, reads: 12, statements: 1, rows: 12,
    #      sql: [{text: "SELECT …", reads: 12}], texts_left_out: 0}]}
    def timeline(ended)
      first = @bursts.map(&:began).min || ended
      { milliseconds: milliseconds(ended - first), left_out: @count - @bursts.size,
        bursts: @bursts.sort_by(&:began).map { |burst| told(burst, first) } }
    end

    private

    def told(burst, first)
      { at: milliseconds(burst.began - first), milliseconds: milliseconds(burst.ended - burst.began), lane: burst.lane,
        reads: burst.reads, statements: burst.statements, rows: burst.rows,
        sql: burst.texts.map { |text, reads| { text: text, reads: reads } } }
    end

    def texts(reads)
      most = reads.group_by(&:text).max_by(MOST_TEXTS) { |_, same| same.size }
      most.map { |text, same| [shown(text, same.first), same.size] }
    end

    # Cut first, as to look through a text of megabytes takes long; a literal that is cut is masked to the end.
    def shown(text, read)
      cut = text.size > LONGEST_TEXT
      text = text[0, LONGEST_TEXT] if cut
      shown = @binds ? "#{Masked.utf8(text)}#{values(read)}" : Masked.sql(text)
      cut ? "#{shown} …" : shown
    end

    def values(read) = ("  -- #{Masked.utf8(read.params.inspect)[0, LONGEST_TEXT]}" if read.params.any?)

    def milliseconds(seconds) = (seconds * 1000).round(3)
  end
end
