# frozen_string_literal: true

module Pipeloader
  # What a field's resolver reads of a record of one model, as far as it is proved:
  #
  # columns::     Post.title reads ["title"]; with `selects:`, what the field says
  # association:: Post.author reads the association `author`, and for that ["author_id"]
  # nothing::     __typename, an attribute without a column
  # missing::     the model has no such method, or column: as where a type of a union is another model's
  # opaque::      anything else; a #reason says what stood in the way
  #
  # Computed once per (schema, type, field, model). A field is proved by who defines the methods that graphql-ruby and
  # ActiveRecord would call: their own code, or somebody else's. (See PlainField, PlainType, PlainModel.)
  class Footprint
    # @return [Symbol] :columns, :association, :nothing, :missing or :opaque
    attr_reader :kind

    # @return [Array<String>] columns of the record's own table
    attr_reader :columns

    # @return [Symbol, nil] its name
    attr_reader :association

    # @return [String, nil] why it is opaque: "Post.excerpt: resolver method `excerpt` on Types::Post"
    attr_reader :reason

    class << self
      # @param type [Class] the object type, which may have +field+ from an interface
      # @param field [GraphQL::Schema::Field, Array] as the type has it
      # @param model [Class] of the record
      #
      #: (singleton(GraphQL::Schema), Class, GraphQL::Schema::Field, singleton(ActiveRecord::Base)) -> Footprint
      def of(schema, type, field, model)
        schema.pipeloader_footprints[[type, field, model]] ||= prove(type, field, model)
      end

      def columns(names) = new(:columns, columns: names)
      def association(name, keys) = new(:association, columns: keys, association: name)
      def opaque(reason) = new(:opaque, reason: reason)
      def missing(reason) = new(:missing, reason: reason)
      def nothing = NOTHING

      private

      def prove(type, field, model)
        return declared(type, field, model) if field.pipeloader_selects

        plain = PlainField.of(type, field)
        objection = plain.objection
        read = objection ? opaque(objection) : PlainModel.of(model).reader(plain.reader)
        read = worked_out(plain, model) || read if read.opaque?
        read.at(type, field)
      end

      # @return [Footprint, nil] nil if a method reads anything but columns
      def worked_out(plain, model)
        read = plain.formula(model)&.readers&.map { |name| PlainModel.of(model).reader(name) }
        columns(read.flat_map(&:columns)) if read&.all?(&:columns?)
      end

      # A plain field that declares columns besides, reads both.
      def declared(type, field, model)
        declared = DeclaredColumns.of(field, model)
        plain = PlainField.of(type, field)
        return declared if declared.missing? || plain.objection

        read = PlainModel.of(model).reader(plain.reader)
        read.opaque? || read.missing? ? declared : read.with(declared.columns).at(type, field)
      end
    end

    def initialize(kind, columns: [], association: nil, reason: nil)
      @kind = kind
      @columns = columns.uniq.freeze
      @association = association
      @reason = reason
      freeze
    end

    NOTHING = new(:nothing)
    private_constant :NOTHING

    def columns? = kind == :columns
    def association? = kind == :association
    def nothing? = kind == :nothing
    def missing? = kind == :missing
    def opaque? = kind == :opaque

    # The same, and more columns.
    def with(more)
      Footprint.new(nothing? ? :columns : kind, columns: columns + more, association: association)
    end

    # As a field of +type+ reads it. What is selected below an association is read of its records only where graphql-ruby
    # itself hands them on: a scalar is given the record, and `scope_items` what it returns.
    def at(type, field)
      return Footprint.new(kind, reason: "#{type.graphql_name}.#{field.graphql_name}: #{reason}") if reason
      return self unless association?

      field.type.unwrap.kind.composite? && PlainField.of(type, field).unscoped? ? self : Footprint.columns(columns)
    end
  end
end
