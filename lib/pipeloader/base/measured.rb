# frozen_string_literal: true

module Pipeloader
  # Whether somebody measures what responses take. These are executed as if their operations never had been before: nothing that
  # earlier executions have taught is used, so that a test finds the same figures alone, and behind any other test.
  module Measured
    # In the fiber's storage, which the fibers of a response inherit.
    KEY = :pipeloader_measured
    private_constant :KEY

    class << self
      # Yields. Of each response that begins meanwhile, +observer+ is told.
      def by(observer)
        add(observer)
        yield
      ensure
        remove(observer)
      end

      # @param observer [#begun] gets the queries of each response that begins
      def add(observer) = Fiber[KEY] = [*Fiber[KEY], observer].freeze

      def remove(observer)
        left = [*Fiber[KEY]].reject { |it| it.equal?(observer) }
        Fiber[KEY] = (left.freeze if left.any?)
      end

      #: () -> bool
      def now? = !Fiber[KEY].nil?

      # @return [Boolean] whether the response is measured that begins
      def begin(queries)
        return false unless Fiber.respond_to?(:[]) # Ruby 3.1 has none, unless graphql-ruby brings it

        observers = Fiber[KEY] or return false
        observers.each { |observer| observer.begun(queries) }
        true
      end
    end
  end
end
