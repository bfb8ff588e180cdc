# frozen_string_literal: true

require_relative "../support/plans"

# What is read by what was read before it comes by one round trip, where `trips:` says so: the server finds each one's parameters
# in the answers to the others.
class ChainedQuestionsTest < PlanTest
  class Article < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
  end

  TYPE = Class.new(Schemas::Base) do
    graphql_name "ChainedArticle"
    field :asked, String
    def asked = context[:ask].call(object)
  end

  # {what is asked for an article => how many levels of reads that is}
  CHAINS = {
    record: ->(article) { article.comments.last&.commenter&.name },
    two: ->(article) { article.comments.last&.commenter&.then { |user| [user.name, ::Post.where(author_id: user.id).order(:id).pluck(:title)] } },
    by_two_answers: lambda do |article|
      comment, author = article.comments.first, ::User.find_by(id: article.author_id || 1)
      ::Comment.where(post_id: comment&.post_id, commenter_id: author.id).order(:id).map(&:body)
    end,
    list: ->(article) { ::Comment.where(post_id: ::Post.where(author_id: article.author_id).order(:id).limit(2).map(&:id)).order(:id).pluck(:body) },
    empty: ->(article) { article.comments.last&.then { |it| ::Post.where(author_id: it.commenter_id, title: "none").order(:id).to_a } },
    count: ->(article) { article.comments.last&.then { |it| ::Comment.where(commenter_id: it.commenter_id).count } },
    text: ->(article) { article.comments.first&.then { |it| ::Comment.where(body: it.body).order(:id).pluck(:id) } },
    nothing: ->(article) { ::Comment.where(post_id: article.id, commenter_id: nil).order(:id).first&.then { |it| ::User.where(id: it.post_id).pluck(:name) } },
    decimals: ->(article) { article.comments.last&.then { |it| ::Comment.where(commenter_id: it.commenter_id).average(:score) } },
    raw: ->(article) { article.comments.last&.then { |it| ::Comment.connection.select_rows("SELECT 'a' || id, 1, NULL, now() IS NULL FROM users WHERE id = #{it.commenter_id.to_i}") } },
    range: ->(article) { article.comments.last&.then { |it| ::Comment.where(id: ..it.id).order(:id).limit(3).pluck(:body) } },
    page: ->(article) { article.comments.last&.then { |it| ::Comment.order(:id).limit(it.score + 1).pluck(:body) } },
    locked: ->(article) { article.comments.last&.then { |it| ::User.lock.find_by(id: it.commenter_id)&.name } },
    instances: ->(article) { article.comments.order(:id).limit(1).to_a.map { |it| [it.readonly?, it.commenter&.attributes, it.commenter&.new_record?] } }
  }.freeze

  CHAINS.each do |name, ask|
    %i[one auto depth].each do |trips|
      define_method(:"test_#{name}_#{trips}") { asking(trips, &ask) }
      define_method(:"test_#{name}_of_one_#{trips}") { asking(trips, "{ article { asked } }", &ask) }
    end
    define_method(:"test_#{name}_with_the_query_cache") { ActiveRecord::Base.cache { asking(:one, &ask) } }
  end

  # How many round trips they are where they come by chains: the article's, and theirs.
  %i[record two by_two_answers list empty count decimals instances].each do |name|
    define_method(:"test_#{name}_is_two_round_trips") { assert_equal 2, asking(:one, "{ article { asked } }", &CHAINS[name]).last.size }
  end

  REPORT = lambda do |article|
    last = article.comments.last
    others = Article.where(author_id: article.author_id).where.not(id: article.id).order(:id).limit(2).to_a
    [article.author&.name, last&.body, last&.commenter&.then { |it| [it.name, ::Post.where(editor_id: it.id).count] }, others.map(&:title),
     ::Comment.where(post_id: others.map(&:id)).count, Article.where(author_id: article.author_id).maximum(:title)]
  end

  def test_a_report_is_two_round_trips
    assert_equal [6, 6, 2, 2, 2], asking(:one, "{ article { asked } }", &REPORT).map(&:size)
    assert_equal [6, 6, 3, 3, 3], asking(:depth, "{ article { asked } }", &REPORT).map(&:size)
  end

  def test_chains_of_a_list_are_one_statement_for_each_link
    schema = schemas(:one).last
    context = { ask: ->(article) { article.comments.order(:id).first&.then { |it| ::User.where(id: it.commenter_id).pluck(:name) }.inspect } }
    bursts = nil
    6.times { bursts = WireCounter.events("burst.pipeloader") { schema.execute("{ articles { asked } }", context: context) } }
    assert_equal [1, 2], bursts.map { |it| it[:statements] }
  end

  # Where the one that leads to it brings nothing, it is asked by nothing: as if by itself.
  def test_links_that_lead_nowhere
    asking(:one, times: 8) do |article, execution|
      last = ::Comment.where(post_id: execution > 3 ? article.id + 100 : article.id).order(:id).last
      [last&.body, last&.commenter&.name]
    end
  end

  def test_rows_that_are_other_ones_than_learned
    asking(:one, times: 6) do |article, execution|
      comments = execution > 2 ? article.comments.reorder(id: :desc) : article.comments
      comments.first&.then { |it| [it.body, ::User.find_by(id: it.commenter_id)&.name] }
    end
  end

  def test_a_write_between
    names = ::User.order(:id).pluck(:id, :name)
    restore = -> { names.each { |id, name| ::User.where(id: id).update_all(name: name) } }
    asking(:one, "{ article { asked } }", times: 6) do |article, execution|
      last = article.comments.last
      ::User.where(id: last.commenter_id).update_all(name: "written #{execution}") if execution > 2
      [last.body, last.commenter&.name]
    ensure
      restore.call
    end
  end

  class Turn < ActiveRecord::Base
    self.table_name = "chained_turns"
  end

  # Somebody else writes between the statement that leads to a chain and the chain itself: what this view says.
  def test_it_is_handed_over_by_the_parameters_that_it_was_asked_by
    connection = ActiveRecord::Base.connection
    connection.execute("CREATE SEQUENCE chained_numbers")
    connection.execute("CREATE VIEW chained_turns AS SELECT id, 1 + nextval('chained_numbers') % 8 AS user_id FROM posts")
    ask = ->(article) { Turn.where(id: article.id).pick(:user_id).then { |id| [id, ::User.find(id).name] } }
    schema = schemas(:one).last
    answers = Array.new(6) { schema.execute("{ article { asked } }", context: { ask: ->(article) { ask.call(article).join(" ") } }).dig("data", "article", "asked") }
    answers.each { |answer| assert_match(/\A(\d) user \1\z/, answer) }
    assert_operator answers.uniq.size, :>, 3
  ensure
    connection.execute("DROP VIEW chained_turns")
    connection.execute("DROP SEQUENCE chained_numbers")
  end

  # The server doesn't compare a number with a text, as which it comes: it is asked as ever.
  def test_types_that_do_not_compare
    counts = asking(:one, "{ article { asked } }", times: 9) do |article, _|
      id = Article.connection.select_value("SELECT author_id::text FROM posts WHERE id = #{article.id}")
      Article.connection.select_rows("SELECT name FROM users WHERE id = $1", nil, [id])
    end
    assert_equal [3, 3, 3], counts.map(&:size).last(3)
  end

  ActiveRecord::Schema.define do
    enable_extension "citext"
    create_table(:chained_people, id: :uuid) { |t| t.citext :email; t.uuid :boss_id; t.string :name; t.column :code, "char(6)" }
    create_table(:chained_notes) { |t| t.bigint :post_id; t.text :email; t.uuid :person_id; t.text :code }
  end

  class Person < ActiveRecord::Base
    self.table_name = "chained_people"
  end

  class Note < ActiveRecord::Base
    self.table_name = "chained_notes"
  end

  IDS = Array.new(3) { |n| format("00000000-0000-0000-0000-%012d", n + 1) }.freeze
  Person.insert_all!(IDS.each_with_index.map { |id, n| { id: id, email: "foo#{n}@x", boss_id: IDS[n - 1], name: "person #{n}", code: "a#{n}" } })
  Note.insert_all!((1..12).map { |n| { post_id: n, email: "Foo#{n % 3}@x", person_id: IDS[n % 3], code: "a#{n % 3}   " } })

  # A parameter has the type that it is compared with; a column of an answer has its own.
  {
    citext: [->(article) { Note.where(post_id: article.id).order(:id).first.then { |it| [it.email, Person.find_by(email: it.email)&.name] } }, 3],
    blanks: [->(article) { Note.where(post_id: article.id).order(:id).first.then { |it| [it.code, Person.find_by(code: it.code)&.name] } }, 3],
    uuid: [->(article) { Note.where(post_id: article.id).order(:id).first.then { |it| [it.id, Person.find_by(id: it.person_id)&.then { |one| Person.find(one.boss_id).name }] } }, 2]
  }.each do |name, (ask, trips)|
    define_method(:"test_#{name}") do
      asking(:one, &ask)
      assert_equal trips, asking(:one, "{ article { asked } }", &ask).last.size
    end
  end

  # Questions of another database than what leads to them.
  def test_another_database
    asking(:one, "{ article { asked } }") do |article, _|
      comment = article.comments.last
      [comment.body, Audit.where(post_id: comment.post_id).order(:id).pluck(:note), Audit.where(post_id: comment.commenter_id).order(:id).pluck(:note)]
    end
  end

  private

  def schemas(trips)
    query = type("Query") do
      field :articles, [TYPE]
      field :article, TYPE
      def articles = Article.order(:id)
      def article = Article.find(2)
    end
    make(query: query, pipeloader: { forecast: true, trips: trips })
  end

  # @yieldparam [Article, Integer] the object, and which execution it is
  # @return [Array<Array<Integer>>] of each execution the reads in each burst
  def asking(trips, document = "{ articles { asked } }", times: 5, schemas: schemas(trips), &block)
    Array.new(times) do |execution|
      context = { ask: ->(article) { (block.lambda? ? block.call(article) : block.call(article, execution)).inspect } }
      plain, piped = nil
      reads = WireCounter.events("burst.pipeloader") do
        plain, piped = schemas.map { |schema| outcome { schema.execute(document, context: context).to_h } }
      end
      assert_equal text_of(plain), text_of(piped), "execution #{execution + 1}"
      reads.map { |it| it[:reads].size }
    end
  end
end
