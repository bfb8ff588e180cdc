# frozen_string_literal: true

# For tests of what asks `Rails`, which isn't there.
module RailsConstant
  # Yields, to load a gem that would load its railtie: `Rails` is also where sanitizers of Rails are.
  def self.without
    outer = Object.send(:remove_const, :Rails) if Object.const_defined?(:Rails)
    yield
  ensure
    Object.const_set(:Rails, outer) if outer
  end

  private

  # @param env [String] "development", say
  def with_rails(env, &) = with_constant(Module.new { define_singleton_method(:env) { env } }, &)

  # @param rails [Module] what Rails is meanwhile
  def with_constant(rails)
    outer = Object.const_get(:Rails) if Object.const_defined?(:Rails)
    Object.send(:remove_const, :Rails) if outer
    Object.const_set(:Rails, rails)
    yield
  ensure
    Object.send(:remove_const, :Rails)
    Object.const_set(:Rails, outer) if outer
  end
end
