# frozen_string_literal: true

module Pipeloader
  # Whether a field is resolved, where code of the application's decides that, and looks at nothing but the field and the context:
  # `authorized?` of its field class, and extensions. As the answer is the same for all objects, it is asked once for them.
  class Permit
    # The field isn't resolved, or something else is in its place: graphql-ruby knows what.
    class Refused < DoesNotFit; end

    # The context, as that code asks it: what is there must be known before the code goes on with it.
    class Asked
      # @param values [Array<ContextValue>]
      def initialize(values, context)
        @values = values
        @context = context
      end

      def [](key)
        asked = @values.select { |value| value.source == key }
        return if asked.empty? # by graphql-ruby: it would be what another field is given

        ContextAnswer.verify_all(asked, @context)
        @context[key]
      end

      def dig(key, *others) = self[key]&.dig(*others)

      private

      # By graphql-ruby's own `authorized?`.
      def method_missing(...) = @context.public_send(...)
      def respond_to_missing?(...) = @context.respond_to?(...)
    end

    # What an extension is given in place of what it doesn't look at, and the sign that it has gone on.
    GIVEN = { object: nil, arguments: {}.freeze }.freeze
    ON = Object.new.freeze
    private_constant :Asked, :GIVEN, :ON

    # @param field [GraphQL::Schema::Field]
    # @param extensions [Array<GraphQL::Schema::FieldExtension>] those of its that aren't graphql-ruby's
    # @return [Permit, nil] nil where it isn't known what the code looks at
    def self.of(field, extensions)
      return unless FieldArguments.quiet?(field) && extensions.all? { |it| alone?(it) }

      guard = FieldGuard.new(field)
      contexts = guard.bodies(extensions)&.then { |bodies| Formula.contexts_of(bodies) }
      permit = new(field, extensions, guard, contexts) if contexts
      permit if permit&.plain?
    end

    # True if it does nothing behind the field.
    def self.alone?(extension)
      extension.method(:after_resolve).owner.equal?(GraphQL::Schema::FieldExtension) && extension.added_extras.blank? &&
        Provenance.graphql_alone?(extension.method(:after_resolve))
    end
    private_class_method :alone?

    alias inspect to_s

    # @param guard [FieldGuard] that knows its code
    # @param contexts [Array<ContextValue>] what this asks
    def initialize(field, extensions, guard, contexts)
      @field = field
      @extensions = extensions
      @guard = guard
      @contexts = contexts
    end

    # True if what it has been told itself are values.
    def plain?
      @guard.variables.all? { |object, name| ContextAnswer.plain_through?(object.instance_variable_get(name)) }
    end

    # True if Execution::Next, which gives extensions all objects, would call one otherwise.
    def other_on_next?
      @extensions.any? do |extension|
        kinds = extension.method(:resolve).parameters
        kinds.include?(%i[keyreq object]) || kinds.none? { |kind, name| name == :objects || kind == :keyrest }
      end
    end

    # As Admission's.
    def over? = @guard.watched.any?(&:over?)
    def asks? = true

    # @raise [Refused, DoesNotFit]
    def check(context)
      raise DoesNotFit unless plain? && (!@guard.digs? || Provenance.graphql_alone?(context.class.instance_method(:dig)))

      raise Refused unless given?(context)
    rescue DoesNotFit
      raise
    rescue StandardError => e
      verdict = DoesNotFit.verdict(e) { given?(context) }
      raise DoesNotFit === verdict ? Refused : verdict
    end

    private

    def given?(context)
      asked = Asked.new(@contexts, context)
      ContextAnswer.verify_all(@contexts.reject { |value| value.source.is_a?(Symbol) }, context)
      authorized = @field.authorized?(nil, GIVEN.fetch(:arguments), asked)
      authorized && !context.schema.lazy?(authorized) &&
        @extensions.all? { |extension| extension.resolve(**GIVEN, context: asked) { ON }.equal?(ON) }
    end
  end
end
