# frozen_string_literal: true

module Pipeloader
  # As a Frame, of the rows that a polymorphic association leads to: a Frame for each class that owners name.
  class Fork
    alias inspect to_s

    # @param link [PolymorphicLink]
    # @param owners [Frame]
    # @raise [DoesNotFit]
    def initialize(link, owners)
      @frames = link.models_of(owners.rows).to_h { |name, model| [name, frame(link, name, model, owners)] }
    end

    # @return [Array<Frame>]
    def frames = @frames.values

    # @return [Frame] of a class
    def of(name) = @frames.fetch(name)

    private

    def frame(link, name, model, owners)
      raise DoesNotFit if OpenTransactions.in?(model)

      link = link.to(name, model)
      raise DoesNotFit if OpenTransactions.around?(link)

      Frame.new(link.plan, link, owners)
    end
  end
end
