# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Query::Context
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a resolver hands something to its field extension by a key of the context,
    #   `context[:search] = id`, and the extension takes it out, `context.delete(:search)`. Siblings use the same key while the
    #   resolver reads. So a field finds what it has set itself until it is over.
    # Falls through when:: no field has set a key in this context, or the current fiber is not a resolver's.
    #
    # Limit: another field finds what was set last before it asks. In a serial run it finds what the fields before it have left.
    module ContextKeys
      # Who has set a key last.
      Setter = Struct.new(:job, :value)
      # In place of a value that a field has set and taken out.
      TAKEN = Object.new.freeze
      UNSPECIFIED = GraphQL::Query::Context::UNSPECIFIED_FETCH_DEFAULT
      private_constant :Setter, :TAKEN, :UNSPECIFIED

      def []=(key, value)
        super
        fiber = ResolverFiber.current
        # Code on a fiber of the application's own sets it for the field that it works for.
        @pipeloader_setters&.delete(key) unless fiber
        return unless (job = fiber&.job)

        (fiber.context_keys![self] ||= {})[key] = value
        (@pipeloader_setters ||= {})[key] = Setter.new(job, value)
      end

      def [](key) = (own = pipeloader_own(key)) ? pipeloader_value(own, key) : super

      # A splat would allocate an Array at each call.
      def fetch(key, default = UNSPECIFIED)
        return super unless (own = pipeloader_own(key))
        return own[key] unless TAKEN.equal?(own[key])
        return default unless UNSPECIFIED.equal?(default)

        block_given? ? yield(self, key) : raise(KeyError.new(key: key))
      end

      def key?(key) = (own = pipeloader_own(key)) ? !TAKEN.equal?(own[key]) : super

      def dig(key, *others)
        return super unless (own = pipeloader_own(key))

        value = pipeloader_value(own, key)
        others.empty? ? value : value&.dig(*others)
      end

      # What a sibling has set, and hasn't taken out yet, isn't there if the sibling comes later. One that comes before has it to
      # itself until it is over.
      def delete(key)
        return (super unless pipeloader_siblings?(key)) unless (own = pipeloader_own(key))

        value = pipeloader_value(own, key)
        super if @provided_values[key].equal?(own[key])
        own[key] = TAKEN
        value
      end

      private

      # @return [Hash, nil] what the current field has set, if it has set +key+
      def pipeloader_own(key)
        return unless @pipeloader_setters&.key?(key)

        own = ResolverFiber.current&.context_keys&.[](self)
        own if own&.key?(key) && !@scoped_context.key?(key)
      end

      def pipeloader_value(own, key) = (value = own[key]).equal?(TAKEN) ? nil : value

      # @return [Boolean] whether a sibling that comes later has set +key+. One that comes before is waited for.
      def pipeloader_siblings?(key)
        job = ResolverFiber.current&.job if @pipeloader_setters && !@scoped_context.key?(key)
        return false unless job && (setter = pipeloader_setter(key))
        return true if setter.job.compare(job).positive?

        ResolverFiber.current.await_turn
        !(setter = pipeloader_setter(key)).nil? && setter.job.compare(job).positive?
      end

      # Whose value is there, and who isn't over.
      def pipeloader_setter(key)
        setter = @pipeloader_setters[key]
        setter if setter && !setter.job.finished? && @provided_values[key].equal?(setter.value)
      end
    end
  end
end
