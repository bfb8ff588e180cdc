# frozen_string_literal: true

require_relative "../support/answers"

class ErrorsTest < AnswerTest
  # Fields that fail after a read or without one, where null is allowed and where it isn't.
  module Failing
    extend self

    def type
      @type ||= Class.new(GraphQL::Schema::Object) do
        graphql_name "Failing"
        field :fine, String
        field :read, String
        field :at_once, String
        field :must_read, String, null: false, resolver_method: :read
        field :must_at_once, String, null: false, resolver_method: :at_once
        field :null_after_read, String, null: false
        field :child, Failing.type_reference
        field :must_child, Failing.type_reference, null: false, resolver_method: :child
        field :children, [Failing.type_reference, { null: true }]
        field :strict_children, [Failing.type_reference], null: false, resolver_method: :children

        def fine = ::Post.count.to_s
        def read = ::Post.count && raise(GraphQL::ExecutionError.new("after a read", extensions: { "code" => object }))
        def at_once = raise(GraphQL::ExecutionError, "at once")
        def null_after_read = ::Post.find_by(id: 0)
        def child = ::Tag.count
        def children = ::Tag.order(:id).pluck(:id)
      end
    end

    def type_reference = GraphQL::Schema::LateBoundType.new("Failing")

    def schemas
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field :one, Failing.type
        field :two, Failing.type
        field :boom, String
        field :bang, String
        field :fine, String
        def one = 1
        def two = ::Tag.count
        def boom = ::Tag.count && raise(ArgumentError, "boom")
        def bang = raise("bang")
        def fine = ::Post.count.to_s
      end
      @schemas ||= Schemas.make(query: query, mutation: nil)
    end
  end

  # The fiber that sends the level is in a `rescue` of its own: that isn't why another's value can't be sent.
  def test_the_cause_of_what_cannot_be_sent
    query = query_type do
      field :rescuing, String
      field :refused, String
      def rescuing
        raise "first"
      rescue StandardError
        ::Post.find(1).title
      end

      def refused
        ::Post.find_by(title: "nul\0")
      rescue ArgumentError => e
        [e.class, e.message, e.cause].inspect
      end
    end
    answer = assert_same_answer("{ rescuing refused }", Schemas.make(query: query))
    assert_match(/ArgumentError.*nil/, answer["data"]["refused"])
  end

  def test_record_not_found
    answer = assert_answer 2, "{ a: post(id: 1) { title author { name } } b: post(id: 999) { title } c: post(id: 2) { title } }", errors: 1
    assert_nil answer["data"]["b"]
  end

  def test_statement_invalid_fails_one_field
    answer = assert_answer 2, "{ a: failingSql posts { title author { name } } b: failingList { title } users { name } }", errors: 2
    assert_equal 12, answer["data"]["posts"].size
    assert_equal "ActiveRecord::StatementInvalid", answer["errors"].first["extensions"]["class"]
  end

  def test_statement_invalid_in_a_list
    odd = type(Schemas::Post) do
      field :ratio, Integer
      def ratio = ::Post.connection.select_value("SELECT 10 / ($1 % 2)", nil, [ActiveRecord::Relation::QueryAttribute.new("n", object.id, ActiveModel::Type::Integer.new)])
    end
    query = query_type do
      field :odd, [odd]
      def odd = ::Post.order(:id)
    end
    assert_answer 2, "{ odd { title ratio author { name } } }", Schemas.make(query: query), errors: 6
  end

  def test_range_error
    assert_answer 1, "{ a: post(id: \"99999999999999999999999\") { title } b: post(id: 1) { title } }", errors: 1
  end

  # ActiveRecord prepares a statement before it casts its values, or after that, by its version: which error comes is its own business.
  def test_a_value_that_cannot_be_cast_in_a_statement_that_cannot_be_prepared
    query = query_type do
      field :both, Integer
      field :cast, Integer
      field :fine, String
      def both = ::Post.where("id >= ?", [[1], 2]).where.not(author_id: 5).average(:author_id)
      def cast = ::Post.where("id IN (?)", [[1], 2]).where.not(author_id: 5).average(:author_id)
      def fine = ::Post.find(1).title
    end
    schemas = Schemas.make(query: query) { rescue_from(StandardError) { |error| GraphQL::ExecutionError.new("#{error.class}: #{error.message}") } }
    assert_same_answer("{ both fine }", schemas)
    assert_same_answer("{ fine cast both }", schemas)
  end

  def test_execution_error_after_a_read
    assert_answer 1, "{ one { fine read } }", Failing.schemas, errors: 1
  end

  def test_execution_errors_in_a_list
    assert_answer 2, "{ one { children { read fine } } }", Failing.schemas, errors: 4
  end

  def test_non_null_field
    answer = assert_answer 1, "{ one { fine mustRead } fine }", Failing.schemas, errors: 1
    assert_nil answer["data"]["one"]
  end

  def test_null_in_a_non_null_field
    assert_answer 1, "{ one { fine nullAfterRead } fine }", Failing.schemas, errors: 1
  end

  def test_propagation_over_several_levels
    assert_answer 3, "{ one { mustChild { mustChild { mustRead } } } fine }", Failing.schemas, errors: 1
  end

  def test_propagation_in_a_list
    assert_answer 2, "{ one { children { mustRead } } fine }", Failing.schemas, errors: 4
    assert_answer 2, "{ one { children { nullAfterRead } } fine }", Failing.schemas, errors: 4
  end

  def test_propagation_out_of_a_list
    assert_answer 2, "{ one { strictChildren { mustRead } } fine }", Failing.schemas, errors: 1
    assert_answer 2, "{ one { strictChildren { nullAfterRead } } fine }", Failing.schemas, errors: 1
  end

  # The first one's error is the parent's end.
  def test_propagation_of_two_siblings
    assert_answer 1, "{ one { mustRead other: mustRead } }", Failing.schemas, errors: 1
    assert_answer 1, "{ one { nullAfterRead mustRead } }", Failing.schemas, errors: 1
  end

  def test_propagation_and_a_nullable_sibling
    assert_answer 1, "{ one { read mustRead } }", Failing.schemas, errors: 2
    assert_answer 1, "{ one { mustRead read } }", Failing.schemas, errors: 1
  end

  # In document order, as a serial run meets them.
  def test_order_of_an_error_without_a_read
    assert_answer 1, "{ one { read atOnce } }", Failing.schemas, errors: 2
    assert_answer 1, "{ one { atOnce read } }", Failing.schemas, errors: 2
  end

  def test_order_over_levels
    assert_answer 2, "{ a: one { child { read } } b: one { read } }", Failing.schemas, errors: 2
    assert_answer 3, "{ a: one { child { children { read atOnce } read } } b: one { atOnce read } }", Failing.schemas, errors: 11
  end

  def test_null_propagation_by_a_later_field_without_a_read
    assert_answer 1, "{ one { mustRead mustAtOnce } }", Failing.schemas, errors: 1
    assert_answer 2, "{ one { strictChildren { fine mustRead mustAtOnce } } }", Failing.schemas, errors: 1
  end

  def test_null_propagation_of_a_deeper_earlier_field
    assert_answer 2, "{ one { mustChild { mustRead } mustRead } }", Failing.schemas, errors: 1
  end

  # Fields that fail wait for those before them, which need a fiber too. Where the limit leaves none, they don't wait.
  def test_few_fibers
    schemas = Schemas.make(query: Failing.schemas.first.query, mutation: nil, pipeloader: { fiber_limit: 4 })
    ["{ a: one { children { read fine atOnce } read } b: one { children { atOnce read } } c: two { read atOnce } }",
     "{ a: one { strictChildren { mustRead mustAtOnce } } b: two { mustChild { nullAfterRead } } c: one { mustAtOnce } }"].each do |query|
      plain, piped = schemas.map { |schema| schema.execute(query).to_h }
      assert_equal plain["data"], piped["data"]
      assert_equal plain["errors"].map { |it| it["path"] }.sort_by(&:to_s), piped["errors"].map { |it| it["path"] }.sort_by(&:to_s)
    end
  end

  def test_escaping_error
    error = assert_same_error "{ fine boom }", Failing.schemas
    assert_instance_of ArgumentError, error
    assert_match(/boom'\z/, error.backtrace.find { |line| line.include?(__FILE__) })
  end

  def test_escaping_error_of_the_first_of_several
    assert_same_error "{ boom bang }", Failing.schemas
    assert_same_error "{ bang boom }", Failing.schemas
  end

  def test_escaping_statement_invalid
    schemas = [false, true].map do |piped|
      Class.new(GraphQL::Schema) do
        query Schemas::Query
        use Pipeloader if piped
      end
    end
    error = assert_same_error "{ users { posts { title } } failingList { title } posts { title } }", schemas
    assert_instance_of ActiveRecord::StatementInvalid, error
    assert_instance_of PG::UndefinedColumn, error.cause
    assert_match(/SELECT "posts"/, error.sql)
    error = assert_same_error "{ a: post(id: 1) { title } b: post(id: 999) { title } }", schemas
    assert_equal ["Post", "id", "999"], [error.model, error.primary_key, error.id.to_s]
  end

  # A field that ends its object itself raises what else it raises; and a scalar may make null of a value.
  def test_error_of_what_makes_it_null
    code = Class.new(GraphQL::Schema::Scalar) { graphql_name "Code"; def self.coerce_result(value, _) = value == 5 ? raise(KeyError, "no such code") : value.presence }
    thing = Class.new(Schemas::Base) do
      graphql_name "Coded"
      field :codes, [code], null: false
      field :slow, String
      field :bad, code, null: false
      def codes = [nil, 5]
      def slow = ::User.where(id: object.id).load && raise(KeyError, "broken")
      def bad = ""
    end
    root = query_type { field :thing, thing; field :things, [thing]; def thing = ::Post.find(1); def things = ::Post.order(:id).limit(3) }
    schemas = [false, true].map { |piped| Class.new(GraphQL::Schema) { query(root); use(Pipeloader) if piped } }
    ["codes", "slow bad", "bad slow", "codes slow", "bad codes"].each do |fields|
      ["{ thing { #{fields} } }", "{ things { #{fields} } }"].each do |query|
        plain, piped = schemas.map do |schema|
          schema.execute(query).to_h
        rescue KeyError => e
          e.message
        end
        assert_equal plain, piped, query unless Engine::NEXT && fields.include?("slow")
      end
    end
  end

  # What comes after a null that a serial run would not have gone beyond, raises nothing. (On Next it does, in a serial run too.)
  def test_error_below_what_has_become_null
    comment = Class.new(Schemas::Base) { graphql_name "LastComment"; field :id, GraphQL::Types::ID }
    post = Class.new(Schemas::Base) do
      graphql_name "Bursting"
      field :last_comment, comment, null: false
      field :burst, String
      def burst = raise(ArgumentError, "burst #{object.id}")
    end
    posts = query_type { field :none, [post, { null: true }]; field :all, [post, { null: true }]; def none = ::Post.where.missing(:comments).order(:id); def all = ::Post.order(:id) }
    schemas = [false, true].map { |piped| Class.new(GraphQL::Schema) { query(posts); use(Pipeloader) if piped } }
    public_send(Engine::NEXT ? :assert_same_error : :assert_same_answer, "{ none { lastComment { id } burst } }", schemas)
    assert_same_error "{ none { burst lastComment { id } } }", schemas
    assert_same_error "{ all { lastComment { id } burst } }", schemas
  end

  # The answer after an escaped error is as right as ever.
  def test_the_next_answer
    assert_same_error "{ fine boom }", Failing.schemas
    assert_answer 3, "{ posts { title author { name } comments { body commenter { name } } } }"
  end

  def test_returned_and_added_errors
    query = query_type do
      field :returned, String
      field :several, [String, { null: true }]
      field :added, String
      def returned = ::Post.count && GraphQL::ExecutionError.new("returned")
      def several = [::Post.first.title, GraphQL::ExecutionError.new("one of several"), ::Post.last.title]
      def added = ::Post.count && context.add_error(GraphQL::ExecutionError.new("added")) && "value"
    end
    assert_answer 2, "{ returned several added posts { title } }", Schemas.make(query: query), errors: 3
  end

  def test_rescue_from_that_reads
    query = query_type do
      field :fails, String
      def fails = ::Post.find(999)
    end
    schemas = Schemas.make(query: query) do
      rescue_from(ActiveRecord::RecordNotFound) { |_error| raise GraphQL::ExecutionError, "one of #{::Post.count}" }
    end
    assert_answer 2, "{ a: fails b: fails users { posts { title } } }", schemas, errors: 2
  end

  def test_skipped_items
    query = query_type do
      field :some, [String]
      def some = ::Post.order(:id).map { |post| post.comments.exists? ? post.title : context.skip }
    end
    assert_answer 13, "{ some }", Schemas.make(query: query)
  end

  # What ActiveRecord asks about a table fails, too, where there is none; and what was asked before it doesn't.
  def test_in_a_transaction_of_a_table_that_there_is_not
    query = query_type do
      field :posts, [Schemas::Post]
      field :first, String
      field :missing, String
      def posts = ::Post.order(:id)
      def first = ::Post.where(id: 1).pick(:title)
      def missing = Class.new(ActiveRecord::Base) { self.table_name = "there_is_no_such_table"; def self.name = "Missing" }.new.inspect
    end
    answer = assert_same_answer_in_a_transaction "{ first missing }", Schemas.make(query: query)
    assert_equal "post 1", answer["data"]["first"]
  end

  # In a transaction, one failed read fails those after it.
  def test_in_a_transaction
    answer = assert_same_answer_in_a_transaction "{ users { name } failingSql posts { title } tags { name } }"
    assert_match(/current transaction is aborted/, answer["errors"].last["message"])
    assert_equal 3, answer["errors"].size
  end

  # graphql-ruby prepares arguments in a job of their own, so that this field's read comes behind that of the other.
  def test_in_a_transaction_field_with_arguments
    assert_same_answer_in_a_transaction "{ posts { title } failingSql }"
  end

  # A serial run has read the comments' posts by the time of the failure. Here they are a level further down, so that it is executed
  # once more.
  def test_in_a_transaction_deeper_reads_of_an_earlier_field
    answer = assert_same_answer_in_a_transaction "{ comments { body post { title } } failingSql }"
    assert_equal [%w[failingSql]], (answer["errors"].map { |error| error["path"] }) unless Engine::NEXT # which reads them behind it
  end

  # Where nobody rescues, the exception that leaves is a statement's, as serially, and not what it did to the transaction: whether
  # the field that is too late comes before the one that failed or behind it, has siblings, or is an object's of a list.
  def test_in_a_transaction_escaping
    { "{ bad }" => 0, "{ fine bad other }" => 0, "{ late bad }" => 0, "{ late fine bad other }" => 0, "{ users { posts { title } } bad }" => 0,
      "{ users { late } bad }" => 0, "{ users { name late } late with(id: 2) bad other }" => 0, "{ bad late }" => 0, "{ with(id: 1) bad }" => 0 }.each do |query, number|
      error = assert_same_error_in_a_transaction(query, Escaping.schemas)
      assert_instance_of PG::DivisionByZero, error.cause, query
      assert_match(/> #{number}\)/, error.sql, query)
    end
  end

  # An application's own exception, and one that is said by a transaction that the application has heard of.
  def test_in_a_transaction_escaping_otherwise
    assert_same_error_in_a_transaction "{ late boom bad }", Escaping.schemas
    assert_same_error_in_a_transaction "{ rescued late boom }", Escaping.schemas
    assert_same_error_in_a_transaction "{ rescued fine boom }", Escaping.schemas
  end

  # It is the earlier field's, whose second read comes a level further down.
  def test_in_a_transaction_escaping_where_both_would_fail
    error = assert_same_error_in_a_transaction("{ lateBad bad }", Escaping.schemas)
    assert_match(/> 1\)/, error.sql)
  end

  # An error of a client's, of a subclass of Timeout's, leaves in its turn as any other: who was called before gets to its end.
  def test_errors_of_clients_that_time_out
    late = Class.new(Timeout::Error)
    text = ["{ audit price }", "{ fails price }", "{ item { title price } }", "{ items { price audit } }", "{ price fails }"]
    text.each do |document|
      answers = [false, true].flat_map do |handled|
        heard = []
        item = Class.new(Schemas::Base) do
          graphql_name "Item"
          field :title, String, null: false
          field :price, Integer
          field :audit, Integer
          field :fails, Integer
          define_method(:title) { ::Post.where(id: 0).pick(:title) }
          define_method(:price) { raise late, "too late" }
          define_method(:audit) { ::Post.count.tap { heard << "audited" } }
          define_method(:fails) { ::Post.count && raise(ArgumentError, "failed") }
        end
        query = Class.new(item) do
          graphql_name "Query"
          field :item, item
          field :items, [item]
          def item = 1
          def items = [1, 2]
        end
        Schemas.make(query: query, mutation: nil) do
          rescue_from(late) { |error| raise GraphQL::ExecutionError, error.message } if handled
          Engine.depth_first(self)
        end.map do |schema|
          heard.clear
          answer = begin
            schema.execute(document).to_h
          rescue late, ArgumentError => e
            [e.class, e.message]
          end
          [answer, heard.dup]
        end
      end
      answers.each_slice(2) { |plain, piped| assert_equal(plain, piped, document) }
    end
  end

  # What leaves `execute` in a transaction that was open before.
  class Escaping < Schemas::Query
    graphql_name "Query"

    class User < Schemas::User
      graphql_name "EscapingUser"
      field :late, String
      def late = [object.posts.to_a.size, ::Comment.where(commenter_id: object.id).count].inspect
    end

    field :users, [User]
    %i[bad other late late_bad fine rescued boom].each { |name| field name, String }
    field(:with, String) { argument :id, Integer }

    def bad = failing(0)
    def other = ::Tag.order(:id).pluck(:name).first
    def fine = ::Post.find(1).title
    def late = "#{::Post.find(2).title} #{::Comment.find(1).body}"
    def late_bad = "#{::Post.find(2).title} #{failing(1)}"
    def with(id:) = "#{::Post.find(id).title} #{::Comment.find(id).body}"
    def boom = raise(ArgumentError, "boom #{::Post.find(3).title.size.positive?}")

    def rescued
      failing(2)
    rescue ActiveRecord::StatementInvalid
      "rescued"
    end

    def self.schemas
      [false, true].map do |piped|
        Class.new(GraphQL::Schema) do
          query Escaping
          use Pipeloader if piped
        end
      end
    end

    private

    def failing(number) = ::Post.where("1 / (likes - likes) > #{number}").pluck(:title).first
  end

  # A fiber's stack is an eighth of a thread's.
  def test_deep_recursion
    asked = 0
    query = query_type do
      field :deep, Integer, null: false
      define_method(:deep) { (asked += 1) && ::Post.count && descend(4000) }
      define_method(:descend) { |levels| levels.zero? ? 0 : 1 + descend(levels - 1) }
      field :endless, Integer
      define_method(:endless) { 1 + endless }
    end
    schemas = Schemas.make(query: query)
    answers = schemas.map { |schema| schema.execute("{ deep posts { title } }").to_h }
    assert_equal(*answers)
    assert_equal(*schemas.map { |schema| answer_or_end(schema, "{ endless }") })
    # On Next a dataloader's fiber ends there, too.
    assert_equal [4000, 3], [answers.first.dig("data", "deep"), asked] unless Engine::NEXT
  end

  private

  # graphql 2.5 lets it out.
  def answer_or_end(schema, query)
    schema.execute(query).to_h
  rescue SystemStackError => e
    e.class
  end

  def assert_same_error_in_a_transaction(query, schemas)
    plain, piped = schemas.map { |schema| escaping_in_a_transaction(schema, query) }
    assert_equal(*[plain, piped].map { |error| [error.class, error.message, error.cause.class, (error.sql if error.respond_to?(:sql))] }, query)
    piped
  end

  def escaping_in_a_transaction(schema, query)
    rolled_back do
      schema.execute(query)
      flunk "nothing left #{query}"
    rescue StandardError => e
      e
    end
  end

  def assert_same_answer_in_a_transaction(query, schemas = Schemas.pair)
    plain, piped = schemas.map { |schema| rolled_back { schema.execute(query).to_h } }
    assert_equal JSON.generate(plain), JSON.generate(piped)
    piped
  end
end
