# frozen_string_literal: true

require "pipeloader/report/call_site"
require "pipeloader/report/read_loop"

module Pipeloader
  # Raises where a response reads one by one what could be read together. Two things are found:
  #
  # - A field's reads can't wait for others (a lock, a transaction, …), and it reads for a second object of the same place.
  # - A resolver, or a source, reads in a loop: the same SQL, for one after the other of at least three rows that an earlier read
  #   of the response has brought, where none needs what the one before has brought.
  #
  # Limits: see ReadLoop. Left alone are reads on threads and fibers that a resolver starts; and on the Interpreter, those of a
  # multiplex, and of queries in queries, as it isn't known which field of which query is at it.
  class Strict
    KEY = :pipeloader_strict
    CALL = :pipeloader_strict_call
    SQL = "sql.active_record"
    UNWATCHED = %w[SCHEMA TRANSACTION].freeze
    # Of any thread, and any fiber.
    LISTENING = Listening.new(SQL) { current }
    private_constant :KEY, :CALL, :SQL, :UNWATCHED, :LISTENING

    # A read that ActiveRecord has been asked for; what has become of it, is told by events. sql: nil where nothing was sent.
    # burst: nil where it was sent by itself.
    Call = Struct.new(:sql, :binds, :params, :burst) do
      def tell(payload)
        params = payload[:type_casted_binds]
        self.sql = payload[:sql]
        self.binds = payload[:binds]
        self.params = params.respond_to?(:call) ? params.call : params
        self.burst = payload.dig(:pipeloader, :burst)
      end
    end
    private_constant :Call

    class << self
      # @return [Strict, nil] nil where nobody is strict
      def current = Fiber[KEY]

      # Yields. In a block that is strict already, it is the outer one that is.
      def around(&) = current ? yield : new.around(&)
    end

    def initialize
      @courses = {}.compare_by_identity # {Response => Course}
    end

    # Responses are executed as if for the first time, see Measured: what is found doesn't depend on what was read ahead.
    def around(&block)
      Fiber[KEY] = self
      LISTENING.during(->(*, payload) { heard(payload) }) { Measured.by(self, &block) }
    ensure
      Fiber[KEY] = nil
    end

    # See Measured.
    def begun(_queries) = nil

    # Yields, to read.
    #
    # @yieldreturn [ActiveRecord::Result, nil]
    # @raise [StrictError]
    def read(fiber)
      outer, Thread.current[CALL] = Thread.current[CALL], call = Call.new
      result = yield
      course(fiber).add(call, result, fiber) if call.sql && result.is_a?(ActiveRecord::Result)
      result
    ensure
      Thread.current[CALL] = outer
    end

    private

    def course(fiber) = @courses[fiber.response] ||= Course.new

    def heard(payload)
      return if payload[:cached] || UNWATCHED.include?(payload[:name])

      if (call = Thread.current[CALL])
        call.tell(payload)
      elsif (fiber = ResolverFiber.current)
        course(fiber).forget
      end
    end

    # What one response has read so far.
    class Course
      IN_TRANSACTION = ["inside a transaction that a resolver has begun",
                        "Read before it begins, or begin it around the whole response."].freeze
      IN_LOCK = ["while its resolver holds a lock (a Mutex or a Monitor)", "Read before the lock is taken."].freeze
      AT_ONCE = ["where its resolver may not wait (Pipeloader.without_parking, Timeout.timeout, behind SET or an advisory lock)",
                 "Read before that."].freeze
      IN_LOOP = ["in a loop",
                 "Read for all of them before the loop: `preload` the association, or ask by `where(column: values)`."].freeze
      private_constant :IN_TRANSACTION, :IN_LOCK, :AT_ONCE, :IN_LOOP

      def initialize
        @alone = {} # {[place, SQL] => the object that it was read for}
        @loops = {} # {[fiber's id, place, object, SQL] => ReadLoop}
        @results = []
      end

      # Something was sent that may have written: what is read from here on, can't have been read before.
      def forget = [@alone, @loops].each(&:clear)

      # @raise [StrictError]
      def add(call, result, fiber)
        place, object = where(fiber)
        return if place.nil?

        if (reason = why(fiber))
          check_alone([place, call.sql], object, reason)
        else
          check_loop([fiber.__id__, place, object, call.sql], call, result)
        end
      ensure
        @results << result
      end

      private

      # On the Interpreter a path, on Execution::Next a step and its object; of a source, itself.
      #
      # @return [Array(Object, Object), nil] what is the same for all objects of a field, and what tells them apart
      def where(fiber)
        if (step = fiber.job&.step)
          [step.__id__, fiber.subject.__id__]
        elsif (state = Asker.sole_state)
          path = [*state.current_result&.path, state.current_result_name]
          path.any? ? [path.grep(String), path] : [Asker.source&.__id__, nil]
        else
          [Asker.source&.__id__, nil]
        end
      end

      # Why a read of +fiber+ can't wait for others.
      #
      # @return [Array(String, String), nil] and what to do; nil if it can
      def why(fiber)
        if fiber.response.in_new_transaction? then IN_TRANSACTION
        elsif fiber.parking.locks.positive? then IN_LOCK
        elsif !fiber.parks? then AT_ONCE
        end
      end

      def check_alone(key, object, reason)
        return if object.nil?

        fail!(key.last, "for one object after the other, #{reason.first}", reason.last) if @alone.fetch(key, object) != object
        @alone[key] = object
      end

      def check_loop(key, call, result)
        return unless Read.pure_text?(call.sql)

        reads = @loops[key] ||= ReadLoop.new(@results.size)
        fail!(call.sql, "one row after the other, #{IN_LOOP.first}", IN_LOOP.last) if reads.add?(call, result, @results)
      end

      def fail!(sql, how, advice)
        site = CallSite.current
        raise StrictError, <<~TEXT.chomp
          #{site.field || "A resolver"} reads #{how}, each by a round trip of its own#{": #{site.line}" if site.line}
            #{sql.squish}
          #{advice}
        TEXT
      end
    end
    private_constant :Course
  end
end
