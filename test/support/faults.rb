# frozen_string_literal: true

# Bugs in Pipeloader, made for the time of a block.
module Faults
  # Where something goes wrong.
  POINTS = {
    plan: [Pipeloader::Executor, :call], read: [Pipeloader::Response, :gather], burst: [Pipeloader::Level, :send_off],
    run: [Pipeloader::Run, :start], delivery: [Pipeloader::Delivery, :of], over: [Pipeloader::Response, :over]
  }.freeze

  class << self
    # @return [Integer] how often it went wrong
    attr_reader :count

    # Yields while that method of ours fails as our code would: by an error whose first line is in lib/.
    #
    # @param error [Exception, nil] that it raises instead
    # @param wrong [Proc] whether it does
    def raising(point, error = nil, wrong: -> { true }, &block)
      within(point, (->(*) { raise error } if error), wrong, &block)
    end

    # Yields while that method returns something else.
    #
    # @param change [Proc] gets what it returns
    def within(point, change, wrong = -> { true })
      @count = 0
      host, name = POINTS.fetch(point)
      original = host.instance_method(name)
      replace(host, name) { host.class_eval(code(name), *original.source_location) }
      host.const_set(:FAULT, ->(returned) { @count += 1; change ? change.call(returned) : returned })
      host.const_set(:WRONG, wrong)
      host.const_set(:SOUND, original)
      host.const_set(:BUG, change.nil?)
      yield
    ensure
      replace(host, name) { host.define_method(name, original) }
      %i[FAULT SOUND BUG WRONG].each { |it| host.send(:remove_const, it) }
    end

    private

    def replace(host, name)
      host.send(:remove_method, name)
      yield
    end

    def code(name)
      <<~RUBY
        def #{name}(...)
          returned = SOUND.bind_call(self, ...)
          return returned unless WRONG.call

          returned = FAULT.call(returned)
          BUG ? nil.something_of_pipeloaders : returned
        end
      RUBY
    end
  end
end
