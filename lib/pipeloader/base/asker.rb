# frozen_string_literal: true

module Pipeloader
  # The field that a plan reads for. Query log tags, and subscribers of `sql.active_record`, find what they would find if
  # graphql-ruby itself had come to that field: GraphQL::Current names it and no source, and its resolver method is among the
  # callers, if that is where ActiveRecord would read.
  #
  # Limits: of several fields that share a statement it is the first that asked. What is taken along by another field's read has
  # that one's resolver method among its callers, too.
  class Asker
    # Where GraphQL::Current looks: the Interpreter's states by query, and if there are none, Execution::Next's field.
    STATES = :__graphql_runtime_info
    FIELD = :__graphql_current_field
    SOURCE = :__graphql_current_dataloader_source
    # Thrown by a Record.
    READ = :pipeloader_read
    private_constant :STATES, :FIELD, :SOURCE, :READ

    # Stands for the record of which a resolver method asks something: that is when it reads.
    class Record < BasicObject
      #: (^() -> untyped) -> void
      def initialize(read)
        @read = read
      end

      def method_missing(*) = ::Kernel.throw(READ, @read.call)
    end
    private_constant :Record

    class << self
      # Whoever graphql-ruby is at.
      def current = new(current_field)

      #: () -> GraphQL::Schema::Field?
      def current_field = (state = state()) ? state.current_field : Fiber[FIELD]

      # Of the query that GraphQL::Current takes for the current one.
      #
      #: () -> GraphQL::Execution::Interpreter::Runtime::CurrentState?
      def state = Fiber[STATES]&.values&.first

      # The same where there is one query alone, so that it must be the current one.
      def sole_state = (state if Fiber[STATES]&.size == 1)

      # @return [GraphQL::Dataloader::Source, nil] that is fetching
      def source = Fiber[SOURCE]
    end

    # @param field [GraphQL::Schema::Field, nil]
    # @param type [Class, nil] object type whose +method+ would read; nil where graphql-ruby reads what is returned
    # @param method [UnboundMethod] of which it is known that it asks the record before its arguments or the context are needed
    def initialize(field, type = nil, method = nil)
      @field = field
      @type = type
      @method = method
      @arguments = method.parameters.filter_map { |kind, name| [name, nil] if kind == :keyreq }.to_h if type
    end

    alias inspect to_s

    # Yields, to read.
    def read(&block)
      source, Fiber[SOURCE] = Fiber[SOURCE], nil
      named(Asker.state) { @type ? below_method(block) : yield }
    ensure
      Fiber[SOURCE] = source
    end

    private

    def named(state)
      before = state ? state.current_field : Fiber[FIELD]
      state ? state.current_field = @field : Fiber[FIELD] = @field
      yield
    ensure
      state ? state.current_field = before : Fiber[FIELD] = before
    end

    # Its object is nobody else's, and has a record alone. A method that asks the context first raises, as there is none: what
    # it would read is read without the method among the callers.
    def below_method(read)
      begun = false
      object = @type.allocate
      object.instance_variable_set(:@object, Record.new(-> { (begun = true) && read.call }))
      catch(READ) do
        begin
          @method.bind_call(object, **@arguments)
        rescue StandardError
          raise if begun
        end
        read.call
      end
    end
  end
end
