# frozen_string_literal: true

# For tests that lower a limit.
module ReplacedConstant
  private

  # Yields while a constant of the +owner+'s, a private one too, has another value.
  def with_constant(owner, name, value)
    was = owner.send(:const_get, name)
    replace_constant(owner, name, value)
    yield
  ensure
    replace_constant(owner, name, was)
  end

  def replace_constant(owner, name, value)
    owner.send(:remove_const, name)
    owner.const_set(name, value)
  end
end
