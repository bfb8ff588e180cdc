# frozen_string_literal: true

require_relative "support/test_helper"

# Pipeloader.explain: what became of each field, and why.
class ExplanationTest < PipeloaderTest
  QUERY = "{ posts { __typename title author { name } } users { name postsCount profile { bio } } }"

  def explain(query = QUERY, pipeloader: { compile: true }, **options, &block)
    Pipeloader.explain(Schemas.make(pipeloader: pipeloader, &block).last, query, **options)
  end

  def field(explanation, *keys)
    keys.inject({ fields: explanation.to_h[:fields] }) { |it, key| it[:fields].find { |below| below[:key] == key } }
  end

  def test_a_plain_subtree
    explanation = explain
    assert field(explanation, "posts")[:compiled]
    assert field(explanation, "posts", "author", "name")[:compiled]
    assert_match(/^posts: compiled\n  __typename: compiled\n  title: compiled\n  author: compiled\n    name: compiled\n/, explanation.to_s)
  end

  def test_a_field_of_its_own
    skip "mixed trees are the Interpreter's" if Engine::NEXT

    explanation = explain("{ posts { title authorName author { name } } users { postsCount } }")
    assert_equal "Post.authorName: resolver method `author_name` on Schemas::Post", field(explanation, "posts", "authorName")[:reason]
    assert_match(/author_name/, field(explanation, "posts")[:reason])
    assert field(explanation, "posts", "title")[:compiled]
    assert field(explanation, "posts", "author", "name")[:compiled]
    assert field(explanation, "users", "postsCount")[:compiled]
  end

  def test_the_statements_of_each_burst
    bursts = explain("{ posts { author { name } } }").to_h[:bursts]
    assert_equal 2, bursts.size
    assert_match(/\ASELECT "posts"."id", "posts"."author_id" FROM "posts"/, bursts.first.first.first)
    assert_match(/= ANY\(\$1::bigint\[\]\)\z/, bursts.last.first.first)
  end

  def test_switched_off
    explanation = explain(pipeloader: { compile: false })
    refute field(explanation, "posts", "title")[:compiled]
    assert_match(/plans are off/, explanation.to_s)
  end

  module Watching
    def begin_execute_field(*) = @watched = true
  end

  def test_watched
    explanation = explain { trace_with(Watching) }
    assert_match(/somebody watches every field/, field(explanation, "posts", "title")[:reason])
  end

  def test_a_mutation_is_refused
    error = assert_raises(ArgumentError) { explain("mutation { __typename }") }
    assert_match(/explain executes what it explains, and this is a mutation/, error.message)
  end

  def test_a_schema_without_pipeloader_is_refused
    error = assert_raises(ArgumentError) { Pipeloader.explain(Schemas.pair.first, QUERY) }
    assert_match(/doesn't `use Pipeloader`/, error.message)
  end

  def test_an_invalid_query
    explanation = explain("{ nothingLikeThat }")
    assert_match(/\Aerror: Field 'nothingLikeThat' doesn't exist/, explanation.to_s)
    assert_empty explanation.to_h[:fields]
  end
end
