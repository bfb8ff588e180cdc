# frozen_string_literal: true

module Pipeloader
  # The part of a record of one model that a field's resolver reads, as far as it is proved:
  #
  # columns::     Post.title reads ["title"]; with `selects:`, what the field says
  # association:: Post.author reads the association `author`, and for that ["author_id"]
  # nothing::     __typename, an attribute without a column
  # missing::     the model has no such method, or column: as where a type of a union is another model's
  # opaque::      anything else; a #reason says what stood in the way
  #
  # See Footprints for how it is proved.
  class Footprint
    # @return [Symbol] :columns, :association, :nothing, :missing or :opaque
    attr_reader :kind

    # @return [Array<String>] columns of the record's own table
    attr_reader :columns

    # @return [String, nil] the column, where it reads just one
    def column = (@columns.first if columns? && @columns.one?)

    # @return [Symbol, nil] its name
    attr_reader :association

    # @return [String, nil] why it is opaque: "Post.excerpt: resolver method `excerpt` on Types::Post"
    attr_reader :reason

    class << self
      def columns(names) = new(:columns, columns: names)
      def association(name, keys) = new(:association, columns: keys, association: name)
      def opaque(reason) = new(:opaque, reason: reason)
      def missing(reason) = new(:missing, reason: reason)
      def nothing = NOTHING
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

    # The same with another reason.
    def because(reason) = Footprint.new(kind, reason: reason)

    # The same, and more columns.
    def with(more)
      Footprint.new(nothing? ? :columns : kind, columns: columns + more, association: association)
    end
  end
end
