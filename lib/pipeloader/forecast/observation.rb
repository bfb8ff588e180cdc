# frozen_string_literal: true

module Pipeloader
  # What one response's code asks of its records: the next one's Forecasts are made of it.
  class Observation
    def initialize
      @forecasts = {}.compare_by_identity # {record => Forecast that it comes under}
      @records = {}.compare_by_identity # {Forecast => records that have come under it}
      @asked = {}.compare_by_identity # {Forecast => {record that has asked => true}}
      @asks = {}.compare_by_identity # {Forecast => {record => [Question::Ask]}}
      @asking = {}.compare_by_identity # {fiber => Forecast of the association that it is about to read}
    end

    # Records have come to a place.
    def came(records, forecast)
      records.each { |record| @forecasts[record] = forecast }
      (@records[forecast] ||= []).concat(records)
    end

    # Yields, for an association to be read. Its records come to a place later, or code asks them for something right away.
    #
    # @yieldreturn [Array<ActiveRecord::Base>]
    def association(association, fiber, &block)
      forecast = @forecasts[owner = association.owner]&.below(association.reflection) or return yield
      (@asked[forecast] ||= {}.compare_by_identity)[owner] = true
      forecast.asker = Asker.current
      asking(forecast, fiber, &block).tap do |records|
        fresh = records.reject { |record| @forecasts.key?(record) }
        came(fresh, forecast) if fresh.any?
      end
    end

    # A +read+ has been answered.
    #
    # @param result [ActiveRecord::Result]
    def answered(read, result, fiber)
      return unless Questions.takes?(read) && !@asking[fiber]&.preload
      return unless (record = subject(fiber)) && (forecast = @forecasts[record])

      ((@asks[forecast] ||= {}.compare_by_identity)[record] ||= []) << Question::Ask.of(read, result)
    end

    # The response has ended.
    def learn
      @records.each do |forecast, records|
        next if records.empty?

        forecast.each_below { |below| below.learn(always_asked?(below, records)) }
        forecast.questions.learn(@asks[forecast] || {}, records)
        forecast.lead_to(goal(forecast, records)) if forecast.reflection
      end
    end

    private

    def asking(forecast, fiber)
      outer, @asking[fiber] = @asking[fiber], forecast
      yield
    ensure
      @asking[fiber] = outer
    end

    # The object whose field's resolver is running.
    def subject(fiber)
      object = fiber.subject || Asker.state&.current_result&.graphql_application_value
      object = object.object if GraphQL::Schema::Object === object
      object if ReturnedValue.record?(object)
    end

    # @return [Forecast, nil] of the place that all +records+ have come to, if they have
    def goal(forecast, records)
      goal = @forecasts[records.first]
      goal if !goal.equal?(forecast) && records.all? { |record| @forecasts[record].equal?(goal) }
    end

    def always_asked?(forecast, records)
      asked = @asked[forecast]
      !asked.nil? && records.all? { |record| asked.key?(record) || !forecast.concerns?(record) }
    end
  end
end
