# frozen_string_literal: true

# Before there is a `Rails`, whose Railtie they would need.
require "jbuilder"
require "jsonapi/serializer"
require "action_controller"
require "action_view"
require "action_view/testing/resolvers"
require "rack/mock"
require_relative "answers"

# Pages that a controller of Rails renders, with Pipeloader::Collections and without.
class RailsPageTest < AnswerTest
  # Where sessions begin, and end.
  class SessionStore
    def load_session(_request) = ["1", {}]
    def session_exists?(_request) = true
    def delete_session(*) = "2"
  end

  # What there is of an answer.
  Page = Struct.new(:status, :headers, :body, :session)

  # Of what earlier tests have rendered nothing is known.
  def setup
    super
    Pipeloader::BlockSite.forget
  end

  # A controller whose action is `index`.
  #
  # @param templates [Hash{String => String}] by name: { "pages/index.html.erb" => "…" }
  def controller(templates, base = ActionController::Base, &body)
    Class.new(base) do
      def self.name = "PagesController"
      def self.controller_path = "pages"
      prepend_view_path ActionView::FixtureResolver.new(templates)
      if respond_to?(:cache_store=) # ActionController::API has it by and by
        self.cache_store = ActiveSupport::Cache::MemoryStore.new
        self.perform_caching = true
      end
      include Pipeloader::Collections
      class_eval(&body) if body
      define_method(:index) { nil } unless method_defined?(:index)
    end
  end

  # @return [Page] what the action answers
  def page(controller, action = :index, path: "/pages")
    env = Rack::MockRequest.env_for(path, "action_dispatch.cookies_serializer" => :json)
    session = ActionDispatch::Request::Session.create(SessionStore.new, ActionDispatch::Request.new(env), {})
    status, headers, body = controller.action(action).call(env)
    text = +""
    body.each { |part| text << part }
    body.close if body.respond_to?(:close)
    Page.new(status, headers.to_h.except("etag", "x-request-id", "x-runtime"), text, session.to_h)
  end

  # The page is the same without Pipeloader, and takes so many round trips; nil for any number.
  #
  # @yieldreturn [Class] a controller; new for each of both
  # @return [Page]
  def assert_page(trips, action = :index)
    plain = Pipeloader.disabled { page(yield, action) }
    piped = nil
    events = WireCounter.events("burst.pipeloader") { piped = page(yield, action) }
    assert_equal plain.body, piped.body
    assert_equal plain, piped
    assert_equal 200, plain.status
    assert_equal trips, events.size, events.map { |payload| payload[:reads].map(&:sql) } if trips
    piped
  end
end
