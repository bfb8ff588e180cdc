# frozen_string_literal: true

require_relative "../support/plans"

# What resolvers have asked for in an execution before is read before they ask again. The answers are those of a schema without
# Pipeloader; how many statements there are, and how many fibers park, is the promise.
class ReadAheadTest < PlanTest
  class Article < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    belongs_to :editor, class_name: "User", optional: true
    belongs_to :tenants_author, -> { where(id: ..Tenant.least) }, class_name: "User", foreign_key: :author_id, optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
  end

  class Tenant < ActiveSupport::CurrentAttributes
    attribute :least
  end

  USER = Class.new(Schemas::Base) do
    graphql_name "User"
    field :name, String
    def name = object.name.dup
  end

  COMMENT = Class.new(Schemas::Base) do
    graphql_name "Comment"
    field :body, String
    field :commenter, USER
    def commenter = object.commenter.presence
  end

  SAID = Class.new(Schemas::Base) do
    graphql_name "Said"
    field :body, String
  end

  # Fields' resolvers may ask what `context[:ask]` says.
  ARTICLE = Class.new(Schemas::Base) do
    graphql_name "Article"
    field :title, String
    field :author, USER
    field :comments, [COMMENT]
    field :said, [SAID], method: :comments
    field :names, String
    field :asked, String
    def author = object.author.presence
    def comments = object.comments.to_a
    def names = object.comments.map { |it| it.commenter&.name }.join(" ")
    def asked = context[:ask].call(object)
  end

  DEEP = "{ articles { title author { name } comments { body commenter { name } } } }"

  def schemas(pipeloader: {})
    query = type("Query") do
      field :articles, [ARTICLE]
      field :article, ARTICLE
      def articles = Article.order(:id)
      def article = Article.order(:id).first
    end
    make(query: query, pipeloader: { forecast: true, **pipeloader })
  end

  # @param document [String] executed so many +times+ by both; of each execution the options are what the block returns
  # @return [Array<Array<Integer>>] of each execution the piped schema's reads in each burst
  def bursts(document, times = 4, schemas = schemas())
    Array.new(times) do |execution|
      piped = nil
      options = -> { block_given? ? yield(execution) : {} }
      plain = outcome { schemas.first.execute(document, **options.call).to_h }
      reads = WireCounter.events("burst.pipeloader") { piped = outcome { schemas.last.execute(document, **options.call).to_h } }
      assert_equal text_of(plain), text_of(piped), "execution #{execution + 1}"
      reads.map { |it| it[:reads].size }
    end
  end

  def asking(document = "{ articles { asked } }", times = 4, schemas = schemas(), &block)
    bursts(document, times, schemas) { |execution| { context: { ask: ->(article) { block.call(article, execution) } } } }
  end

  def forecasts(&) = WireCounter.events("forecast.pipeloader", &)

  def test_from_the_third_execution_on_each_level_is_one_read_for_each_association
    first, second, *others = bursts(DEEP)
    assert_operator first.sum, :>, 40
    assert_equal first, second
    assert_equal [[1, 2, 1]] * 2, others
  end

  def test_what_a_resolver_asks_of_what_it_has_asked_for
    assert_equal [1, 1, 1], bursts("{ articles { names } }").last
  end

  def test_one_record_of_which_two_associations_are_asked
    assert_equal [1, 2, 1], bursts(DEEP.sub("articles", "article")).last
  end

  def test_connections
    connection = ARTICLE.connection_type
    query = type("Query") do
      field :pages, connection
      field :articles, [ARTICLE]
      def pages = Article.order(:id)
      def articles = Article.order(:id)
    end
    schemas = make(query: query, pipeloader: { forecast: true })
    ["{ pages(first: 4) { nodes { author { name } names } pageInfo { hasNextPage } } }",
     "{ pages(first: 4) { edges { node { title author { name } names } } } articles { names } }"].each { |text| bursts(text, 5, schemas) }
  end

  # What plans look up for the same objects is in that level, too, or nothing is read ahead.
  def test_no_more_round_trips_than_without
    %w[articles article].each do |root|
      ["author { name } said { body }", "said { body } author { name }", "names said { body }", "said { body } names title author { name }"].each do |selected|
        counts = bursts("{ #{root} { #{selected} } }", 5).map(&:size)
        assert_operator counts.max, :<=, counts.first, selected
      end
    end
  end

  # Of what a connection's own fields read nothing is known: what is read ahead of them, doesn't wait for them.
  def test_no_more_round_trips_for_long
    counted = type("CountedConnection", GraphQL::Types::Relay::BaseConnection) do
      edge_type COMMENT.edge_type
      field :total_count, Integer
      def total_count = object.items.size
    end
    article = type("Counting") { field :id, Integer; field :comments, counted, connection: true }
    schemas = make(query: type("Query") { field(:articles, [article]) { argument :least, Integer, required: false }; def articles(least: 0) = Article.where(id: least..).order(:id) }, pipeloader: { forecast: true })
    text = "{ articles { id comments(first: 2) { totalCount nodes { body } } } }"
    counts = bursts(text, 25, schemas).map(&:size)
    assert_equal [2] * 15, counts.last(15), counts.inspect
    # Where there was nothing to read at first, more round trips are no reason.
    text = "query($least: Int) { articles(least: $least) { id comments { nodes { body commenter { name } } } } }"
    counts = bursts(text, 24, schemas) { |execution| { variables: { least: execution < 3 ? 1_000 : 0 } } }.map(&:size)
    assert_equal [3] * 3, counts.last(3), counts.inspect
  end

  def test_a_single_read_is_left_as_it_is
    assert_equal [1, 1], bursts("{ article { author { name } } }").last
    assert_empty forecasts { bursts("{ article { author { name } } }") }
  end

  def test_switched_off
    counts = bursts(DEEP, 4, schemas(pipeloader: { forecast: false }))
    assert_equal [counts.first] * 4, counts
    counts = bursts(DEEP, 4, schemas(pipeloader: { coalesce: false }))
    assert_equal [counts.first] * 4, counts
    parent = schemas(pipeloader: { forecast: false }).last
    assert_equal false, Class.new(parent).pipeloader_options[:forecast]
  end

  def test_without_plans
    assert_equal [1, 2, 1], bursts(DEEP, 4, schemas(pipeloader: { compile: false })).last
  end

  # -- by one round trip ------------------------------------------------------------------------------------------------

  ONE = { trips: :one }.freeze

  def test_what_is_asked_of_what_was_asked_for_comes_along
    assert_equal [[1, 3]] * 2, bursts(DEEP, 4, schemas(pipeloader: ONE)).last(2)
    assert_equal [[1, 3]] * 2, bursts(DEEP.sub("articles", "article"), 4, schemas(pipeloader: ONE)).last(2)
  end

  # A server that is near is asked level by level, one that is far by whichever way takes less time.
  def test_by_its_distance
    distance = Pipeloader::Learned.of(ActiveRecord::Base.connection_pool).distance
    milliseconds = 0.1
    distance.define_singleton_method(:to_f) { milliseconds }
    assert_equal [1, 2, 1], bursts(DEEP, 4, schemas(pipeloader: { trips: :auto })).last
    milliseconds = 50.0
    assert_equal [1, 3], bursts(DEEP, 4, schemas(pipeloader: { trips: :auto })).last
  ensure
    distance.singleton_class.remove_method(:to_f)
  end

  class Remark < ActiveRecord::Base
    self.table_name = "comments"
    singleton_class.attr_accessor :least, :hook
    self.least = 0
    belongs_to :writer, -> { Remark.hook&.call; where(id: Remark.least..) }, class_name: "User", foreign_key: :commenter_id, optional: true
  end

  # Between what brings the records and what is made of what came along.
  def test_a_scope_that_says_something_else_by_then
    schemas = remarks
    said = -> { schemas.last.execute("{ articles { remarks { writer { name } } } }").to_h["data"].to_s.scan(/user \d+/) }
    assert_equal [1, 2], bursts("{ articles { remarks { writer { name } } } }", 4, schemas).last
    assert_operator said.call.size, :>, 10
    bursts = 0
    changing = ->(*) { Remark.least = 1_000_000 if (bursts += 1) == 2 }
    assert_empty ActiveSupport::Notifications.subscribed(changing, "burst.pipeloader", &said)
  ensure
    Remark.least = 0
  end

  # Rows that came along are of the time before, if another field has written while scopes are asked for the next wave. What the
  # first one has brought is in somebody's hands by then.
  def test_a_write_while_scopes_are_asked
    schemas = remarks
    run = lambda do |written|
      context = { written: written, after: [] }
      schemas.last.execute("{ articles { remarks { writer { name } } } bump }", context: context)
      context[:after]
    end
    4.times { run.call(false) }
    Remark.hook = -> { Employee.count }
    names = run.call(true)
    assert_operator names.size, :>, 10
    assert_equal ["new"], names.compact.uniq
  ensure
    Remark.hook = nil
    restore
  end

  class Elsewhere < ActiveRecord::Base
    self.abstract_class = true
    connects_to database: { reading: TestDatabase.hash }
  end

  class FarUser < Elsewhere
    self.table_name = "users"
  end

  class FarArticle < Elsewhere
    self.table_name = "posts"
    belongs_to :author, class_name: "ReadAheadTest::FarUser", optional: true
  end

  # The role that a field comes under has no database; its resolver says which has.
  def test_a_role_without_a_database
    article = type("FarArticle") do
      field :title, String
      field :author, USER
      def author = ActiveRecord::Base.connected_to(role: :reading) { object.author.presence }
    end
    query = type("Query") { field(:articles, [article]); def articles = ActiveRecord::Base.connected_to(role: :reading) { FarArticle.order(:id).to_a } }
    %i[one auto depth].each { |trips| bursts("{ articles { title author { name } } }", 5, make(query: query, pipeloader: { forecast: true, trips: trips })) }
  ensure
    Elsewhere.connection_handler.remove_connection_pool(Elsewhere.name, role: :reading)
  end

  # @return [Array<Class>] schemas of articles and their remarks, by code that nobody looks into
  def remarks
    remark = type("Remark") do
      field :writer, USER
      def writer
        context[:after] << object.writer&.name&.split&.first if context[:done]
        object.writer.presence
      end
    end
    article = type("Remarked") do
      field :remarks, [remark]
      def remarks = object.remarks.to_a
    end
    model = Class.new(Article) do
      def self.name = "Article"
      has_many :remarks, -> { order(:id) }, class_name: "ReadAheadTest::Remark", foreign_key: :post_id
    end
    query = type("Query") do
      field :articles, [article]
      field :bump, Integer
      def bump
        return unless context[:written]

        User.where(id: 1).pick(:name)
        context[:articles].each { |it| it.remarks.to_a }
        context[:done] = true
        User.update_all("name = 'new ' || id")
      end
    end
    query.define_method(:articles) { context[:articles] = context[:after] ? model.order(:id).to_a : model.order(:id) }
    make(query: query, pipeloader: { forecast: true, **ONE })
  end

  # -- asked for in another way than was expected --------------------------------------------------------------------------

  def test_asked_for_by_some_alone_is_not_read_ahead
    assert_empty(forecasts { asking { |article, _| article.id.even? ? article.author&.name : "odd" } })
  end

  # It is dropped when it was wrong twice. (The fourth execution is observed, and so is the eighth.)
  def test_no_longer_asked_for
    seen = forecasts { asking("{ articles { asked } }", 12) { |article, execution| execution < 4 ? article.author&.name : "nobody" } }
    assert_equal [9, 9, 0, 0], seen.map { |payload| payload[:reads].fetch("ReadAheadTest::Article.author")[:asked] }
    assert_equal 9, seen.last[:unasked_records]
  end

  def test_asked_for_again
    schemas = schemas()
    3.times { |execution| asking("{ articles { asked } }", 4, schemas) { |article, _| execution == 1 ? "nobody" : article.author&.name } }
    assert_equal [1, 1], asking("{ articles { asked } }", 8, schemas) { |article, _| article.author&.name }.last
  end

  def test_with_a_changed_key
    asking { |article, execution| article.tap { |it| it.author_id = 3 if execution > 1 }.author&.name }
    asking { |article, execution| [article.author&.name, (article.author_id = 2 if execution > 1), article.author&.name].join }
  end

  def test_assigned_or_built_before
    asking { |article, execution| article.tap { |it| it.author = ::User.new(name: "new") if execution > 1 }.author&.name }
    asking { |article, execution| article.tap { |it| it.comments.build(body: "built") if execution > 1 }.comments.map(&:body).join }
  end

  def test_within_a_scope
    asking { |article, execution| execution > 1 ? ::User.where(id: ..4).scoping { article.author&.name } : article.author&.name }
    asking { |article, execution| execution > 1 ? ::Comment.unscoped { article.comments.map(&:id) } : article.comments.map(&:id) }
  end

  def test_another_tenant
    asking { |article, _| Tenant.set(least: article.id) { article.tenants_author&.name } }
    asking { |article, execution| Tenant.set(least: execution > 1 ? 3 : 100) { article.tenants_author&.name } }
    bursts("{ articles { asked } }") { |execution| (Tenant.least = execution + 2) && { context: { ask: ->(article) { article.tenants_author&.name } } } }
  ensure
    Tenant.reset
  end

  def test_another_role
    asking { |article, execution| execution > 1 ? ActiveRecord::Base.connected_to(role: :reading) { article.author&.name } : article.author&.name }
  rescue ActiveRecord::ConnectionNotEstablished
    flunk "the role must exist, or both schemas fail alike"
  end

  def test_without_coalescing
    count = asking { |article, execution| execution > 1 ? Pipeloader.uncoalesced { article.author&.name } : article.author&.name }.last
    assert_equal [1, 1, 9], count
  end

  def test_strict_loading
    asking { |article, execution| article.tap { |it| it.strict_loading! if execution > 1 }.author&.name }
  end

  # -- written meanwhile ---------------------------------------------------------------------------------------------------

  WRITES = {
    update_all: ->(id) { ::User.where(id: id).update_all("name = name || '!'") },
    raw: ->(id) { ::User.connection.execute("UPDATE users SET name = name || '!' WHERE id = #{Integer(id)}") },
    record: ->(id) { ::User.find(id).update!(name: "written") },
    transaction: ->(id) { ::User.transaction { ::User.where(id: id).update_all("name = 'in it'") } },
    thread: ->(id) { Thread.new { ::User.connection_pool.with_connection { ::User.where(id: id).update_all("name = 'by a thread'") } }.value },
    returning: ->(id) { ::User.connection.select_value("WITH new AS (UPDATE users SET name = 'with' WHERE id = #{Integer(id)} RETURNING name) SELECT name FROM new") },
    other_connection: ->(id) { Timeout.timeout(5) { TestDatabase.connect.tap { |it| it.exec("UPDATE users SET name = 'far' WHERE id = #{Integer(id)}") }.close } }
  }.freeze

  WRITES.each do |name, write|
    define_method(:"test_#{name}_before_it_is_asked_for") do
      bursts("{ articles { asked } }") do |execution|
        restore
        ask = lambda do |article|
          write.call(article.author_id) if article.author_id && (execution > 1 || name == :transaction)
          article.author&.name
        end
        { context: { ask: ask } }
      end
    ensure
      restore
    end
  end

  def restore = ::User.update_all("name = 'user ' || id")

  # Another fiber writes, or waits for who may, while one waits for what is read ahead.
  def test_outdated_while_it_is_read
    written = false
    meanwhile = Module.new { define_method(:together) { |start| super(start).tap { @fiber.outdate if written } } }
    Pipeloader::LookUp.prepend(meanwhile)
    document = "{ articles { author { name } comments { body } } }"
    schemas = schemas()
    assert_equal [1, 2], bursts(document, 4, schemas).last
    written = true
    assert_equal [1, 2, 21], bursts(document, 1, schemas).last
  ensure
    meanwhile.remove_method(:together)
  end

  def test_outside_a_transaction_alone
    asking { |article, execution| execution > 1 ? Article.transaction { article.author&.name } : article.author&.name }
    Article.transaction { asking { |article, _| article.author&.name } }
  end

  def test_reloaded
    asking { |article, execution| execution > 1 ? article.reload_author&.name : article.author&.name }
    asking { |article, execution| (execution > 1 ? article.reload : article).author&.name }
    asking { |article, _| [article.author&.name, article.reload_author&.name, article.association(:author).reset && article.author&.name].join }
  end

  # -- what stays ------------------------------------------------------------------------------------------------------------

  def test_nothing_of_a_response_is_kept
    schema = schemas.last
    12.times { schema.execute(DEEP) }
    GC.start
    count = ObjectSpace.each_object(Article).count
    40.times { schema.execute(DEEP) }
    GC.start
    assert_operator ObjectSpace.each_object(Article).count, :<=, count + 24
  end

  def test_records_that_outlive_their_response
    kept = nil
    asking("{ articles { title asked author { name } } }", 5) do |article, _|
      (kept ||= {})[article.id] ||= article
      [article.author&.name, article.instance_variables.grep(/pipeloader/), Marshal.load(Marshal.dump(article)).author&.name].join
    end
  end

  # A response that ends by an exception has shown nothing.
  def test_an_exception_leaves
    schemas = schemas().map { |schema| Class.new(schema) { rescue_from(StandardError) { |error| raise error } } }
    asking("{ articles { author { name } asked } }", 6, schemas) { |article, execution| article.id == 5 && execution.odd? ? raise("no") : article.author&.name }
  end

  def test_threads_learn_at_once
    plain, piped = schemas
    expected = plain.execute(DEEP).to_h
    answers = Array.new(4) { Thread.new { Array.new(6) { ActiveRecord::Base.connection_pool.with_connection { piped.execute(DEEP).to_h } } } }.flat_map(&:value)
    assert_equal [expected], answers.uniq
  end

  def test_told
    schema = schemas.last
    3.times { schema.execute(DEEP) }
    payload, = forecasts { schema.execute(DEEP) }
    assert_equal({ owners: 9, asked: 9 }, payload[:reads].fetch("ReadAheadTest::Article.author"))
    assert_equal 0, payload[:unasked_records]
    explanation = Pipeloader.explain(schema, DEEP)
    assert_match(/^read ahead: ReadAheadTest::Article.author ×9$/, explanation.to_s)
    assert_equal({ owners: 9, asked: 9 }, explanation.to_h[:ahead].fetch("ReadAheadTest::Article.author"))
  end
end
