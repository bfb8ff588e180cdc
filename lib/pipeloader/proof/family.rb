# frozen_string_literal: true

module Pipeloader
  # The classes of which the rows that a model reads become records: its own and, where a column says which (single-table
  # inheritance), those of its heirs that are loaded.
  class Family
    CLASS_METHODS = %i[sti_name sti_class_for find_sti_class].freeze
    # Types of columns that are as the database says.
    TEXT = [ActiveModel::Type::String, ActiveRecord::Type::Text].freeze
    private_constant :CLASS_METHODS

    # @return [Array<Class>] the model first
    attr_reader :members

    # @return [String, nil] the column that says of which class a row's record is; nil if they are all of the model's own
    attr_reader :column

    alias inspect to_s

    def initialize(model)
      @model = model
      @column = model.inheritance_column.to_s if model.columns_hash.key?(model.inheritance_column)
      @members = [model, *(heirs if @column)].freeze
      @known = @members.to_h { |member| [member, true] }.compare_by_identity
    end

    # @return [String, nil] by which the records of an association (`as:`) name the class of their owner: a subclass of that which
    #   has declared it may have a `polymorphic_name` of its own; nil where they don't
    def self.owners_name(reflection) = (reflection.active_record.polymorphic_name if reflection.chain.last.type)

    # True if rows that name their owner's class by a +name+ of .owners_name are a +model+'s.
    def self.named?(model, name) = name.nil? || model.polymorphic_name == name

    # True if a +column+ has store accessors, be they declared by an alias of it.
    def stores?(column)
      @members.any? do |member|
        stores = member.stored_attributes
        stores.any? && stores.each_key.any? { |name| member.attribute_aliases.fetch(name.to_s, name.to_s) == column }
      end
    end

    # True if no heir has been loaded since.
    def current? = @column.nil? || heirs == @members.drop(1)

    # @return [String, nil] why a row doesn't tell the class, or the classes don't read their columns alike; nil if so
    def objection
      return unless @column
      return "`#{@column}` of #{@model.name} is no plain text" unless TEXT.include?(@model.attribute_types[@column].class)

      @members.lazy.filter_map { |member| own_naming(member) || own_attributes(member) }.first
    end

    # True if an object is a record of one of these classes, and has no methods of its own. Asked of thousands, as
    # ReturnedValue.just?.
    def include?(object)
      type = ObjectSpace.internal_class_of(object)
      type.equal?(@model) || (@members.many? && @known.key?(type))
    end

    # True if a record is of the class that its column says: it may have become another, or have been told so.
    def tells?(record) = @column.nil? || named?(ObjectSpace.internal_class_of(record), record._read_attribute(@column))

    # @return [Array<String, nil>, nil] what rows of a +member+ say of their class; nil if rows say nothing
    def names(member)
      return unless @column

      member.equal?(@model) ? [nil, "", member.sti_name] : [member.sti_name]
    end

    # @param index [Integer] where in a row the column is
    # @raise [DoesNotFit] if a row's class isn't known yet, or is none
    def verify(rows, index)
      rows.each { |row| members_by_name.key?(row[index]) || raise(DoesNotFit) }
    end

    private

    # No row names one that has no name.
    def heirs = @model.descendants.select(&:name)

    # {what a row says => the class of its record}
    def members_by_name
      @members_by_name ||= @members.flat_map { |member| names(member).map { |name| [name, member] } }.to_h
    end

    def named?(type, name) = members_by_name[name].equal?(type)

    def own_naming(member)
      own = CLASS_METHODS.map { |name| member.method(name) }.find { |method| !Provenance.active_record?(method) }
      return "`#{own.name}` on #{own.owner.inspect}" if own

      full = member.store_full_sti_class && member.store_full_class_name
      return "#{member.name} doesn't store full names in `#{@column}`" unless full

      "there are two #{member.name}" unless named?(member, member.sti_name)
    end

    # An heir's are the model's, but for what it says of attributes itself.
    def own_attributes(heir)
      return if heir.equal?(@model)

      own = heir.send(:pending_attribute_modifications).any? || heir.attribute_types != @model.attribute_types
      "#{heir.name} has attributes of its own" if own
    end
  end
end
