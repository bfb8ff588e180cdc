# frozen_string_literal: true

# For what several fields have from one place, and change for as long as they read.
module Unmixed
  # Each field does something else to one object, that +make+ returns once for each of the two runs.
  #
  # @return [Array] what the fields of the plain schema returned
  def refute_mixed(make, *resolvers)
    object = nil
    plain, piped = Schemas.resolve(resolvers.size, before: -> { object = make.call }) { |index| resolvers[index].call(object) }
    assert_equal plain, piped
    plain
  end
end
