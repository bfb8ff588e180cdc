# frozen_string_literal: true

require "digest"
require "securerandom"

module Pipeloader
  # An execution that is shown burst by burst. Few are: a burst is heard of only for these (see Recorder#showing), and texts are
  # cut and counted while it goes on, but masked when somebody looks.
  class RecordedExecution
    # Of one execution; of one burst; characters of each.
    MOST_BURSTS = 50
    MOST_TEXTS = 20
    LONGEST_TEXT = 2_000
    # Names of statements are made with it, so that nobody can try which values a masked one has.
    SALT = SecureRandom.hex
    private_constant :MOST_BURSTS, :MOST_TEXTS, :LONGEST_TEXT, :SALT

    # pool: of its connection. texts: [["SELECT …", true if it was cut, values or nil, how many reads], …], the most frequent ones
    SeenBurst = Struct.new(:began, :ended, :lane, :reads, :statements, :rows, :pool, :texts, keyword_init: true)

    # @return [Float, nil] milliseconds to the server and back, as the latest burst's pool has measured
    attr_reader :distance

    # @return [Float] seconds, when it was over
    attr_accessor :ended

    # True if values are shown.
    attr_reader :binds

    # @param binds [Boolean] whether values are shown
    def initialize(binds)
      @binds = binds
      @count = 0
      @bursts = []
    end

    # @param began, ended [Float] seconds
    # @param payload [Hash] of Burst's event
    def burst(began, ended, payload)
      @count += 1
      @distance = payload[:connection].pipeloader_session.distance.to_f || @distance
      return if @bursts.size >= MOST_BURSTS

      @bursts << SeenBurst.new(began: began, ended: ended, lane: payload[:lane] || false, reads: payload[:reads].size,
                               statements: payload[:statements], rows: payload[:rows].to_i, pool: payload[:connection].pool,
                               texts: texts(payload[:reads]))
    end

    def bytes = @bursts.sum { |burst| 200 + burst.texts.sum { |text, _, values| text.bytesize + values.to_s.bytesize + 80 } }

    #     {milliseconds: 12.3, waited: 7.8, left_out: 0,
    #      bursts: [{at: 0.0, milliseconds: 1.2, lane: false, reads: 12, statements: 1, rows: 12,
    #                sql: [{id: "0123456789abcdef", text: "SELECT …", reads: 12}]}]}
    def to_h
      first = @bursts.map(&:began).min || @ended
      bursts = @bursts.sort_by(&:began)
      { milliseconds: milliseconds(@ended - first), waited: milliseconds(waited(bursts)), left_out: @count - @bursts.size,
        bursts: bursts.map { |burst| told(burst, first) } }
    end

    # @param id [String] of a statement that #to_h tells
    # @return [QueryPlan, nil]
    def plan(id)
      @bursts.each do |burst|
        burst.texts.each { |text, cut| return QueryPlan.new(text, burst.pool, values: @binds) if id == name(text, cut) }
      end
      nil
    end

    private

    # @return [Float] seconds in which any of them was on its way: some are at the same time
    def waited(bursts)
      over = -Float::INFINITY
      bursts.sum(0.0) do |burst|
        from, over = [burst.began, over].max, [burst.ended, over].max
        [over - from, 0.0].max
      end
    end

    def told(burst, first)
      { at: milliseconds(burst.began - first), milliseconds: milliseconds(burst.ended - burst.began), lane: burst.lane,
        reads: burst.reads, statements: burst.statements, rows: burst.rows,
        sql: burst.texts.map { |*text, reads| { id: name(*text), text: shown(*text), reads: reads } } }
    end

    # @return [String, nil] nil for one that can't be planned
    def name(text, cut, *) = (Digest::SHA256.hexdigest("#{SALT}#{text.b}")[0, 16] if !cut && QueryPlan.of?(text))

    # Cut now, as to look through a text of megabytes takes long.
    def texts(reads)
      most = reads.group_by(&:text).max_by(MOST_TEXTS) { |_, same| same.size }
      most.map { |text, same| [text[0, LONGEST_TEXT], text.size > LONGEST_TEXT, (values(same.first) if @binds), same.size] }
    end

    # A literal that is cut is masked to the end.
    def shown(text, cut, values)
      "#{@binds ? Masked.utf8(text) : Masked.sql(text)}#{values}#{" …" if cut}"
    end

    def values(read) = ("  -- #{Masked.utf8(read.params.inspect)[0, LONGEST_TEXT]}" if read.params.any?)

    def milliseconds(seconds) = (seconds * 1000).round(3)
  end
end
