# frozen_string_literal: true

module Pipeloader
  # A polymorphic `belongs_to` that a Plan follows: by one Link for each class that its owners name, each with a plan for the
  # records of that class. Which these are, the rows say.
  class PolymorphicLink
    # Of how many classes it knows what they lead to.
    MOST = 100
    NONE = [].freeze
    private_constant :MOST, :NONE

    attr_reader :key, :name
    attr_accessor :at

    alias inspect to_s

    # @param key [String] in the response
    # @param plain [PlainField] of the owner's type
    # @param reflection [ActiveRecord::Reflection::BelongsToReflection]
    # @param places [Array(Integer, Integer)] where in its owner's row the class's name is, and the key
    # @param met [Hash{String => Symbol}] what is known of classes that it leads to, for whoever makes the next plan: :refused
    #   where it can't, :asks where what is selected of their records asks the context
    # @yieldparam [Class] a model
    # @yieldreturn [Plan, nil]
    def initialize(key, plain, reflection, places, met, &plan)
      @key = key
      @plain = plain
      @reflection = reflection
      @name = reflection.name
      @type, @index = places
      @met = met
      @asks = met.value?(:asks)
      @plan = plan
      @nullable = !plain.field.type.non_null?
      @links = Bounded.new(MOST)
      @owners = nil
    end

    # As a Link's.
    def place = [@reflection, @plan]
    def confine(type, names) = @owners = [type, names]
    def formulas = NONE
    def models = {}
    def spoilable = [self]
    def databases = NONE
    def size = 1
    def use(context) = @links.each_value { |link| link.use(context) }
    def come(context) = @links.each_value { |link| link.come(context) }
    def leads_back? = false
    def of_its_owners = NONE

    # As a Plan's. Known before the rows are there: what asks the context is asked in its turn.
    def asks? = @asks
    def check(context) = @links.each_value { |link| link.check(context) }

    # As a FamilyPlan's.
    def spoiled? = @met.value?(:refused) || (@met.value?(:asks) && !@asks)

    # @param rows [Array<Array>] of owners
    # @return [Hash{String => Class}] the classes that these name
    # @raise [DoesNotFit]
    def models_of(rows)
      type, confined = @owners
      rows = rows.select { |row| confined.key?(row[type]) } if confined
      rows.filter_map { |row| row[@type].presence }.uniq.to_h { |name| [name, model(name)] }
    end

    # @return [Link] to the records of a +model+
    # @raise [DoesNotFit]
    def to(name, model)
      link = @links[name]
      link&.current? && link.plan.model.equal?(model) ? link : @links[name] = make(name, model)
    end

    # @return [Hash{String => Link}] those that it has followed, by the name of the class
    def known = @links.select { |_, link| link.current? }

    # @return [String] the owner's column that names the class
    def type_column = @reflection.foreign_type

    # @param frame [Frame] of the owner
    def build(row, frame, context)
      below = frame.below(self).of(row[@type]) if row[@type].present?
      rows = below ? below.of(row) : NONE
      return below.plan.build(rows.first, below, context) if rows.any?

      @nullable ? nil : raise(DoesNotFit)
    end

    private

    # ActiveRecord looks for the class without a key, too.
    def model(name)
      model = @reflection.active_record.polymorphic_class_for(name)
      model.is_a?(Class) && model < ActiveRecord::Base ? model : raise(DoesNotFit)
    rescue NameError # graphql-ruby meets it
      raise DoesNotFit
    end

    def make(name, model)
      plan = @plan.call(model)
      reflection = TargetLookup.reflection(@reflection, model) if plan
      lookup = TargetLookup.of(reflection, plan.projection) if reflection && Lookup.objection(reflection).nil?
      meet(name, :refused) unless lookup&.narrows?
      meet(name, :asks) if plan.asks? && !@asks

      link = Link.new(@key, @plain, reflection, lookup, OwnersKey::Index.new(@index), plan, nullable: true)
      link.confine(@type, { name => true })
      link
    end

    def meet(name, what)
      @met[name] = what
      raise DoesNotFit
    end
  end
end
