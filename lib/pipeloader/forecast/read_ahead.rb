# frozen_string_literal: true

module Pipeloader
  # What one response has read before anybody has asked for it. It is handed over once, to code that asks for exactly that.
  # Whatever is written outdates all of it.
  class ReadAhead
    EVENT = "forecast.pipeloader"

    NONE = [].freeze
    private_constant :NONE

    class << self
      # Takes note of records that a field has brought, and reads what resolvers are expected to ask them for.
      #
      # @param values [Array] records, Arrays of them, relations that are loaded, or other things
      # @param selections [Array<GraphQL::Language::Nodes::AbstractNode>] below the field +node+
      def come(values, selections, node, query)
        fiber = ResolverFiber.current
        of(fiber)&.come(values, query, [selections, node], fiber)
      end

      # As above, of values that a block of a Gathering is about to be called with.
      #
      # @param site [Proc, Array<String>] as BlockSite.of
      def come_to_block(values, site)
        fiber = ResolverFiber.current
        of(fiber)&.come_to_block(values, site, fiber)
      end

      # Code is about to be loaded again: blocks may be others.
      def forget = BlockSite.forget

      # True if anything may be read ahead, or learned, on this fiber.
      def forecasts? = possible?(ResolverFiber.current)

      # True if lists of a +query+ are to be read before they come.
      def awaits?(query) = of(ResolverFiber.current)&.awaits?(query) || false

      private

      def of(fiber) = (fiber.response.read_ahead ||= new if possible?(fiber))

      # Under a fiber scheduler others go on wherever a resolver waits, for another process maybe that writes.
      def possible?(fiber)
        !fiber.nil? && fiber.coalesces? && fiber.loader.pipeloader_forecasts? && Fiber.current_scheduler.nil? &&
          !fiber.response.measured?
      end
    end

    alias inspect to_s

    def initialize
      @forecasts = {}.compare_by_identity # {query => Forecasts; nil where nothing is read ahead, or learned}
      @observed = nil # {Forecasts => true}
      @observation = nil
      @held = {}.compare_by_identity # {reflection => {record => Preload::Reader}}
      @answers = {} # {[SQL, parameters] => [Inquiry::Item]}
      @begun = {}.compare_by_identity # {record => {Question => its answer's rows}}
      @line = Line.new
      @version = 0 # how often it was outdated
      @tally = Tally.new
    end

    # See ReadAhead.come.
    #
    # @param ground [GraphQL::Query, BlockSite]
    # @param place [Array] as Forecasts'
    def come(values, ground, place, fiber)
      forecast = forecast(ground, place)
      records = forecast ? records_of(values) : NONE
      @observation&.came(records, forecast) if records.any?
      expects = records.any? && forecast.expects? && fiber.job&.time_limit.nil?
      return unless (expects || @line.any?) && fiber.parks? && fiber.at_rest?

      @line.in_turn(fiber, expects) { read_for(forecast, records, fiber) }
    end

    # See ReadAhead.come_to_block. What a block inside another one's is told by has to do with the outermost one.
    def come_to_block(values, site, fiber)
      site = BlockSite.of(site) or return
      come(values, @site ||= site, [site, values.first.class], fiber)
    end

    # See ReadAhead.awaits?.
    def awaits?(query) = !forecasts(query).nil?

    # See Response#hand_over.
    def hand_over(association, fiber) = (take(association, fiber) unless @observation)

    # See Response#association.
    def association(association, fiber, &block)
      return take(association, fiber) || yield unless @observation

      @observation.association(association, fiber) { take(association, fiber) || block.call }
    end

    # See Response#ahead_of?.
    def waiting?(association)
      holds?(association.owner, association.reflection) && association.instance_variable_get(:@pipeloader_flight).nil?
    end

    # True if the association of a +record+ has been read.
    def holds?(record, reflection) = @held[reflection]&.key?(record) || false

    # Yields for a +read+ to be answered.
    #
    # @yieldreturn [ActiveRecord::Result]
    def around(read, fiber)
      outdate unless read.pure?
      result = yield
      outdate unless read.pure? # something may have been read along with it
      @observation&.answered(read, result, fiber)
      result
    end

    # Answers a +read+ that is about to be sent, if it has been.
    #
    # @return [Boolean] whether it has
    def deliver(read, fiber)
      return false if @answers.empty? || !hands_over?(fiber) || read.adapter.transaction_open?

      item = @answers[[read.text, read.params]]&.shift
      return false unless item && item.read.adapter.equal?(read.adapter)

      @tally.asked(item.question)
      read.deliver(item.read.statement, item.read.position)
      true
    end

    # Something was written, or may have been.
    def outdate
      @version += 1
      @held.clear
      @answers.clear
    end

    # The response has ended, and not by an exception.
    #
    # @param response [Response]
    def over(response)
      @tally.judge
      @forecasts.each_value.first&.ended(response.trips, @tally.any?) if @forecasts.size == 1 && !response.several?
      @observation&.learn
      return unless @tally.any? && ActiveSupport::Notifications.notifier.listening?(EVENT)

      unasked = @held.each_value.sum { |readers| readers.each_value.sum { |reader| reader.records.size } }
      ActiveSupport::Notifications.instrument(EVENT, reads: @tally.to_h, unasked_records: unasked)
    end

    private

    # @return [Forecasts, nil] nil where nothing is read ahead, or learned
    def forecasts(ground) = @forecasts.fetch(ground) { @forecasts[ground] = begin_with(ground) }

    def begin_with(ground)
      forecasts = Forecasts.of(ground) or return
      if forecasts.observe?(BlockSite === ground ? self : ground)
        (@observed ||= {}.compare_by_identity)[forecasts] = true
        @observation ||= Observation.new
      end
      forecasts if @observed&.key?(forecasts) || forecasts.any?
    end

    # @return [Forecast, nil] of a place of which somebody wants to know what comes there
    def forecast(ground, place)
      forecasts = forecasts(ground) or return
      return forecasts.begin_at(place) if @observed&.key?(forecasts)

      forecast = forecasts.at(place)
      forecast if forecast&.expects?
    end

    # A list of which we don't know what it is may have code of its own. To look at what a projection has left out would read it.
    def records_of(values)
      values.flat_map { |value| ActiveRecord::Base === value ? [value] : ReturnedValue.records(value) }
            .select { |value| ReturnedValue.record?(value) && value.instance_variable_get(:@pipeloader_demand).nil? }
    end

    def read_for(forecast, records, fiber)
      forecast.trips.as_said(fiber.trips, records.first.class) do |one|
        read([Arrival.new(forecast, records, (AheadLink.of(forecast) if one))], one, fiber)
      end
    rescue Foreseen # whoever asks for it meets it
      nil
    end

    # @param level [Array<Arrival>]
    # @param one [Boolean] whether by one round trip, where that can be
    def read(level, one, fiber)
      seen, inquiry = {}.compare_by_identity, Inquiry.new(@begun)
      version = @version # also between two waves: what the second would have may have come with the first
      AheadLink::DEEP.times do
        wave = wave(level, inquiry, one, fiber)
        break unless wave.pays?

        wave.send_off(fiber)
        count(wave)
        break unless @version == version

        hold(wave)
        inquiry.answered(wave.items)
        level.each { |arrival| seen[arrival.goal] = true }
        level = wave.brought.reject { |arrival| seen.key?(arrival.goal) }
      end
    end

    def wave(level, inquiry, one, fiber)
      level.each { |arrival| inquiry.add(arrival.goal.questions.expected, arrival.records) }
      Wave.new(level.flat_map { |arrival| aheads(arrival, fiber) }, inquiry.ready(one))
    end

    def aheads(arrival, fiber)
      arrival.goal.expected.filter_map do |below|
        unread = arrival.records.select { |record| below.concerns?(record) && !holds?(record, below.reflection) }
        Ahead.of(below, unread, arrival, fiber) if unread.any?
      end
    end

    def count(wave)
      wave.aheads.each { |ahead| @tally.read(ahead.forecast, ahead.readers.size) }
      wave.items.each { |item| @tally.read(item.question, 1) }
    end

    def hold(wave)
      wave.aheads.each do |ahead|
        held = @held[ahead.forecast.reflection] ||= {}.compare_by_identity
        ahead.read.each { |reader| held[reader.record] = reader }
      end
      wave.items.each { |item| (@answers[[item.read.text, item.params]] ||= []) << item if item.rows }
    end

    def take(association, fiber)
      reader = @held[association.reflection]&.delete(association.owner)
      return unless reader && hands_over?(fiber) && (ahead = reader.ahead).answers?(association, reader, fiber)

      @tally.asked(ahead.forecast)
      association.pipeloader_adopt(reader.records, ahead.dynamic?)
    end

    # Whoever holds a lock wants to see what others have written under it.
    def hands_over?(fiber) = fiber.coalesces? && !fiber.parking.locked? && !fiber.response.in_new_transaction?
  end
end
