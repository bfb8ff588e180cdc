# frozen_string_literal: true

module Pipeloader
  module Patches
    # Takes note of methods that a class gets, or loses. Ruby tells the class alone.
    module Redefinitions
      def include(...) = super.tap { pipeloader_redefined }
      def prepend(...) = super.tap { pipeloader_redefined }

      private

      def method_added(_name)
        super
        pipeloader_redefined
      end

      def method_removed(_name)
        super
        pipeloader_redefined
      end

      def method_undefined(_name)
        super
        pipeloader_redefined
      end
    end

    # Host:: ActiveRecord::Base's singleton class
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: a plan reads a column where the reader is ActiveRecord's own. Tests stub readers: RSpec's
    #   `allow_any_instance_of` and mocha's `any_instance` define them anew on the class, and take them off again.
    # Falls through when:: always; it only takes note.
    module ModelMethods
      include Redefinitions

      private

      def pipeloader_redefined = PlainModel.outdate(self)
    end

    # Host:: GraphQL::Schema::Object's singleton class
    # Since:: graphql 2.5.2
    # Why no public seam does it:: as above, of resolver methods and of `authorized?`.
    # Falls through when:: always; it only takes note.
    module TypeMethods
      include Redefinitions

      private

      def singleton_method_added(_name)
        super
        pipeloader_redefined
      end

      def singleton_method_removed(_name)
        super
        pipeloader_redefined
      end

      def pipeloader_redefined = Plans.outdate(self)
    end
  end
end
