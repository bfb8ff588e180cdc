# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Base's singleton class
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: a plan reads a column where the reader is ActiveRecord's own. Tests stub readers: RSpec's
    #   `allow_any_instance_of` and mocha's `any_instance` define them anew on the class, and take them off again. Ruby
    #   tells nobody but the class.
    # Falls through when:: always; it only takes note.
    module Redefinitions
      def include(...) = super.tap { Redefined.note(self) }
      def prepend(...) = super.tap { Redefined.note(self) }

      private

      def method_added(_name)
        super
        Redefined.note(self)
      end

      def method_removed(_name)
        super
        Redefined.note(self)
      end

      def method_undefined(_name)
        super
        Redefined.note(self)
      end
    end
  end
end
