# frozen_string_literal: true

require_relative "../support/plans"
require "global_id"
GlobalID.app = "pipeloader-test"

# `id` of graphql-ruby's Node is plain where the schema makes it of the record's key.
class GlobalIdsTest < PlanTest
  class Article < ActiveRecord::Base
    self.table_name = "posts"
    include ::GlobalID::Identification
    belongs_to :author, class_name: "GlobalIdsTest::Person", optional: true
  end

  class Person < ActiveRecord::Base
    self.table_name = "users"
    include ::GlobalID::Identification
  end

  module Lookalike
    def to_gid_param = "look-#{id}"
    alias to_gid to_gid_param
    alias to_global_id to_gid_param
  end

  class Alike < ActiveRecord::Base
    self.table_name = "posts"
    include Lookalike
  end

  class Odd < ActiveRecord::Base
    self.table_name = "posts"
    include ::GlobalID::Identification
    def to_gid_param(*) = "odd-#{title}"
  end

  module NodeType
    include GraphQL::Schema::Interface
    include GraphQL::Types::Relay::NodeBehaviors
  end

  def node(name, &block)
    type(name) do
      implements NodeType
      class_eval(&block) if block
    end
  end

  # Named, as an application's are.
  def schemas(model, ways, type = nil)
    person = node("Person") { field :name, String }
    type ||= node("Article") { field :title, String }
    type.field :author, person if model == Article
    query = type("Query") { field :them, [type] }
    query.define_method(:them) { model.order(:id) }
    make(query: query).each_with_index do |schema, index|
      self.class.send(:remove_const, "Schema#{index}") if self.class.const_defined?("Schema#{index}", false)
      self.class.const_set("Schema#{index}", schema)
      schema.instance_eval(ways)
    end
  end

  PLAIN = ["def self.id_from_object(object, _type, _context) = object.to_gid_param",
           "def self.id_from_object(object, type, context) = GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.id)",
           "def self.id_from_object(object, type, context) = ::GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.id)"].freeze
  OPAQUE = ["def self.id_from_object(object, _type, _context) = object.to_gid_param.reverse", "def self.id_from_object(object, _type, _context) = \"x\#{object.title}\"",
            "def self.id_from_object(object, type, context) = GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.title)",
            "def self.id_from_object(object, type, context) = (context[:ids] = object; object.to_gid_param)",
            "def self.id_from_object(object, *) = object.to_gid_param", "def self.id_from_object(object, type, context) = type.to_gid_param rescue object.id.to_s"].freeze

  def test_ids
    PLAIN.each do |way|
      2.times { assert_plan("{ them { id title } }", schemas(Article, way)) }
      assert_plan("{ them { id author { id name } again: id __typename } }", schemas(Article, way))
    end
  end

  def test_beside_opaque_fields
    PLAIN.each do |way|
      article = node("Article") do
        field :loud, String
        def loud = object.title.dup.upcase!
      end
      schemas = schemas(Article, way, article)
      assert_aside("{ them { id loud author { id } } }", schemas, model: Article)
      assert_match(/^  id: compiled$/, Pipeloader.explain(schemas.last, "{ them { id loud author { id } } }").to_s) unless Engine::NEXT
    end
  end

  def test_other_ways
    OPAQUE.each { |way| assert_aside("{ them { id } }", schemas(Article, way), model: Article, errors: :any) }
    [Odd, Alike].each { |model| assert_aside("{ them { id } }", schemas(model, PLAIN.first), model: model) }
    assert_aside("{ them { id } }", make(query: Class.new(schemas(Article, PLAIN.first).first.query)), model: Article, errors: true)
  end

  def test_a_method_of_the_types
    own = node("Article") { def default_global_id = "own#{(context.dig(:mark) || "!")}" }
    assert_aside("{ them { id } }", schemas(Article, PLAIN.first, own), model: Article)
    mine = node("Article") { def self.default_global_id(*) = "mine" }
    assert_aside("{ them { id } }", schemas(Article, PLAIN.first, mine), model: Article)
  end

  module Shadowing
    module GraphQL
      module Schema
        module UniqueWithinType
          def self.encode(*) = "shadow"
        end
      end
    end
  end

  module Inner
    module GraphQL
      module Schema
        module UniqueWithinType
          def self.encode(name, id) = "inner-#{name}-#{id}"
        end
      end
    end

    module Ids
      def id_from_object(object, type, _context) = GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.id)
    end
  end

  def test_a_method_of_a_module
    schemas = schemas(Article, "nil").each { |schema| schema.extend(Inner::Ids) }
    assert_equal "inner-Article-1", assert_aside("{ them { id } }", schemas, model: Article).dig("data", "them", 0, "id")
  end

  def test_a_constant_of_the_applications
    schemas = schemas(Article, "nil")
    schemas.each_with_index do |schema, index|
      Shadowing.send(:remove_const, "Schema#{index}") if Shadowing.const_defined?("Schema#{index}", false)
      copy = Class.new(schema)
      Shadowing.const_set("Schema#{index}", copy)
      Shadowing.module_eval("def (Schema#{index}).id_from_object(object, type, context) = GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.id)", __FILE__, __LINE__)
    end
    copies = Array.new(2) { |index| Shadowing.const_get("Schema#{index}") }
    assert_equal "shadow", assert_aside("{ them { id } }", copies, model: Article).dig("data", "them", 0, "id")
  end
end
