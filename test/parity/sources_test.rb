# frozen_string_literal: true

require_relative "../support/test_helper"

# graphql-ruby's own sources for ActiveRecord, `dataload_association` and `dataload_record`, beside naive resolvers: one record's
# association is asked for as a whole, by scopes, and in several orders.
class SourcesTest < PipeloaderTest
  # Before 2.5.10 graphql-ruby's own source knows no collections, and then one scope of a record only.
  SOURCES = Gem::Version.new(GraphQL::VERSION) >= Gem::Version.new("2.5.10")

  # {field => what is asked for, in the type's resolver}
  FIELDS = {
    all: -> { dataload_association(:comments) },
    top: -> { dataload_association(:top_comments) },
    high: -> { dataload_association(:comments, scope: ::Comment.where(score: 5..).order(:id)) },
    low: -> { dataload_association(:comments, scope: ::Comment.where(score: ..4).order(:id)) },
    best: -> { dataload_association(:comments, scope: ::Comment.order(score: :desc, id: :desc)) },
    naive: -> { object.comments },
    first: -> { object.comments.first(2) },
    fresh: -> { object.comments.reload },
    preloaded: lambda do
      ActiveRecord::Associations::Preloader.new(records: [object], associations: :comments).call
      object.comments.to_a
    end
  }.freeze

  # The limit of a has_one is its scope's own.
  class LimitedPost < ::Post
    self.table_name = "posts"
    has_one :second_comment, -> { order(:id).limit(1).offset(1) }, class_name: "::Comment", foreign_key: :post_id, inverse_of: false
  end

  SCOPED = %i[high low best].freeze
  WHOLE = FIELDS.keys - %i[top]
  LOADING = %i[naive first fresh preloaded].freeze

  def schemas(**options)
    post = Class.new(Schemas::Post) do
      graphql_name "Post"
      FIELDS.each do |name, ask|
        field name, [Schemas::Comment]
        define_method(name, &ask)
      end
    end
    query = Class.new(Schemas::Query) do
      graphql_name "Query"
      field(:posts, [post]) { argument :ids, [GraphQL::Types::ID] }
    end
    schemas_over(query, options)
  end

  def schemas_over(query, options = {})
    plain = Schemas.make(query: query, mutation: nil) { use GraphQL::Dataloader }.first
    [plain, Schemas.make(query: query, mutation: nil, pipeloader: options) { use GraphQL::Dataloader }.last]
  end

  if SOURCES
    # Each field has the rows that it has alone. One exception is graphql-ruby's own: `dataload_association` returns the whole
    # association, whatever its scope, where a resolver before it has loaded that.
    { compiled: { compile: true }, parked: { compile: false }, field_exact: { field_exact: true } }.each do |name, options|
      define_method(:"test_scopes_of_one_association_#{name}") do
        plain, piped = schemas(**options)
        alone = WHOLE.to_h { |field| [field, rows(plain, [field], "1, 4, 7").first] }
        [*WHOLE.permutation(2), *%i[all high low naive].permutation(3)].each do |fields|
          2.times do
            rows(piped, fields, "1, 4, 7").each_with_index do |rows, index|
              field = fields[index]
              whole = alone[:all] if SCOPED.include?(field) && (fields.first(index) & LOADING).any?
              assert_includes [alone[field], *([whole] if whole)], rows, "#{field} of #{fields}"
            end
          end
        end
      end
    end

    def test_sources_alone
      %i[all high low best].permutation { |fields| assert_same_answer(query(fields, "1, 4, 7"), schemas) }
    end

    # ActiveRecord's preloader limits all owners at once. On Execution::Next each record of a field is preloaded alone.
    def test_limited
      [%i[top], %i[top all], %i[naive top]].each { |fields| 2.times { assert_same_answer(query(fields, "1, 4, 7"), schemas) } }
    end

    # @param model [Class] of the posts, of which one field loads +association+
    def query_of(model, association, type)
      post = Class.new(Schemas::Post) do
        graphql_name "Post"
        field association, type
        define_method(association) { dataload_association(association) }
      end
      Class.new(Schemas::Query) do
        graphql_name "Query"
        field :posts, [post]
        define_method(:posts) { model.where(id: [1, 4, 7]).order(:id) }
      end
    end

    def test_limited_to_one
      query = query_of(LimitedPost, :second_comment, Schemas::Comment)
      2.times { assert_same_answer("{ posts { secondComment { id body } } }", schemas_over(query)) }
    end

    # What is limited together there: what is asked for in one call, what is only requested, and the first objects of several fields.
    def test_limited_together
      assert_same_answer("{ all { id } }", limited_schemas)
      assert_same_answer("{ requested { id } }", limited_schemas)
      assert_same_answer("{ a: posts(ids: [1]) { top { id } } b: posts(ids: [4]) { top { id } } }", limited_schemas)
      assert_same_answer("{ a: posts(ids: [1, 7]) { top { id } } b: posts(ids: [4, 10]) { top { id } } }", limited_schemas)
      assert_same_answer("{ a: posts(ids: [4, 10]) { top { id } } all { id } }", limited_schemas)
    end

    def limited_schemas
      post = Class.new(Schemas::Post) do
        graphql_name "Post"
        field :top, [Schemas::Comment]
        def top = dataload_association(:top_comments)
      end
      query = Class.new(Schemas::Query) do
        graphql_name "Query"
        field(:posts, [post]) { argument :ids, [GraphQL::Types::ID] }
        field :all, [[Schemas::Comment]]
        field :requested, [[Schemas::Comment]]
        def all = source.load_all(four)
        def requested = four.map { |post| source.request(post) }.map(&:load)
        def source = dataloader.with(GraphQL::Dataloader::ActiveRecordAssociationSource, :top_comments)
        def four = ::Post.where(id: [1, 4, 7, 10]).order(:id).to_a
      end
      schemas_over(query, compile: false)
    end

    # Its own instance variables are what PerfettoTrace shows of a source.
    class Bare < GraphQL::Dataloader::Source
      def fetch(keys) = keys.map { instance_variables.map(&:to_s) }
    end

    class BareAssociation < GraphQL::Dataloader::ActiveRecordAssociationSource
      def fetch(records) = records.map { instance_variables.map(&:to_s) }
    end

    def test_a_source_that_is_looked_at
      post = Class.new(Schemas::Post) do
        graphql_name "Post"
        field :bare, [String]
        field :association, [String]
        def bare = dataloader.with(Bare).load(object.id)
        def association = dataloader.with(BareAssociation, :top_comments).load(object)
      end
      query = Class.new(Schemas::Query) do
        graphql_name "Query"
        field :posts, [post]
        def posts = ::Post.order(:id)
      end
      assert_same_answer("{ posts { bare association id } }", schemas_over(query, compile: false))
    end

    # Its error is its field's.
    class BrokenPost < ::Post
      self.table_name = "posts"
      has_many :broken, -> { raise ArgumentError, "broken" }, class_name: "::Comment", foreign_key: :post_id, inverse_of: false
    end

    def test_a_scope_that_raises
      query = query_of(BrokenPost, :broken, [Schemas::Comment])
      raised = schemas_over(query).map { |schema| assert_raises(ArgumentError) { schema.execute("{ posts { broken { id } } }") }.message }
      assert_equal raised.first, raised.last
      rescuing = Schemas.make(query: query, mutation: nil) do
        use GraphQL::Dataloader
        rescue_from(ArgumentError) { |error| raise GraphQL::ExecutionError, error.message }
      end
      assert_same_answer("{ posts { broken { id } title } }", rescuing)
    end

    # @return [Array] of each field
    def rows(schema, fields, ids)
      posts = schema.execute(query(fields, ids)).to_h.fetch("data").fetch("posts")
      fields.map { |field| posts.map { |post| post[field.to_s] } }
    end

    def query(fields, ids) = "{ posts(ids: [#{ids}]) { #{fields.map { |it| "#{it} { id score body }" }.join(" ")} } }"

    # What is read by a scope takes along what has been asked for as a whole.
    def test_round_trips
      schema = schemas.last
      assert_round_trips(2) { schema.execute(query(%i[all high], "1, 4, 7")) }
      assert_round_trips(3) { schema.execute(query(%i[high low], "1, 4, 7")) }
    end
  else
    def test_this_graphql_has_no_such_sources = assert_operator(Gem::Version.new(GraphQL::VERSION), :<, Gem::Version.new("2.5.10"))
  end
end
