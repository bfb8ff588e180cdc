# frozen_string_literal: true

require_relative "../support/answers"

# What Execution::Next does by steps of its own: objects that get through in another order, errors where no null may be, queries
# that arguments execute, names in messages.
class NextStepsTest < AnswerTest
  Refused = Class.new(StandardError)

  class Text < GraphQL::Schema::Object
    graphql_name "StepText"
    field :shown, String

    def self.authorized?(*) = true
    def shown = object.title
  end

  class Person < GraphQL::Schema::Object
    graphql_name "StepPerson"
    field :name, String

    def self.authorized?(*) = true
  end

  class Checked < GraphQL::Schema::Object
    graphql_name "StepPost"
    field :title, String
    field :flaky, String, **(Engine::NEXT ? { resolve_legacy_instance_method: true } : {})
    field :position, Integer, **(Engine::NEXT ? { resolve_batch: :position } : {})
    field :author, Person
    field :must, String, null: false
    field :must_not, String, null: false

    # Some read for it, and get through later.
    def self.authorized?(post, context)
      raise Refused, "not #{post.id}" if context[:refused] == post.id
      return GraphQL::Execution::Lazy.new { ::Comment.exists? } if context[:lazy] == post.id

      post.id.odd? ? ::Comment.where("pg_sleep(0) IS NOT NULL").exists? && post.id != context[:hidden] : true
    end

    def self.position(objects, _context) = objects.each_index.to_a

    def flaky = raise(KeyError, "boom #{object.id}")
    def position = object.id
    def must = object.id == 2 ? raise(GraphQL::ExecutionError, "must #{object.id}") : object.title
    def must_not = object.id == 3 ? nil : object.title
  end

  class Plain < GraphQL::Schema::Object
    graphql_name "StepUser"
    field :position, Integer, **(Engine::NEXT ? { resolve_batch: :position } : {})

    def self.position(objects, _context) = objects.each_index.to_a
    def position = object.id
  end

  class Thing < GraphQL::Schema::Union
    graphql_name "StepThing"
    possible_types Checked, Plain

    def self.resolve_type(object, context)
      return Plain if object.is_a?(::User)
      raise Refused, "no type of #{object.id}" if context[:untyped] == object.id

      object.id > 3 ? ::Comment.where("pg_sleep(0) IS NOT NULL").exists? && Checked : Checked
    end
  end

  class Query < GraphQL::Schema::Object
    field :things, [Thing]
    def things = ::Post.order(:id).limit(6).zip(::User.order(:id).limit(6)).flatten
    field :posts, [Checked, { null: true }], null: false
    field :post, Checked
    field :pages, [[Checked, { null: true }]]
    field :prepared, String do
      argument :id, GraphQL::Types::ID, prepare: ->(id, context) { "#{id} #{context.schema.execute("{ count post { title } }").to_h}" }
    end
    field :isolated, String do
      argument :id, GraphQL::Types::ID, prepare: ->(id, context) { context.dataloader.run_isolated { "#{id} #{::Post.count}" } }
    end
    field :count, Integer
    field :texts, [Text]

    def posts = ::Post.order(:id).limit(6).to_a
    def pages = posts.each_slice(4).to_a
    def post = ::Post.find(2)
    def prepared(id:) = id.to_s
    def isolated(id:) = id.to_s
    def count = ::Post.count
    def texts = posts
  end

  QUERIES = ["{ posts { title position } }", "{ posts { flaky } }", "{ pages { flaky title } }", "{ pages { position author { name } } }",
             "{ posts { author { name } must } }", "{ posts { author { name } mustNot author { name } } }", "{ post { author { name } must } }",
             '{ prepared(id: "7") other: prepared(id: "8") posts { title } }', '{ isolated(id: "7") texts { shown } }',
             "{ things { ... on StepPost { title position } ... on StepUser { position } } }"].freeze

  def schemas(depth_first, lazies)
    Schemas.make(query: Query, mutation: nil) do
      Engine.depth_first(self) if depth_first
      lazy_resolve(GraphQL::Execution::Lazy, :value) if lazies
      rescue_from(KeyError) { |error| raise GraphQL::ExecutionError, error.message }
    end
  end

  [true, false].each do |depth_first|
    QUERIES.each_with_index do |text, index|
      define_method(:"test_#{depth_first ? "depth" : "dataloader"}_#{index}") do
        [{}, { hidden: 3 }, { hidden: 1 }, { refused: 4 }, { refused: 5, hidden: 3 }, { lazy: 1 }, { lazy: 4, hidden: 1 }, { untyped: 5 }].each do |context|
          plain, piped = schemas(depth_first, context.key?(:lazy)).map { |schema| Array.new(2) { told(schema, text, context) } }
          assert_equal plain, piped, context.to_s
        end
      end
    end
  end

  # The whole message, with the name of the field that graphql-ruby puts before it.
  def told(schema, text, context)
    schema.execute(text, context: context.dup).to_h
  rescue Refused => e
    [e.class, e.message]
  end
end
