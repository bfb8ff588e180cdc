# frozen_string_literal: true

module Pipeloader
  # How rows are written that stand for objects of several types, as members of a union or an interface do: each by the plan of
  # its own type, from rows of all columns that any of these needs.
  #
  #     { vehicles { name ... on Car { user { name } } ... on Bike { gears } } }
  class FamilyPlan < Plan
    # The rows of one class.
    #
    # names: what they say of their class, as keys; nil if they are all of one. type: the object type. plan: nobody else has it
    Branch = Struct.new(:names, :type, :plan)

    # @param branches [Array<Branch>] of plans for the same projection
    # @param plain_models [Hash{Class => PlainModel}] of the classes
    # @param strangers [Array<String, nil>] what rows say of their class for which there is no plan, though there could be one
    # @param came [Hash{String => true}] which of these have come, for whoever makes the next plan
    def initialize(projection, branches, plain_models, strangers, came)
      super(projection, [])
      @branches = branches
      @strangers = strangers
      @came = came
      @links = shared(branches).freeze
      @models.update(plain_models, *branches.map { |branch| branch.plan.models })
      @by_name = branches.flat_map { |branch| branch.names.to_h.keys.map { |name| [name, branch] } }.to_h
    end

    def asks? = @branches.any? { |branch| branch.plan.asks? }
    def check(context) = @branches.each { |branch| branch.plan.check(context) }
    def bytes = super + @branches.sum { |branch| branch.plan.bytes }
    def size = @size ||= @branches.sum { |branch| branch.plan.size }
    def use(context, coerced: false) = @branches.each { |branch| branch.plan.use(context, coerced: coerced) }
    def compile = @branches.each { |branch| branch.plan.compile }
    def list(rows, frame, context) = rows.map { |row| build(row, frame, context) }

    def verify(rows)
      return unless @type

      stranger = rows.find { |row| !@by_name.key?(row[@type]) } or return
      @came[stranger[@type]] = true if @strangers.include?(stranger[@type])
      raise DoesNotFit
    end

    def spoiled? = @strangers.any? { |name| @came.key?(name) } || @branches.any? { |branch| branch.plan.spoiled? }

    def come(context)
      admissions.each { |admission| admission.come(context) }
      super
    end

    def build(row, frame, context)
      branch = @type ? @by_name.fetch(row[@type]) : @branches.first
      hash = branch.plan.build(row, frame, context)
      context.pipeloader_types&.[]=(hash, branch.type)
      hash
    end

    private

    def spoilable? = true
    def admissions = @branches.filter_map { |branch| branch.plan.admission }

    # Where several types follow an association in the same way, it is read once, for the rows of all of these.
    #
    # @return [Array<Link, PolymorphicLink>]
    def shared(branches)
      places = {}
      branches.each do |branch|
        branch.plan.linking.each do |link|
          first, at, names = (places[link.place] ||= [link, places.size, {}])
          link.at = at
          first.confine(@type, names.update(branch.names)) if branch.names
        end
      end
      places.each_value.map(&:first)
    end
  end
end
