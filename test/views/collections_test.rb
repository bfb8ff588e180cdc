# frozen_string_literal: true

require_relative "../support/pages_of_rails"
require_relative "../wire/subprocess"
require "minitest/mock"

# What a controller with Pipeloader::Collections renders is what Rails renders one after the other.
class CollectionsTest < RailsPageTest
  include Subprocess

  class Viewer < ActiveSupport::CurrentAttributes
    attribute :who
  end

  # Has songs, of which a form tells.
  class Album
    include ActiveModel::Model
    def songs = []
    attr_writer :songs_attributes
  end

  INDEX = "pages/index.html.erb"
  POST = "pages/_post.html.erb"
  LAYOUT = "layouts/site.html.erb"
  # A page of all posts by one partial.
  LIST = { INDEX => "<ul><%= render partial: 'post', collection: @posts %></ul><%= Post.count %>" }.freeze

  # @param body [Proc, nil] more of the controller
  def posts(templates, &body)
    controller({ **LIST, **templates }) do
      include(Module.new { def index = @posts = ::Post.order(:id).to_a })
      class_eval(&body) if body
    end
  end

  def assert_posts(trips, templates, &body) = assert_page(trips) { posts(templates, &body) }

  # Both fail with the same error, and its place.
  def assert_fails_alike(templates, &body)
    errors = [true, false].map do |off|
      given = posts(templates, &body)
      error = assert_raises(ActionView::Template::Error) { off ? Pipeloader.disabled { page(given) } : page(given) }
      [error.message, error.line_number, error.file_name, error.annotated_source_code, error.template.virtual_path, error.sub_template_message,
       error.cause.class, error.cause.message]
    end
    assert_equal(*errors)
    errors.last
  end

  # -- partials

  def test_reads_of_a_level_are_one_round_trip
    page = assert_posts(2, POST => "<li><%= post_counter %> <%= post_iteration.first? %> <%= post_iteration.index %>/<%= post_iteration.size %> <%= post.title %> " \
                                   "<%= post.author&.name %> <%= post.comments.map(&:body).join %> <%= post_iteration.last? %></li>")
    assert_equal 12, page.body.scan("<li>").size
  end

  def test_render_of_records_and_of_a_relation
    post = { "posts/_post.html.erb" => "<li><%= post.author&.name %></li>" }
    assert_page(1) { posts(INDEX => "<%= render @posts %>", **post) }
    assert_page(1) { posts(INDEX => "<%= render Post.order(:id) %>", **post) }
    assert_page(0) { posts(INDEX => "<%= render(Post.where('id < 0')) || 'none' %>|<%= render Post.where(id: 1) %>", **post) }
    assert_page(0) { posts(INDEX => "<%= render Post.order(:id).includes(:author) %>", **post) }
  end

  def test_mixed
    assert_posts(1, INDEX => "<%= render @posts.first(3).zip(User.order(:id)).flatten %>",
                    "posts/_post.html.erb" => "<p><%= post.comments.count %> <%= local_assigns.keys.map(&:to_s).sort.join(',') %></p>",
                    "users/_user.html.erb" => "<b><%= user.posts.count %> <%= user_counter %> <%= local_assigns[:post]&.id %></b>")
  end

  def test_options
    assert_posts(2, INDEX => "<%= render partial: 'item', collection: @posts, as: :it, locals: { a: 1 }, spacer_template: 'line', layout: 'box' %>",
                    "pages/_item.html.erb" => "<p><%= it.author&.name %> <%= it_counter %><%= a %></p>",
                    "pages/_line.html.erb" => "<hr><%= a %>",
                    "pages/_box.html.erb" => "<div><%= it.comments.count %><%= yield %></div>")
  end

  def test_strict_locals
    assert_posts(1, POST => "<%# locals: (post:, more: 1) %><p><%= post.author&.name %><%= more %></p>")
    assert_posts(1, POST => "<%# locals: (post:, post_counter:) %><p><%= post.author&.name %><%= post_counter %></p>")
    assert_fails_alike(POST => "<%# locals: (post:, gone:) %><p></p>")
  end

  def test_collections_in_collections
    assert_posts(3, POST => "<li><%= post.author&.name %> <%= render partial: 'comment', collection: post.comments %></li>",
                    "pages/_comment.html.erb" => "<i><%= comment.body %> <%= comment.commenter&.name %> <%= comment_counter %></i>")
  end

  def test_partials_and_layouts_in_partials
    assert_posts(3, POST => "<li><%= render 'author', it: post.author %><%= render layout: 'box', locals: { post: post } do %>" \
                            "<%= post.comments.count %><%= capture { concat post.tags.count } %><% end %></li>",
                    "pages/_author.html.erb" => "<b><%= it&.name %> <%= controller.action_name %></b>",
                    "pages/_box.html.erb" => "<div><%= post.title %><%= yield %><%= post.title %></div>")
  end

  def test_captures
    assert_posts(3, POST => "<% a = capture do %><b><%= post.author&.name %></b><% end %><%= tag.p(class: 'x') { concat post.comments.count; concat a } %>" \
                            "<%= content_tag(:i) do %>i<%= post.tags.count %><% end %><%= a %>")
  end

  def test_formats_inside
    assert_posts(2, POST => "<%= render partial: 'one', formats: [:json], locals: { post: post } %><%= render 'two', post: post %>",
                    "pages/_one.json.erb" => "{<%= post.author&.name %> <%= formats.inspect %>}",
                    "pages/_two.html.erb" => "<%= formats.inspect %><%= post.comments.count %>")
  end

  # As helpers do that are older than `render formats:`.
  def test_formats_for_the_length_of_a_block
    with_format = "<% with = ->(name, &inside) { before, lookup_context.formats = lookup_context.formats, [name]; begin; inside.call; " \
                  "ensure; lookup_context.formats = before; end } %>"
    one = { "pages/_one.json.erb" => "{<%= post.author&.name %>}", "pages/_one.html.erb" => "<<%= post.author&.name %>>" }
    assert_posts(2, POST => "#{with_format}<%= with.(:json) { post.comments.count.to_s + render('one', post: post) } if post.id > 2 %><%= formats.inspect %>", **one)
    assert_posts(3, INDEX => "#{LIST[INDEX]}<%= formats.inspect %>",
                    POST => "#{with_format}<%= render('one', post: post) %><%= with.(:json) { post.comments.count.to_s + render('one', post: post) + post.tags.count.to_s } %>", **one)
  end

  def test_a_template_in_a_partial
    assert_posts(nil, POST => "<%= render template: 'pages/inner', layout: 'layouts/site', locals: { post: post } %>",
                      "pages/inner.html.erb" => "<p><%= post.author&.name %></p>", LAYOUT => "<main><%= yield %><%= yield :nothing %></main>")
  end

  def test_translations_know_their_partial
    assert_posts(2, POST => "<%= post.author&.name %><%= t('.hello', default: 'none') %><%= post.comments.count %><%= t('.hello', default: 'none') %><%= render 'two' %>",
                    "pages/_two.html.erb" => "<%= t('.bye', default: 'none') %><%= @virtual_path %>")
  end

  def test_blocks_of_the_page
    assert_posts(2, INDEX => "<% label = ->(post) { capture { concat post.author&.name } } %><%= render partial: 'post', collection: @posts, locals: { label: label } %>",
                    POST => "<p><%= label.(post) %> <%= post.comments.count %></p>")
  end

  def test_other_handlers
    assert_posts(1, POST.sub("erb", "builder") => "xml.post { xml.name post.author&.name; xml.title { xml.text! post.title } }")
    assert_posts(1, POST.sub("erb", "ruby") => "post.author&.name.to_s + '.'")
  end

  # -- what is ordered

  def test_content_for
    layout = "<head><%= yield :head %></head><%= content_for?(:foot) %><%= yield %><foot><%= content_for :foot %></foot>"
    assert_posts(nil, LAYOUT => layout,
                      POST => "<%= post.author&.name %><% content_for(:head) { concat post.comments.count } %><% content_for :foot, post.title if post.id > 3 %>" \
                              "<%= content_for?(:foot) %><% provide :head, 'p' %>") { layout "site" }
  end

  def test_reads_before_content_for_are_together
    assert_posts(2, LAYOUT => "<%= yield :head %><%= yield %>", POST => "<%= post.author&.name %><%= post.comments.count %><% content_for :head, post.title %>") { layout "site" }
  end

  def test_content_that_is_replaced
    assert_posts(nil, LAYOUT => "<%= yield :head %><%= yield %>", POST => "<%= Post.find(post.id == 2 ? 1 : post.id).comments.count if post.id.odd? %><% content_for :head, post.title, flush: true %>" \
                                                                         "<%= content_for :head %>") { layout "site" }
  end

  def test_cycles
    assert_posts(nil, POST => "<%= post.comments.count if post.id.even? %><%= cycle('a', 'b', 'c') %><%= post.author&.name %><%= current_cycle %>" \
                              "<% reset_cycle if post.id == 5 %><%= cycle(1, 2, name: 'n') %>")
    assert_posts(2, POST => "<%= post.comments.count %><%= post.author&.name %><%= cycle('a', 'b', 'c') %>")
  end

  # As a tree of categories: a fiber's stack is small.
  def test_deep_inside_one_another
    page = assert_posts(nil, POST => "<% depth = local_assigns.fetch(:depth, 30) %><i><%= post.comments.count %></i><% if depth.positive? && post_counter.zero? %>" \
                                     "<%= render partial: 'post', collection: [post, post], locals: { depth: depth - 1 } %><% end %>")
    assert_equal 12 + (2 * 30), page.body.scan("<i>").size
  end

  # A form that all partials are given counts its fields.
  def test_fields_of_one_form
    form =
      "<%= form_with(model: CollectionsTest::Album.new, url: '/', scope: :album, authenticity_token: false) { |f| render partial: 'post', collection: @posts, locals: { f: f } } %>"
    page = assert_posts(nil, INDEX => form, POST => "<%= post.comments.count if post.id.odd? %><%= f.fields_for(:songs, post) { |it| it.text_field(:title) } %>")
    assert_includes page.body, "songs_attributes][11]"
  end

  # Form builders of gems change it for the length of a form.
  def test_a_setting_of_the_process
    before = ActionView::Base.field_error_proc
    assert_posts(nil, POST => "<%= post.author&.name %><% before, ActionView::Base.field_error_proc = ActionView::Base.field_error_proc, ->(html, _) { html } %>" \
                              "<%= post.comments.count %><%= ActionView::Base.field_error_proc.source_location.first.include?('_post') %>" \
                              "<% ActionView::Base.field_error_proc = before %>")
    assert_same before, ActionView::Base.field_error_proc
  ensure
    ActionView::Base.field_error_proc = before
  end

  def test_flash_session_cookies_headers
    page = assert_posts(nil, POST => "<%= post.comments.count if post.id.odd? %><% flash.now[:last] = post.id; session[:last] = post.id; " \
                                     "controller.response.headers['X-Last'] = post.id.to_s; controller.send(:cookies)[:last] = post.id %>")
    assert_equal "12", page.headers["X-Last"] || page.headers["x-last"]
    assert_equal 12, page.session["last"]
  end

  # -- state

  # What one partial writes into the session, isn't lost where another one loads it.
  def test_a_session_from_the_database
    store = Class.new(SessionStore) { def load_session(_request) = [::Post.count.to_s, { "title" => ::Post.find(1).title }] }.new
    SessionStore.stub(:new, store) do
      page = assert_posts(nil, POST => "<%= session[:title] %><% session[:seen] = post.id if post.id == 1 %><%= session[:seen] %>")
      assert_equal({ "title" => "post 1", "seen" => 1 }, page.session)
    end
  end

  def test_a_token_of_all_forms
    store = Class.new(SessionStore) { def load_session(_request) = [::Post.count.to_s, {}] }.new
    tokens = SessionStore.stub(:new, store) do
      page = page(posts(POST => "<%= controller.send(:real_csrf_token, nil).unpack1('H*') %>,") { protect_from_forgery })
      page.body.scan(/\h{64}/)
    end
    assert_equal [12, 1], [tokens.size, tokens.uniq.size]
  end

  def test_state_of_a_partial
    I18n.available_locales = %i[en fr]
    assert_posts(2, POST => "<% Time.use_zone(post.id.odd? ? 'Tokyo' : 'Paris') do %><% I18n.with_locale(post.id.odd? ? :en : :fr) do %>" \
                            "<%= post.author&.name %><%= Time.zone.name %><%= I18n.locale %><%= post.comments.count %><%= Time.zone.name %><%= I18n.locale %><% end %><% end %>")
  ensure
    I18n.available_locales = nil
  end

  def test_variables_that_helpers_keep
    calls = nil
    assert_posts(2, POST => "<%= names(post) %><%= post.comments.count %>") do
      helper do
        define_method(:names) { |post| (@names ||= Hash.new { |h, id| h[id] = ::User.find_by(id: id)&.name }.tap { calls = calls.to_i + 1 })[post.author_id] }
      end
    end
    assert_equal 2, calls # once for each page
  end

  # -- failures

  def test_one_fails
    assert_fails_alike(POST => "<p>\n<%= post.author&.name %>\n<%= post.comments.count\n   raise ArgumentError, \"no. \#{post.id}\" if post.id > 2 %></p>")
    assert_fails_alike(POST => "\n<% Post.find(-post.id) if post.id > 4 %><%= post.comments.count %><%= post.author&.name %>\n<% Post.find(-1000) if post.id == 2 %>")
    assert_fails_alike(POST => "<li><%= post.author&.name %>\n<%= render partial: 'comment', collection: post.comments %></li>",
                       "pages/_comment.html.erb" => "\n<%= comment.commenter&.name %><% raise KeyError, 'no' if comment_counter == 1 && comment.post_id > 2 %>")
    assert_fails_alike(INDEX => "<%= render [*@posts, User.first] %>", "posts/_post.html.erb" => "<%= post.author&.name %>")
  end

  def test_a_failure_that_is_rescued
    assert_posts(nil, POST => "<% begin %><%= render 'one', post: post %><% rescue ActionView::Template::Error => e %><%= e.message %><% end %><%= post.comments.count %>",
                      "pages/_one.html.erb" => "<%= post.author&.name %><% raise 'odd' if post.id.odd? %><%= post.tags.count %>")
  end

  def test_the_page_after_a_failure
    assert_posts(nil, INDEX => "<p><% begin %><%= render partial: 'post', collection: @posts %><% rescue ActionView::Template::Error => e %>!<%= e.message %><% end %>" \
                               "<%= @virtual_path %><%= capture { concat Post.count } %></p>",
                      POST => "<%= post.author&.name %><% raise 'third' if post.id == 3 %><%= post.comments.count %>")
  end

  # -- caches

  def test_fragments
    cold = { POST => "<% cache post do %><b><%= post.author&.name %><% cache [post, 'inner'] do %><%= post.comments.count %><% end %></b><% end %>" }
    assert_posts(2, cold)
    warm = [true, false].map do |off|
      given = posts(cold)
      pages = Array.new(2) { off ? Pipeloader.disabled { page(given) } : page(given) }
      [pages.map(&:body), given.cache_store.instance_variable_get(:@data).keys.sort]
    end
    assert_equal(*warm)
  end

  def test_collection_caches
    templates = { INDEX => "<%= render partial: 'post', collection: @posts, cached: true %>", POST => "<b><%= post.author&.name %></b>" }
    stores = [true, false].map do |off|
      store = ActionView::CollectionRenderer.collection_cache = ActiveSupport::Cache::MemoryStore.new
      given = posts(templates)
      given.define_method(:index) { @posts = ::Post.where("id > ?", params[:from] || 0).order(:id).to_a }
      bodies = ["/?from=6", "/", "/"].map { |path| off ? Pipeloader.disabled { page(given, path: path).body } : page(given, path: path).body }
      [bodies, store.instance_variable_get(:@data).keys.sort]
    end
    assert_equal(*stores)
    assert_equal 12, stores.last.last.size
  end

  def test_collections_that_are_cached_in_collections
    ActionView::CollectionRenderer.collection_cache.clear
    assert_posts(nil, POST => "<p><%= render partial: 'comment', collection: post.comments, cached: true %></p>", "pages/_comment.html.erb" => "<i><%= comment.commenter&.name %></i>")
  end

  # -- who asks for it

  def test_only_and_except
    trips = [[{}, 1], [{ only: :index }, 1], [{ only: %w[show] }, 12], [{ except: :index }, 12], [{ except: [:show] }, 1], [false, 12]]
    trips.each do |given, count|
      page = posts(POST => "<%= post.comments.count %>")
      given == false ? page.pipeloader_collections(false) : page.pipeloader_collections(**given)
      heir = Class.new(page)
      assert_equal count + 1, WireCounter.trips { page(heir) }.size - 1, given.inspect
    end
  end

  def test_controllers_that_do_not_ask
    plain = controller_without
    assert_equal 14, WireCounter.trips { page(plain) }.size
    Pipeloader.collections = true
    assert_equal 3, WireCounter.trips { page(plain) }.size
    Pipeloader.collections = false
    assert_raises(ArgumentError) { Pipeloader.collections = :yes }
  ensure
    Pipeloader.collections = false
  end

  def test_no_action_is_added
    assert_equal %w[index], posts({}).action_methods.to_a
  end

  def test_streams_are_serial
    given = posts(POST => "<%= post.comments.count %><% provide :title, post.title %>", LAYOUT => "<%= yield :title %>|<%= yield %>") do
      layout "site"
      define_method(:index) { super().then { render stream: true } }
    end
    plain = Pipeloader.disabled { page(given) }
    assert_equal plain.body, page(given).body
  end

  def test_views_without_a_controller
    lookup = ActionView::LookupContext.new([ActionView::FixtureResolver.new("_post.html.erb" => "<%= post.comments.count %>,")])
    view = ActionView::Base.with_empty_template_cache
    render = -> { view.new(lookup, {}, nil).render(partial: "post", collection: Post.order(:id).to_a) }
    plain = render.call
    Pipeloader.collections = true
    assert_equal 2, WireCounter.trips { assert_equal plain, render.call }.size
  ensure
    Pipeloader.collections = false
  end

  # Inside a resolver, the partials' reads go with the response's.
  def test_in_a_resolver
    lookup = ActionView::LookupContext.new([ActionView::FixtureResolver.new("_post.html.erb" => "<%= post.comments.count %><%= post.author&.name %>,")])
    view = ActionView::Base.with_empty_template_cache
    Pipeloader.collections = true
    plain = piped = nil
    events = WireCounter.events("burst.pipeloader") do
      plain, piped = Schemas.resolve(3) do |index|
        next Comment.count if index == 1

        view.new(lookup, {}, nil).render(partial: "post", collection: Post.where("id > ?", index).order(:id))
      end
    end
    assert_equal plain, piped
    assert_operator events.size, :<, 12
  ensure
    Pipeloader.collections = false
  end

  # Each tells of its own.
  def test_links_to_preload
    page = assert_posts(1, POST => "<% post.comments.count if post.id.odd? %><%= stylesheet_link_tag \"/a\#{post.id}.css\", preload_links_header: true %>")
    assert_equal 12, (page.headers["link"] || page.headers["Link"]).scan("rel=preload").size
  end

  # A fiber's stack is an eighth of a thread's.
  def test_single_items_deep_inside_one_another
    assert_page(nil) do
      controller("pages/index.html.erb" => "<%= render partial: 'node', collection: [100, 100] %>",
                 "pages/_node.html.erb" => "<b><%= node %><%= render partial: 'node', collection: [node - 1] if node > 0 %></b>")
    end
  end

  # -- XML

  # What all partials write to is one document.
  def test_builders_as_locals
    assert_xml(nil, "xml.posts { render partial: 'post', collection: @posts, locals: { doc: xml } }",
               "doc.post(id: post.id) { doc.author(post.author&.name); doc.comments(post.comments.count) }")
    assert_xml(nil, "atom_feed(root_url: '/', url: '/') { |feed| render partial: 'post', collection: @posts, locals: { feed: feed } }",
               "feed.entry(post, url: '/', published: Time.at(post.id), updated: Time.at(1)) { |it| it.name(post.author&.name) }")
    assert_xml(1, "xml.posts { xml << render(partial: 'post', collection: @posts) }", "xml.post { xml.author(post.author&.name) }")
  end

  def assert_xml(trips, index, post)
    assert_page(trips) do
      controller("pages/index.xml.builder" => index, "pages/_post.xml.builder" => post) do
        define_method(:index) do
          @posts = ::Post.order(:id).to_a
          render formats: [:xml]
        end
      end
    end
  end

  # -- JSON

  JSONS = [{}, { only: :title }, { only: %i[title], methods: :author_id }, { except: [:body], include: { author: { only: :name }, comments: { include: :commenter } } }, { root: true },
           { escape: false, include: :author }].freeze

  JSONS.each_with_index do |options, index|
    define_method(:"test_json_#{index}") do
      trips = options.to_s.include?("commenter") ? nil : options.to_s.include?("author:") || options.to_s.include?(":author}") ? 1 : 0
      [-> { Post.order(:id).to_a }, -> { Post.order(:id) }].each do |given|
        page = assert_page(trips) { controller({}) { define_method(:index) { render json: given.call, **options } } }
        assert_equal JSON.parse(Post.order(:id).to_a.to_json(options)), JSON.parse(page.body)
        assert_equal "application/json; charset=utf-8", page.headers["content-type"] || page.headers["Content-Type"]
      end
    end
  end

  # Presenters, a callback, what is no collection of objects, status.
  def test_other_json
    presenter = Struct.new(:post) { def as_json(options = nil) = { t: "<#{post.title}>", n: post.comments.count, o: options&.keys&.map(&:to_s) } }
    assert_page(1) { controller({}) { define_method(:index) { render json: ::Post.order(:id).map { |post| presenter.new(post) }, prefix: 1 } } }
    assert_page(1) { controller({}, ActionController::API) { define_method(:index) { render json: ::Post.order(:id).map { |post| presenter.new(post) } } } }
    [[], [1, 2], %w[a <b>], {}, nil, "[1]", [nil, 1], [Time.at(0), 1.5], { a: [1, 2] }].each do |value|
      assert_page(0) { controller({}) { define_method(:index) { render json: value, callback: ("f" if value.nil?) } } }
    end
  end

  def test_json_of_relations_that_say_otherwise
    extension = Module.new { def as_json(*) = ["mine"] }
    own = Class.new(Array) { def as_json(*) = ["own"] }
    [-> { Post.order(:id).extending(extension) }, -> { own.new(Post.all) }].each do |given|
      assert_page(0) { controller({}) { define_method(:index) { render json: given.call } } }
    end
  end

  # Which may ask for more than JSON. In a process of its own, and by a class of its own: Ruby 3.1 goes on calling by `super` what it
  # has called before.
  def test_json_by_a_renderer_of_the_application
    controller({}) # now there are patches
    plain, piped = in_process do
      ActionController::Renderers.add(:json) { |posts, _| { data: posts.map { |post| [post.id, post.comments.count] } }.to_json }
      [true, false].map do |off|
        base = Class.new(ActionController::Metal)
        [AbstractController::Rendering, ActionView::Layouts, ActionController::Rendering, ActionController::Renderers::All].each { |it| base.include(it) }
        given = controller({}, base) { define_method(:index) { render json: ::Post.order(:id).to_a } }
        (off ? Pipeloader.disabled { page(given) } : page(given)).body
      end
    end
    assert_equal plain, piped
    assert_equal 12, JSON.parse(plain)["data"].size
  end

  def test_json_that_fails
    errors = [true, false].map do |off|
      given = controller({}) { def index = render(json: ::Post.order(:id).map { |post| Struct.new(:post) { def as_json(*) = post.comments.count.then { raise KeyError, post.title if post.id > 2 } }.new(post) }) }
      assert_raises(KeyError) { off ? Pipeloader.disabled { page(given) } : page(given) }.message
    end
    assert_equal %w[post] * 2, (errors.map { |it| it[/post/] })
    assert_equal(*errors)
  end

  private

  def controller_without
    Class.new(ActionController::Base) do
      def self.name = "PagesController"
      prepend_view_path ActionView::FixtureResolver.new(**LIST, POST => "<%= post.comments.count %>")
      def index = @posts = ::Post.order(:id).to_a
    end
  end
end
