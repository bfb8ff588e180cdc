# frozen_string_literal: true

require "active_record"
require "graphql"
require "pipeloader"
require "pipeloader/web"
require "pipeloader/minitest"

# An application that uses what Pipeloader offers, for two checks. It runs (test/docs/typed_example_test.rb), so what it expects
# of Pipeloader is true. Steep compares it with the signatures in sig/ (`bundle exec rake steep`), so they promise the same.
# application.rbs says of which type everything is that it gets from Pipeloader.
module TypedExample
  class Author < ActiveRecord::Base
  end

  class AuthorType < GraphQL::Schema::Object
    pipeloader_field_exact!
    field :name, String, null: false
  end

  class QueryType < GraphQL::Schema::Object
    field :authors, [AuthorType], null: false

    def authors = Author.order(:id)
  end

  class Schema < GraphQL::Schema
    query(QueryType)
    use Pipeloader, trips: :depth, lanes: { most: 2 }
  end

  # `use` hands its options on: here they are checked.
  class OtherSchema < GraphQL::Schema
    query(QueryType)
    Pipeloader.use(self, fiber_limit: 100, compile: false, lanes: 1, settings: ->(_context) { { statement_timeout: 900 } },
                         breaker: false, extensions: nil)
  end

  # What an initializer says.
  class Settings
    def call
      Pipeloader.defaults = { forecast: true }
      Pipeloader.log = :summary
      Pipeloader.enabled = 0.5
      Pipeloader.enabled = ->(context) { context[:on] != false }
      Pipeloader.field_exact = false
      Pipeloader.collections = false
      Pipeloader.revision = "8c04d3e7a1f2"
      Pipeloader.proof = { sample: 1, on_difference: ->(difference) { report(difference) }, values: false }
      Pipeloader::Web.authorize { |env| env["REMOTE_ADDR"] == "127.0.0.1" }
      Pipeloader::Web.explain = false
      Pipeloader::Web.binds = false
    end

    def values
      page = [Pipeloader::Web.explain, Pipeloader::Web.binds]
      [Pipeloader.enabled.nil?, Pipeloader.collections, Pipeloader.proof&.fetch(:sample), Pipeloader.disabled?] + page
    end

    def names
      exact = Pipeloader.field_exact ? ["exact"] : ["whole"]
      exact + Pipeloader.defaults.keys.map(&:to_s) + [Pipeloader.log.to_s, Pipeloader.revision || "none"]
    end

    private

    def report(difference)
      sql = [difference.plain_sql, difference.piped_sql].map { |it| it.join(";") }.join(" / ")
      sql += " (others may have written)" unless difference.snapshot
      name = difference.operation_name || difference.document
      warn("#{difference.schema.name} #{name} at #{difference.path.join(".")}: #{sql}, #{difference.plain}, #{difference.piped}")
      warn(difference.to_s.upcase)
    end
  end

  # What a service object does.
  class Service
    TEXT = "{ authors { name } }"

    def authors = Schema.execute(TEXT).to_h["data"]["authors"]

    def statements
      counters = Schema.execute(TEXT).context.namespace(:pipeloader)
      counters[:statements] + counters[:reads] - counters[:bursts]
    end

    def lengths = Pipeloader.map(%w[Ann Ben]) { |name| name.length }.sum

    def answers = Pipeloader.multiplex([1, 2]) { |_| Schema.execute(TEXT) }.map(&:to_h)

    def gathered
      Pipeloader.gather do |gathering|
        one = gathering.async { 20 }
        other = gathering.async { "22" }
        one.value + other.value.to_i
      end
    end

    def blocks
      [Pipeloader.uncoalesced { 1 } + 1, Pipeloader.without_parking { 2 } + 1, Pipeloader.disabled { 3 } + 1,
       Pipeloader.strict { 4 } + 1]
    end

    def shared
      Pipeloader.interleavings { Schema.execute(TEXT) }.map do |it|
        "#{it.left.upcase} #{it.entered.upcase} #{it.variables.join(", ")} #{it.fields.first.upcase}"
      end
    end

    def opened
      Pipeloader.breaker.open.map do |it|
        "#{it.schema} #{it.operation || "?"} #{it.document.size} #{it.reason.upcase} #{it.at.year}" if it.plain
      end
    end

    def reset = Pipeloader.breaker.reset

    def explained
      bursts = Pipeloader.explain(Schema, TEXT).to_h[:bursts].sum { |burst| burst[:trip] }
      schema = Pipeloader.explain_schema(Schema, models: { AuthorType => Author })
      [bursts, schema.to_h[:compiled], schema.to_s.lines.size, Pipeloader.explain(Schema, TEXT).to_s.lines.size]
    end

    def page = Pipeloader::Web.call({ "REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "REMOTE_ADDR" => "127.0.0.1" })

    def recorded
      Pipeloader::Web.clear
      Pipeloader::Web.stop
      Pipeloader::Web.history = nil
      Pipeloader::Web.start
      Pipeloader::Web.authorize.nil?
    end

    def exact? = AuthorType.pipeloader_field_exact?

    def failing
      raise Pipeloader::StrictError, "of Pipeloader's own"
    rescue Pipeloader::Error => e
      e.message
    end
  end

  # What a test does.
  class Trips < Minitest::Test
    def asserted
      names = assert_round_trips(1) { assert_compiled("Author.name") { Schema.execute(Service::TEXT) } }.to_h.keys
      opaque = refute_compiled("Query.authors") { Schema.execute(Service::TEXT) }.to_h
      names.size + assert_statements(exactly: 0) { 1 } + assert_rows_read(0) { 1 } + opaque.size
    end
  end

  # Rack's middlewares.
  class Middlewares
    def call = Pipeloader::ExtensionHeader.new(->(_env) { [200, { "x" => "y" }, ["z"]] }).call({ "PATH_INFO" => "/" })
  end
end
