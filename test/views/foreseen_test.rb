# frozen_string_literal: true

require_relative "../support/pages_of_rails"
require "jbuilder/jbuilder_template"

ActionView::Template.register_template_handler(:jbuilder, JbuilderHandler)
Pipeloader::Patches.install_collections
Pipeloader::Patches.install_jbuilder

# What a collection's items have asked for where it was rendered before, is read before they are rendered.
class ForeseenCollectionsTest < RailsPageTest
  RUNS = 4
  ITEM = "<li><%= post.author&.name %> <%= post.comments.map { |it| it.commenter&.name }.join(',') %></li>"

  def setup
    super
    Pipeloader.defaults = { trips: :depth } # how far away the server is, is no matter of this test
  end

  def teardown
    super
    Pipeloader.defaults = {}
  end

  # @return [Array<Integer>] the round trips of a page that is asked for again and again
  def trips(templates, &body)
    body ||= proc { define_method(:index) { @posts = ::Post.order(:id).to_a } }
    one = controller(templates, &body)
    Array.new(RUNS) { WireCounter.events("burst.pipeloader") { assert_page(nil) { one } }.size }
  end

  def assert_foreseen(first, templates, &body)
    found = trips(templates, &body)
    assert_operator found.first, :>=, first
    assert_operator found.last, :<, found.first
    found.last
  end

  def test_partials
    assert_equal 2, assert_foreseen(4, "pages/index.html.erb" => "<%= render partial: 'post', collection: @posts %>", "pages/_post.html.erb" => ITEM)
  end

  # One partial is another one's neighbor, and their records are of two classes.
  def test_mixed
    assert_foreseen(4, "pages/index.html.erb" => "<%= render @posts.first(5).zip(User.order(:id)).flatten %>", "posts/_post.html.erb" => ITEM,
                       "users/_user.html.erb" => "<b><%= user.posts.map { |it| it.comments.size } %></b>")
  end

  def test_partials_in_partials
    assert_foreseen(3, "pages/index.html.erb" => "<%= render partial: 'post', collection: @posts %>",
                       "pages/_post.html.erb" => "<%= post.author&.name %><%= render partial: 'comment', collection: post.comments %>",
                       "pages/_comment.html.erb" => "<i><%= comment.commenter&.name %></i>")
  end

  def test_json
    options = { include: { author: { only: :name }, comments: { include: :commenter } } }
    assert_foreseen(3, {}) { define_method(:index) { render json: Post.order(:id), **options } }
  end

  # What is asked for depends on the request.
  def test_json_that_says_something_else
    asked = nil
    one = controller({}) { define_method(:index) { render json: Post.order(:id), include: asked } }
    [:author, :author, :author, :comments, {}, { comments: { include: :commenter } }, [], :author].each do |it|
      asked = it
      assert_page(nil) { one }
    end
  end

  def test_jbuilder
    index = <<~RUBY
      json.array! @posts do |post|
        json.author post.author&.name
        json.comments(post.comments) { |comment| json.by comment.commenter&.name }
      end
    RUBY
    assert_foreseen(3, "pages/index.json.jbuilder" => index) do
      before_action { request.format = :json }
      define_method(:index) { @posts = ::Post.order(:id).to_a }
    end
  end
end
