# frozen_string_literal: true

module Bench
  # The measure of all others.
  class Naive < Contender
    called "naive", "plain resolvers, N+1 and all"
  end
end
