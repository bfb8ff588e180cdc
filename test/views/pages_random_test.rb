# frozen_string_literal: true

require_relative "../support/pages_of_rails"

# Random pages of partials that capture, write content blocks, cycle, cache, render collections, read and fail: what comes of them
# is what comes of them without Pipeloader. `PIPELOADER_SEED=7 PIPELOADER_PROGRAMS=1000` runs others.
class PagesRandomTest < RailsPageTest
  class Failed < StandardError; end

  # Templates that are made from a seed. Every partial gets `id`, a number.
  class Site
    READS = ["Post.find_by(id: id)&.title", "Comment.where(post_id: id).count", "User.where(id: id).pick(:name)", "Post.find_by(id: id)&.author&.name",
             "Post.where(id: id).first&.comments&.map(&:body)", "Post.find(id % 13).title"].freeze

    attr_reader :templates

    def initialize(random)
      @random = random
      @templates = {}
      add("index", "<% id = 1 %><%= id %>#{body(0)}")
      @templates["layouts/site.html.erb"] = "<%= content_for?(:a) %><%= yield :a %>|<%= yield %>|<%= yield :b %>|<%= flash[:x] %>|<%= session[:x] %>"
    end

    private

    def add(name, text) = @templates["pages/#{name}.html.erb"] = text

    def made_of(text) = "p#{@templates.size}".tap { |name| add("_#{name}", text) }

    # A reserved name first, so that partials inside have others.
    def made(depth)
      name = made_of("")
      add("_#{name}", "<%= @virtual_path %>(#{body(depth)}<%= @virtual_path %>)")
      name
    end

    def body(depth) = Array.new(@random.rand(1..4)) { step(depth) }.join("\n")

    def step(depth)
      kinds = %i[read read read read content shown cycle capture cache rescue fail tag session zone]
      kinds += %i[collection collection collection partial box template json format] if depth < 3
      send(kinds.sample(random: @random), depth)
    end

    def number = @random.rand(1..3)
    def name = ":" + %w[a b].sample(random: @random)
    def read(_) = "<%= #{READS.sample(random: @random)} %>"
    def content(depth) = @random.rand < 0.5 ? "<% content_for(#{name}) do %>[<%= id %>#{read(depth)}]<% end %>" : "<% content_for #{name}, id.to_s %>"
    def shown(_) = "<%= content_for(#{name}) %><%= content_for?(#{name}) %>"
    def cycle(_) = ["<%= cycle('x', 'y', 'z') %>", "<%= cycle(1, 2, name: 'n') %>", "<%= current_cycle %>", "<% reset_cycle %>"].sample(random: @random)
    def capture(depth) = "<% c = capture do %><u>#{body(depth + 1)}</u><% end %>#{read(depth)}<%= c %>"
    def tag(depth) = "<%= content_tag(:b) do %>#{body(depth + 1)}<% end %>"
    def cache(depth) = "<% cache ['#{@random.rand(1000)}', id] do %>#{read(depth)}<i><%= id %></i><% end %>"
    def fail(_) = "<% raise PagesRandomTest::Failed, \"\#{id} fails\" if id % 12 == #{@random.rand(12)} %>"
    def session(_) = "<% session[:x] = id; flash.now[:x] = id %>"
    def zone(depth) = "<% Time.use_zone(id.odd? ? 'Tokyo' : 'Paris') do %>#{body(depth + 1)}<%= Time.zone.name %><% end %>"

    def rescue(depth)
      "<% begin %>#{body(depth + 1)}<% rescue PagesRandomTest::Failed, ActiveRecord::RecordNotFound, ActionView::Template::Error => e %>!<%= e.message %><% end %>"
    end

    def collection(depth)
      options = []
      options << "spacer_template: '#{made_of("<hr>#{read(0)}".gsub("(id: id)", "(id: 1)").gsub(": id", ": 1").gsub("(id ", "(1 "))}'" if @random.rand < 0.2
      options << "layout: '#{made_of("{<%= yield %>#{read(0)}}")}'" if @random.rand < 0.2
      # Items may have fragments in common: these do no more than their keys say.
      cached = @random.rand < 0.1
      options << "cached: true" if cached
      "<%= render(partial: '#{cached ? made_of("(#{read(0)}<%= id %>)") : made(depth + 1)}', collection: Array.new(#{@random.rand(0..5)}) { |i| id * #{number} + i }, as: :id, #{options.join(", ")}) %>".sub(", )", ")")
    end

    def partial(depth) = "<%= render '#{made(depth + 1)}', id: id + #{number} %>"
    def box(depth) = "<%= render(layout: '#{made_of("{<%= yield %>#{read(0)}<%= yield %>}")}', locals: { id: id }) do %>#{body(depth + 1)}<% end %>"
    def format(depth) = "<%= render(partial: '#{made(depth + 1)}', formats: [:html], locals: { id: id }) %><%= formats.inspect %>"
    def json(_) = "<%= raw [id, Post.find_by(id: id)].to_json %>"

    def template(depth)
      inner = "t#{@templates.size}"
      add(inner, "")
      add(inner, "<%= @virtual_path %>#{body(depth + 1)}")
      "<%= render template: 'pages/#{inner}', locals: { id: id }, layout: #{@random.rand < 0.5 ? "'layouts/inner'" : "nil"} %>".tap do
        @templates["layouts/inner.html.erb"] = "((<%= yield %>))<%= yield :a %>"
      end
    end
  end

  def test_pages
    seed = Integer(ENV.fetch("PIPELOADER_SEED", 20_261_128))
    failed = long = 0
    Integer(ENV.fetch("PIPELOADER_PROGRAMS", 60)).times do |i|
      templates = Site.new(Random.new(seed + i)).templates
      plain, piped = [true, false].map { |off| outcome(templates, off) }
      assert_equal plain, piped, "seed #{seed + i}"
      failed += 1 unless plain.first == 200
      long += 1 if plain[2].size > 500
    end
    assert_operator failed, :<, 60
    assert_operator long, :>, 5 unless ENV["PIPELOADER_PROGRAMS"]
  end

  private

  def outcome(templates, off)
    ActionView::CollectionRenderer.collection_cache.clear
    given = controller(templates) { layout "site" }
    off ? Pipeloader.disabled { page(given).to_a } : page(given).to_a
  rescue ActionView::Template::Error => e
    [e.message, e.line_number, e.file_name, e.cause.class, e.template.virtual_path]
  end
end
