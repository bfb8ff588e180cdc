# frozen_string_literal: true

module Pipeloader
  # Which statements of a burst become one: those of one SQL text, between any two that aren't pure; and of those that are left
  # over, which differ but in values that are written into their texts.
  class Coalescing
    # @param session [Session] keeps the Shapes
    def initialize(session)
      @session = session
    end

    # @param statements [Array<Statement>] in the order in which they are sent
    # @return [Array<Statement>] with a Coalesced where the first of its parts was; those that nothing is known of yet are
    #   told to ask
    def call(statements)
      return statements unless worth?(statements)

      @instead = {}.compare_by_identity # {Statement => Coalesced}
      @unknown_types = []
      # Impure statements keep their place among the others.
      statements.slice_when { |one, other| !one.pure? || !other.pure? }.each do |among|
        many, few = among.group_by(&:sql).values.partition { |alike| worth?(alike) }
        many.each { |alike| put_together(alike) }
        lift_literals(few.flatten(1))
      end
      sent = @instead.empty? ? statements : statements.map { |statement| @instead.fetch(statement, statement) }.uniq
      @unknown_types.empty? ? sent : [*sent, TypeLookup.new(@unknown_types.uniq, @session.array_types)]
    end

    private

    def worth?(statements) = statements.size >= Coalesced::WORTH

    def put_together(statements)
      first = statements.first
      sql = first.name ? first.sql : first.text
      shape = @session.shape(sql, first.name)
      if shape then share_out(statements, shape, &:params) if wrappable?(shape)
      else
        first.describe(sql.equal?(first.sql) ? nil : sql)
        put_together_by_guess(statements) if first.name
      end
    end

    # All but the first: it prepares, and what the server says of it then must be what it has said to another connection.
    def put_together_by_guess(statements)
      witness, *others = statements
      return unless worth?(others) && (guess = @session.guess(witness.sql, witness.name))

      witness.shape = guess
      share_out(others, guess, witness, &:params) if wrappable?(guess)
    end

    def lift_literals(statements)
      return unless worth?(statements)

      liftable = statements.select { |statement| statement.coalesces? && statement.literals }
      alike = liftable.group_by { |statement| [statement.literals.key, statement.tags&.key] }
      alike.each_value { |them| put_together_lifted(them) if worth?(them) }
    end

    def put_together_lifted(statements)
      literals = statements.first.literals
      shape = @session.shape(literals.sql, nil)
      if shape.nil? then statements.first.describe(literals.sql)
      elsif wrappable?(shape) && literals.fit?(shape.types)
        share_out(statements, shape) { |it| it.literals.params }
      end
    end

    # True if it can be sent for many. If all that is missing are the arrays of its types, they are asked for.
    def wrappable?(shape)
      return false unless shape.wraps?

      @unknown_types.concat(shape.unknown_types)
      shape.unknown_types.empty?
    end

    def share_out(statements, shape, witness = nil, &params)
      statements.select { |it| it.coalesces? && Coalesced.takes?(params.call(it)) }.each_slice(most_of(shape)) do |parts|
        whole = whole_of(parts, shape, parts.map(&params), witness) if worth?(parts)
        parts.each { |part| @instead[part] = whole } if whole
      end
    end

    def most_of(shape)
      known = @session.result_sizes.known(shape.sql) or return Coalesced::WORTH
      (Coalesced::HELD / known).clamp(1, Coalesced::MOST)
    end

    # @return [Coalesced, nil]
    def whole_of(parts, shape, params, witness)
      wrapped = shape.wrap(params) or return
      return Coalesced.new(shape, parts, wrapped.on(parts.first.tags)) unless shape.name

      known = @session.statement_name(wrapped.sql)
      name = known || @session.next_statement_name
      Coalesced.new(shape, parts, wrapped, name: name, prepare: known.nil?, witness: witness)
    end
  end
end
