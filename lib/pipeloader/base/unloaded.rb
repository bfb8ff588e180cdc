# frozen_string_literal: true

module Pipeloader
  # A list that can't be loaded, which says so when graphql-ruby comes to it.
  Unloaded = Struct.new(:error) do
    def each = raise(error)
  end
end
