# frozen_string_literal: true

module Pipeloader
  # What the engine asks of whoever executes GraphQL queries in this process. Nobody does: these are plain Ruby's answers. With
  # graphql-ruby QueryHost's take their place.
  class Host
    NONE = [].freeze
    private_constant :NONE

    class << self
      # @return [Host] the one that there is
      attr_accessor :current
    end

    # @return [GraphQL::Execution::Multiplex, nil] that is about to be executed here
    def multiplex = nil

    # @return [Array<GraphQL::Query>] of that
    def queries = NONE

    # True for a multiplex with a mutation in it: queries behind it see what it has written, those before it don't.
    def one_by_one? = false

    # @return [Settings, Exception, nil] of its queries, as Settings.known! takes them
    def settings = nil

    # @raise [SettingsError] if its queries may not be a part of +response+
    def check_inner(_response) = nil

    # @return [ReadTransactions, nil] in which its queries read
    def read_transactions = nil

    # True if a job's work is a field of Execution::Next.
    def step?(_work) = false

    ## Which field graphql-ruby is at, see FieldPosition

    # @return [Hash, nil] what the fibers of a run that begins now have in common
    def positions = nil

    # Makes it the current fiber's.
    def adopt(_positions) = nil

    # Yields, and comes back to where it was.
    def keep_position = yield

    # Yields to begin runs that have nothing in common with those around.
    def apart = yield

    # A fiber of a Scheduler begins.
    def begin_fiber = nil

    self.current = new
  end
end
