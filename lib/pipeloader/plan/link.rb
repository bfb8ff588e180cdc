# frozen_string_literal: true

module Pipeloader
  # An association that a Plan follows, and the plan for the records that it brings.
  class Link
    # Of how many values of the context it knows what they lead to.
    BOUND = 16
    NONE = [].freeze
    private_constant :BOUND, :NONE

    # @param links [Array<Link, PolymorphicLink>] of records
    # @return [Array<Link, PolymorphicLink>] these, and those of the same records further below, to which others lead back: of
    #   posts `comments { post { author } }` asks for the author
    def self.of_the_same(links) = links.flat_map { |link| [link, *link.of_its_owners] }.uniq(&:__id__)

    attr_reader :key, :plan, :name

    # @return [Array<Link, PolymorphicLink>] links of its owners, to which its records lead back
    attr_reader :of_its_owners

    # @return [OwnersKey::Index, OwnersKey::Indexes] where in its owner's row the key is
    attr_reader :index

    # @return [Integer] its place among its plan's links, which it may have in common with others
    attr_accessor :at

    alias inspect to_s

    # @param key [String] in the response
    # @param index [OwnersKey::Index, OwnersKey::Indexes] of the owner's key in its rows
    # @param nullable [Boolean] whether the field may be null, where there is none
    # @param plain [PlainField, nil] of the owner's type; nil where graphql-ruby itself has come to it
    def initialize(key, plain, reflection, lookup, index, plan, nullable:)
      @key = key
      @field = plain&.field
      @scope = (plain.scope if plain&.scope&.own?)
      @reflection = reflection
      @name = reflection.name
      @many = lookup.many?
      @index = index
      @plan = plan
      @nullable = nullable
      @lookup = lookup
      @leads_back = Link.back(reflection, plan.links).any?
      @of_its_owners = @leads_back ? Link.of_owners(reflection, plan.links) : NONE
      @asker = plan.asker || plain&.asker(@many)
      @names = nil
    end

    # True if it may bring something else where the association has been preloaded: it takes one by its place, or goes by way of
    # another association, which a preload reads by itself, with its own scope and in its own order.
    def preloaded_otherwise? = @reflection.through_reflection? || (@lookup.picks? && !@lookup.picks_alike?)

    # @param links [Array<Link, PolymorphicLink>]
    # @return [Array<Symbol>] associations of which they, or those below, may bring something else if they have been preloaded
    def self.preloaded_otherwise(links, seen = {}.compare_by_identity)
      links.grep(Link).reject { |link| seen[link] }.flat_map do |link|
        seen[link] = true
        [*(link.name if link.preloaded_otherwise?), *preloaded_otherwise(link.links, seen)]
      end
    end

    # True if the scope of a +lookup+'s association preloads any of these, as far as it says.
    #
    # @param plan [Plan] of its rows
    def self.scope_preloads_otherwise?(lookup, plan)
      names = preloaded_otherwise(plan.links)
      names.any? && names.intersect?(lookup.preloads || names)
    end

    # @param links [Array<Link, PolymorphicLink>] of the records that an association brings
    # @return [Array<Link, PolymorphicLink>] those of its owners, to which these lead back
    def self.of_owners(reflection, links) = of_the_same(back(reflection, links).grep(Link).flat_map(&:links))

    # @return [Array<Link, PolymorphicLink>] that lead to the owners themselves
    def self.back(reflection, links)
      inverse = PlainModel.inverse(reflection)&.name if links.any?
      inverse ? of_the_same(links).select { |link| link.name == inverse } : NONE
    end

    def many? = @many

    # @return [Array<Link, PolymorphicLink>] of the records that it brings
    def links = @plan.links

    # What makes it lead to the same rows, and these be written alike.
    def place = [@lookup, @plan, @scope]

    # Of what it writes itself.
    def formulas = NONE

    # As its plan's.
    def models = @plan.models
    def spoilable = @scope ? [self, *@plan.spoilable] : @plan.spoilable
    def size = 1 + @plan.size
    def use(context) = @plan.use(context)
    def come(context) = @plan.come(context)

    # True if it leads back to where it comes from: a record would be its own owner's, as that is in memory.
    def leads_back? = @leads_back

    # True if another `scope_items` has a say in what it leads to by now.
    def spoiled? = !@scope.nil? && @scope.over?

    # Of its owners' rows, those count whose class is called by one of the +names+, which are keys.
    #
    # @param type [Integer] where in a row the name is
    def confine(type, names)
      @type = type
      @names = names
    end

    # Who asks for its rows.
    #
    #: () -> Asker
    def asker = @asker || Asker.current

    # @return [Array<GraphQL::Schema::Field>] that its rows are for
    def fields = [@field, *@plan.fields].compact

    # As Plan's.
    def asks? = @lookup.contexts.any? || @plan.asks?

    # The same where it has asked.
    #
    # @return [Link] one for all that have found the same
    def bound(context)
      return self if @lookup.contexts.empty?

      lookup = @lookup.for(context)
      (@bound ||= Bounded.new(BOUND).compare_by_identity)[lookup] ||= dup.tap { |link| link.lookup = lookup }
    end

    def check(context)
      @lookup.contexts.each { |value| ContextAnswer.of(value, context) }
      @plan.check(context)
    end

    def current? = !spoiled? && @plan.current?
    def databases = @plan.databases

    # True if +record+ may be one of its owners.
    def for?(_record) = true

    # @return [Lookup] of the rows that it leads to
    attr_reader :lookup

    protected attr_writer :lookup

    # @param rows [Array<Array>] of owners
    # @return [Array] what is to be looked up for them
    def keys(rows)
      rows = rows.select { |row| @names.key?(row[@type]) } if @names
      keys = @index.of_all(rows)
      keys.uniq!
      raise DoesNotFit if keys.compact! && !@lookup.needs_key?

      keys
    end

    # @param frame [Frame] of the owner
    def build(row, frame, context)
      below = frame.below(self)
      rows = below.of(row)
      return @plan.list(rows, below, context) if @many

      rows.empty? ? nothing : @plan.build(rows.first, below, context)
    end

    # The value for an owner that has none.
    def nothing = @nullable ? nil : raise(DoesNotFit)
  end
end
