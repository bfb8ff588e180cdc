# frozen_string_literal: true

require_relative "../support/pages_of_rails"
require "active_model_serializers"
require "action_controller/serialization"

ActiveModelSerializers.logger = Logger.new(nil)

# Pipeloader::Collections where something else has a say: ActiveModelSerializers, and whatever has a view of its own, as mailers do.
class CollectionsOfOthersTest < RailsPageTest
  class CommentSerializer < ActiveModel::Serializer
    attributes :body
  end

  class PostSerializer < ActiveModel::Serializer
    attributes :title, :count
    has_many :comments, serializer: CommentSerializer

    def count = object.comments.count
  end

  def serialized(**options)
    controller({}) do
      include ActionController::Serialization
      define_method(:index) { render json: ::Post.order(:id).to_a, **options }
    end
  end

  def test_active_model_serializers
    page = assert_page(nil) { serialized(each_serializer: PostSerializer, adapter: :attributes) }
    assert_equal %w[title count comments], JSON.parse(page.body).first.keys
    assert_page(nil) { serialized(each_serializer: PostSerializer, adapter: :json, root: "posts") }
  end

  # Where there is no serializer, or none is wanted.
  def test_without_a_serializer
    page = assert_page(nil) { serialized(include: :author, adapter: false) }
    assert_includes page.body, "user 4"
  end

  # ActionMailer renders as a controller does: by AbstractController::Rendering, and a view of its own.
  def test_other_renderers
    letters = Class.new(AbstractController::Base) do
      def self.name = "Letters"
      def self.controller_path = "letters"
      include AbstractController::Rendering
      include ActionView::Rendering
      include ActionView::Layouts
      prepend_view_path ActionView::FixtureResolver.new(
        "letters/list.text.erb" => "Dear all,\n<%= render partial: 'post', collection: @posts %>", "letters/_post.text.erb" => "<%= post.title %> <%= post.comments.count %>\n"
      )
      def list = @posts = ::Post.order(:id).to_a
      def text = list && render_to_body(template: "letters/list", formats: [:text])
    end
    plain = letters.new.text
    Pipeloader.collections = true
    assert_equal 2, WireCounter.trips { assert_equal plain, letters.new.text }.size
    Pipeloader.collections = false
    letters.include(Pipeloader::Collections)
    assert_equal 2, WireCounter.trips { assert_equal plain, letters.new.text }.size
    letters.pipeloader_collections false
    assert_equal 13, WireCounter.trips { assert_equal plain, letters.new.text }.size
  ensure
    Pipeloader.collections = false
  end

  # A page that another one is rendered inside of: each has a view, and the inner one's partials see the outer one's as it is.
  def test_a_view_in_a_view
    inner = controller({ "pages/_comment.html.erb" => "<i><%= comment.commenter&.name %><%= outer.call(comment) %></i>" })
    assert_page(nil) do
      controller({ "pages/index.html.erb" => "<%= render partial: 'post', collection: @posts, locals: { inner: @inner } %>",
                   "pages/_post.html.erb" => "<p><%= post.author&.name %><%= inner.render(partial: 'pages/comment', collection: post.comments, " \
                                             "locals: { outer: ->(it) { capture { concat it.body; concat post.tags.count; concat @virtual_path } } }) %><%= @virtual_path %></p>" }) do
        define_method(:index) do
          @inner = inner.renderer
          @posts = ::Post.order(:id).to_a
        end
      end
    end
  end
end
