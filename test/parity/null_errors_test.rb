# frozen_string_literal: true

require_relative "../support/test_helper"

# Errors of values that are null where none may be, and of objects that nobody may see: they come in the order of a serial run,
# however many reads each field waits for.
class NullErrorsTest < PipeloaderTest
  # Reads so many times, one after the other.
  def self.read(times) = times.times { |n| ::Post.where(id: n).count }

  class Hidden < Schemas::Base
    def self.authorized?(object, _context) = NullErrorsTest.read(object.id % 3) || false
    field :title, String
  end

  class Holder < Schemas::Base
    field :nothing, Integer, null: false
    field :hidden, Hidden, null: false
    field :listed, [Hidden]
    field :numbers, [Integer]
    field :fine, Integer

    def nothing = NullErrorsTest.read(object % 3) && nil
    def hidden = NullErrorsTest.read((object + 1) % 3) && ::Post.find(1 + (object % 5))
    def listed = NullErrorsTest.read((object + 2) % 3) && ::Post.where(id: [1, 2, 3]).order(:id).to_a.rotate(object)
    def numbers = NullErrorsTest.read(object % 2) && [1, nil, 2]
    def fine = NullErrorsTest.read(2)
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field(:holder, Holder) { argument :n, Integer }
    field(:holders, [Holder]) { argument :n, Integer }
    def holder(n:) = NullErrorsTest.read(n % 2) && n
    def holders(n:) = NullErrorsTest.read(n % 3) && Array.new(4) { |at| at + n }
  end

  SELECTIONS = ["nothing", "hidden { title }", "listed { title }", "numbers", "fine"].freeze

  def schemas = @schemas ||= [false, true].map { |piped| Class.new(GraphQL::Schema) { query(Query); use(Pipeloader) if piped } }

  SELECTIONS.permutation(3).each do |fields|
    define_method("test_#{fields.join("_").scan(/\w+/).join("_")}") do
      below = fields.each_with_index.map { |field, at| "f#{at}: #{field}" }.join(" ")
      assert_same_answer("{ a: holders(n: 2) { #{below} } b: holder(n: 1) { #{below} } c: holders(n: 0) { #{below} } }", schemas)
    end
  end
end
