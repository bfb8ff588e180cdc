# frozen_string_literal: true

require_relative "../support/pages"

# Which associations, relations and other values a page may be cut from.
class PageSourcesTest < PageTest
  class Limited < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { limit(2) }
  end

  class Hidden < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { where("score > 2").order(:id) }
  end

  class Enumed < ActiveRecord::Base
    self.table_name = "comments"
    enum :score, (0..9).to_h { |it| ["s#{it}", it] }
  end

  class Bag < ActiveRecord::Base
    self.table_name = "posts"
    A = "PageTest::Remark"
    has_many :limited, foreign_key: :post_id, class_name: "PageSourcesTest::Limited"
    has_many :hidden, foreign_key: :post_id, class_name: "PageSourcesTest::Hidden"
    has_many :unscoped_hidden, -> { unscope(:where).order(:id) }, foreign_key: :post_id, class_name: "PageSourcesTest::Hidden"
    has_many :unscoped_all, -> { unscoped.order(:id) }, foreign_key: :post_id, class_name: "PageSourcesTest::Hidden"
    has_many :enumed, -> { order(:id) }, foreign_key: :post_id, class_name: "PageSourcesTest::Enumed"
    has_many :extended, -> { extending(Module.new { def limit(*) = super(1) }).order(:id) }, foreign_key: :post_id, class_name: A
    has_many(:blocked, -> { order(:id) }, foreign_key: :post_id, class_name: A) { def limit(*) = super(1) }
    has_many :included, -> { includes(:commenter).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :preloaded, -> { preload(:commenter).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :referenced, -> { includes(:commenter).references(:commenter).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :eager, -> { eager_load(:commenter).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :read_only, -> { readonly.order(:id) }, foreign_key: :post_id, class_name: A
    has_many :strict, -> { strict_loading.order(:id) }, foreign_key: :post_id, class_name: A
    has_many :strict2, -> { order(:id) }, foreign_key: :post_id, class_name: A, strict_loading: true
    has_many :nothing, -> { none }, foreign_key: :post_id, class_name: A
    has_many :none_merged, -> { merge(PageTest::Remark.none) }, foreign_key: :post_id, class_name: A
    has_many :merged, -> { merge(PageTest::Remark.where("score > 3")).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :ored, -> { where(score: 1).or(PageTest::Remark.where(score: 4)).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :froms, -> { from("(SELECT * FROM comments WHERE score > 3) AS comments").order(:id) }, foreign_key: :post_id, class_name: A
    has_many :joined, -> { joins("JOIN users ON users.id < 3").order(:id, "users.id") }, foreign_key: :post_id, class_name: A
    has_many :left, -> { left_joins(:commenter).order("users.name DESC NULLS LAST, comments.id") }, foreign_key: :post_id, class_name: A
    has_many :distinct, -> { distinct.order(:id) }, foreign_key: :post_id, class_name: A
    has_many :grouped, -> { group(:id).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :selected, -> { select(:id).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :locked, -> { lock.order(:id) }, foreign_key: :post_id, class_name: A
    has_many :reversed, -> { order(:id).reverse_order }, foreign_key: :post_id, class_name: A
    has_many :in_order, -> { in_order_of(:score, [5, 3, 1, 9]).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :offsetted, -> { order(:id).offset(1) }, foreign_key: :post_id, class_name: A
    has_many :limit0, -> { order(:id).limit(0) }, foreign_key: :post_id, class_name: A
    has_many :annotated, -> { order(:id).annotate("hey $1 ' \\") }, foreign_key: :post_id, class_name: A
    has_many :hinted, -> { order(:id).optimizer_hints("x") }, foreign_key: :post_id, class_name: A
    has_many :ctes, -> { with(x: PageTest::Remark.where("score > 2")).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :by_number, -> { order("2, 1") }, foreign_key: :post_id, class_name: A
    has_many :raw, -> { order(Arel.sql("comments.score DESC, comments.id")) }, foreign_key: :post_id, class_name: A
    has_many :failing, -> { where("1 / (comments.post_id - 4) > -10").order(:id) }, foreign_key: :post_id, class_name: A
    has_many :owner_scope, ->(owner) { where("score > ?", owner.id).order(:id) }, foreign_key: :post_id, class_name: A
    has_many :attachments, -> { order(:id) }, as: :attachable, foreign_type: :attachable_type
    has_many :taggings, foreign_key: :post_id
    has_many :tags, -> { order(:name, :id) }, through: :taggings
    has_many :tags_distinct, -> { distinct.order(:name, :id) }, through: :taggings, source: :tag
    has_many :simple, -> { order(:id) }, foreign_key: :post_id, class_name: A
    has_many :commenters, -> { order("users.id, comments.id") }, through: :simple, source: :commenter
    has_many :commenters_merged, -> { order("users.id") }, through: :merged, source: :commenter
    has_many :limited_through, -> { order("users.id") }, through: :limit0, source: :commenter
    has_many :scope_that_raises, -> { merge(Nothing.all) }, foreign_key: :post_id, class_name: A
    has_many :through_scope_that_raises, -> { order("users.id") }, through: :scope_that_raises, source: :commenter
    belongs_to :author, class_name: "User", optional: true
    has_many :vehicles, -> { order(:id) }, through: :author
    has_many :colleagues, -> { order(:id) }, through: :author, source: :comments
    has_and_belongs_to_many :habtm, -> { order(:id, :name) }, class_name: "Tag", join_table: "taggings", foreign_key: :post_id, association_foreign_key: :tag_id
    has_many :by_title, -> { order(:id) }, primary_key: :title, foreign_key: :body, class_name: A
    has_many :by_likes, -> { order(:id) }, primary_key: :likes, foreign_key: :score, class_name: A
    has_many :disabled, -> { order(:id) }, through: :simple, source: :commenter, disable_joins: true
    def self.name = "Post"
    def self.polymorphic_name = "Post"
  end

  SKIP = %i[author simple]
  Bag.reflect_on_all_associations.map(&:name).reject { |it| SKIP.include?(it) || it == :taggings }.each do |name|
    define_method(:"test_association_#{name}") do
      node = type("Node") do
        field :id, GraphQL::Types::ID
        field :name, String, null: true unless %i[].include?(name)
      end
      has_name = Bag.reflect_on_association(name).klass.column_names.include?("name")
      node = type("Node") { field :id, GraphQL::Types::ID; has_name ? field(:name, String) : field(:score, String) } if Bag.reflect_on_association(name).klass.column_names.intersect?(%w[name score])
      bag = type("Bag") { field :id, GraphQL::Types::ID; field name, node.connection_type; field :likes, Integer }
      loud = type("LoudBag") { field :id, GraphQL::Types::ID; field name, node.connection_type; field :loud, String; def loud = object.title.dup.upcase }
      more = type("MoreBag") { field :id, GraphQL::Types::ID; field name, node.connection_type; define_method(name) { object.public_send(name) } }
      schemas = schemas({ bags: [[bag], -> { Bag.order(:id) }], loud: [[loud], -> { Bag.order(:id) }], more: [[more], -> { Bag.order(:id) }], one: [node.connection_type, -> { Bag.find(3).public_send(name) }] })
      key = GraphQL::Schema::Member::BuildType.camelize(name.to_s)
      wrong = ["", "(first: 1, after: \"MQ\")"].flat_map do |given|
        ["edges { cursor node { id #{has_name ? "name" : "score"} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }", "nodes { id }"].flat_map do |below|
          below = below.sub(" score", "") unless node.fields.key?("score")
          ["{ bags { id #{key}#{given} { #{below} } } }", "{ loud { loud #{key}#{given} { #{below} } } }", "{ one#{given} { #{below} } }", "{ more { #{key}#{given} { #{below} } } }"].filter_map do |query|
            text_of_both(query, schemas); nil
          rescue Minitest::Assertion, StandardError, SystemStackError => e
            "#{e.class} #{e.message[0, 700]} #{e.backtrace.first(2) unless e.is_a?(Minitest::Assertion)}"
          end
        end
      end
      assert wrong.empty?, "#{wrong.size}: #{wrong.first}"
    end
  end

  RELATIONS = {
    limit_scoping: -> { Remark.limit(2) }, offset_scoping: -> { Remark.offset(2) }, none_scoping: -> { Remark.none }, order_scoping: -> { Remark.order(id: :desc) }, where_scoping: -> { Remark.where("score > 3") }
  }.freeze
  RELATIONS.each do |name, scope|
    define_method(:"test_#{name}") do
      schemas = make_schemas
      forms("(first: 3)", ALL).each { |query| text_of_both(query, schemas) }
      scope.call.scoping { forms("(first: 3)", ALL).each { |query| text_of_both(query, schemas) } }
      scope.call.scoping(all_queries: true) { forms("(first: 3)", ALL).each { |query| text_of_both(query, schemas) } }
      forms("(first: 3)", ALL).each { |query| text_of_both(query, schemas) }
    end
  end

  MORE_ROOTS = {
    from: -> { Remark.from("(SELECT * FROM comments WHERE score > 3) AS comments").order(:id) },
    union: -> { Remark.from("(SELECT * FROM comments UNION ALL SELECT * FROM comments) AS comments").order(:id) },
    or: -> { Remark.where(score: 1).or(PageTest::Remark.where(score: 4)).order(:id) },
    merge: -> { Remark.merge(Remark.where(score: 4)).order(:id) },
    readonly: -> { Remark.readonly.order(:id) }, strict: -> { Remark.strict_loading.order(:id) },
    includes: -> { Remark.includes(:commenter).order(:id) }, includes_bad: -> { Remark.includes(:nope).order(:id) }, preload: -> { Remark.preload(:commenter).order(:id) },
    references: -> { Remark.includes(:commenter).references(:commenter).order(:id) }, left: -> { Remark.left_joins(:commenter).order("users.name", :id) },
    reverse: -> { Remark.order(:id).reverse_order }, annotate: -> { Remark.order(:id).annotate("x") }, ctes: -> { Remark.with(x: PageTest::Remark.where("score > 2")).order(:id) },
    async: -> { Remark.order(:id).load_async }, limited: -> { Limited.all }, unscoped: -> { Limited.unscoped.order(:id) }, hidden: -> { Hidden.all },
    bad_sql: -> { Remark.where("no_such") },
    by_number: -> { Remark.order("2, 1") }, lock: -> { Remark.lock.order(:id) }, hmt: -> { Story.find(3).commenters }, window: -> { Remark.where(id: Remark.order(:id).limit(3)).order(:id) },
    skip_query_cache: -> { Remark.skip_query_cache!.order(:id) }, uncached_none: -> { Remark.where(id: []) }, null: -> {}, unsaved: -> { Story.new.comments.order(:id) },
    error: -> { GraphQL::ExecutionError.new("no") }, array_error: -> { [GraphQL::ExecutionError.new("no")] }, offset0: -> { Remark.order(:id).offset(0) }, limit_nil: -> { Remark.order(:id).limit(nil) },
    create_with: -> { Remark.create_with(body: 1).order(:id) }, raw: -> { GraphQL::Execution::Interpreter::RawValue.new(1) }
  }.freeze
  MORE_ROOTS.each do |name, root|
    define_method(:"test_root_#{name}") do
      schemas = make_schemas(root: root)
      ["", "(first: 2)", "(first: 2, after: \"MQ\")", "(first: 2, after: \"NTA\")", "(first: 3)"].each do |given|
        [ALL, NODES, "nodes { id }", "edges { node { id } } pageInfo { hasNextPage }"].each { |below| text_of_both("{ many#{given} { #{below} } }", schemas) }
      end
    end
  end

  # (In a thread, as it may spin for good.)
  def test_page_size_that_raises
    raising = Class.new(Schemas::Base.field_class) { def max_page_size = raise(GraphQL::ExecutionError, "too much"); def has_max_page_size? = true }
    schemas = [make_schemas(field_class: raising), make_schemas(options: { max_page_size: "2" }), make_schemas(schema: proc { def self.default_max_page_size(*) = raise(KeyError, "no tenant") })]
    wrong = schemas.product(forms("", "nodes { id }").first(3)).filter_map do |(plain, piped), query|
      thread = Thread.new { text_of(outcome { piped.execute(query).to_h }) }
      answer = thread.join(5) ? thread.value : (thread.kill && "HANGS")
      "#{query}: #{answer[0, 120]}" if answer != text_of(outcome { plain.execute(query).to_h })
    end
    assert_equal [], wrong
  end
end
