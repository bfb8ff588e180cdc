# frozen_string_literal: true

module Pipeloader
  # Models of which a method has become another one. Called while classes are loaded: it asks none of their own methods, and costs
  # nothing until something was proved.
  module Redefined
    ANCESTORS = Module.instance_method(:ancestors)
    SUBCLASSES = Class.instance_method(:subclasses)
    KNOWN = Object.instance_method(:instance_variable_get)
    private_constant :ANCESTORS, :SUBCLASSES, :KNOWN

    class << self
      # Whether anything was proved of any model.
      attr_writer :watched

      # What is known of the +changed+ model, its heirs, and those of whom it is one, isn't any more.
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
