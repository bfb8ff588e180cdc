# frozen_string_literal: true

require_relative "../support/pages_of_rails"
require "jbuilder/jbuilder_template"

ActionView::Template.register_template_handler(:jbuilder, JbuilderHandler)
Pipeloader::Patches.install_collections
Pipeloader::Patches.install_jbuilder

# What Jbuilder writes in controllers with Pipeloader::Collections.
class JbuilderTest < RailsPageTest
  # @param index [String] a template
  # @return [Object] what the JSON says
  def assert_json(trips, index, **partials)
    templates = { "pages/index.json.jbuilder" => index, **partials.transform_keys { |name| "pages/_#{name}.json.jbuilder" } }
    page = assert_page(trips) do
      controller(templates) do
        before_action { request.format = :json }
        define_method(:index) { @posts = ::Post.order(:id).to_a }
      end
    end
    JSON.parse(page.body)
  end

  def test_blocks
    json = assert_json(2, <<~RUBY)
      json.count @posts.size
      json.posts do
        json.array! @posts do |post|
          json.extract! post, :id, :title
          json.author { json.name post.author&.name }
          json.comments post.comments.count
        end
      end
      json.total 1
    RUBY
    assert_equal [12, 12, 1], [json["count"], json["posts"].size, json["total"]]
  end

  def test_lists_in_lists
    json = assert_json(3, <<~RUBY)
      json.array! @posts do |post|
        json.author post.author&.name
        json.comments post.comments do |comment|
          json.(comment, :body)
          json.by comment.commenter&.name
        end
      end
    RUBY
    assert_equal Post.first.comments.size, json.first["comments"].size
  end

  def test_state_of_a_block
    assert_json(2, <<~RUBY)
      json.array! @posts do |post|
        json.key_format! camelize: :lower if post.id.odd?
        json.ignore_nil! if post.id > 3
        json.author_name post.author&.name
        json.merge! comments_count: post.comments.count
        json.set! :a_b do
          json.c_d 1
        end
      end
    RUBY
    assert_json(1, "json.array!(@posts) { |post| json.x(1) if post.comments.count > 3 }")
    assert_json(1, "json.posts(@posts) { |post| post.comments.count }")
    assert_json(0, "json.array!(@posts, :id, :title)")
    assert_json(0, "json.array!([1, 2]) { |it| json.it it }\njson.array!([]) { |it| json.it it }\njson.array!(nil)")
    # Asked once: a file that is read has been read.
    assert_json(0, "lines = %w[line].to_enum.tap { |it| def it.each = (@read ? nil : @read = super) }\njson.array!(lines) { |it| json.it it }")
    assert_json(1, "json.posts({ 1 => 2, 3 => 4 }) { |a, b| json.set! a, Post.find(b).title }")
  end

  def test_partials
    post = "json.(post, :title)\njson.author { json.name post.author&.name }\njson.n post.comments.count"
    ["json.array! @posts, partial: 'pages/post', as: :post", "json.partial! 'pages/post', collection: @posts, as: :post",
     "json.list @posts, partial: 'pages/post', as: :post\njson.more 1", "json.array!(@posts) { |post| json.partial! 'pages/post', post: post }",
     "json.array! @posts, partial: 'pages/post', as: :post, cached: true"].each do |index|
      ActionView::CollectionRenderer.collection_cache.clear
      Pipeloader::BlockSite.forget
      assert_json(index.include?("cached") ? nil : 2, index, post: post)
    end
  end

  def test_partials_in_partials
    json = assert_json(3, "json.posts @posts, partial: 'pages/post', as: :post",
                       post: "json.title post.title\njson.author post.author&.name\njson.comments post.comments, partial: 'pages/comment', as: :comment\njson.last true",
                       comment: "json.body comment.body\njson.by comment.commenter&.name")
    assert_equal 12, json["posts"].size
    assert_equal %w[title author comments last], json["posts"].first.keys
  end

  def test_failures
    messages = [true, false].map do |off|
      given = controller("pages/index.json.jbuilder" => "json.array!(@posts) do |post|\n  json.a post.comments.count\n  raise post.title if post.id > 2\nend") do
        before_action { request.format = :json }
        def index = @posts = ::Post.order(:id).to_a
      end
      error = assert_raises(ActionView::Template::Error) { off ? Pipeloader.disabled { page(given) } : page(given) }
      [error.message, error.line_number]
    end
    assert_equal ["post 3", "3"], messages.last
    assert_equal(*messages)
  end

  def test_outside_of_such_controllers
    json = -> { Jbuilder.encode { |json| json.array!(Post.order(:id).to_a) { |post| json.n post.comments.count } } }
    assert_equal 13, WireCounter.trips(&json).size
  end
end
