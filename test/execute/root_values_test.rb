# frozen_string_literal: true

require_relative "../support/plain_plans"

class RootValuesTest < PlainPlanTest
  SELECTION = "{ id title body likes author { name } comments { id body } tags { name } }"

  # {name => [what the resolver returns, whether a plan is for it]}
  ROOTS = {
    all: [-> { Post.all }, true],
    where: [-> { Post.where(likes: 3..).order(:id) }, true],
    where_not_and_or: [-> { Post.where.not(id: 3).or(Post.where(title: "post 3")).order(:id) }, nil],
    where_sql: [-> { Post.where("likes > ?", 2).order("id DESC") }, true],
    bind_named: [-> { Post.where("likes > :it", it: 2).order(likes: :desc, id: :asc) }, true],
    limit_and_offset: [-> { Post.order(:id).limit(3).offset(2) }, true],
    limit_of_zero: [-> { Post.order(:id).limit(0) }, true],
    none: [-> { Post.none }, true],
    empty_in: [-> { Post.where(id: []) }, true],
    out_of_range: [-> { Post.where(likes: 2**40) }, true],
    joins: [-> { Post.joins(:author).where(users: { id: 1..4 }).order(:id) }, true],
    joins_with_duplicates: [-> { Post.joins(:comments).order(:id, "comments.id") }, true],
    left_joins: [-> { Post.left_joins(:comments).where(comments: { id: nil }).order(:id) }, true],
    joins_sql: [-> { Post.joins("INNER JOIN users ON users.id = posts.author_id").order("users.name", "posts.id") }, true],
    order_of_an_omitted_column: [-> { Post.order(:body, :id) }, true],
    reverse_order: [-> { Post.order(:id).reverse_order }, true],
    reorder: [-> { Post.order(:likes).reorder(id: :desc) }, true],
    in_order_of: [-> { Post.in_order_of(:id, [3, 1, 2]) }, true],
    order_by_position: [-> { Post.order(Arel.sql("2 DESC")).limit(4) }, false],
    order_by_position_in_words: [-> { Post.order("2", "1 DESC").limit(4) }, false],
    order_by_number: [-> { Post.order(2, :id).limit(4) }, false],
    order_by_position_in_a_node: [-> { Post.order(Arel.sql("2").desc.nulls_last).limit(4) }, false],
    order_by_node: [-> { Post.order(Post.arel_table[:body].lower.desc, Post.arel_table[:id].asc) }, true],
    reorder_by_position: [-> { Post.order(:id).reorder(Arel.sql("length(title), 2")).limit(4) }, false],
    includes: [-> { Post.includes(:author, :comments).order(:id) }, true],
    preload: [-> { Post.preload(:comments).order(:id) }, true],
    preload_through: [-> { Post.preload(:tags).order(:id) }, nil],
    preload_of_what_there_is_not: [-> { Post.preload(:nope).order(:id) }, false],
    nested_includes: [-> { Post.includes(comments: :commenter).order(:id) }, nil],
    eager_load: [-> { Post.eager_load(:author).order(:id) }, false],
    includes_and_references: [-> { Post.includes(:author).references(:author).order(:id) }, false],
    distinct: [-> { Post.joins(:comments).distinct.order(:id) }, false],
    select: [-> { Post.select(:id, :title, :author_id).order(:id) }, false],
    select_of_expressions: [-> { Post.select("posts.*, upper(title) AS title").order(:id) }, false],
    group: [-> { Post.group(:id).order(:id) }, false],
    from: [-> { Post.from(Post.where(id: ..3), :posts).order(:id) }, false],
    with: [-> { Post.with(few: Post.where(id: ..3)).joins("JOIN few ON few.id = posts.id").order(:id) }, false],
    lock: [-> { Post.lock.order(:id) }, false],
    readonly: [-> { Post.readonly.order(:id) }, true],
    strict_loading: [-> { Post.strict_loading.order(:id) }, false],
    annotate: [-> { Post.annotate("a note").order(:id) }, true],
    optimizer_hints: [-> { Post.optimizer_hints("SeqScan(posts)").order(:id) }, nil],
    create_with: [-> { Post.create_with(likes: 3).order(:id) }, true],
    extending_by_more: [-> { Post.order(:id).limit(3).extending(Module.new { def titles = map(&:title) }, Module.new { def sorted = titles.sort }) }, true],
    extending_by_reset: [-> { Post.order(:id).extending(Module.new { def reset = raise("reset") }) }, true],
    extending_of_none: [-> { Post.none.extending(Module.new { def titles = map(&:title) }) }, true],
    extending_of_an_association: [-> { User.find(5).posts.order(:id).extending(Module.new { def titles = map(&:title) }) }, nil],
    extending_in_private: [-> { Post.order(:id).extending(Module.new { private def exec_queries = super.first(2) }) }, false],
    extending_by_method_missing: [-> { Post.order(:id).extending(Module.new { def method_missing(name, ...) = name == :titles ? map(&:title) : super; def respond_to_missing?(...) = true }) }, false],
    a_method_of_its_own: [-> { Post.order(:id).tap { |posts| def posts.titles = map(&:title) } }, true],
    prepended: [-> { Post.order(:id).tap { |it| it.singleton_class.prepend(Module.new { def records = super.first(2) }) } }, false],
    extending: [-> { Post.order(:id).extending(Module.new { def records = super.first(2) }) }, false],
    extending_with_a_block: [-> { Post.order(:id).extending { def each(&block) = super.reverse_each(&block) } }, false],
    singleton_method: [-> { Post.order(:id).tap { |posts| def posts.each(&block) = super { |post| block.call(post) if post.id.even? } } }, false],
    scoping: [-> { Post.where(id: ..4).scoping { Post.order(:id) } }, true],
    unscoped: [-> { Post.where(id: ..4).scoping { Post.unscoped.order(:id) } }, true],
    merge: [-> { Post.order(:id).merge(Post.popular) }, true],
    rewhere_and_unscope: [-> { Post.where(id: 1).rewhere(id: [2, 3]).unscope(:order) }, true],
    skip_query_cache: [-> { Post.order(:id).skip_query_cache! }, true],
    load: [-> { Post.order(:id).load }, nil],
    load_async: [-> { Post.order(:id).load_async }, nil],
    to_a: [-> { Post.order(:id).to_a }, nil],
    array_of_one: [-> { [Post.find(3)] }, nil],
    empty_array: [-> { [] }, nil],
    nil: [-> {}, nil],
    array_with_nil: [-> { [Post.find(1), nil, Post.find(2)] }, nil],
    array_of_other_records: [-> { [Post.find(1), User.find(2)] }, nil],
    array_of_hashes: [-> { [{ id: 1, title: "t", likes: 2, comments: [], tags: [] }] }, nil],
    array_twice_the_same: [-> { [Post.find(1)] * 2 }, nil],
    changed: [-> { Post.order(:id).to_a.each { |post| post.assign_attributes(title: "changed", author_id: 2, likes: 9) } }, nil],
    changed_key: [-> { Post.order(:id).to_a.each { |post| post.id += 1 } }, nil],
    unsaved: [-> { [Post.new(id: 5, title: "new", author_id: 3)] }, nil],
    destroyed: [-> { Post.find(3).tap { |post| def post.destroyed? = true }.then { |post| [post] } }, nil],
    singleton_methods: [-> { Post.order(:id).to_a.each { |post| def post.title = "single" } }, nil],
    extended: [-> { Post.order(:id).to_a.each { |post| post.extend(Module.new { def likes = 77 }) } }, nil],
    narrowed: [-> { Post.select(:id, :title).order(:id).to_a }, nil],
    narrowed_relation: [-> { Post.select(:id, :title, "'x' AS body", :likes).order(:id).load }, nil],
    preloaded: [-> { Post.includes(:author, :comments).order(:id).to_a }, nil],
    cached_association: [-> { Post.order(:id).to_a.each { |post| post.author } }, nil],
    assigned_association: [-> { Post.order(:id).to_a.each { |post| post.author = User.new(name: "new") } }, nil],
    built_association: [-> { Post.order(:id).to_a.each { |post| post.comments.build(body: "built") } }, nil],
    filtered_target: [-> { Post.order(:id).to_a.each { |post| post.association(:comments).target = [Comment.find(1)] } }, nil],
    strict_records: [-> { Post.order(:id).to_a.each(&:strict_loading!) }, nil],
    proxy: [-> { User.find(5).posts }, nil],
    proxy_with_scope: [-> { User.find(5).commented_posts }, nil],
    proxy_through: [-> { Tag.find(1).posts }, nil],
    proxy_loaded: [-> { User.find(5).posts.load }, nil],
    proxy_with_built: [-> { User.find(5).tap { |user| user.posts.build(title: "built") }.posts }, nil],
    proxy_of_unsaved: [-> { User.new(id: 5).posts }, nil],
    proxy_of_changed: [-> { User.find(5).tap { |user| user.id = 2 }.posts }, nil],
    relation_of_a_proxy: [-> { User.find(5).posts.where(likes: 1..).order(:id) }, nil],
    relation_of_a_strict_owner: [-> { User.find(5).tap(&:strict_loading!).posts }, nil],
    find_by_sql: [-> { Post.find_by_sql("SELECT *, upper(title) AS title FROM posts ORDER BY id") }, nil],
    a_set: [-> { Post.order(:id).to_set }, nil],
    lazy_enumerator: [-> { Post.order(:id).each_entry }, nil],
    raises_in_the_where: [-> { Post.where("no_such = 1") }, nil],
    divides_by_zero: [-> { Post.where("1 / (likes - likes) = 1") }, nil],
    bytes_that_are_no_text: [-> { Post.where(title: "\xff") }, nil],
    a_nul: [-> { Post.where(title: "a\0b") }, nil],
    an_array_of_a_bind: [-> { Post.where("id = ?", Object.new) rescue Post.none }, nil]
  }.freeze

  ROOTS.each do |name, (root, planned)|
    define_method(:"test_#{name}") do
      schemas = schemas({ them: [[POSTS], root] })
      ["{ them #{SELECTION} }", "{ them { title } }", "{ them { id author { id posts { title } } } }"].each do |query|
        case planned
        when true then assert_plan(query, schemas)
        when false then assert_parity(query, schemas, aside: true)
        else assert_parity(query, schemas)
        end
      end
    end
  end

  # The same for one record.
  {
    found: -> { Post.find(1) }, changed: -> { Post.find(1).tap { |post| post.title = "x" } }, missing: -> {}, unsaved: -> { Post.new(title: "t", author_id: 1) },
    narrowed: -> { Post.select(:id).find(1) }, association: -> { Comment.find(1).post }, of_a_new_owner: -> { Comment.new(post_id: 2).post },
    destroyed: -> { Post.new(id: 1, title: "x").tap { |post| post.instance_variable_set(:@destroyed, true) } }, other_model: -> { User.find(5) },
    relation: -> { Post.where(id: 1) }, array: -> { [Post.find(1)] }, hash: -> { { title: "t" } }
  }.each do |name, root|
    define_method(:"test_one_#{name}") do
      schemas = schemas({ it: [POSTS, root] })
      assert_parity("{ it #{SELECTION} }", schemas)
      assert_parity("{ it { title } }", schemas)
    end
  end

  # What ActiveRecord's records know of their owners is the owner's own, and not what the database says of it.
  {
    of_a_changed_owner: -> { User.find(5).tap { |user| user.name = "changed" }.posts },
    of_an_updated_owner: -> { User.find(5).tap { |user| user.name = "changed" }.posts.order(:id) },
    of_a_narrowed_owner: -> { User.select(:id).find(5).posts },
    of_an_owner_with_methods: -> { User.find(5).tap { |user| def user.name = "single" }.posts.where(likes: 0..) }
  }.each do |name, root|
    define_method(:"test_inverse_#{name}") do
      schemas = schemas({ them: [[POSTS], root] })
      assert_parity("{ them { title author { name } } }", schemas)
      assert_parity("{ them { title author { posts { author { name } } } } }", schemas)
    end
  end

  def test_inverse_of_changed_records
    schemas = schemas({ them: [[USERS], -> { User.order(:id).to_a.each { |user| user.name = "changed" } }] })
    assert_parity("{ them { name posts { title author { name } } } }", schemas)
    assert_parity("{ them { name posts { author { name posts { title } } } } }", schemas)
    assert_parity("{ it { name posts { author { name } } } }", schemas({ it: [USERS, -> { User.find(5).tap { |user| user.name = "changed" } }] }))
  end

  def test_one_relation_of_several_fields
    schemas = schemas({ a: [[POSTS], ->(context) { context[:them] }], b: [[POSTS], ->(context) { context[:them] }], size: [Integer, ->(context) { context[:them].size }] })
    assert_parity("{ a { title } b { likes author { name } } size }", schemas, context: -> { { them: Post.order(:id) } })
    assert_parity("{ size a { title } b { likes } }", schemas, context: -> { { them: Post.order(:id) } })
  end

  def test_query_cache
    assert_plan("{ posts { title author { name } } again: posts { title author { name } } }", around: ->(run) { ActiveRecord::Base.cache(&run) })
    ActiveRecord::Base.connection_handler.clear_active_connections! # (nobody has one)
    ActiveRecord::Base.cache do
      first = pair.last.execute("{ posts { title author { name } } }").to_h
      first["data"]["posts"].each { |post| post["title"] << "!" }
      assert_equal "post 1", pair.last.execute("{ posts { title author { name } } }").to_h["data"]["posts"].first["title"]
    end
  end

  def test_in_transactions
    around = lambda do |run|
      ActiveRecord::Base.transaction do
        Post.where(id: 1).update_all(title: "inside")
        run.call
        raise ActiveRecord::Rollback
      end
    end
    assert_parity("{ posts { title author { name } comments { body } } }", pair, around: around)
  end

  def test_scoping_around_the_response
    around = ->(run) { User.where(id: ..3).scoping { Post.where(id: ..6).scoping { run.call } } }
    assert_plan("{ posts { title author { name posts { title } } } }", around: around)
    assert_plan("{ posts { title author { name posts { title } } } }")
  end

  def test_without_prepared_statements
    ActiveRecord::Base.establish_connection(TestDatabase.hash(prepared_statements: false))
    assert_plan("{ posts { title author { name } comments { body } topComments { body } tags { name } lastComment { body } attachments { name } } }")
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  # One field of several objects: of some it brings none, and the others' rows are written all the same.
  def test_null_an_error_or_none_for_some
    author = type("Author") { field :name, String }
    post = type("Post") do
      field :title, String
      field :writers, [author]
      def writers = [nil, GraphQL::ExecutionError.new("none of #{object.id}"), User.where(id: object.author_id), []][object.id % 4]
    end
    assert_plan("{ them { title writers { name } } }", schemas({ them: [[post], -> { Post.order(:id) }] }), made: [Post], errors: true)
  end

  def test_a_decorator
    decorator = Class.new(SimpleDelegator) do
      def is_a?(type) = super || __getobj__.is_a?(type)
      def title = "decorated"
    end
    schemas = schemas({ them: [[POSTS], -> { Post.order(:id).map { |post| decorator.new(post) } }], it: [POSTS, -> { decorator.new(Post.find(1)) }] })
    assert_parity("{ them { id title author { name } } it { title } }", schemas)
  end

  # As Draper's, which are their models to `case`.
  def test_a_decorator_that_claims_to_be_a_record
    decorator = Class.new(SimpleDelegator) { def is_a?(type) = super || __getobj__.is_a?(type); def title = "decorated" }
    model = Class.new(ActiveRecord::Base) { self.table_name = "posts" }
    schemas = schemas({ it: [type("Short") { field :title, String }, -> { decorator.new(model.find(1)) }], them: [[type("Short2") { field :title, String }], -> { [decorator.new(model.find(1))] }] })
    ActiveRecord::Base.singleton_class.class_eval do
      define_method(:===) { |other| super(other) || (decorator == other.class && equal?(ActiveRecord::Base)) }
    end
    assert_parity("{ it { title } them { title } }", schemas)
  ensure
    ActiveRecord::Base.singleton_class.send(:remove_method, :===)
  end

  private

  # @param aside [Boolean] whether records of the root must come to be
  def assert_parity(query, schemas, aside: false, around: :call.to_proc, **options)
    run = lambda do |schema|
      answer = nil
      given = options.transform_values { |it| it.is_a?(Proc) ? it.call : it }
      around.call(-> { answer = outcome { schema.execute(query, **given).to_h } })
      answer
    end
    plain = run.call(schemas.first)
    2.times do
      piped = nil
      records = instantiated { piped = run.call(schemas.last) }
      assert_equal text_of(plain), text_of(piped), query
      assert_includes records.keys, "Post" if aside && !plain.key?("errors")
    end
  end
end
