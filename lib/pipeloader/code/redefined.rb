# frozen_string_literal: true

module Pipeloader
  # Outdates what is known of a model when one of its methods is added, removed or replaced. It is called while classes are
  # loaded, so it calls none of their own methods, and does nothing until something was proved.
  module Redefined
    ANCESTORS = Module.instance_method(:ancestors)
    SUBCLASSES = Class.instance_method(:subclasses)
    KNOWN = Object.instance_method(:instance_variable_get)
    PUBLISHING = Mutex.new
    private_constant :ANCESTORS, :SUBCLASSES, :KNOWN, :PUBLISHING

    class << self
      # @return [Object] another one whenever something that was known of a model doesn't hold any more
      attr_reader :stamp

      # Has a +model+ keep what is known of it anew, which #note outdates later. Of two threads that do so together, both go by
      # what the first one has made. What is replaced is outdated: it never holds again.
      #
      # @yieldreturn [PlainModel]
      # @return [PlainModel]
      def renew(model)
        @watched = true
        made = yield
        PUBLISHING.synchronize do
          known = KNOWN.bind_call(model, :@pipeloader_plain)
          next known if known&.current?

          @stamp = Object.new if known
          known&.outdate(model)
          model.instance_variable_set(:@pipeloader_plain, made)
        end
      end

      # Outdates what is known of the +changed+ model, of its heirs, and of the models whose heir it is.
      def note(changed)
        return unless Pipeloader.main_ractor? && @watched

        @stamp = Object.new
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
