# frozen_string_literal: true

module Pipeloader
  # Asks, along with a burst, which arrays there are of types that aren't PostgreSQL's own (enums, citext, domains): a Shape
  # needs them. No read waits for it.
  class TypeLookup < Statement
    SQL = "SELECT oid, typarray FROM pg_catalog.pg_type WHERE oid = ANY($1::oid[])"

    # Stands for the read that Statement asks.
    Asked = Struct.new(:sql, :params) do
      # No field waits for it.
      def time_limit = nil
      def late? = false
    end
    private_constant :SQL, :Asked

    # @param known [Hash] {OID => OID of its array, 0 if there is none}, which the answer is added to
    def initialize(types, known)
      super(Asked.new(SQL, ["{#{types.join(",")}}"]))
      @types = types
      @known = known
    end

    def reads = []

    def complete(clearing)
      super
      return if !answered? || failed?

      @types.each { |type| @known[type] = 0 }
      @result.each_row { |type, array| @known[type.to_i] = array.to_i }
    end
  end
end
