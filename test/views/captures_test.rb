# frozen_string_literal: true

require_relative "../support/pages_of_rails"
require_relative "../support/schemas"

# Helpers that are one object for all, such as ApplicationController.helpers, write to one buffer.
class CapturesTest < RailsPageTest
  HELPERS = ActionController::Base.helpers

  def posts = Post.order(:id).to_a

  def assert_alike(&block)
    plain = Pipeloader.disabled(&block)
    assert_equal plain, block.call
    assert_equal plain, block.call
    plain
  end

  def item(post)
    HELPERS.content_tag(:li) do
      HELPERS.concat(post.title)
      HELPERS.concat(HELPERS.tag.b { HELPERS.concat(post.author&.name) })
      HELPERS.concat(post.comments.count)
    end
  end

  def test_blocks_of_a_map
    shown = assert_alike { Pipeloader.map(posts) { |post| item(post) } }
    assert_match(%r{<li>post 1<b>\w+.*</b>\d+</li>}, shown.first)
  end

  # The first one to read waits for the others, which read at once.
  def test_reads_before_a_block_still_go_together
    assert_alike do
      Pipeloader.map(posts) { |post| post.comments.count.to_s + item(post) }
    end
    posts = posts()
    assert_equal 1, bursts { Pipeloader.map(posts) { |post| [post.author&.name, HELPERS.content_tag(:b) { HELPERS.concat(post.author&.name) }] } }.size
  end

  def test_maps_in_blocks
    assert_alike do
      HELPERS.content_tag(:ul) do
        Pipeloader.map(posts) { |post| Pipeloader.map(post.comments.order(:id)) { |it| HELPERS.tag.i { HELPERS.concat(it.commenter&.name) } } }
                  .flatten.each { |it| HELPERS.concat(it) }
      end
    end
  end

  def test_partials
    index = { "pages/index.html.erb" => "<%= render partial: 'post', collection: @posts %>",
              "pages/_post.html.erb" => "<%= @show.call(post) %>" }
    test = self
    assert_page(nil) { controller(index) { define_method(:index) { @posts, @show = ::Post.order(:id).to_a, test.method(:item) } } }
  end

  def test_resolvers
    test = self
    shown = type(Schemas::Post) do
      field :shown, String
      define_method(:shown) { test.item(object) }
    end
    query = query_type do
      field :shown_posts, [shown]
      def shown_posts = ::Post.order(:id).to_a
    end
    plain, piped = Schemas.make(query: query).map { |schema| 3.times.map { schema.execute("{ shownPosts { shown title author { name } } }").to_h } }
    assert_equal plain, piped
    assert_match(%r{<li>post 1<b>}, plain.dig(0, "data", "shownPosts", 0, "shown"))
  end

  # A controller's view in the context, and templates of the application's.
  def test_renders_by_one_view
    templates = { "posts/_card.html.erb" => "<h1><%= post.title %></h1><i><%= post.comments.count %></i><%= tag.b { concat post.author&.name } %>" \
                                            "<%= render partial: 'posts/foot', locals: { post: post }, formats: [:text] %><%= controller.action_name %>",
                  "posts/_foot.text.erb" => "(<%= post.tags.count %>)", "posts/_foot.html.erb" => "[<%= post.tags.count %>]" }
    view = controller(templates) { define_method(:action_name) { "index" } }.new.tap { |it| it.request = ActionDispatch::TestRequest.create }.view_context
    card = type(Schemas::Post) do
      field :card, String
      define_method(:card) { context[:view].render("posts/card", post: object) }
    end
    query = query_type do
      field :cards, [card]
      def cards = ::Post.order(:id).to_a
    end
    plain, piped = Schemas.make(query: query).map { |schema| 3.times.map { schema.execute("{ cards { card a: card } }", context: { view: view }).to_h } }
    assert_equal plain, piped
    assert_match(%r{<h1>post 1</h1><i>\d+</i><b>user 4</b>\(}, plain.dig(0, "data", "cards", 0, "card"))
    assert_equal "<p>1</p>", view.tag.p { view.concat("1") }
  end

  # The last to leave wasn't the first to come.
  def test_nobody_is_left_inside
    view, inside, go = ActionController::Base.helpers, Queue.new, Queue.new
    render = ->(text) { Pipeloader.map([text, text]) { |it| view.tag.b { view.concat(it) } } }
    first = Thread.new { Pipeloader.map([1, 2]) { |it| view.tag.i { inside << it && go.pop } } }
    inside.pop
    second = Thread.new { Pipeloader.map([1, 2]) { |it| view.tag.i { inside << it && go.pop } } }
    inside.pop
    4.times { go << nil }
    [first, second].each(&:join)
    buffers = [view, view.output_buffer].compact
    assert_equal [nil], buffers.map { |it| it.instance_variable_get(:@pipeloader_changer) }.uniq
    assert_equal ["<b>a</b>"] * 2, render.call("a")
  end

  # Who fails leaves the buffer as it was.
  def test_failures
    assert_alike do
      Pipeloader.map(posts) do |post|
        HELPERS.content_tag(:i) { HELPERS.concat(post.author&.name) && raise(ArgumentError, post.title) }
      rescue ArgumentError => e
        HELPERS.content_tag(:b) { HELPERS.concat(e.message) }
      end
    end
    assert_equal "<p>1</p>", HELPERS.content_tag(:p) { HELPERS.concat("1") }
  end
end
