# frozen_string_literal: true

require_relative "../support/test_helper"
require "pipeloader/minitest"
require "pipeloader/rspec"

# The examples of docs/testing.md are run: a test class by Minitest itself, all others in a test of their own.
module TestingDocs
  class Post < Schemas::Post
    LOCK = Mutex.new
    field :locked, Integer, null: false
    field :hidden, GraphQL::Types::Boolean
    def locked = LOCK.synchronize { object.comments.count }
    def hidden = context[:hidden].include?(object.id)
  end

  class Query < GraphQL::Schema::Object
    field :posts, [Post], null: false
    def posts = ::Post.order(:id)
  end

  AppSchema = Schemas.make(query: Query, mutation: nil).last
  FILE = File.expand_path("../../docs/testing.md", __dir__)
  # {line => code}
  EXAMPLES = File.read(FILE).to_enum(:scan, /^```ruby\n(.*?)^```$/m).to_h { [Regexp.last_match.pre_match.count("\n") + 2, Regexp.last_match[1]] }
  CLASSES, STATEMENTS = EXAMPLES.partition { |_, code| code.start_with?("class") }

  CLASSES.each { |line, code| module_eval(code.sub('"a title"', "::Post.order(:id).first.title"), FILE, line) }

  class StatementsTest < UnitTest
    include RSpec::Matchers
    include Pipeloader::Matchers

    def query = "query Posts { posts { title author { name } comments { body } } }"

    STATEMENTS.each do |line, code|
      class_eval("def test_line_#{line}\n#{code}\nself.assertions += 1\nend", FILE, line - 1)
    end

    def test_there_are_some
      assert_equal [2, 3], [CLASSES.size, STATEMENTS.size]
    end

    def test_every_capability_has_an_example
      names = Pipeloader::Assertions.instance_methods(false) + Pipeloader::Matchers.instance_methods(false)
      assert_empty(names.reject { |name| EXAMPLES.values.join.include?(name.to_s) })
    end
  end
end
