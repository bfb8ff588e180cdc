# frozen_string_literal: true

require_relative "../support/plans"

# Resolver methods that ask a model by what their record says: `::User.find_by(id: object.author_id)`. What they ask of one record
# is asked for all.
class QueriedModelsTest < PlanTest
  class Person < ActiveRecord::Base
    self.table_name = "users"
    def shown = "#{name}!"
    def self.find_by(*) = super
  end

  class QueriedChapter < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :post, class_name: "QueriedModelsTest::Book", optional: true
    belongs_to :commenter, class_name: "User", optional: true
    enum :score, { low: 0, mid: 5, high: 9 }, scopes: false, instance_methods: false
    alias_attribute :book_id, :post_id
    scope :written, -> { where.not(commenter_id: nil) }
    scope :of, ->(id) { where(post_id: id) }
    scope :at_least, ->(score) { where("score >= ?", score.abs) }
    default_scope { where("comments.id > 2") }
  end

  class QueriedTorn < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { joins("FULL JOIN posts ON posts.id = comments.post_id AND comments.id = 3") }
  end

  class QueriedRated < ActiveRecord::Base
    self.table_name = "comments"
    attribute :score, :float
  end

  class QueriedOwn < ActiveRecord::Base
    self.table_name = "comments"
    def self.where(*) = super.order(:id)
    normalizes :body, with: ->(text) { text.strip }
  end

  class Book < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    alias_attribute :writer_id, :author_id
    attribute :author_name, :string
    has_many :comments, foreign_key: :post_id, class_name: "Comment"
    has_and_belongs_to_many :marks, -> { order(:id) }, class_name: "Tag", join_table: "taggings", foreign_key: :post_id, association_foreign_key: :tag_id
    def its_id = id
    def comment_count = ::Comment.where(post_id: id).count
    def chapter_count = QueriedChapter.where(post: self).count
    def writer_name = ::User.find_by(id: author_id)&.name
    def writer_of_it = ::User.find_by(id: author_id)
    def latest_comment = ::Comment.where(post_id: id).order(:id).last
    def comments_of(least) = ::Comment.where(post_id: id, score: least).count
    def by_a_method = ::Comment.where(post_id: its_id).count
    def by_another = ::Comment.where(post_id: comments_of(3)).count
    def editor_id = super || 1
  end

  module QueriedShelf
    class Remark < ActiveRecord::Base
      self.table_name = "comments"
    end
  end

  module Elsewhere
    module QueriedShelf; end
  end

  BOOLEAN = GraphQL::Types::Boolean
  # {name => [type, resolver method]}: asked for all posts at once
  VALUES = {
    count: [Integer, -> { def it = ::Comment.where(post_id: object.id).count }],
    count_of_some: [Integer, -> { def it = ::Comment.where(post_id: object.id).where("score > 3").count }],
    count_of_more_conditions: [Integer, -> { def it = ::Comment.where(post_id: object.id, score: 2..7).count }],
    count_behind_others: [Integer, -> { def it = ::Comment.where(score: 2..7).where(post_id: object.id).count }],
    count_with_a_hash: [Integer, -> { def it = ::Comment.where({ "post_id" => object.id }).count }],
    count_with_the_table: [Integer, -> { def it = ::Comment.where("comments.post_id": object.id).count }],
    count_by_an_alias: [Integer, -> { def it = QueriedChapter.where(book_id: object.id).count }],
    count_of_an_alias: [Integer, -> { def it = ::User.where(id: object.writer_id).count }],
    count_of_the_record: [Integer, -> { def it = QueriedChapter.where(post: object).count }],
    count_of_a_joined_table: [Integer, -> { def it = ::Comment.joins(:post).where(posts: { id: object.id }).count }],
    count_of_a_joined_association: [Integer, -> { def it = ::Comment.joins(:post).where(post: { id: object.id }).count }],
    count_of_a_table_further_on: [Integer, -> { def it = ::Tagging.joins(post: :author).where(users: { id: object.id }).count }],
    count_of_two: [Integer, -> { def it = ::Comment.where(post_id: object.id, commenter_id: object.id).count }],
    count_of_a_scope: [Integer, -> { def it = QueriedChapter.written.where(post_id: object.id).count }],
    count_of_a_default_scope: [Integer, -> { def it = QueriedChapter.where(post_id: object.id).count }],
    count_of_a_model_in_a_module: [Integer, -> { def it = QueriedShelf::Remark.where(post_id: object.id).count }],
    count_of_distinct: [Integer, -> { def it = ::Comment.where(post_id: object.id).distinct.count(:commenter_id) }],
    exists: [BOOLEAN, -> { def it = ::Comment.exists?(post_id: object.id) }],
    exists_of_some: [BOOLEAN, -> { def it = ::Comment.exists?(post_id: object.id, score: 7) }],
    exists_behind: [BOOLEAN, -> { def it = ::Comment.where(post_id: object.id, score: 7).exists? }],
    any: [BOOLEAN, -> { def it = ::Comment.where(post_id: object.id, score: 7).any? }],
    none: [BOOLEAN, -> { def it = ::Comment.where(post_id: object.id, score: 7).none? }],
    not: [BOOLEAN, -> { def it = !::Comment.exists?(post_id: object.id, score: 7) }],
    more: [BOOLEAN, -> { def it = ::Comment.where(post_id: object.id).count > 3 }],
    sum: [Integer, -> { def it = ::Comment.where(post_id: object.id).sum(:score) }],
    sum_of_sql: [Float, -> { def it = ::Comment.where(post_id: object.id).sum("score / 3.0") }],
    average: [Float, -> { def it = ::Comment.where(post_id: object.id).average(:score) }],
    average_as_text: [String, -> { def it = ::Comment.where(post_id: object.id).average(:score) }],
    average_rounded: [Float, -> { def it = ::Comment.where(post_id: object.id).average(:score)&.round(1) }],
    average_of_none: [Float, -> { def it = ::Comment.where(post_id: object.id).where("score > 99").average(:score)&.fdiv(2)&.round(1) }],
    average_of_none_as_number: [Float, -> { def it = ::Comment.where(post_id: object.id).where("score > 99").average(:score).to_f }],
    average_of_an_enum: [String, -> { def it = QueriedChapter.where(post_id: object.id).average(:score) }],
    maximum: [Integer, -> { def it = ::Comment.where(post_id: object.id).maximum(:score) }],
    of_the_model: [Integer, -> { def it = object.comment_count }],
    of_the_model_itself: [Integer, -> { def it = object.chapter_count }],
    name_of_the_model: [String, -> { def it = object.writer_name }],
    name: [String, -> { def it = ::User.find_by(id: object.author_id)&.name }],
    name_of_found: [String, -> { def it = ::Post.find(object.id).title }],
    name_of_first: [String, -> { def it = ::User.where(id: object.author_id).order(:id).first&.name }],
    method: [String, -> { def it = QueriedModelsTest::Person.where(id: object.author_id).first&.shown }]
  }.freeze

  # … of Comment
  RECORDS = {
    find_by: -> { def it = ::Comment.find_by(id: object.id) },
    find_by_nullable: -> { def it = ::Comment.find_by(id: object.author_id) },
    find: -> { def it = ::Comment.find(object.id) },
    first: -> { def it = ::Comment.where(post_id: object.id).order(:id).first },
    last: -> { def it = ::Comment.where(post_id: object.id).order(:score, :id).last },
    of_the_model: -> { def it = object.latest_comment },
    take: -> { def it = ::Comment.where(id: object.id).take }
  }.freeze

  # … of [Comment]
  LISTS = {
    order: -> { def it = ::Comment.where(post_id: object.id).order(:id) },
    limit: -> { def it = ::Comment.where(post_id: object.id).order(score: :desc, id: :asc).limit(2) },
    joins: -> { def it = ::Comment.joins(:commenter).where(post_id: object.id).order(:id) },
    record: -> { def it = QueriedChapter.where(post: object).order(:id) },
    group: -> { def it = ::Comment.where(post_id: object.id).joins(:commenter).group("comments.id").order(Arel.sql("COUNT(*) DESC, comments.id")) }
  }.freeze

  # … and these as ever.
  LEFT = {
    no_key: [Integer, -> { def it = ::Comment.where(score: 3).count }],
    by_a_method_of_the_model: [Integer, -> { def it = object.by_a_method }],
    by_another_method_of_the_model: [Integer, -> { def it = object.by_another }],
    own_where: [Integer, -> { def it = QueriedOwn.where(post_id: object.id).count }],
    own_find_by: [String, -> { def it = Person.find_by(id: object.author_id)&.name }],
    computed_key: [Integer, -> { def it = ::Comment.where(post_id: object.id + 1).count }],
    methods_key: [Integer, -> { def it = ::Comment.where(post_id: object.its_id).count }],
    overridden_key: [Integer, -> { def it = ::Comment.where(post_id: object.editor_id).count }],
    key_of_another: [Integer, -> { def it = ::Comment.where(post_id: object.author.id).count rescue 0 }],
    record_of_another_model: [Integer, -> { def it = ::Comment.where(post: object).count }],
    key_without_a_column: [Integer, -> { def it = ::User.where(name: object.author_name).count }],
    key_of_another_type: [Integer, -> { def it = ::Comment.where(post_id: object.title).count }],
    normalized: [Integer, -> { def it = QueriedOwn.unscoped.where(body: object.title).count }],
    several_keys: [Integer, -> { def it = ::Comment.where(post_id: [object.id, 3]).count }],
    inequality: [Integer, -> { def it = ::Comment.where.not(post_id: object.id).count }],
    sql: [Integer, -> { def it = ::Comment.where("post_id = ?", object.id).count }],
    argument_of_a_scope: [Integer, -> { def it = QueriedChapter.of(object.id).count }],
    scope_that_joins_by_sql: [Integer, -> { def it = QueriedTorn.where(id: object.author_id).count }],
    unscoped: [Integer, -> { def it = ::Comment.where(post_id: object.id).rewhere(post_id: 3).count }],
    through_merge: [Integer, -> { def it = ::Post.joins(:comments).merge(::Comment.where(post_id: object.id)).count }],
    enum_column: [Integer, -> { def it = QueriedChapter.where(score: object.likes).count }],
    grouped: [String, -> { def it = ::Comment.where(post_id: object.id).group(:score).order(:score).count }],
    block: [Integer, -> { def it = ::Comment.where(post_id: object.id).count { |one| one == context } }],
    branch: [Integer, -> { def it = object.author_id ? ::Comment.where(post_id: object.id).count : 0 }],
    volatile: [Integer, -> { def it = ::Comment.where(post_id: object.id).where("random() >= 0").count }],
    bad_sql: [Integer, -> { def it = ::Comment.where(post_id: object.id).where("nothing = 3").count }],
    in_a_table_that_is_not: [Integer, -> { def it = ::Comment.where(posts: { id: object.id }).count }],
    value_that_no_type_casts: [Integer, -> { def it = QueriedRated.where(post_id: object.id, score: :low).count }],
    writes: [Integer, -> { def it = ::Comment.where(post_id: object.id).where("score < 0").delete_all }]
  }.freeze

  # … and these where there are all.
  SOME = {
    joined_by_sql: [Integer, -> { def it = ::Comment.joins("RIGHT JOIN posts ON posts.id = comments.post_id AND comments.id = 3").where(id: object.author_id).count }],
    nothing_for_a_key: [Integer, -> { def it = ::Post.where(author_id: object.author_id).count }], # IS NULL
    found_nowhere: [String, -> { def it = ::User.find(object.id).name }],
    find_nobody: [type("QueriedUser") { field :name, String }, -> { def it = ::User.find(object.author_id) }],
    name_of_nobody: [String, -> { def it = ::User.find_by(id: object.author_id).name }]
  }.freeze

  QUERIES = ["{ books { id it } }", "{ book { it } }", "{ authors { books { it } } }", "{ loud { loud it t: it } }"].freeze

  class Writer < ActiveRecord::Base
    self.table_name = "users"
    has_many :books, -> { order(:id) }, foreign_key: :author_id, class_name: "QueriedModelsTest::Book"
  end

  CommentType = type("QueriedComment") { field :id, Integer; field :score, Integer }

  def self.schemas_of(test, returned, body)
    book = test.type("Book") { field :it, returned; class_exec(&body); field :id, GraphQL::Types::ID }
    loud = test.type("LoudBook", book) { field :loud, String; def loud = object.title.dup.upcase }
    author = test.type("Author") { field :books, [book] }
    books = -> { Book.order(:id) }
    test.schemas({ books: [[book], books], book: [book, -> { Book.find(3) }], loud: [[loud], books], authors: [[author], -> { Writer.order(:id) }] })
  end

  def assert_all_at_once(returned, body, query = "{ it { id } }")
    schemas = self.class.schemas_of(self, returned, body)
    QUERIES.each do |text|
      text = text.gsub("it", query[/it.*\}(?= \}\z)/] || "it") unless query == "it"
      next assert_same_twice(text, schemas) if Engine::NEXT && text.include?("loud") # there resolver methods beside others are run

      assert_plan(text, schemas, made: [Book], errors: :any)
    end
    sent = WireCounter.events("sql.active_record") { schemas.last.execute(query == "it" ? QUERIES.first : QUERIES.first.sub("it", "it { id }")) }
    assert_equal 2, sent.size, sent.map { |it| it[:sql] }.join("\n")
  end

  VALUES.each do |name, (returned, body)|
    define_method(:"test_#{name}") { assert_all_at_once(returned, body, "it") }
  end

  RECORDS.each do |name, body|
    define_method(:"test_record_#{name}") { assert_all_at_once(CommentType, body) }
  end

  LISTS.each do |name, body|
    define_method(:"test_list_#{name}") { assert_all_at_once([CommentType], body) }
  end

  # … in which case ActiveRecord's class methods mean other records.
  def test_in_a_scope
    schemas = self.class.schemas_of(self, Integer, -> { def it = ::Comment.where(post_id: object.id).count })
    QUERIES.each do |query|
      assert_plan(query, schemas, made: [Book])
      assert_plan(query, schemas, aside: Book, around: ->(run) { ::Comment.where(score: 3..).scoping { run.call } })
      assert_plan(query, schemas, made: [Book])
      assert_plan(query, schemas, aside: Book, around: ->(run) { ::Comment.where(score: 3..).scoping(all_queries: true) { run.call } })
    end
  end

  def test_arguments_and_the_context
    book = type("Book") do
      field :those, Integer do
        argument :least, Integer
      end
      def those(least:) = ::Comment.where(post_id: object.id, score: least).count
      field :mine, GraphQL::Types::Boolean
      def mine = ::Comment.exists?(post_id: object.id, commenter_id: context[:me])
      field :of_me, GraphQL::Types::Boolean
      def of_me = ::Comment.exists?(commenter_id: context[:me], post_id: object.id)
      field :of_me_or_none, Integer
      def of_me_or_none
        me = context[:me]
        ::Comment.where(post_id: object.id, commenter_id: me).count
      end
      field :by_scope, Integer do
        argument :least, Integer
      end
      def by_scope(least:) = QueriedChapter.at_least(least).where(post_id: object.id).count
    end
    schemas = schemas({ books: [[book], -> { Book.order(:id) }] })
    [1, 2, nil, "3"].each do |me|
      answer = assert_plan("{ books { a: those(least: 3) b: those(least: 5) mine ofMe ofMeOrNone byScope(least: 4) } }", schemas, context: { me: me })
      assert(answer["data"]["books"].any? { |it| it["mine"] }) if me == 1
    end
  end

  def test_another_class_of_the_name
    first, second = [0, 5].map { |least| Class.new(ActiveRecord::Base) { self.table_name = "comments"; default_scope { where(score: least..) } } }
    self.class.const_set(:QueriedSwapped, first)
    schemas = self.class.schemas_of(self, Integer, -> { def it = QueriedSwapped.where(post_id: object.id).count })
    before = assert_plan("{ books { it } }", schemas, made: [Book])
    self.class.send(:remove_const, :QueriedSwapped)
    self.class.const_set(:QueriedSwapped, second)
    refute_equal before, assert_plan("{ books { it } }", schemas, aside: Book)
  ensure
    self.class.send(:remove_const, :QueriedSwapped)
  end

  def test_a_name_that_the_outer_class_has_yet_to_load_from_above
    outer = self.class.const_set(:Outer, Class.new(Book))
    inner = outer.const_set(:InnerOfOuter, Class.new(Book))
    Object.autoload(:InnerOfOuter, "no_such_file_of_pipeloaders")
    assert Pipeloader::ConstantNames.still?(inner)
  ensure
    Object.send(:remove_const, :InnerOfOuter)
    self.class.send(:remove_const, :Outer)
  end

  # ActiveRecord has another Arel::Table then, but not in the conditions that it makes of a Hash.
  def test_columns_that_were_read_anew
    ::User.reset_column_information
    assert_all_at_once(String, -> { def it = ::User.find_by(id: object.author_id)&.name }, "it")
  end

  def test_explain_schema
    schemas = self.class.schemas_of(self, CommentType, -> { def it = ::Comment.find_by(id: object.id) })
    explained = Pipeloader.explain_schema(schemas.last, models: { "Book" => Book, "QueriedComment" => ::Comment }).to_s
    assert_includes explained, "Book: 2 of 2 fields"
  end

  def test_many_to_many
    tag = type("QueriedTag") { field :id, Integer }
    book = type("Book") do
      field :id, GraphQL::Types::ID
      field :marks, [tag]
      field :pages, tag.connection_type, method: :marks
      field :marked, GraphQL::Types::Boolean
      def marked = object.marks.exists?(name: "tag 1")
      field :first_mark, tag
      def first_mark = object.marks.order(:name).first
      field :loud, String
      def loud = object.title.dup.upcase
    end
    schemas = schemas({ books: [[book], -> { Book.order(:id) }] })
    ["marks { id }", "marked firstMark { id }", "pages(first: 1) { nodes { id } pageInfo { hasNextPage } }", "id marks { id } pages { edges { cursor node { id } } }"].each do |selected|
      assert_plan("{ books { #{selected} } }", schemas, made: [Book])
      assert_plan("{ books { loud #{selected} } }", schemas, made: [Book, ::Tag]) unless Engine::NEXT
      assert_same_twice("{ books { loud #{selected} } }", schemas)
    end
  end

  # What a gem's tenants add to every query, ActiveRecord calls each time that it makes SQL of one.
  TENANTS = {
    by_build_arel: "ActiveRecord::QueryMethods.prepend(Module.new { def build_arel(*) = super.tap { |it| klass.table_name == 'comments' && it.where(Arel.sql(\"score = \#{$tenant}\")) } })",
    by_arel: "ActiveRecord::Relation.prepend(Module.new { def arel(*) = super.clone.tap { |it| klass.table_name == 'comments' && it.where(Arel.sql(\"score = \#{$tenant}\")) } })",
    by_relation: "Comment.singleton_class.class_eval { private def relation = super.where(score: $tenant) }",
    by_default_scoped: "Comment.singleton_class.class_eval { def default_scoped(...) = super.where(score: $tenant) }",
    by_build_default_scope: "Comment.singleton_class.class_eval { private def build_default_scope(...) = (super || relation).where(score: $tenant) }"
  }.freeze

  TENANTS.each do |name, code|
    define_method(:"test_tenants_#{name}") do
      assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
        #{code}
        joined = -> { def it = ::Post.joins(:comments).where(id: object.id).count }
        [-> { def it = ::Comment.where(post_id: object.id).count }, -> { def it = object.comments.count }, *(joined if #{name.end_with?("arel")})].each do |asked|
          schemas = QueriedModelsTest.schemas_of(self, Integer, asked)
          answers = [3, 5, 3, 7].map { |tenant| $tenant = tenant; assert_same_twice("{ books { it } }", schemas); schemas.first.execute("{ books { it } }").to_h }
          assert_equal answers[0], answers[2]
        end
        assert_operator Comment.where(post_id: 5).count, :<=, Comment.unscoped.count
      RUBY
    end
  end

  # Rows of a relation are read by SQL that ActiveRecord makes for each, so nothing is kept of it.
  def test_columns_of_tenants
    assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
      ActiveRecord::QueryMethods.prepend(Module.new { def build_arel(*) = super.tap { |it| klass.table_name == "posts" && it.where(Arel.sql("posts.id > \#{$tenant}")) } })
      schemas = QueriedModelsTest.schemas_of(self, Integer, -> { def it = object.id + 1 })
      answers = [1, 3, 1].map { |tenant| $tenant = tenant; assert_plan("{ books { it id } }", schemas, made: [QueriedModelsTest::Book]); schemas.last.execute("{ books { id } }").to_h }
      assert_equal answers[0], answers[2]
      refute_equal answers[0], answers[1]
    RUBY
  end

  # An association of several owners is preloaded by a Relation, and read by an AssociationRelation: either may have more to say.
  def test_tenants_of_one_kind_of_relation
    %w[Relation AssociationRelation Associations::CollectionProxy].each do |kind|
      assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
        Comment.relation_delegate_class(ActiveRecord::#{kind}).prepend(Module.new { def build_arel(*) = super.tap { |it| it.where(Arel.sql("comments.id <> 3")) } })
        comment = type("TenantComment") { field :id, Integer }
        post = type("TenantPost") { field :comments, [comment]; field :pages, comment.connection_type, method: :comments }
        schemas = schemas({ posts: [[post], -> { Post.order(:id) }], preloaded: [[post], -> { Post.includes(:comments).order(:id) }] })
        ["comments { id }", "pages(first: 2) { nodes { id } }"].product(%w[posts preloaded]) { |selected, root| assert_same_twice("{ \#{root} { \#{selected} } }", schemas) }
      RUBY
    end
  end

  # As those do of which it is known: they write what the relation says.
  def test_clauses_of_a_gems_own
    assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
      ActiveRecord::QueryMethods.prepend(Module.new { class_eval("def build_arel(*) = super", "/gems/active_record_extended/lib/patch.rb") })
      [false, true].each do |known|
        Gem.loaded_specs["active_record_extended"] = Struct.new(:full_gem_path).new("/gems/active_record_extended") if known
        schemas = QueriedModelsTest.schemas_of(self, Integer, -> { def it = ::Comment.where(post_id: object.id).count })
        known ? assert_plan("{ books { it } }", schemas, made: [QueriedModelsTest::Book]) : assert_aside("{ books { it } }", schemas, model: QueriedModelsTest::Book)
      end
    RUBY
  end

  def test_a_method_that_comes_later
    assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
      schemas = QueriedModelsTest.schemas_of(self, Integer, -> { def it = ::Comment.where(post_id: object.id).count })
      assert_plan("{ books { it } }", schemas, made: [QueriedModelsTest::Book])
      ::Comment.define_singleton_method(:where) { |*all, **options| super(*all, **options).where(score: 3) }
      assert_plan("{ books { id it } }", schemas, aside: QueriedModelsTest::Book)
      assert_same_twice("{ books { it } }", schemas)
    RUBY
  end

  # Fields without a resolver method.
  def test_fields_of_the_model
    user = type("QueriedWriter") { field :name, String }
    book = type("Book") do
      field :comment_count, Integer
      field :chapters, Integer, method: :chapter_count
      field :writer_name, String
      field :writer_of_it, user
      field :latest_comment, CommentType
    end
    schemas = schemas({ books: [[book], -> { Book.order(:id) }] })
    assert_plan("{ books { commentCount chapters writerName writerOfIt { name } latestComment { id } } }", schemas)
  end

  SOME.each do |name, (returned, body)|
    define_method(:"test_some_#{name}") do
      schemas = self.class.schemas_of(self, returned, body)
      queries = QUERIES.map { |query| returned.is_a?(Class) && returned < GraphQL::Schema::Object ? query.gsub("it", "it { name }") : query }
      queries.each { |query| assert_same_twice(query, schemas) }
      assert_plan(queries[1], schemas, made: [Book])
      assert_plan(queries[0], schemas, aside: Book, errors: :any)
    end
  end

  LEFT.each do |name, (returned, body)|
    define_method(:"test_left_#{name}") do
      schemas = self.class.schemas_of(self, returned, body)
      QUERIES.each { |query| assert_plan(query, schemas, aside: Book, errors: :any) }
    end
  end
end
