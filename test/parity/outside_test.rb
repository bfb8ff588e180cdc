# frozen_string_literal: true

require_relative "../support/answers"

# Outside a response nothing is different.
class OutsideTest < AnswerTest
  def assert_untouched(&block)
    assert_empty(bursts { assert_equal 0, WireCounter.events("sql.active_record", &block).count { |it| it.key?(:pipeloader) } })
  end

  def test_reads
    assert_untouched { assert_equal 12, Post.includes(:author, :comments).to_a.size + (Post.count - Post.count(:id)) }
  end

  def test_writes_and_transactions
    restoring do
      assert_untouched do
        Post.transaction do
          post = Post.create!(title: "outside")
          post.update!(likes: 3)
          assert_equal 13, Post.count
          Post.transaction(requires_new: true) { post.destroy! && raise(ActiveRecord::Rollback) }
        end
        assert_equal 13, Post.count
        assert_equal 3, Post.find_by!(title: "outside").likes
      end
    end
  end

  def test_after_a_response
    Schemas.pair.last.execute("{ posts { author { name } } }")
    assert_untouched { Post.first.author }
  end

  def test_after_a_response_that_raised
    schema = Schemas.make(query: query_type { field(:boom, String) and def boom = ::Post.count && raise("boom") }).last
    assert_raises(RuntimeError) { schema.execute("{ users { name } boom }") }
    assert_untouched { Post.first.author }
  end

  def test_plain_schema
    assert_untouched { Schemas.pair.first.execute("{ posts { author { name } } }") }
  end

  # What a response left unread, is read by whoever asks: a relation that outlives it.
  def test_relation_that_outlives_its_response
    context = {}
    query = query_type do
      field :keep, Integer
      def keep = (context[:kept] = ::Post.order(:id)) && (context[:post] = ::Post.first).id
    end
    result = Schemas.make(query: query).last.execute("{ keep }", context: context)
    assert_untouched do
      assert_equal 12, result.context[:kept].to_a.size
      assert_equal "user", result.context[:post].author.name[0, 4] if result.context[:post].author
    end
  end

  def test_around_a_response
    ActiveRecord::Base.transaction do
      assert_answer 3, "{ posts { title author { name } comments { body commenter { name } } } }"
      assert_untouched { Post.first.author }
      raise ActiveRecord::Rollback
    end
  end

  # A response sees what its own transaction has written and nobody else has.
  def test_uncommitted_rows
    Post.transaction do
      Post.create!(title: "uncommitted")
      answer = assert_answer 2, "{ posts { title author { name } } }"
      assert_equal "uncommitted", answer["data"]["posts"].last["title"]
      raise ActiveRecord::Rollback
    end
    assert_equal 12, assert_answer(1, "{ posts { title } }")["data"]["posts"].size
  ensure
    restore
  end

  def test_query_cache_around_a_response
    # By levels, however far away the server seems to be.
    schemas = Schemas.make(pipeloader: { trips: :depth })
    ActiveRecord::Base.cache do
      assert_same_answer "{ posts { title author { name } } }", schemas
      assert_empty(bursts { schemas.last.execute("{ posts { title author { name } } }") })
    end
    assert_equal 2, bursts { schemas.last.execute("{ posts { title author { name } } }") }.size
  end
end
