# frozen_string_literal: true

require_relative "example_tree"
require_relative "post_tree"

module Gather
  # posts → author, comments → commenter: the tree of Example::NARROW
  class Narrow < ExampleTree
    include PostTree

    SIZE = 25
    MODEL = Example::Post
  end
end
