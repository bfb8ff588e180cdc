# frozen_string_literal: true

module Pipeloader
  # Something that is written under a key of the response, and is the same under any other.
  module Keyed
    # @return [String] in the response
    attr_reader :key

    # @return [Keyed] for another place in the response
    def under(key) = key == @key ? self : dup.tap { |it| it.key = key }

    protected

    attr_writer :key
  end
end
