# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/plan_types"

# Who sees which types: one document, several viewers. A fragment's type condition means what it means to who asks.
class VisibilityTest < PlanTest
  module ForAdmins
    def visible?(context) = super && context[:who] == :admin
  end

  class Field < GraphQL::Schema::Field
    def initialize(*arguments, admins: false, **options, &block)
      @admins = admins
      super(*arguments, **options, &block)
    end

    def visible?(context) = super && (!@admins || context[:who] == :admin)
  end

  # Of posts, admins alone know it.
  class Membership < GraphQL::Schema::TypeMembership
    def visible?(context) = super && (object_type.graphql_name != "Post" || context[:who] == :admin)
  end

  module Internal
    include GraphQL::Schema::Interface
    definition_methods { include ForAdmins }
    field :body, String
  end

  module Audited
    include GraphQL::Schema::Interface
    type_membership_class Membership
    field :name, String
  end

  class Post < Schemas::Base
    implements Internal
    implements PlanTypes::Node
    implements Audited
    field :title, String
    field :name, String, method: :title
  end

  class Log < Schemas::Base
    extend ForAdmins
    implements PlanTypes::Node
    field :title, String
  end

  class User < Schemas::Base
    field_class Field
    implements PlanTypes::Node
    implements Audited
    field :posts, [Post], admins: true
    field :known, [Post], method: :posts
  end

  module Problem
    include GraphQL::Schema::Interface
    definition_methods { include ForAdmins }
    field :message, String
  end

  Failure = Struct.new(:path, :message)

  class Failed < Schemas::Base
    implements Problem
    field :path, [String]
  end

  class Either < GraphQL::Schema::Union
    possible_types Post, User
    def self.resolve_type(object, _context) = object.is_a?(::Post) ? Post : User
  end

  class Reader < Schemas::Base
    field_class Field
    implements PlanTypes::Node
    field :name, String
    field :posts, [Log], admins: true
  end

  WAYS = {
    warden: proc { use(GraphQL::Schema::Warden) },
    dynamic: proc { use(GraphQL::Schema::Visibility, dynamic: true, preload: nil) },
    profiles: proc { use(GraphQL::Schema::Visibility, profiles: { admin: { who: :admin }, guest: { who: :guest } }, preload: nil) }
  }.freeze

  # {what admins alone see => queries}
  SEEN = {
    interface: ["{ posts { title ... on Internal { body } } }", "{ posts { ...F title } } fragment F on Internal { body }"],
    object_behind_an_interface: ["{ logs { ...F title } } fragment F on Node { id }", "{ users { ...F name } } fragment F on Node { id }"],
    only_reference: ["{ readers { name posts { ... on Node { id } title } } }", "{ readers { name ... on Node { id } } }"],
    membership: ["{ posts { title ... on Node { ... on Audited { name } } } }", "{ posts { title ... on Audited { name } } }",
                 "{ users { known { ... on Node { id ... on Audited { name } } } ... on Audited { name } } }"],
    membership_of_a_union: ["{ either { __typename ... on Node { id } ... on Post { title } ... on Audited { name } } }"],
    union: ["{ either { __typename ... on Post { title } ... on User { name } } people { __typename ... on User { name } } }"],
    things: ["{ errors { path ... on Problem { message } } }", "{ errors { ...F } } fragment F on Failed { path ... on Problem { message } }"],
    conditions: ["query ($short: Boolean = true) { posts { title ... on Internal @skip(if: $short) { body } ... on Node @include(if: $short) { id } } }"]
  }.freeze

  ROOTS = {
    posts: [[Post], -> { ::Post.order(:id) }], logs: [[Log], -> { ::Post.order(:id) }], users: [[User], -> { ::User.order(:id) }],
    readers: [[Reader], -> { ::User.order(:id) }], either: [[Either], -> { ::Post.order(:id) }], people: [[Either], -> { ::User.order(:id) }],
    errors: [[Failed], -> { [Failure.new(%w[a b], "failed")] }]
  }.freeze

  WAYS.to_a.product([false, true]).each do |(way, using), narrowed|
    named = "#{way}_#{narrowed ? "narrowed" : "whole"}"
    pair = schemas(ROOTS, pipeloader: { field_exact: narrowed }) { use(GraphQL::Dataloader); class_eval(&using) }

    SEEN.each { |kind, queries| define_method("test_#{kind}_#{named}") { queries.each { |it| assert_viewers(it, pair) } } }

    # Whoever doesn't validate has fragments on types that aren't there.
    define_method("test_unvalidated_#{named}") do
      ["{ posts { title ... on Internal { body } } }", "{ posts { title ... on Missing { body } } }", *SEEN[:things]].each do |text|
        %i[admin guest].each { |who| assert_equal(*pair.map { |schema| execute(schema, who, query: text, validate: false) }, "#{who}: #{text}") }
      end
    end

    define_method("test_plans_for_all_#{named}") do
      queries = SEEN.values_at(:interface, :object_behind_an_interface, :only_reference, :membership, :conditions).flatten
      queries.each { |it| assert_equal({}, instantiated { execute(pair.last, :admin, query: it) }, it) }
    end

    define_method("test_explanations_#{named}") do
      assert_includes Pipeloader.explain(pair.last, SEEN[:interface].first, context: viewer(pair.last, :admin)).to_s, "body: compiled"
      assert_includes Pipeloader.explain_schema(pair.last).to_s, "Post: 4 of 4 fields"
    end
  end

  private

  # Each viewer twice, in turn, as the document is kept; by its text, and itself.
  def assert_viewers(text, schemas)
    document = GraphQL.parse(text)
    %i[admin guest guest admin].product([{ query: text }, { document: document }]) do |who, given|
      plain, piped = schemas.map { |schema| execute(schema, who, **given) }
      assert_equal plain, piped, "#{who}: #{text}"
      refute_includes plain, "locations", "what an admin sees is there" if who == :admin
    end
  end

  def execute(schema, who, **given) = text_of(outcome { schema.execute(**given, context: viewer(schema, who)).to_h })

  def viewer(schema, who) = schema.use_visibility_profile? && !schema.visibility.instance_variable_get(:@dynamic) ? { visibility_profile: who } : { who: who }
end
