# frozen_string_literal: true

module Pipeloader
  # Records that are there, what they are expected to be asked for, and what was looked up along with them.
  class Arrival
    # @return [Forecast] by which they have come
    attr_reader :forecast

    # @return [Array<ActiveRecord::Base>]
    attr_reader :records

    alias inspect to_s

    # @param link [AheadLink, nil] of the forecast; nil where all is read level by level
    # @param followers [Followers, nil]
    def initialize(forecast, records, link = nil, followers = nil)
      @forecast = forecast
      @records = records
      @link = link
      @followers = followers
    end

    # The place that they go on to.
    def goal = @forecast.goal

    # @return [AheadLink, nil] of an association of theirs
    def link_to(forecast) = @link&.to(forecast)

    # @param link [AheadLink, nil]
    # @return [Follower, nil] by which its rows have come
    def follower(link) = @followers&.[](link)
  end
end
