# frozen_string_literal: true

require "minitest/mock"
require_relative "rails_constant"
require_relative "web"

# The page and its JSON, by calls as Rack makes them.
module WebCase
  include RailsConstant

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
