# frozen_string_literal: true

module Bench
  # No GraphQL: a client that fetches the list from one endpoint and each harbor and operator from another, as JSON that it
  # parses. (The HTTP between them isn't counted.)
  class Rest < Contender
    called "rest", "REST: the list, then each harbor and operator by itself"

    def self.serves?(workload) = super && workload.name == "harbors"

    def load
      require_gems
      @dataset.define
    end

    def answer
      connections = request { list.map { |connection| row(connection) } }
      connections.each { |connection|
        FIELDS.each { |name, (model, keys)|
          connection[name] = look_up(connection, name, model, keys)
        }
      }
      JSON.generate({ "data" => { "connections" => connections } })
    end

    # {"origin" => [model, columns by their names]}
    FIELDS = { "origin" => ["Harbor", { "name" => "name" }], "destination" => ["Harbor", { "name" => "name" }],
               "operator" => ["Operator", { "brandName" => "brand_name" }] }.freeze

    private

    def list = ::Harbors::Connection.listed(@workload.variables[:limit])

    def row(connection)
      { "id" => connection.id.to_s, "name" => connection.name, "description" => connection.description,
        "isEnabled" => connection.is_enabled, "createdAt" => connection.created_at.iso8601,
        **FIELDS.keys.to_h { |name| [name, connection.attributes["#{name}_id"]] } }
    end

    def look_up(connection, name, model, keys)
      id = connection[name]
      request { ::Harbors.const_get(model).find(id).then { |record| keys.transform_values { |column| record[column] } } } if id
    end

    # What an endpoint answers, as the client sees it.
    def request = JSON.parse(JSON.generate(yield))
  end
end
