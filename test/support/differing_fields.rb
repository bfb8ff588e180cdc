# frozen_string_literal: true

# For tests of WireCase in which each execution is proved, and differs in all fields.
module DifferingFields
  def setup
    super
    @differences = []
    Pipeloader.proof = { sample: 1.0, on_difference: ->(difference) { @differences << difference } }
  end

  def teardown
    Pipeloader.proof = nil
    super
  end

  private

  def schema(_piped, fields)
    (@@differing ||= {})[[self.class, fields]] ||= Class.new(super) do
      use(Pipeloader, breaker: false)
      query(Class.new(query) do
        graphql_name "Query"
        fields.times { |index| define_method(:"f#{index}") { super() && ::Pipeloader::ResolverFiber.current.nil?.to_s } }
      end)
    end
  end
end
