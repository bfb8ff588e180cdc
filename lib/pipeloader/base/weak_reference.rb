# frozen_string_literal: true

require "weakref"

module Pipeloader
  # What lasts, a connection or a thread, knows what belongs to one response by this, so that the garbage collector finds all of
  # it while it is young. CRuby takes what an old object refers to for old at once, with all that this leads to: each response
  # would be left for a full collection to find. See docs/internals.md.
  class WeakReference
    alias inspect to_s

    # @param object that others refer to as long as it is needed
    def initialize(object)
      @reference = WeakRef.new(object)
    end

    # @return what it was made of; nil where that is gone
    def object
      @reference.__getobj__
    rescue WeakRef::RefError
      nil
    end
  end
end
