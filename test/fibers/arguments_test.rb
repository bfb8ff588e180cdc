# frozen_string_literal: true

require_relative "../support/test_helper"
require "graphql/batch"

# Arguments that read: `loads:` and `prepare:`, of fields, in input objects and in lists. Those of one field are read by one
# burst; `rescue_from` hears of them as without a dataloader, in the same order and of the same field and path.
class ArgumentsTest < PipeloaderTest
  class Deep < GraphQL::Schema::InputObject
    graphql_name "ArgumentsDeep"
    argument :post_id, ID, loads: Schemas::Post, required: false
    argument :other_id, ID, loads: Schemas::Post, required: false, as: :other
    argument :shout, String, required: false, prepare: ->(text, context) { "#{text} #{context[:current_path]} #{context[:current_field]&.path}" }
  end

  class Wide < GraphQL::Schema::InputObject
    graphql_name "ArgumentsWide"
    argument :post_id, ID, loads: Schemas::Post, required: false
    argument :post_ids, [ID], loads: Schemas::Post, required: false
    argument :deep, Deep, required: false
    argument :deeps, [Deep], required: false
  end

  class Thorough < GraphQL::Schema::InputObject
    graphql_name "ArgumentsThorough"
    argument :post_id, ID, loads: Schemas::Post, required: false, prepare: :titled
    argument :other_id, ID, loads: Schemas::Post, required: false, as: :other
    def titled(post) = post && [post.title]
    def prepare = [to_h.transform_values { |it| it.is_a?(::Post) ? it.title : it }, self[:other]&.likes]
  end

  class Seen < GraphQL::Schema::InputObject
    graphql_name "ArgumentsSeen"
    argument :post_id, ID, loads: Schemas::Post, required: false
    argument :other_id, ID, loads: Schemas::Post, required: false, as: :other
    def prepare = to_h.transform_values { |it| it.is_a?(::Post) ? it.title : it }
  end

  module Fields
    def self.included(type)
      type.class_eval do
        field :pair, String do
          argument :first_id, GraphQL::Types::ID, loads: Schemas::Post
          argument :second_id, GraphQL::Types::ID, loads: Schemas::Post, required: false
          argument :loud, GraphQL::Types::Boolean, required: false
        end
        field :must_pair, String, null: false, resolver_method: :pair do
          argument :first_id, GraphQL::Types::ID, loads: Schemas::Post
          argument :second_id, GraphQL::Types::ID, loads: Schemas::Post
        end
        field(:many, String) { argument :post_ids, [GraphQL::Types::ID], loads: Schemas::Post }
        field :wide, String do
          argument :in, Wide
          argument :post_id, GraphQL::Types::ID, loads: Schemas::Post, required: false
        end
        field :seen, String do
          argument :in, Seen
          argument :deep, Deep, required: false, prepare: ->(deep, _) { deep.to_h.map { |key, it| [key, it.is_a?(::Post) ? it.title : it] } }
        end
        field(:thorough, String) { argument :in, Thorough }
        field(:thoroughs, String) { argument :in, [Thorough] }
        field :prepared, String do
          argument :one, Integer, prepare: ->(id, context) { [::Post.find(id).title, context[:current_path], context[:current_field]&.path] }
          argument :two, Integer, prepare: ->(id, context) { [::Post.find(id).title, context[:current_path], context[:current_field]&.path] }
        end
      end
    end

    def pair(first:, second: nil, loud: nil) = [first, second].map { |it| loud ? it&.title&.upcase : it&.title }.inspect
    def many(posts:) = posts.map { |it| it&.title }.inspect

    def wide(in:, post: nil)
      given = binding.local_variable_get(:in)
      [told(given), post&.title, context[:current_path]].inspect
    end

    def thorough(in:) = told(binding.local_variable_get(:in)).inspect
    alias thoroughs thorough
    def seen(in:, deep: nil) = [told(binding.local_variable_get(:in)), deep].inspect

    def prepared(one:, two:) = [one, two].inspect

    def told(value)
      case value
      when Array then value.map { |it| told(it) }
      when Hash, GraphQL::Schema::InputObject then value.to_h.map { |key, it| [key, told(it)] }
      when ::Post then value.title
      else value
      end
    end
  end

  class Item < Schemas::Base
    graphql_name "ArgumentsItem"
    include Fields
    field :id, ID
  end

  class Query < Schemas::Base
    graphql_name "Query"
    include Fields
    field :items, [Item]
    field :count, Integer
    def items = ::Comment.order(:id).limit(3)
    def count = ::Comment.where("score > 1").count
  end

  class Mutation < Schemas::Base
    graphql_name "Mutation"
    field :touch, String do
      argument :first_id, GraphQL::Types::ID, loads: Schemas::Post
      argument :in, Deep
    end
    def touch(first:, in:) = [first.title, binding.local_variable_get(:in).to_h.values.map { |it| it.is_a?(::Post) ? it.title : it }].inspect
  end

  class PostLoader < GraphQL::Batch::Loader
    def perform(ids) = ::Post.where(id: ids).each { |post| fulfill(post.id, post) }
  end

  # What `rescue_from` is told, and those who authorize.
  TOLD = []

  def schemas(find: ->(id) { ::Post.find(id) }, &block)
    Schemas.make(query: Query, mutation: Mutation, pipeloader: { compile: false }) do
      define_singleton_method(:object_from_id) { |id, _context| find.call(id) }
      def self.resolve_type(*) = Schemas::Post
      rescue_from(ActiveRecord::RecordNotFound) do |error, object, _, context, field|
        TOLD << [error.id, object&.class&.name, field&.path, context[:current_path], context[:current_object]&.class&.name, context[:current_field]&.path]
        raise GraphQL::ExecutionError, "no #{error.id}"
      end
      class_eval(&block) if block
    end
  end

  # @return [Array(Hash, Array)] what both answer, and what is told
  def assert_alike(text, schemas = self.schemas, trips: nil)
    alike = schemas.map do |schema|
      TOLD.clear
      answer = begin
        JSON.generate(schema.execute(text).to_h)
      rescue StandardError => e
        "#{e.class} #{Engine.message_of(e)}"
      end
      [answer, TOLD.dup]
    end
    assert_equal(*alike, text)
    assert_round_trips(trips, text) { schemas.last.execute(text) } if trips
    alike.last
  end

  def test_two_of_a_field_are_one_burst
    assert_alike "{ pair(firstId: 1, secondId: 2) }", trips: 1
    assert_alike "{ many(postIds: [1, 2, 3]) count }", trips: 1
    assert_alike "{ a: pair(firstId: 1, secondId: 2, loud: true) b: pair(firstId: 3, secondId: 4) count }", trips: 1
  end

  # As with `use GraphQL::Dataloader` beside it.
  def test_beside_a_dataloader
    assert_alike "{ pair(firstId: 1, secondId: 2) }", schemas { use GraphQL::Dataloader }, trips: 1
  end

  def test_prepared
    assert_alike "{ prepared(one: 1, two: 2) }", trips: Engine::NEXT ? 2 : 1
    assert_alike "{ a: prepared(one: 1, two: 99) b: prepared(one: 98, two: 2) }", schemas { Engine.depth_first(self) }
    assert_alike "{ items { prepared(one: 1, two: 2) many(postIds: [1, 99]) } }"
  end

  def test_failing
    _, told = assert_alike "{ pair(firstId: 98, secondId: 99) count }", trips: 1
    assert_equal [["98", "Query.pair"], ["99", "Query.pair"]], told.map { |it| it.values_at(0, 2) }
    ["{ pair(firstId: 1, secondId: 99) }", "{ mustPair(firstId: 98, secondId: 99) count }", "{ count mustPair(firstId: 1, secondId: 99) }",
     "{ many(postIds: [1, 98, 99]) count a: many(postIds: [97]) }"].each { |text| assert_alike text, trips: 1 }
  end

  def test_input_objects
    # (On the Interpreter the items of a list of input objects come one after the other, as with GraphQL::Dataloader.)
    assert_alike <<~GRAPHQL, trips: Engine::NEXT ? 1 : 2
      { wide(in: { postId: 1, postIds: [2, 3], deep: { postId: 4, otherId: 5, shout: "x" }, deeps: [{ postId: 6 }, { postId: 7, shout: "y" }] }, postId: 8)
        count }
    GRAPHQL
    assert_alike '{ wide(in: { postId: 1, deep: { shout: "b", otherId: 5, postId: 4 } }) }', trips: 1
  end

  def test_failing_in_input_objects
    _, told = assert_alike "{ wide(in: { postId: 99 }) count }", trips: 1
    assert_equal [["99", "Query.wide"]], told.map { |it| it.values_at(0, 2) }
    ["{ wide(in: { postIds: [1, 99, 98] }) count }", "{ wide(in: { deep: { postId: 99, otherId: 98 } }) count }",
     "{ wide(in: { deeps: [{ postId: 1 }, { postId: 98 }, { postId: 99 }] }) count }",
     "{ a: wide(in: { postId: 98, postIds: [97] }, postId: 96) b: pair(firstId: 95, secondId: 94) count }",
     "{ a: prepared(one: 1, two: 91) b: wide(in: { postId: 98, deep: { otherId: 97, postId: 1 } }) c: many(postIds: [1, 96]) }"].each { |text| assert_alike text, schemas { Engine.depth_first(self) } }
  end

  # The objects of a list share their field's arguments: these are loaded once.
  def test_of_a_lists_objects
    assert_alike "{ items { id pair(firstId: 1, secondId: 2) } }", trips: 2
    assert_alike "{ items { id wide(in: { postId: 1, deep: { shout: \"z\" } }) } }", trips: 2
    ["{ items { id pair(firstId: 1, secondId: 99) } }", "{ items { id mustPair(firstId: 98, secondId: 99) } }",
     '{ items { id a: wide(in: { postId: 98 }) b: wide(in: { postId: 1, deep: { shout: "z" } }) } }'].each do |text|
      assert_alike text
    end
  end

  # By methods of the input object's, and of its class, which are given what has been loaded.
  def test_prepared_by_methods
    ["{ thorough(in: { postId: 1, otherId: 2 }) }", "{ thorough(in: { postId: 99, otherId: 98 }) count }", "{ thorough(in: { otherId: 2 }) }",
     "{ thoroughs(in: [{ postId: 1 }, { postId: 2, otherId: 3 }]) }", "{ thoroughs(in: [{ postId: 1 }, { postId: 99, otherId: 3 }]) }"].each { |text| assert_alike text }
  end

  # By what comes behind all loads of an input object.
  def test_seen_when_loaded
    ["{ seen(in: { postId: 1, otherId: 2 }) }", "{ seen(in: { otherId: 2 }, deep: { otherId: 3, postId: 1, shout: \"x\" }) }",
     "{ seen(in: { postId: 1, otherId: 99 }, deep: { postId: 98 }) count }"].each { |text| assert_alike text }
  end

  # The first argument is the last to be there, and the second fails without a read.
  def test_that_end_in_another_order
    slow = lambda do |id|
      raise ActiveRecord::RecordNotFound.new("none", "Post", "id", id) if id.to_i > 90 && id.to_i.odd?

      ::Comment.find(id.to_i % 10) && ::Comment.where(post_id: id).count && ::Post.find(id)
    end
    ["{ pair(firstId: 92, secondId: 91) count }", "{ pair(firstId: 2, secondId: 91) }", "{ many(postIds: [92, 91]) }", "{ wide(in: { postId: 92, postIds: [2, 91] }, postId: 93) }",
     "{ a: pair(firstId: 92, secondId: 94) b: pair(firstId: 91, secondId: 93) }", "{ wide(in: { deep: { postId: 92, otherId: 91 } }) mustPair(firstId: 92, secondId: 91) }"].each do |text|
      assert_alike text, schemas(find: slow) { Engine.depth_first(self) }
    end
  end

  def test_unauthorized
    forbidding = begin
      post = Class.new(Schemas::Post) do
        graphql_name "Post"
        def self.authorized?(post, _context)
          TOLD << post.id
          post.comments.exists? && post.id.even?
        end
      end
      query = Class.new(Schemas::Base) do
        graphql_name "Query"
        field :it, String do
          argument :a_id, GraphQL::Types::ID, loads: post
          argument :b_id, GraphQL::Types::ID, loads: post
          argument :ids, [GraphQL::Types::ID], loads: post, required: false, as: :more
        end
        def it(a:, b:, more: []) = [a, b, *more].map { |post| post&.title }.inspect
      end
      Schemas.make(query: query, mutation: nil, pipeloader: { compile: false }) do
        define_singleton_method(:object_from_id) { |id, _context| ::Post.find_by(id: id) }
        define_singleton_method(:resolve_type) { |*| post }
        def self.unauthorized_object(error) = TOLD.push("un #{error.object.id}") && nil
      end
    end
    ["{ it(aId: 2, bId: 4) }", "{ it(aId: 1, bId: 3) }", "{ it(aId: 2, bId: 3) }", "{ it(aId: 99, bId: 3) }", "{ it(aId: 2, bId: 4, ids: [6, 5, 7, 8]) }"].each do |text|
      answers = forbidding.map { |schema| [JSON.generate(schema.execute(text).to_h), TOLD.grep(String), TOLD.clear].first(2) }
      assert_equal(*answers, text)
    end
  end

  # An exception that nobody rescues: the first one's.
  def test_leaving
    loose = Schemas.make(query: Query, mutation: nil, pipeloader: { compile: false }) do
      def self.object_from_id(id, _context) = ::Post.find(id) || raise
      def self.resolve_type(*) = Schemas::Post
      rescue_from(ActiveRecord::RecordNotFound) { |error| raise ArgumentError, "told of #{error.id}" }
    end
    ["{ pair(firstId: 98, secondId: 99) }", "{ pair(firstId: 1, secondId: 99) count }", "{ wide(in: { postIds: [1, 99, 98] }, postId: 97) }",
     "{ wide(in: { postId: 1 }, postId: 97) }"].each { |text| assert_alike text, loose }
  end

  # Objects that come by promises.
  def test_lazy
    by_batch = schemas(find: ->(id) { PostLoader.for.load(id.to_i) }) { use GraphQL::Batch }
    ["{ pair(firstId: 1, secondId: 2) count }", "{ a: pair(firstId: 1, secondId: 2) b: many(postIds: [3, 4]) }",
     "{ wide(in: { postId: 1, deep: { postId: 4, otherId: 5 } }) }"].each do |text|
      plain, piped = by_batch.map { |schema| JSON.generate(schema.execute(text).to_h) }
      assert_equal plain, piped, text
    end
  end

  def test_mutation
    assert_alike "mutation { a: touch(firstId: 1, in: { postId: 2, otherId: 3 }) b: touch(firstId: 98, in: { postId: 1 }) c: touch(firstId: 1, in: { postId: 99 }) }"
  end

  # In a transaction, reads go in the order of a serial run.
  def test_in_a_transaction
    ["{ pair(firstId: 1, secondId: 2) count }", "{ wide(in: { postId: 1, postIds: [2, 99] }) count }"].each do |text|
      ActiveRecord::Base.transaction { assert_alike text }
    end
  end
end
