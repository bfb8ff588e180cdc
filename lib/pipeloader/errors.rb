# frozen_string_literal: true

module Pipeloader
  # Ancestor of every error that is Pipeloader's own. What ActiveRecord would raise stays ActiveRecord's.
  class Error < RuntimeError; end

  # The installed ActiveRecord or graphql-ruby lacks something that parking rests on. Raised while loading, so that
  # an update of a host can never turn pipelining off unseen.
  class IncompatibleHostError < Error; end
end
