# frozen_string_literal: true

module Pipeloader
  # Ancestor of every error that is Pipeloader's own. What ActiveRecord would raise stays ActiveRecord's.
  class Error < RuntimeError; end

  # The installed ActiveRecord or graphql-ruby lacks something that parking rests on. Raised while loading, so that
  # an update of a host can never turn pipelining off unseen.
  class IncompatibleHostError < Error; end

  # A read through an adapter that Pipeloader doesn't know, while a response is built. Raised by the read.
  class UnsupportedAdapterError < Error; end

  # A field says by `selects:` that it reads a column which the table doesn't have. Raised by the first response of its
  # schema, or by the first that meets the model.
  class UnknownColumnError < Error; end

  # The settings of a query aren't known, or what it does would go without them, see docs/network.md. Raised by its reads and
  # writes, before anything is sent.
  class SettingsError < Error; end

  # What a query asks for can't be of its snapshot, see docs/network.md. Raised by its reads, and whatever else it sends.
  class SnapshotError < Error; end

  # In Pipeloader.strict, a read that goes by a round trip of its own where others like it do, too. Raised by the read, behind it.
  class StrictError < Error; end

  # An operation takes more than its budget says, see docs/testing.md. Raised by Pipeloader::Budgets.check, behind its block.
  class BudgetExceededError < Error; end

  # A value that a Plan has no place for: a null where the field has none, a number out of range. Never leaves.
  class DoesNotFit < Error # :nodoc:
    # @param error [StandardError] that was raised where a value was made
    # @yield does it again
    # @return [StandardError] DoesNotFit, if it can't be made; +error+ where it can: somebody has interrupted this thread
    def self.verdict(error)
      yield
      error
    rescue StandardError
      new
    end
  end

  # To be rescued: what Timeout raises around all that goes on here. A subclass, such as Net::ReadTimeout, is an error of the code
  # that raises it.
  module TimedOut # :nodoc:
    def self.===(error) = error.instance_of?(::Timeout::Error)
  end

  # A column that a projection had left out was read after its row had been deleted. Raised by the attribute's reader.
  class RowGoneError < Error; end
end
