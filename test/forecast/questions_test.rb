# frozen_string_literal: true

require_relative "../support/plans"

# Reads of resolvers that no association explains: by which SQL, and where their parameters came from, is what is remembered.
class QuestionsTest < PlanTest
  class Article < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
  end

  # Reads one thing after the other, each by what it has read before.
  REPORT = lambda do |article|
    last = article.comments.last
    others = Article.where(author_id: article.author_id).where.not(id: article.id).order(:id).limit(2).to_a
    [article.author&.name, last&.body, last&.commenter&.name, others.map(&:title), ::Comment.where(post_id: others.map(&:id)).count,
     Article.where(author_id: article.author_id).maximum(:title)].inspect
  end

  # What the resolver asks is `context[:ask]`'s to say.
  ARTICLE = Class.new(Schemas::Base) do
    graphql_name "Article"
    field :asked, String
    field :again, String
    def asked = context[:ask].call(object)
    def again = context[:ask].call(object)
  end

  def schemas(pipeloader: {})
    query = type("Query") do
      field :articles, [ARTICLE]
      field :article, ARTICLE do
        argument :id, Integer, required: false, default_value: 2
      end
      def articles = Article.order(:id)
      def article(id:) = Article.find(id)
    end
    make(query: query, pipeloader: { forecast: true, **pipeloader })
  end

  # @yieldparam [Article, Integer] the object, and which execution it is
  # @return [Array<Array<Integer>>] of each execution the piped schema's reads in each burst
  def asking(document = "{ articles { asked } }", times: 4, schemas: schemas(), around: :call.to_proc, variables: nil, &block)
    Array.new(times) do |execution|
      context = { ask: ->(article) { block.call(article, execution).inspect } }
      plain, piped = nil
      reads = WireCounter.events("burst.pipeloader") do
        plain, piped = schemas.map { |schema| around.call(-> { outcome { schema.execute(document, context: context, variables: variables&.call(execution)).to_h } }) }
      end
      assert_equal text_of(plain), text_of(piped), "execution #{execution + 1}"
      reads.map { |it| it[:reads].size }
    end
  end

  def forecasts(&) = WireCounter.events("forecast.pipeloader", &)

  # {kind of read => what is asked for each of twelve articles}
  READS = {
    count: ->(article) { ::Comment.where(post_id: article.id).count },
    association_count: ->(article) { article.comments.count },
    exists: ->(article) { article.comments.exists?(["score > 5"]) },
    find_by: ->(article) { ::User.find_by(id: article.author_id || 3)&.name },
    find: ->(article) { ::User.find(article.author_id || 3).name },
    limited: ->(article) { article.comments.reorder(id: :desc).limit(2).map(&:body) },
    pluck: ->(article) { ::Comment.where(post_id: article.id).order(:id).pluck(:id, :score) },
    sum: ->(article) { article.comments.sum(:score) },
    by_text: ->(article) { Article.where(title: article.title).count },
    two: ->(article) { [article.comments.count, article.comments.maximum(:score)] },
    twice: ->(article) { [article.comments.count, article.comments.count] },
    raw: ->(article) { Article.connection.select_value("SELECT count(*) FROM comments WHERE post_id = #{Integer(article.id)}") },
    find_by_sql: ->(article) { ::Comment.find_by_sql(["SELECT * FROM comments WHERE post_id = ? ORDER BY id LIMIT 1", article.id]).map(&:body) },
    shared: ->(_) { ::Comment.maximum(:score) },
    shared_by_author: ->(article) { Article.where(author_id: article.author_id || 1).count },
    computed: ->(article) { ::User.find((article.id % 5) + 1).name },
    locked: ->(article) { ::User.lock.find(article.author_id || 1).name },
    impure: ->(article) { Article.connection.select_value("SELECT #{Integer(article.id)} + 0 * random()").to_i },
    fails: ->(article) { Article.connection.select_value("SELECT 1 / #{Integer(article.id - 5)}") },
    fails_by_value: ->(article) { ::Comment.where(post_id: article.id).select("1 / (post_id - 5) AS it").map(&:it) },
    report: REPORT
  }.freeze

  READS.each do |name, read|
    define_method(:"test_#{name}") { asking(times: 5) { |article, _| read.call(article) } }
    define_method(:"test_#{name}_of_one") { asking("{ article { asked } }", times: 5) { |article, _| read.call(article) } }
    define_method(:"test_#{name}_by_two_fields") { asking("{ articles { asked again } article { asked } }", times: 5) { |article, _| read.call(article) } }
    define_method(:"test_#{name}_with_the_query_cache") { asking(times: 5, around: ->(run) { Article.cache { run.call } }) { |article, _| read.call(article) } }
  end

  def test_one_burst_for_all
    assert_equal [1, 12], asking { |article, _| READS[:count].call(article) }.last
    assert_equal [1, 24], asking { |article, _| READS[:two].call(article) }.last
    assert_equal [1, 24], asking { |article, _| READS[:twice].call(article) }.last
  end

  def test_a_chain_takes_as_many_bursts_as_one_read_depends_on_another
    counts = asking("{ article { asked } }", times: 5) { |article, _| REPORT.call(article) }
    assert_equal [6, 6, 3, 3, 3], counts.map(&:size)
    assert_equal 6, counts.last.sum
  end

  def test_two_chains_at_once
    counts = asking("{ first: article { asked } second: article(id: 3) { asked } }", times: 4) { |article, _| REPORT.call(article) }
    assert_equal [6, 6, 3, 3], counts.map(&:size)
  end

  def test_arguments_of_the_document
    counts = asking("query($id: Int) { article(id: $id) { asked } }", times: 6, variables: ->(execution) { { "id" => [1, 2, 3, 5, 6, 7][execution] } }) { |article, _| REPORT.call(article) }
    assert_operator counts.last.size, :<=, 4
  end

  class Viewed < ActiveRecord::Base
    self.table_name = "posts"
    thread_mattr_accessor :viewer
    attribute :viewer_id, :integer, default: -> { viewer&.id }
    belongs_to :viewer_user, class_name: "User", foreign_key: :viewer_id, optional: true
  end

  # What an attribute without a column is by default is worked out when its first reader asks, and kept.
  {
    as_a_parameter: ->(post) { ::Comment.where(post_id: post.id, commenter_id: post.viewer_id).count },
    as_a_key: ->(post) { [post.viewer_user&.name] },
    beside_a_parameter: ->(post) { [::Comment.where(post_id: post.id).count, post.attributes["viewer_id"]] }
  }.each do |name, read|
    define_method(:"test_a_default_#{name}") do
      Viewed.viewer = nil
      its = type("Viewed") { field(:asked, String) }
      its.define_method(:asked) do
        outer, Viewed.viewer = Viewed.viewer, context[:user]
        read.call(object).inspect
      ensure
        Viewed.viewer = outer
      end
      plain, piped = make(query: type("Query") { field(:posts, [its]) }.tap { |it| it.define_method(:posts) { Viewed.order(:id) } },
                          pipeloader: { forecast: true }).map do |schema|
        Array.new(5) { |n| outcome { schema.execute("{ posts { asked } }", context: { user: ::User.find([1, 1, 1, 2, 2][n]) }).to_h } }
      end
      assert_equal text_of(plain), text_of(piped)
    end
  end

  # One of a resolver's own that fails, where nobody asks for it.
  def test_a_default_that_nobody_asks_for
    model = Class.new(ActiveRecord::Base) do
      self.table_name = "posts"
      def self.name = "Undecided"
      attribute :viewer_id, :integer, default: -> { raise "nobody has asked" }
    end
    its = type("Undecided") { field(:asked, Integer) }
    its.define_method(:asked) { ::Comment.where(post_id: object.id.itself).count + 0 }
    query = type("Query") { field(:posts, [its]) }
    query.define_method(:posts) { model.order(:id) }
    plain, piped = nil
    seen = forecasts do
      plain, piped = make(query: query, pipeloader: { forecast: true }).map do |schema|
        Array.new(5) { outcome { schema.execute("{ posts { asked } }").to_h } }
      end
    end
    assert_equal text_of(plain), text_of(piped)
    refute_empty seen, "what is asked for by a column is read ahead"
  end

  # Between its being read ahead and its being asked for.
  def test_a_text_that_is_changed_in_place
    article, question = Article.find(2), Pipeloader::Question.new
    observe(question, article, article.title.dup)
    params = question.params(article, {})
    assert_equal ["post 2"], params
    article.title << "!"
    assert_equal ["post 2"], params
  end

  # A thread that has seen otherwise while another one reads.
  def test_sources_that_hold_no_more
    articles, question = Article.find(2, 3), Pipeloader::Question.new
    observe(question, articles.first, 2)
    assert_predicate question, :counts?
    observe(question, articles, [17, 18])
    refute_predicate question, :counts?
    assert_equal [2], question.params(articles.first, {})
  end

  # As if a resolver had asked it for each of +articles+, by a parameter each.
  def observe(question, articles, params)
    articles, params = Array(articles), Array(params)
    asked = articles.zip(params).to_h do |article, param|
      ask = Pipeloader::Question::Ask.new("SELECT $1", nil, [param], [false], true, Article.connection_pool, [], nil, [false])
      [article, { question => ask }]
    end
    question.observe(asked.compare_by_identity, articles)
  end

  # It was always the same so far.
  def test_a_value_that_was_constant_changes
    seen = forecasts { asking(times: 9) { |article, execution| ::Comment.where(post_id: article.id, score: execution < 4 ? 1..9 : 2..5).count } }
    counts = seen.map { |payload| payload[:reads].fetch("Comment Count") }
    assert_equal [12, 12, 0, 0], counts.first(4).map { |it| it[:asked] }
    assert_operator seen.size, :<, 7, "it was wrong twice"
  end

  def test_asked_by_some_alone
    assert_empty(forecasts { asking { |article, _| article.id.even? ? article.comments.count : 0 } })
  end

  def test_half_of_it_is_asked_for
    asking(times: 8) { |article, execution| execution > 1 && article.id.even? ? "nothing" : READS[:two].call(article) }
  end

  def test_written_before_it_is_asked_for
    scores = ::Comment.pluck(:id, :score)
    restore = -> { scores.each { |id, score| ::Comment.where(id: id).update_all(score: score) } }
    asking do |article, execution|
      ::Comment.where(post_id: article.id).update_all("score = score + 1") if execution > 1
      [article.comments.sum(:score), article.comments.count]
    ensure
      restore.call if article.id == 12
    end
  ensure
    restore.call
  end

  def test_in_a_transaction
    asking { |article, execution| execution > 1 ? Article.transaction { READS[:two].call(article) } : READS[:two].call(article) }
    Article.transaction { asking { |article, _| READS[:two].call(article) } }
  end

  def test_not_coalesced
    counts = asking { |article, execution| execution > 2 ? Pipeloader.uncoalesced { article.comments.count } : article.comments.count }
    assert_equal [13, 13, 13, 25], counts.map(&:sum)
  end

  def test_another_role_or_scope
    asking { |article, execution| ::Comment.where(score: execution..9).scoping { article.comments.count + ::Comment.where(post_id: article.id).count } }
  end

  def test_nothing_of_a_response_is_kept
    schema = schemas.last
    context = { ask: ->(article) { REPORT.call(article) } }
    12.times { schema.execute("{ articles { asked } }", context: context) }
    count = lambda do
      GC.start
      [Article, Pipeloader::Read, Pipeloader::Response, Pipeloader::ReadAhead].map { |type| ObjectSpace.each_object(type).count }
    end
    before = count.call
    40.times { schema.execute("{ articles { asked } }", context: context) }
    before.zip(count.call) { |was, now| assert_operator now, :<=, was + 30 }
  end

  # What is remembered of a pool that is gone leads nowhere.
  def test_after_a_reconnect
    schemas = schemas()
    asking(schemas: schemas) { |article, _| READS[:two].call(article) }
    ActiveRecord::Base.establish_connection(ActiveRecord::Base.connection_db_config)
    asking(schemas: schemas, times: 5) { |article, _| READS[:two].call(article) }
  end
end
