# frozen_string_literal: true

module Pipeloader
  # One association that is read ahead for some records.
  class Ahead
    attr_reader :forecast

    # @return [Array<Preload::Reader>] the records for which it is read
    attr_reader :readers

    # @return [Array<Preload::Reader>] those for which it has been, with what there is
    attr_reader :read

    alias inspect to_s

    class << self
      # @param records [Array<ActiveRecord::Base>] of an +arrival+
      # @return [Ahead, nil] nil where nobody would read it, or not by what we know
      def of(forecast, records, arrival, fiber)
        preload = forecast.preload
        return if preload.nil? || OpenTransactions.any?(preload.model)

        readers = preload.readers(records, fiber.job)
        return if readers.empty?

        pool = KnownPool.new(preload.model)
        asked = asked(forecast.reflection, readers.first.record, fiber, pool.pool)
        new(forecast, preload, readers, asked, pool, arrival) if asked
      end

      private

      # A scope may raise, when it is asked outside of the block that its resolver calls it in.
      def asked(reflection, record, fiber, pool)
        ask = -> { reflection.association_class.new(record, reflection).pipeloader_read(fiber, pool) }
        begin
          ask.call
        rescue StandardError => e
          raise DoesNotFit.verdict(e, &ask)
        end
      end
    end

    # @param asked [AssociationRead] what ActiveRecord would ask now
    # @param pool [KnownPool] of which database
    def initialize(forecast, preload, readers, asked, pool, arrival)
      @forecast = forecast
      @preload = preload
      @readers = readers
      @asked = asked
      @pool = pool
      @link = arrival.link_to(forecast)
      @growth = Growth.new(@link, nil) if @link&.links&.any?
      @follower = brought_by(arrival.follower(@link))
      @read = []
    end

    # True if it was looked up along with the records.
    def brought? = !@follower.nil?

    # @return [Outcome] as of the look-up
    def brought
      _, keys, asker = wanted
      Outcome.of { asker.read { @follower.rows(keys) } }
    end

    # @return [Array(Lookup, Array, Asker, Growth)]
    def wanted = [*@preload.wanted(@readers, @forecast.asker), @growth]

    # Makes what has been read.
    #
    # @param outcome [Outcome] of the look-up
    def fill(outcome)
      return if outcome.error && !Foreseen.interrupted?(outcome.error) # whoever asks for it meets it

      @preload.fill(@readers, outcome.value)
      @read = @readers.each { |reader| reader.ahead = self }
    end

    # @return [Arrival] of the records that it has brought
    def arrival = Arrival.new(@forecast, @read.flat_map(&:records), @link, @follower ? @follower.below : @growth&.followers)

    # See AssociationRead.
    def dynamic? = @asked.dynamic?

    # True if what has been read for +reader+ is what +association+ would read now.
    def answers?(association, reader, fiber)
      @pool.current? && @asked.equal?(association.pipeloader_read(fiber, @pool.pool)) &&
        @preload.lookup.owners_key.of(association.owner) == reader.key
    end

    private

    # A scope may say something else by now.
    def brought_by(follower) = (follower if follower&.brought?(@preload.lookup) && follower.current?)
  end
end
