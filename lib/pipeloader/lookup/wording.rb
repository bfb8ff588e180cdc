# frozen_string_literal: true

module Pipeloader
  # The wording of relations, in a form that can be compared with what they said before: the SQL of their conditions, orders and
  # joins, the values of their binds, and their other clauses. Worded alike, they bring the same statement.
  #
  #     -> { where(deleted_at: nil).limit(3) }      # [Note, false, :where, "\"notes\".\"deleted_at\" IS NULL", :limit, 3]
  #
  # To run a scope's block, and to write down what it returns, takes a tenth of the time in which a statement is built. It is done
  # each time: the block may ask Current, or a clock.
  #
  # Limits: what has clauses that aren't known (group, from, with, extensions), or other values than text and numbers, is like
  # nothing else.
  class Wording
    PLAIN = [NilClass, TrueClass, FalseClass, Integer, Float, BigDecimal, Symbol].freeze
    KEY = :"the owner's key"
    private_constant :PLAIN, :KEY

    # True if a model has more to say than its table's name.
    def self.of_its_own?(model) = model.scope_attributes? || model.finder_needs_type_condition?

    # @return [Array] to be compared by #eql?
    attr_reader :all

    # @param visitor [Arel::Visitors::ToSql]
    def initialize(visitor)
      @visitor = visitor
      @all = []
    end

    # Adds what a link of an association's chain brings: its scopes, and its model's default scopes and names.
    #
    # @param joined [Boolean] whether it is joined by its name: ActiveRecord gives default scopes another relation then
    # @return [Wording] itself
    def link(link, joined: false)
      model = link.klass
      link.scopes.each do |scope|
        relation = empty(link)
        relation(relation.instance_exec(&scope) || relation)
      end
      PlainModel.of(model).family.members.each { |member| @all << member.sti_name } if model.finder_needs_type_condition?
      return self unless model.scope_attributes?

      relation(joined ? model.scope_for_association(link.build_scope(model.arel_table)) : model.scope_for_association)
    end

    # @param relation [ActiveRecord::Relation] or what else a scope has returned
    # @return [Wording] itself
    def relation(relation)
      return other unless ActiveRecord::Relation === relation

      @all << relation.klass << relation.null_relation?
      relation.values.each { |name, value| clause(relation.klass, @all.push(name) && name, value) }
      self
    end

    private

    # As ActiveRecord has it for an association's scope, which is cheaper to have of the model.
    def empty(link)
      model = link.klass
      model.finder_needs_type_condition? ? link.build_scope(model.arel_table) : model.unscoped
    end

    # Like nothing else.
    def other
      @all << Object.new
      self
    end

    def clause(model, name, value)
      case name
      when :where then arel(value.ast)
      when :order then value.each { |it| Arel.arel_node?(it) ? arel(it) : value(it) }
      when :joins, :left_outer_joins then value.each { |it| Arel.arel_node?(it) ? arel(it) : joins(model, it) }
      else value(value)
      end
    end

    def arel(node)
      @all << node.class
      text = Text.new
      @visitor.accept(node, text)
      @all << text.sql
      text.binds.each { |bind| bind(bind) }
    end

    def bind(bind)
      return value(bind) unless bind.is_a?(ActiveModel::Attribute)

      value(AssociationRead.open?(bind) ? KEY : bind.value_for_database)
    end

    # The default scopes of a joined model are asked later, when the relation becomes SQL.
    def joins(model, names)
      case names
      when Array then names.each { |it| joins(model, it) }
      when Hash then names.each { |name, more| association(model, name) { |joined| joins(joined, more) } }
      when Symbol then association(model, names)
      else value(names)
      end
    end

    def association(model, name)
      @all << name
      reflection = model.reflect_on_association(name) if name.is_a?(Symbol)
      return other if reflection.nil? || reflection.polymorphic?

      reflection.chain.each { |link| link(link, joined: true) }
      yield reflection.klass if block_given?
    end

    def value(value)
      case value
      when String then @all << (value.frozen? ? value : value.dup)
      when Array then @all.push(value.size) && value.each { |it| value(it) }
      when Hash then value(value.to_a)
      else PLAIN.include?(value.class) ? @all << value : other
      end
    end

    # As Arel's collectors: takes down what a visitor makes of a node.
    class Text
      # Where a bind is in SQL, which has no such character.
      PLACE = "\0"
      private_constant :PLACE

      attr_accessor :preparable, :retryable
      attr_reader :sql, :binds

      def initialize
        @sql = +""
        @binds = []
      end

      def <<(text)
        @sql << text
        self
      end

      def add_bind(bind)
        @binds << bind
        self << PLACE
      end

      # @param of [Proc, nil] makes a bind of each
      def add_binds(binds, of = nil)
        binds.each { |bind| add_bind(of ? of.call(bind) : bind) }
        self
      end
    end
    private_constant :Text
  end
end
