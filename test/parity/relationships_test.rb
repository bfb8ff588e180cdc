# frozen_string_literal: true

require_relative "../support/answers"

class RelationshipsTest < AnswerTest
  def test_tree
    assert_answer 3, "{ posts { title author { name } comments { body commenter { name } } } }"
  end

  def test_belongs_to
    assert_answer 2, "{ comments { body post { title } } }"
  end

  def test_belongs_to_with_nullable_keys
    answer = assert_answer 2, "{ posts { title author { name } editor { name } } }"
    assert_includes answer["data"]["posts"].map { |post| post["author"] }, nil
    assert_includes answer["data"]["posts"].map { |post| post["editor"] }, nil
  end

  # No read at all for a NULL key.
  def test_all_keys_null
    assert_answer 1, "{ posts(ids: [4, 8]) { title author { name } editor { name } } }"
  end

  def test_has_one
    query = "{ users { name profile { bio user { name } } } }"
    # ActiveRecord hands the owner on to the profile. A plan reads it again.
    answer = assert_answer 2, query, Schemas.parked
    assert_answer(Schemas.pair.last.pipeloader_compiles? ? 3 : 2, query)
    assert_includes answer["data"]["users"].map { |user| user["profile"] }, nil
  end

  def test_has_one_with_order
    assert_answer 3, "{ posts { lastComment { body score commenter { name } } } }"
  end

  def test_has_many
    assert_answer 2, "{ users { posts { title } } }"
  end

  def test_empty_has_many
    answer = assert_answer 3, "{ posts { comments { body commenter { name } } } }"
    assert_includes answer["data"]["posts"].map { |post| post["comments"] }, []
  end

  def test_no_records_at_all
    assert_answer 1, "{ posts(ids: [0]) { title comments { body } author { name } } }"
  end

  def test_has_many_through
    assert_answer 3, "{ posts { tags { name posts { title } } } }"
  end

  def test_has_many_through_distinct
    assert_answer 3, "{ users { commentedPosts { title comments { body } } } posts { commenters { name } } }"
  end

  def test_polymorphic
    assert_answer 3, <<~GRAPHQL
      { attachments { name attachable { __typename ... on User { name posts { title } } ... on Post { title comments { body } } } } }
    GRAPHQL
  end

  def test_has_many_as
    assert_answer 2, "{ users { attachments { name } } posts { attachments { name } } }"
  end

  def test_self_referential
    assert_answer 4, "{ employees { name manager { name manager { name reports { name } } } reports { name reports { name } } } }"
  end

  def test_single_table_inheritance
    assert_answer 4, "{ users { vehicles { type name user { name profile { bio } } } } }"
  end

  def test_scoped
    assert_answer 3, "{ posts { title topComments { score commenter { name } } } }"
  end

  def test_composite_primary_key
    answer = assert_answer 2, "{ lineItems { label notes } }"
    assert answer["data"]["lineItems"].any? { |item| item["notes"].size > 1 }
  end

  # Two bursts at the second level, one for each connection.
  def test_second_database
    assert_answer 4, "{ posts { title auditNotes comments { body commenter { name } } } }"
  end

  def test_aggregates
    assert_answer 2, "{ posts { commentsCount commentsSize commented scoreSum authorName tagIds } users { postsCount } }"
  end

  def test_ordering
    answer = assert_answer 2, "{ posts { topComments { score id } } }"
    scores = answer["data"]["posts"].flat_map { |post| post["topComments"].each_cons(2).to_a }
    assert(scores.all? { |former, latter| former["score"] >= latter["score"] })
  end

  # As deep as the tree, not as wide.
  def test_wide
    assert_answer 3, <<~GRAPHQL
      { posts { author { name profile { bio } } editor { name vehicles { name } } comments { body commenter { name } } tags { name posts { id } }
                lastComment { body post { id } } topComments { score commenter { name } } attachments { name } commentsCount }
        users { posts { title commented } commentedPosts { title } attachments { name } }
        employees { reports { name } } lineItems { notes } }
    GRAPHQL
  end
end
