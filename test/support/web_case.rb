# frozen_string_literal: true

require "minitest/mock"
require_relative "web"

# The page and its JSON, by calls as Rack makes them.
module WebCase
  QUERY = "query Posts { posts { title author { name } authorName } }"

  def setup
    Pipeloader::Web.start
    Pipeloader::Web.clear
    Pipeloader::Web.authorize = :host
  end

  def teardown
    Pipeloader::Web.authorize = nil
    Pipeloader::Web.binds = false
    Pipeloader::Web.stop
    super
  end

  def call(path = "/", method: "GET", **headers)
    Pipeloader::Web.call({ "REQUEST_METHOD" => method, "PATH_INFO" => path, "SCRIPT_NAME" => "/pipeloader", "HTTP_HOST" => "app.test",
                           "rack.url_scheme" => "http", **headers.transform_keys { |it| "HTTP_#{it.upcase}" } })
  end

  def json(path, **options)
    status, _, body = call(path, **options)
    assert_equal 200, status, body.join
    JSON.parse(body.join, symbolize_names: true)
  end

  def operations = json("/operations.json")[:operations]
  def details(operation = operations.first) = json("/operations/#{operation[:id]}.json")
  def piped = Schemas.pair.last
  def recorder = Pipeloader::Web.instance_variable_get(:@recorder)

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

  # A schema whose reads are those of the block, which gets the argument `title`.
  def schema_of(&body)
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field(:found, [String], null: false) { argument :title, String, required: false }
      define_method(:found) { |title: nil| body.call(title) }
    end
    Class.new(GraphQL::Schema) do
      query(query)
      use(Pipeloader, rest: false)
    end
  end
end
