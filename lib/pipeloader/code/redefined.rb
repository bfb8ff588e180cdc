# frozen_string_literal: true

module Pipeloader
  # Outdates what is known of a model when one of its methods is added, removed or replaced. It is called while classes are
  # loaded, so it calls none of their own methods, and does nothing until something was proved.
  module Redefined
    ANCESTORS = Module.instance_method(:ancestors)
    SUBCLASSES = Class.instance_method(:subclasses)
    KNOWN = Object.instance_method(:instance_variable_get)
    private_constant :ANCESTORS, :SUBCLASSES, :KNOWN

    class << self
      # Whether anything was proved of any model.
      attr_writer :watched

      # Outdates what is known of the +changed+ model, of its heirs, and of the models whose heir it is.
      def note(changed)
        return unless Pipeloader.main_ractor? && @watched

        [*ANCESTORS.bind_call(changed).grep(Class), *heirs(changed)].each do |model|
          KNOWN.bind_call(model, :@pipeloader_plain)&.outdate(changed)
        end
      end

      private

      def heirs(model) = SUBCLASSES.bind_call(model).flat_map { |it| [it, *heirs(it)] }
    end

    @watched = false
  end
end
