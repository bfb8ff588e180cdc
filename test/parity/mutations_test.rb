# frozen_string_literal: true

require_relative "../support/answers"

class MutationsTest < AnswerTest
  # Answers and the tables after it are the same.
  def assert_same_mutation(trips, query, schemas = Schemas.pair, errors: 0)
    restore
    plain, piped = schemas.map do |schema|
      restoring do
        answer = nil
        counted = WireCounter.trips { answer = schema.execute(query).to_h }
        { answer: JSON.generate(answer), tables: tables, errors: answer.fetch("errors", []).size, trips: counted }
      end
    end
    assert_equal plain.except(:trips), piped.except(:trips)
    assert_errors errors, piped[:errors], piped[:answer]
    assert_equal trips, piped[:trips].size, piped[:trips].map(&:inspect).join("\n")
  end

  def test_one_field
    # The post; the insert; the comment's post; its comments and author.
    assert_same_mutation 4, 'mutation { addComment(postId: 1, body: "new") { body post { title comments { id body } author { name } } } }'
  end

  def test_fields_are_serial
    assert_same_mutation 6, <<~GRAPHQL
      mutation { a: like(id: 1) { likes author { name } } b: like(id: 1) { likes author { name } } }
    GRAPHQL
  end

  def test_read_after_write
    assert_same_mutation 5, 'mutation { addComment(postId: 1, body: "x") { id post { commentsCount comments { body commenter { name } } } } }'
  end

  def test_later_field_reads_what_an_earlier_one_wrote
    assert_same_mutation 6, 'mutation { a: addComment(postId: 1, body: "x") { id } b: like(id: 1) { commentsCount comments { body commenter { name } } } }'
  end

  def test_error_in_one_field
    assert_same_mutation 5, 'mutation { a: addComment(postId: 999, body: "x") { id } b: addComment(postId: 1, body: "y") { id } c: like(id: 1) { likes } }',
                         errors: 1
  end

  def test_transaction_in_a_mutation
    mutation = type(Schemas::Mutation, "Mutation") do
      field :swap, Schemas::Post
      field :rolled_back, Schemas::Post
      def swap
        ::Post.transaction do
          one, two = ::Post.order(:id).first(2)
          one.update!(title: two.title)
          ::Post.find(one.id)
        end
      end

      def rolled_back
        ::Post.transaction do
          ::Post.first.update!(title: "never")
          raise ActiveRecord::Rollback
        end
        ::Post.first
      end
    end
    assert_same_mutation 8, "mutation { swap { title author { name } } rolledBack { title author { name } } }",
                         Schemas.make(mutation: mutation)
  end

  # A query may write as well: what was asked for before doesn't see it, what is asked for after does.
  def test_write_in_a_query
    query = query_type do
      field :before, Integer
      field :write, Integer
      field :after, Integer
      def before = ::Tag.count
      def write = ::Tag.create!(name: "new").id
      def after = ::Tag.count
    end
    assert_same_mutation 3, "{ before write after }", Schemas.make(query: query)
  end

  def test_update_all_delete_all_and_upsert_in_a_query
    query = query_type do
      field :likes, Integer
      field :update, Integer
      field :delete, Integer
      field :upsert, Integer
      field :comments_count, Integer
      def likes = ::Post.sum(:likes)
      def update = ::Post.where(id: 1).update_all("likes = likes + 100")
      def delete = ::Comment.where(post_id: 1).delete_all
      def upsert = ::Post.upsert_all([{ id: 1, title: "upserted" }], returning: :id).rows.size
      def comments_count = ::Comment.count
    end
    assert_same_mutation 7, "{ a: likes commentsCount update b: likes delete c: commentsCount upsert d: likes e: commentsCount f: likes }",
                         Schemas.make(query: query)
  end

  # Nobody else goes on while a transaction is open: what they wrote would end with it.
  def test_write_beside_a_transaction_that_reads_another_database
    query = query_type do
      field :rolled_back, Integer
      field :write, Integer
      field :names, [String]
      def rolled_back = ::Tag.transaction { ::Tag.create!(name: "gone") && ::Audit.count && raise(ActiveRecord::Rollback) }
      def write = ::Tag.create!(name: "kept").id
      def names = ::Tag.order(:id).pluck(:name)
    end
    assert_same_mutation 4, "{ rolledBack names write }", Schemas.make(query: query)
  end

  def test_write_beside_a_transaction_that_waits_for_an_association
    query = query_type do
      field :comments, Integer
      field :rolled_back, Integer
      field :write, Integer
      def post = context[:post] ||= ::Post.new { |post| post.id = 1 }.tap { |post| post.instance_variable_set(:@new_record, false) }
      def comments = post.comments.to_a.size
      def rolled_back = ::Tag.transaction { ::Tag.create!(name: "gone") && post.comments.to_a && raise(ActiveRecord::Rollback) }
      def write = ::Tag.create!(name: "kept").id
    end
    assert_same_mutation 4, "{ comments rolledBack write }", Schemas.make(query: query)
  end

  def test_resolver_class
    payload = type(Schemas::Base, "LikePayload") { field :post, Schemas::Post }
    like = Class.new(GraphQL::Schema::Mutation) do
      graphql_name "LikeIt"
      argument :id, GraphQL::Types::ID
      type payload
      def resolve(id:)
        post = ::Post.find(id)
        post.increment!(:likes)
        { post: post }
      end
    end
    mutation = type(Schemas::Base, "Mutation") { field :like_it, mutation: like }
    assert_same_mutation 6, "mutation { a: likeIt(id: 1) { post { likes author { name } } } b: likeIt(id: 1) { post { likes author { name } } } }",
                         Schemas.make(mutation: mutation)
  end

  private

  def tables
    [Post, Comment, Tag].map { |model| model.connection.select_rows("SELECT * FROM #{model.table_name} ORDER BY id") }
  end
end
