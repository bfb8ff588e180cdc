# frozen_string_literal: true

module Pipeloader
  # Instance variables that hosts change for the length of a block, such as a view's output buffer: each block of a Gathering sees
  # its own, as it does with DynamicState.
  #
  # A block begins with what was there when this was made. Whoever goes on brings its own along, so that nothing has to be put
  # back when a fiber parks.
  class HostState
    # Of any object, BasicObjects too: Jbuilder is one.
    GET = ::Kernel.instance_method(:instance_variable_get)
    SET = ::Kernel.instance_method(:instance_variable_set)
    private_constant :GET, :SET

    # [[#<ActionView::Base>, [:@output_buffer, …]], …]
    attr_reader :variables

    # @param variables [Array<Array(Object, Array<Symbol>)>] what blocks inside change, beside what the one around does
    def initialize(*variables)
      @variables = ResolverFiber.current&.host_state&.variables || []
      add(variables)
      add(buffers)
      @start = take
    end

    # As Gathering.map.
    def map(values, **told) = within { Gathering.map(values, **told) { |value| within { yield value } } }

    # True if each block has its own of an +object+, which it may be in the middle of changing.
    def of?(object) = @variables.any? { |it, _| it.equal?(object) }

    # @return [Array] what code sees now
    def take = @variables.flat_map { |object, names| names.map { |name| GET.bind_call(object, name) } }

    # Makes it what code sees.
    def put(values)
      index = -1
      @variables.each { |object, names| names.each { |name| SET.bind_call(object, name, values[index += 1]) } }
    end

    private

    def add(variables)
      known = @variables
      @variables += variables.reject { |object, _| known.any? { |it, _| object.equal?(it) } }
    end

    # A buffer that code writes to now puts another String in the place of its own for the length of `capture`.
    def buffers
      writers = @variables.select { |_, names| names.include?(:@output_buffer) }
      writers.map { |view, _| GET.bind_call(view, :@output_buffer) }.grep(::ActionView::OutputBuffer).map { |buffer| [buffer, %i[@raw_buffer]] }
    end

    # Yields where this fiber sees what was there at first.
    def within(&block)
      before = take
      put(@start)
      fiber = ResolverFiber.current
      fiber ? fiber.with_host_state(self, &block) : yield
    ensure
      put(before) if before
    end
  end
end
