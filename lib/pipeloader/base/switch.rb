# frozen_string_literal: true

module Pipeloader
  # Decides of each execution, as it begins, whether it is with Pipeloader: by `Pipeloader.enabled`, and by PIPELOADER=off in the
  # environment, which wins. What a resolver executes goes along with its own execution.
  #
  # Limits: a multiplex is decided by its first query's context. What a resolver executes on a Thread, a Fiber or in an Enumerator
  # of its own is decided anew.
  module Switch
    # Of a fiber and those of its dataloader: true if what begins there is without Pipeloader, by Pipeloader.disabled or as was
    # decided; false if the decision was for Pipeloader; nil if none was made.
    OFF = :pipeloader_disabled
    WORDS = { "off" => false, "false" => false, "0" => false, "on" => true, "true" => true, "1" => true, "" => true }.freeze
    ALLOWED = "enabled must be true, false, a part of all executions from 0 to 1, or callable, without arguments or with a " \
              "query's context: ->(context) { Flipper.enabled?(:pipeloader, context[:current_user]) }"
    private_constant :OFF, :WORDS, :ALLOWED

    # A callable of the application's, and whether it wants to know the context.
    Callable = Struct.new(:callable, :takes_context) do
      def ask(context) = takes_context ? callable.call(context) : callable.call

      def place = callable.respond_to?(:source_location) ? callable.source_location&.join(":") : callable.class.name
    end
    private_constant :Callable

    @random = Random.new # as an application may count on the sequence of its own
    @told = {} # {class of an error that was logged => true}

    class << self
      # @return [true, false, Numeric, #call] what decides
      attr_reader :enabled

      # @raise [ArgumentError]
      def enabled=(value)
        callable = callable_of(value)
        return if @forced_off

        @told = {}
        @callable = callable
        @enabled = value
      end

      # What the environment says.
      #
      #: (String?) -> void
      def start(word)
        on = WORDS.fetch(word.to_s.downcase) do
          warn "PIPELOADER=#{word} is neither on nor off: Pipeloader is on"
          true
        end
        self.enabled = on
        @forced_off = !on
      end

      # Yields to execute +queries+.
      #
      # @param queries [Array<Hash, GraphQL::Query>] as GraphQL::Schema.multiplex takes them
      def around(queries, &)
        return yield if !Pipeloader.main_ractor? || true.equal?(@enabled) || !Thread.current[OFF].nil?

        on?(queries.first) ? decided(off: false, &) : Pipeloader.disabled(&)
      end

      # Yields, with Pipeloader or without it.
      def decided(off:)
        outer, Thread.current[OFF] = Thread.current[OFF], off
        yield
      ensure
        Thread.current[OFF] = outer
      end

      # True if what begins here is without Pipeloader.
      def off?
        off = Thread.current[OFF]
        off.nil? ? nobody? : off
      end

      # True if nothing is with Pipeloader.
      def nobody? = false.equal?(@enabled) || 0 == @enabled

      private

      def callable_of(value)
        return if value == true || value == false || Options.part?(value)
        raise ArgumentError, "#{ALLOWED}; got #{value.inspect}" unless value.respond_to?(:call) && (takes = arguments_of(value))

        Callable.new(value, takes == :context)
      end

      # @return [Symbol, nil] nil if it can't be asked
      def arguments_of(callable)
        parameters = (callable.respond_to?(:parameters) ? callable : callable.method(:call)).parameters.map(&:first)
        return if parameters.count(:req) > 1 || parameters.include?(:keyreq)

        parameters.intersect?(%i[req opt rest]) ? :context : :nothing
      end

      # What it executes or reads itself, is without Pipeloader.
      def on?(query)
        callable = @callable or return chosen?(@enabled)
        chosen?(Pipeloader.disabled { callable.ask(context_of(query)) })
      rescue StandardError, ScriptError => e
        tell(e, callable)
        false
      end

      def chosen?(value)
        return value unless value.is_a?(Numeric)
        raise ArgumentError, "#{value.inspect} is no part from 0 to 1" unless Options.part?(value)

        @random.rand < value
      end

      def context_of(query) = (query.is_a?(Hash) ? query[:context] : query&.context) || {}

      # Once for each class of error: a store of flags may be away for a while.
      def tell(error, callable)
        return if @told[error.class]

        @told[error.class] = true
        Notice.warn("`enabled` (#{callable.place}) has failed, which counts as off and is logged once: " \
                    "#{error.class}: #{error.message} (#{error.backtrace&.first})")
      end
    end
  end
end
