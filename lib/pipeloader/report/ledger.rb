# frozen_string_literal: true

module Pipeloader
  # What a block asks of its databases: round trips, statements and rows, and who asks for them. It hears what ActiveRecord and
  # Pipeloader tell ActiveSupport::Notifications on this thread; so it counts alike with Pipeloader, without it, and outside of
  # GraphQL.
  #
  # A burst is one round trip, also if it goes to several connections at the same time. What ActiveRecord sends by itself, is one
  # for each statement. Not counted: what the query cache answers, what is asked about the schema, and BEGIN, COMMIT and the like.
  class Ledger
    SQL = "sql.active_record"
    UNCOUNTED = %w[SCHEMA TRANSACTION].freeze
    LISTENING = Listening.new(Burst::EVENT, SQL) { Thread.current }.tap(&:subscribe)
    private_constant :SQL, :UNCOUNTED, :LISTENING

    # position: of its burst in the response, nil without one. sql: {"SELECT …" => how many reads}.
    # asked: {CallSite => how many reads}. work: what was executed, nil outside of GraphQL; operation: its name
    Trip = Struct.new(:position, :connections, :began, :ended, :statements, :rows, :sql, :asked, :work, :operation,
                      keyword_init: true) do
      # True if a burst went at the same time, to another connection.
      def beside?(connection, position, began)
        self.position == position && began < ended && connections.none? { |it| it.equal?(connection) }
      end

      def reads = sql.values.sum
      def milliseconds = ended - began
    end

    # @return [Array<Trip>] in the order in which they were made
    attr_reader :trips

    # @return [Array<GraphQL::Query>] that were executed with Pipeloader
    attr_reader :queries

    # @param explains [Boolean] whether #explanations are wanted
    def initialize(explains: false, trips: [])
      @explains = explains
      @trips = trips
      @queries = []
      @alone = [] # who asks for the read that is being sent alone
    end

    # Yields, once.
    #
    # @return what the block returns
    def record
      start
      yield
    ensure
      stop
    end

    def start
      take_first_alias
      @finish = LISTENING.begin_with(method(:heard))
      Measured.add(self)
    end

    def stop
      Measured.remove(self)
      @finish&.call
    end

    # What each execution of a named operation has taken, one after the other.
    #
    # @return [Array<Array(String, Ledger)>]
    def executions
      @trips.select { |trip| trip.operation.present? }.group_by { |trip| trip.work.__id__ }
            .map { |_, trips| [trips.first.operation, Ledger.new(trips: trips)] }
    end

    def round_trips = @trips.size
    def statements = @trips.sum(&:statements)
    def rows = @trips.sum(&:rows)

    # What became of each field of the queries.
    #
    # @return [Array<Explanation>]
    def explanations = @queries.map { |query| Explanation.new(query, Witness.of(query), [], []) }

    # A response begins, see Measured.
    def begun(queries)
      queries.grep(GraphQL::Query).each do |query|
        @queries |= [query]
        Witness.watch(query) if @explains && Witness.of(query).nil?
      end
    end

    private

    # A new connection's first alias asks the server how long names may be, and would take along what is gathered: which test
    # finds the connection new, is chance.
    def take_first_alias = (ActiveRecord::Base.with_connection(&:table_alias_length) if ActiveRecord::Base.connected?)

    def heard(name, began, ended, _id, payload)
      times = [began * 1000, ended * 1000]
      name == SQL ? statement(*times, payload) : burst(*times, payload)
    end

    # Times are in milliseconds.
    def burst(began, ended, payload)
      trip = @trips.last
      connection, position = payload.values_at(:connection, :position)
      trip = add(began, ended, position) unless trip&.beside?(connection, position, began)
      trip.connections << connection
      trip.ended = ended
      trip.statements += payload[:statements]
      trip.rows += payload[:rows]
      payload[:reads].each { |read| count(trip.sql, read.sql) }
      count(trip.asked, @alone.shift) until @alone.empty?
    end

    # A read that a burst has brought is heard of when its fiber goes on, which knows its field; one that goes alone, before its
    # burst is over.
    def statement(began, ended, payload)
      return if payload[:cached] || UNCOUNTED.include?(payload[:name])

      return @alone << CallSite.current if ResolverFiber.current&.delivery&.lone?

      if (brought = payload[:pipeloader])
        trip = @trips.reverse_each.find { |it| it.position == brought[:burst] }
      else
        trip = add(began, ended, nil)
        trip.statements = 1
        trip.rows = payload[:row_count].to_i
        count(trip.sql, payload[:sql])
      end
      count(trip.asked, CallSite.current) if trip
    end

    def add(began, ended, position)
      trip = Trip.new(position: position, connections: [], began: began, ended: ended, statements: 0, rows: 0, sql: {}, asked: {},
                      work: Host.current.multiplex, operation: GraphQL::Current.operation_name)
      @trips << trip
      trip
    end

    def count(tally, key) = tally[key] = tally.fetch(key, 0) + 1
  end
end
