# frozen_string_literal: true

require_relative "../support/plain_plans"

# Under parents that graphql-ruby brings one by one, what each asks for is one statement for all.
class PlanSharedTest < PlainPlanTest
  class Post < PlanTypes::Post
    graphql_name "SharedPost"
    field :recent, [PlanTypes::Comment], null: false
    field :found, PlanTypes::Comment
    field :listed, [PlanTypes::Comment], null: false
    field :quoted, [PlanTypes::Comment], null: false
    field :count, Integer, null: false
    def count = object.comments.count
    def recent = object.comments.order(id: :desc).limit(2)
    def found = ::Comment.find_by(post_id: object.id)
    def listed = ::Comment.where(post_id: object.id).order(:id).to_a
    def quoted = object.comments.where("score > 1")
  end

  PAIR = make(query: Class.new(Schemas::Base) do
    graphql_name "Query"
    field :connection, PlanTypes::Post.connection_type
    field :posts, [Post], null: false
    def connection = ::Post.order(:id)
    def posts = ::Post.order(:id)
  end)

  # With how many statements each level is read.
  {
    nodes: ["{ connection(first: 6) { nodes { title author { name } comments { body commenter { name } } lastComment { id } } } }", [1, 3, 1]],
    edges: ["{ connection(first: 6) { edges { cursor node { title author { name } comments { body commenter { name } } lastComment { id } } } } }", [1, 3, 1]],
    both: ["{ connection(first: 6) { edges { node { author { name } } } nodes { a: author { name } } } }", [1, 1]],
    beside_reads: ["{ posts { count } connection(first: 3) { edges { node { author { name } comments { body } } } } more: posts { count } }", [2, 3]],
    relations: ["{ posts { recent { body commenter { name } } } }", [1, 1, 1]],
    quoted: ["{ posts { quoted { body commenter { name profile { bio } } } } }", [1, 1, 1, 1]],
    records: ["{ posts { found { body commenter { name } } } }", [1, 1, 1]],
    lists_of_records: ["{ posts { listed { body commenter { name profile { bio } } } } }", [1, 1, 1, 1]]
  }.each do |name, (query, statements)|
    { name => :call.to_proc, "#{name}_with_a_query_cache": ->(run) { ActiveRecord::Base.cache(&run) } }.each do |test, around|
      define_method(:"test_#{test}") do
        plain, piped = PAIR.map { |schema| text_of(outcome { around.call(-> { schema.execute(query).to_h }) }) }
        assert_equal plain, piped
        events = WireCounter.events("burst.pipeloader") { around.call(-> { PAIR.last.execute(query) }) }
        assert_equal statements, events.map { |it| it[:statements] }, events.flat_map { |it| it[:answers] }.inspect
      end
    end
  end

  class Users < GraphQL::Dataloader::Source
    def fetch(ids) = ::User.where(id: ids).order(:id).index_by(&:id).values_at(*ids)
  end

  class Stories < GraphQL::Dataloader::Source
    def fetch(ids) = ::Post.where(id: ids).index_by(&:id).values_at(*ids)
  end

  # One record at several places: a later one waits for what the first one's association brings, and the list that it was about to
  # join may be done by then.
  def test_a_record_that_waits_for_itself
    ::Post.where(id: [1, 2]).update_all(author_id: [1, 2].sum + 990)
    author = type("WaitingAuthor") { field :loud, String; def loud = context.fetch(:loud, object.name) }
    post = type("WaitingStory") { field :must, author, null: false, method: :author }
    comment = type("WaitingComment") { field :story, post; def story = dataloader.with(Stories).load(context[:ids].fetch(object.id - 1, 4)) }
    pair = [nil, {}, { field_exact: true }].map do |options|
      query = Class.new(Schemas::Base) { graphql_name "Query"; field :comments, [comment]; def comments = ::Comment.order(:id).limit(4) }
      Class.new(GraphQL::Schema) { query(query); use(GraphQL::Dataloader); use(Pipeloader, **options) if options }
    end
    [[1, 4, 1, 8], [4, 8, 4], [4, 1, 4, 8], [1, 4, 1, 2]].each do |ids|
      3.times do
        answers = pair.map { |schema| ActiveRecord::Base.cache { text_of(outcome { schema.execute("{ comments { story { a: must { loud } b: must { loud } } } }", context: { ids: ids }).to_h }) } }
        assert_equal [answers.first] * 2, answers.drop(1), ids.inspect
      end
    end
  ensure
    ::Post.where(id: [1, 2]).update_all("author_id = id + 3")
  end

  # While a source is loading no resolver's fiber gets on, and what they look up goes along with what the source reads.
  def test_beside_a_source
    comment = type("SourcedComment") { field :body, String }
    author = type("SourcedAuthor") { field :name, String; field :posts_count, Integer; def posts_count = object.posts.count }
    post = type("SourcedPost") do
      field :comments, [comment]
      field :by, author
      def by = dataloader.with(Users).load(object.author_id)
    end
    schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] }) { use GraphQL::Dataloader }
    ["{ posts { comments { body } by { name } } }", "{ posts { by { name postsCount } comments { body } } }"].each do |query|
      Timeout.timeout(20) { assert_plan(query, schemas, made: [::Post, ::User]) }
      events = WireCounter.events("burst.pipeloader") { schemas.last.execute(query) }
      assert_equal 2, events[1][:statements]
    end
  end

  class Current < ActiveSupport::CurrentAttributes
    attribute :least
  end

  class UsersOfTheirOwn < GraphQL::Dataloader::Source
    def fetch(ids) = Current.set(least: 8) { ::Comment.where(id: 1).scoping { ::User.where(id: ids).order(:id).index_by(&:id).values_at(*ids) } }
  end

  class UsersOfALocale < GraphQL::Dataloader::Source
    def fetch(ids) = I18n.with_locale(:de) { ::User.where(id: ids).order(:id).index_by(&:id).values_at(*ids) }
  end

  # (Comments whose scope looks at what is set at the moment.)
  class Scoped < ::Post
    self.table_name = "posts"
    def self.name = "Post"
    has_many :high_comments, -> { where(score: Current.least.to_i..).order(:id) }, class_name: "Comment", foreign_key: :post_id
    has_many :local_comments, -> { where(score: (I18n.locale == :de ? 4.. : 0..)).order(:id) }, class_name: "Comment", foreign_key: :post_id
  end

  # What a source has set while it reads isn't seen by the scopes of what goes along, nor does it lead them to another database.
  def test_beside_a_source_with_blocks_of_its_own
    I18n.available_locales |= %i[en de]
    comment = type("ScopedComment") { field :body, String }
    post = type("ScopedPost") do
      %i[high_comments local_comments].each { |name| field name, [comment] }
      %i[by local_by].each { |name| field name, PlanTypes::User }
      def by = dataloader.with(UsersOfTheirOwn).load(object.author_id)
      def local_by = dataloader.with(UsersOfALocale).load(object.author_id)
    end
    schemas = schemas({ posts: [[post], -> { Scoped.order(:id) }] }) { use GraphQL::Dataloader }
    ["{ posts { highComments { body } by { name } } }", "{ posts { by { name } highComments { body } } }", "{ posts { localComments { body } localBy { name } } }"].each do |query|
      Timeout.timeout(20) { assert_plan(query, schemas, made: [::Post, ::User]) }
    end
  end

  # Each owner's resolver has set something else.
  def test_of_owners_with_states_of_their_own
    comment = type("StateComment") { field :body, String }
    post = type("StatePost") { field :high_comments, [comment] }
    user = type("StateUser") do
      field :posts, [post]
      def posts = (Current.least = object.id) && Scoped.where(author_id: object.id).order(:id)
    end
    schemas = schemas({ users: [[user], -> { ::User.order(:id) }] })
    assert_plan("{ users { posts { highComments { body } } } }", schemas, made: [::User], before: -> { Current.reset })
  ensure
    Current.reset
  end

  # Something strikes the fiber that looks up for several, as a timeout would: the error is seen, and nobody waits for it for ever.
  class Struck < ActiveRecord::Base
    self.table_name = "posts"
    singleton_class.attr_accessor :strike
    has_many :struck_comments, -> { (Struck.strike = Struck.strike&.call) || order(:id) }, class_name: "Comment", foreign_key: :post_id
  end

  def test_nobody_waits_for_a_fiber_that_was_struck
    late = Class.new(Timeout::Error)
    comment = type("StruckComment") { field :body, String }
    post = type("StruckPost") { field :id, GraphQL::Types::ID; field :struck_comments, [comment] }
    schemas = schemas({ posts: [post.connection_type, -> { Struck.order(:id) }] })
    query = "{ posts(first: 3) { edges { node { id struckComments { body } } } } }"
    answer = assert_plan(query, schemas, made: [Struck])
    Struck.strike = -> { (Struck.strike = nil) || raise(late, "too late") }
    struck = Timeout.timeout(20) { outcome { schemas.last.execute(query).to_h } }
    assert_includes struck.to_s, "too late"
    assert_equal answer, outcome { schemas.last.execute(query).to_h }
  end

  # (With an association that the server refuses, at any depth.)
  class Broken < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, -> { order(:id) }, class_name: "PlanSharedTest::OfBroken", foreign_key: :post_id
    has_many :top_comments, -> { where("score > 5").order(score: :desc, id: :asc).limit(2) }, class_name: "Comment", foreign_key: :post_id
    has_many :broken_comments, -> { where("no_such = 1") }, class_name: "Comment", foreign_key: :post_id
  end

  class OfBroken < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :post, class_name: "PlanSharedTest::Broken", optional: true
  end

  # Fibers that have ended count against graphql-ruby's limit until its turn is over, and with jobs left it goes on to the sources.
  def test_few_fibers_beside_sources
    user = type("FewUser") { field :name, String }
    post = type("FewPost")
    comment = type("FewComment") do
      field :body, String
      field :post, post
      field :who, user
      def who = dataloader.with(Users).load(object.commenter_id)
    end
    post.class_eval { %i[comments top_comments broken_comments].each { |name| field name, [comment] } }
    query = "{ posts { comments { post { topComments { body } brokenComments { who { name } } comments { who { name } } } } } }"
    [8, 5, 16].each do |limit|
      schemas = schemas({ posts: [[post], -> { Broken.order(:id) }] }) { use GraphQL::Dataloader, fiber_limit: limit }
      # (With so few, errors may be listed in another order; and Next gives up fields: Engine::AVOIDED.)
      plain, _, piped = schemas.values_at(0, 1, 1).map { |schema| Timeout.timeout(20) { schema.execute(query).to_h } }
      assert_equal(*[plain, piped].map { |answer| Engine::NEXT ? answer["data"]["posts"].size : answer["data"] })
    end
  end
end
