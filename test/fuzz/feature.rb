# frozen_string_literal: true

module Fuzz
  # Something that applications do, as text that it adds to a generated program. The blocks run in a Maker:
  #
  #     Fuzz.feature "soft deletion", 0.3 do          # how likely a model, or a type, has it
  #       model { |m| m.column(:deleted_at, :datetime) && m.line("default_scope { where(deleted_at: nil) }") }
  #       field { |t, m| t.field("gone", "Boolean", body: "!object.deleted_at.nil?") if m.column?(:deleted_at) }
  #     end
  #
  # `world` runs once a program, before there are models; `relate` once, when all models are there; `model` for each model, before
  # there are types; `type` and `field` for each object type with its model; `root` and `mutation` for the two root types;
  # `schema` for the schema. A block that finds nothing to add returns nil.
  class Feature
    HOOKS = %i[world relate model type field root mutation schema].freeze

    attr_reader :name, :weight, :hooks, :only, :known

    # @param only [Symbol, nil] :interpreter or :next, where the other engine doesn't do it
    # @param known [String, nil] the defect, where it is known and not mended yet: then it is left out
    def initialize(name, weight, only: nil, known: nil, &block)
      @name, @weight, @only, @known = name, weight, only, known
      @hooks = {}
      instance_eval(&block)
    end

    HOOKS.each { |hook| define_method(hook) { |&block| @hooks[hook] = block } }
  end

  class << self
    attr_accessor :feature_now

    def features = @features ||= []

    def feature(name, weight, **options, &block) = features << Feature.new(name, weight, **options, &block)

    # All nodes made in the block are that feature's.
    def as(feature)
      outer, self.feature_now = feature_now, feature
      yield
    ensure
      self.feature_now = outer
    end
  end
end
