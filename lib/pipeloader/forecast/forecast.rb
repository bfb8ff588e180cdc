# frozen_string_literal: true

module Pipeloader
  # What code of the application's asks of the records that come to one place of a document, or that an association of those
  # brings: associations, and other reads. Learned from executions before.
  class Forecast
    include Trust

    # Associations of one forecast, and how many levels of them are below one another.
    MOST = 16
    DEEP = 5
    private_constant :MOST, :DEEP

    # @return [ActiveRecord::Reflection::AbstractReflection, nil] by which the records come; nil where a field brings them
    attr_reader :reflection

    # @return [Questions] what is read for each of these records
    attr_reader :questions

    alias inspect to_s

    # @param forecasts [Forecasts] of the document
    def initialize(forecasts, reflection = nil, depth = 0)
      @forecasts = forecasts
      @reflection = reflection
      @keys = Array(reflection&.chain&.last&.join_foreign_key)
      @depth = depth
      @below = {}.compare_by_identity # {reflection => Forecast}
      @questions = Questions.new
      @goal = self
    end

    # @return [Forecast] of the place that these records go on to; itself, if there is none
    attr_reader :goal

    # "Comment.commenter"
    def name = "#{@reflection.active_record.name}.#{@reflection.name}"

    # True if these records will be asked for anything.
    def expects? = (@questions.any? || (!@below.empty? && @below.values.any?(&:counts?))) && !@forecasts.worthless?

    # @return [Array<Forecast>] of the associations that these records will be asked for
    def expected = @below.values.select(&:counts?)

    # @return [Forecast, nil] of an association of these records; nil where there are too many
    def below(reflection)
      return @below[reflection] if @below.key?(reflection) || @depth == DEEP || @below.size == MOST

      @below[reflection] = Forecast.new(@forecasts, reflection, @depth + 1)
    end

    # All that these records were ever asked for.
    def each_below(&) = @below.values.each(&)

    # True if +record+ could ask for the association: it has it, and a key to find others by.
    def concerns?(record)
      record.class._reflect_on_association(@reflection.name).equal?(@reflection) &&
        @keys.none? { |name| RecordAttributes.value(record, name).nil? }
    end

    # The records that an association brings go on to the place of another +forecast+, if any.
    def lead_to(forecast) = @goal = forecast || self

    # @return [Trips] by how many round trips what is below comes
    def trips = @trips ||= Trips.new

    # @return [Preload, nil] that reads the association for many; nil where ActiveRecord is to find each owner's records itself
    def preload = @forecasts.preload(@reflection)
  end
end
