# frozen_string_literal: true

# Run by without_graphql_test.rb in a process of its own, in which no graphql-ruby is installed: does CASES and some random programs
# serially and by Pipeloader, and prints what it saw as JSON. BARE_DATABASE is the test's database, as JSON; BARE_FACE is what to
# require: with "pipeloader" graphql-ruby is there.

FACE = ENV.fetch("BARE_FACE")
# As if the gems weren't there. (fiber-storage is graphql-ruby's own.)
FACE == "pipeloader" || $LOAD_PATH.reject! { |path| path.match?(%r{/(?:graphql|fiber-storage)[^/]*/lib\z}) }

require "json"
require FACE

ActiveRecord::Base.establish_connection(JSON.parse(ENV.fetch("BARE_DATABASE")))

class User < ActiveRecord::Base
  has_many :posts, -> { order(:id) }, foreign_key: :author_id, inverse_of: :author
end

class Post < ActiveRecord::Base
  belongs_to :author, class_name: "User", optional: true
  has_many :comments, -> { order(:id) }
end

class Comment < ActiveRecord::Base
  belongs_to :commenter, class_name: "User", optional: true
end

require_relative "gathering_program"

# What happens to be the same each time, in a loop and by Pipeloader.
class Case
  Viewer = GatheringProgram::Viewer

  def initialize(map) = (@map, @log = map, [])
  attr_reader :log

  def posts = Post.order(:id).to_a
  def map(values, &block) = @map.call(values, &block)

  def nested = map(User.order(:id).to_a) { |user| [user.name, map(user.posts.to_a) { |post| map(post.comments.to_a) { |it| [it.body, it.commenter&.name] } }] }
  def associations = map(posts) { |post| [post.title, post.author&.name, post.comments.count, post.comments.map(&:body)] }
  def found_by = map((1..14).to_a) { |id| Post.find_by(id: id)&.title }
  def many = map((1..500).to_a) { |id| Post.where(id: id % 9).pick(:title) }.tally

  def writes
    map(posts) do |post|
      count = post.comments.count
      log << [post.id, count]
      post.update!(likes: count + log.size)
    end
  end

  def transactions
    map(posts) do |post|
      Post.transaction do
        log << [post.id, post.comments.count]
        post.update!(likes: 50)
        raise ActiveRecord::Rollback if post.id == 2
      end
    end
  end

  def failure
    map(posts) do |post|
      post.comments.to_a
      Post.find(-post.id) if post.id == 5
      raise KeyError, "no. #{post.id}" if post.id > 2 && post.author&.name
      post.update!(likes: 100)
      log << post.id
    end
  end

  def failing_statement = map(posts) { |post| [post.author&.name, Post.where("no_such = #{post.id}").to_a] }

  def interrupt
    map(posts) do |post|
      post.comments.to_a
      raise Interrupt, "stop" if post.id == 1

      post.author&.name
    end
  end

  def late = Timeout.timeout(0.05) { map([1]) { Post.connection.select_value("SELECT pg_sleep(5)") } }

  def state
    map(posts) do |post|
      Viewer.set(who: "viewer #{post.id}") do
        I18n.with_locale(post.id.odd? ? :en : :de) do
          Time.use_zone(post.id.odd? ? "Tokyo" : "Paris") { [Post.find(post.id).title, Viewer.who, Time.zone.name, I18n.locale, post.comments.count, Viewer.who] }
        end
      end
    end
  end

  def scopes = Post.where("id < 4").scoping { map((1..5).to_a) { |id| Post.unscoped { [Post.find_by(id: id)&.title] } + [Post.find_by(id: id)&.title] } }
  def a_thread = Thread.new { ActiveRecord::Base.connection_pool.with_connection { associations } }.value
  def isolated = isolating { associations + map(posts) { |post| Viewer.set(who: post.id) { [post.author&.name, Viewer.who] } } }

  private

  def isolating
    ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
    yield
  ensure
    ActiveSupport::IsolatedExecutionState.isolation_level = :thread
  end
end

I18n.available_locales = %i[en de]
Pipeloader.defaults = { fiber_limit: 100, forecast: false } # only with graphql-ruby is anything foreseen
SERIAL = ->(values, &block) { values.map(&block) }
TOGETHER = ->(values, &block) { Pipeloader.map(values, &block) }

# @return [Array] what it has returned or raised, written down, written, and left
def outcome(name, map)
  Post.update_all(likes: 0)
  it = Case.new(map)
  result = begin
    it.public_send(name)
  rescue StandardError, Interrupt => e
    [e.class.name, e.message]
  end
  [result, it.log, Post.order(:id).pluck(:likes), Case::Viewer.who, Time.zone&.name, I18n.locale, ActiveRecord::Base.connection.open_transactions]
end

def seen(event)
  payloads = []
  ActiveSupport::Notifications.subscribed(->(*, payload) { payloads << payload }, event) { yield }
  payloads
end

[User, Post, Comment].each(&:load_schema)
cases = (Case.public_instance_methods(false) - %i[log posts map]).sort
compared = cases.to_h do |name|
  plain = outcome(name, SERIAL)
  piped = nil
  bursts = seen("burst.pipeloader") { piped = outcome(name, TOGETHER) }
  [name, [plain, piped, bursts.size, bursts.sum { |it| it[:statements] }, bursts.sum { |it| it[:reads].size }]]
end

gathered = Pipeloader.gather do |gathering|
  missing = gathering.async { Post.find(-1) }
  counts = [Post, User].map { |model| gathering.async { model.count } }
  [counts.map(&:value), (missing.value rescue $!.class.name)]
end

programs = (1..Integer(ENV.fetch("BARE_PROGRAMS"))).map { |i| Integer(ENV.fetch("BARE_SEED")) + i }
differ = programs.reject { |seed| [true, false].map { |disabled| GatheringProgram.outcome(seed, disabled) }.uniq.one? }

missing = begin
  require "graphql"
rescue LoadError => e
  e.path
end

puts JSON.generate(
  cases: compared, gathered: gathered, differ: differ, missing: missing, graphql: Object.const_defined?(:GraphQL),
  lanes: (Pipeloader.defaults = { lanes: 2, field_exact: true }) && outcome(:associations, TOGETHER) == outcome(:associations, SERIAL),
  proof: (Pipeloader.configure(proof: nil) rescue $!.message[/\Aproof: no such option/]),
  features: $LOADED_FEATURES.grep(%r{/lib/pipeloader/}).map { |path| path[%r{/lib/pipeloader/(.*)\.rb}, 1] }
)
