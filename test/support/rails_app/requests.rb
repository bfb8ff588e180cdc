# frozen_string_literal: true

# Run in the generated application by `bin/rails runner`: sends requests through its whole Rack stack, and writes what came and what
# was sent to the database to the file that ANSWERS names, as JSON.

require "rack/test"

# In development with a debugger at work, as by RUBY_DEBUG_OPEN or once a breakpoint was met.
if Rails.env.development?
  require "debug/session"
  DEBUGGER__.start(no_sigint_hook: true, nonstop: true)
end

class Requests
  include Rack::Test::Methods

  # name => query; each is sent twice
  QUERIES = {
    "compiled" => "{ posts { id title shout createdAt user { name } comments { id body user { name } } } }",
    "own code" => "{ posts { byline } }",
    "own code below" => "{ users { name latest { byline comments { body } } postsCount } }",
    "pages" => "{ postsPage(first: 5) { edges { cursor node { id title commentsPage(first: 1) { nodes { body } pageInfo { hasNextPage } } } } pageInfo { endCursor } } }",
    "Kaminari's pages" => "{ postsByPage(page: 2, per: 3) { collection { title user { name } comments { body } } metadata { currentPage totalCount totalPages } } }",
    "class Record" => "{ records { name post { title byline } } }",
    "node" => "query($id: ID!) { node(id: $id) { id __typename ... on Post { title byline } } nodes(ids: [$id]) { id } }",
    "generator's own" => "{ testField }",
    "mutation" => "mutation { testField }",
    "error" => "{ posts { title } broken }",
    "refused" => "{ nothingLikeThat }",
    "introspection" => "{ __schema { types { name fields { name } } } }"
  }.freeze

  def app = Rails.application

  def all
    variables = { id: Post.order(:id).second.to_gid_param }
    answers = QUERIES.to_h { |name, query| [name, Array.new(2) { answer(query, variables) }] }
    answers["reloaded"] = reloaded if Rails.application.config.reloading_enabled?
    answers
  end

  private

  def answer(query, variables = {})
    bursts, statements, @alone = [], [], 0
    watching("burst.pipeloader") { |payload| bursts << payload[:statements] }
    watching("sql.active_record") { |payload| @alone += 1 if alone?(payload) }
    watching("sql.active_record") { |payload| statements << payload[:sql] unless payload[:cached] || %w[SCHEMA TRANSACTION].include?(payload[:name]) }
    status, body = nil
    completed = logged { status, body = sent(JSON.generate(query: query, variables: variables)) }
    { status: status, body: body, bursts: bursts, reads: statements.size, tagged: statements.grep(/current_graphql_field/).size,
      alone: @alone, completed: completed }
  ensure
    @watching.each { |it| ActiveSupport::Notifications.unsubscribe(it) }
    @watching.clear
  end

  # True if no burst has brought it: it counts as ActiveRecord counts it.
  def alone?(payload) = !payload.key?(:pipeloader) && !%w[SCHEMA TRANSACTION].include?(payload[:name])

  # @return [Integer, nil] queries of the block, by Rails' line "Completed 200 OK … (ActiveRecord: 5.5ms (3 queries, 0 cached))"
  def logged
    lines = StringIO.new
    broadcast = ActiveSupport::Logger.new(lines, level: Logger::INFO)
    Rails.logger.broadcast_to(broadcast)
    yield
    lines.string[/^Completed .*ActiveRecord: [\d.]+ms \((\d+) quer/, 1]&.to_i
  ensure
    Rails.logger.stop_broadcasting_to(broadcast)
  end

  # (The controller tells exceptions in development, with a backtrace that names all gems, and raises them elsewhere.)
  def sent(body)
    post("http://localhost/graphql", body, "CONTENT_TYPE" => "application/json")
    [last_response.status, last_response.body.gsub(/"backtrace":\[.*?\]}/m, "}")]
  rescue StandardError => e
    [e.class.name, e.message]
  end

  def watching(event)
    (@watching ||= []) << ActiveSupport::Notifications.subscribe(event) { |*, payload| yield(payload) }
  end

  # A type and a model are changed, and changed back, between requests.
  def reloaded
    files = { "app/graphql/types/post_type.rb" => ["by \#{", "written by \#{"], "app/models/post.rb" => ["title.upcase", "title.reverse"] }
    before = files.keys.to_h { |file| [file, File.read(file)] }
    files.each { |file, (from, to)| File.write(file, before.fetch(file).sub(from) { to }) }
    Array.new(2) { answer("{ posts { byline shout user { name } } records { post { shout } } }") }
  ensure
    before&.each { |file, text| File.write(file, text) }
  end
end

File.write(ENV.fetch("ANSWERS"), JSON.generate(Requests.new.all))
