# frozen_string_literal: true

require_relative "../support/plans"

# Resolver methods that ask an association for some of its records, or for one; and those with arguments.
class ChainsTest < PlanTest
  class Story < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, foreign_key: :post_id, class_name: "ChainsTest::Remark"
    has_many :plain_comments, foreign_key: :post_id, class_name: "ChainsTest::Remark", inverse_of: false
    has_many :sorted, -> { order(score: :desc, id: :asc).limit(3) }, foreign_key: :post_id, class_name: "ChainsTest::Remark"
    has_many :taggings, foreign_key: :post_id
    has_many :tags, through: :taggings
  end

  class Remark < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :story, foreign_key: :post_id, class_name: "ChainsTest::Story", optional: true
    belongs_to :commenter, class_name: "User", optional: true
    scope :scored, ->(least = 3) { where("score >= ?", least) }
    scope :with_commenter, -> { includes(:commenter) }
    scope :chosen, -> { select(:id, :score) }
    scope :top, ->(most = 2) { where(id: order(score: :desc, id: :asc).limit(most)) }
    scope :above, -> { where("score >= ?", average(:score).to_i) }
    scope :of_many, -> { count > 3 ? where("score > 3") : all }
    scope :if_any, -> { exists? ? where("score > 3") : none }
    scope :of_owner, -> { where(commenter_id: proxy_association.owner.id) }
    scope :of_some_owner, -> { proxy_association.owner == User.new ? none : where(score: 3..) }
    scope :by_values, -> { where(commenter_id: where_values_hash["post_id"]) }
    scope :next_to, -> { where("post_id < ?", where_values_hash["post_id"].to_i) }
    scope :as_the_first, -> { where(score: first.score) }
    scope :of_an_hour, ->(time) { where(score: time.hour) }
    scope :taking, ->(list) { where("score >= ?", list.shift || 0) }
    scope :deleting, ->(options) { where("score >= ?", options.delete(:least) || 0) }
    def self.own = where("score > 3")
  end

  # {name => resolver method}: of [Comment]
  LISTS = {
    order: -> { def it = object.comments.order(score: :desc, id: :asc) },
    reorder: -> { def it = object.sorted.reorder(:id) },
    limit: -> { def it = object.comments.order(:id).limit(2) },
    offset: -> { def it = object.comments.order(:id).offset(1).limit(2) },
    where: -> { def it = object.comments.where(score: 3..).where.not(commenter_id: nil).order("id") },
    text: -> { def it = object.comments.where("score > ? AND score < ?", 2, 8).order("score DESC, id") },
    joins: -> { def it = object.comments.joins(:commenter).order(:id) },
    scope: -> { def it = object.comments.scored.order(:id) },
    scope_with_argument: -> { def it = object.comments.scored(6).order(:id) },
    unscope: -> { def it = object.sorted.unscope(:order, :limit).order(:id) },
    group: -> { def it = object.comments.joins(:commenter).group("comments.id").having("COUNT(*) > 0").order(Arel.sql("COUNT(*) DESC, comments.id")) },
    of_the_limited: -> { def it = object.sorted.where("score > 2") },
    first_two: -> { def it = object.comments.first(2) },
    first_two_of_the_limited: -> { def it = object.sorted.where("score > 2").first(2) },
    key_of_a_hash: -> { def it = object.comments.order({ score: :desc, id: :asc }) }
  }.freeze

  # … and of Comment
  SINGLES = {
    first: -> { def it = object.comments.first },
    first_of_some: -> { def it = object.comments.where("score > 5").first },
    first_of_groups: -> { def it = object.comments.joins(:commenter).group("comments.id").order(Arel.sql("COUNT(users.id) DESC, comments.id")).first },
    first_in_order: -> { def it = object.comments.order(score: :desc, id: :asc).first },
    first_of_the_limited: -> { def it = object.sorted.first },
    last: -> { def it = object.comments.last },
    last_in_order: -> { def it = object.comments.order(:score, :id).last },
    take: -> { def it = object.comments.order(:id).take },
    find_by: -> { def it = object.comments.order(:id).find_by(score: 3..) },
    find_by_text: -> { def it = object.comments.order(:id).find_by("score > 3") }
  }.freeze

  LEFT = {
    block: [true, -> { def it = object.comments.select { |comment| comment.score > 3 } }],
    own_method: [true, -> { def it = object.comments.own.order(:id) }],
    includes: [true, -> { def it = object.comments.with_commenter.order(:id) }],
    select: [true, -> { def it = object.comments.chosen.select("*").order(:id) }],
    distinct: [true, -> { def it = object.comments.distinct.order(:id) }],
    none: [true, -> { def it = object.comments.none }],
    loaded: [true, -> { def it = object.comments.order(:id).load }],
    array: [true, -> { def it = object.comments.order(:id).to_a }],
    last_two: [true, -> { def it = object.comments.last(2) }],
    first_two_for_one: [false, -> { def it = object.comments.first(2) }],
    lock: [true, -> { def it = object.comments.order(:id).lock }],
    reversed: [true, -> { def it = object.comments.order(:id).reverse }],
    random: [true, -> { def it = object.comments.where("random() >= 0").order(:id) }],
    last_of_the_limited: [false, -> { def it = object.sorted.last }],
    find: [false, -> { def it = object.comments.find_by!(score: 0..) rescue nil }],
    a_list_for_one: [false, -> { def it = object.comments.order(:id) }],
    one_for_a_list: [true, -> { def it = object.comments.first }],
    scope_that_asks_for_some: [true, -> { def it = object.comments.top.order(:id) }],
    scope_that_asks_for_some_by_an_argument: [true, -> { def it = object.comments.top(3).order(:id) }],
    scope_that_calculates: [true, -> { def it = object.comments.above.order(:id) }],
    scope_that_counts: [true, -> { def it = object.comments.of_many.order(:id) }],
    scope_that_looks: [true, -> { def it = object.comments.if_any.order(:id) }],
    scope_that_reads: [true, -> { def it = object.comments.as_the_first.order(:id) }],
    scope_that_asks_for_the_owner: [true, -> { def it = object.comments.of_owner.order(:id) }],
    scope_that_compares_the_owner: [true, -> { def it = object.comments.of_some_owner.order(:id) }],
    scope_that_asks_for_the_key: [true, -> { def it = object.comments.by_values.order(:id) }],
    scope_that_calculates_with_the_key: [true, -> { def it = object.comments.next_to.order(:id) }],
    one_of_a_scope_that_calculates: [false, -> { def it = object.comments.above.first }],
    variable: [true, -> { def it = ((score = 3) if false; object.comments.where(score: score).order(:id)) }], # rubocop:disable Lint/LiteralAsCondition
    rescue: [false, -> { def it = (object.comments.first rescue nil) }],
    what_it_is_given_is_changed: [true, -> { def it = object.comments.taking([5, 6]).order(:id) }],
    what_it_is_given_is_deleted: [true, -> { def it = object.comments.deleting({ least: 5 }).order(:id) }]
  }.freeze

  class Comment < Schemas::Base
    graphql_name "Remark"
    field :body, String
    field :commenter, (Class.new(Schemas::Base) { graphql_name "Commenter"; field :name, String })
  end

  # @param arguments [Hash, nil] of the field `it`; nil if the block defines it
  def make_schemas(returned, arguments = {}, &body)
    story = type("Story") do
      arguments&.then { field(:it, returned) { arguments.each { |name, (type, options)| argument(name, type, **(options || { required: false })) } } }
      class_exec(&body)
      field :id, GraphQL::Types::ID
    end
    loud = type("LoudStory", story) { field :loud, String; def loud = object.title.dup.upcase }
    stories = -> { Story.order(:id) }
    schemas({ stories: [[story], stories], story: [story, -> { Story.find(3) }], loud: [[loud], stories] })
  end

  # Statements: the stories, what is asked for of them, and what is below that.
  def assert_asked(below, schemas, arguments = "", statements: 2, **options)
    it = "it#{arguments} #{below}"
    assert_plan("{ stories { id #{it} } }", schemas, **options)
    assert_plan("{ story { id #{it} } }", schemas, made: [Story], **options)
    assert_plan("{ loud { loud #{it} } }", schemas, **(Engine::NEXT ? { aside: Story } : { made: [Story] }), **options)
    assert_equal statements, WireCounter.events("sql.active_record") { schemas.last.execute("{ stories { id #{it} } }", **options.slice(:variables)) }.size
  end

  LISTS.each do |name, body|
    define_method(:"test_list_#{name}") do
      schemas = make_schemas([Comment], &body)
      assert_asked("{ body }", schemas)
      assert_asked("{ body commenter { name } }", schemas, statements: 3)
    end
  end

  SINGLES.each do |name, body|
    define_method(:"test_single_#{name}") do
      schemas = make_schemas(Comment, &body)
      assert_asked("{ body }", schemas)
      assert_asked("{ body commenter { name } }", schemas, statements: 3)
    end
  end

  LEFT.each do |name, (list, body)|
    define_method(:"test_left_#{name}") do
      schemas = make_schemas(list ? [Comment] : Comment, &body)
      # (Where it returns a relation, that is read without records, but for each story.)
      assert_plan("{ stories { id it { body } } }", schemas, aside: Story, errors: :any)
      assert_plan("{ loud { loud it { body } } }", schemas, aside: Story, errors: :any)
    end
  end

  def test_single_that_must_be
    schemas = make_schemas(nil, nil) { field :it, Comment, null: false; def it = object.comments.first }
    assert_plan("{ stories { id it { body } } }", schemas, aside: Story, errors: true)
  end

  # It knows its owner: the one in memory.
  def test_back_to_the_owner
    owner = type("Owner") { field :title, String }
    remark = type("Back") { field :body, String; field :story, owner }
    schemas = make_schemas([remark]) { def it = object.comments.order(:id) }
    assert_plan("{ stories { id it { body story { title } } } }", schemas)
    assert_plan("{ loud { loud it { body story { title } } } }", schemas, aside: Story)
  end

  def test_through
    tag = type("Tagged") { field :name, String }
    schemas = make_schemas([tag]) { def it = object.tags.order(:name, :id).limit(2) }
    assert_asked("{ name }", schemas)
  end

  INT = GraphQL::Types::Int

  def test_arguments
    schemas = make_schemas([Comment], { limit: [INT, { required: true }] }) { def it(limit:) = object.comments.order(:id).limit(limit) }
    [0, 1, 3, 100].each { |limit| assert_asked("{ body }", schemas, "(limit: #{limit})") }
    assert_plan("query q($limit: Int!) { stories { it(limit: $limit) { body } } }", schemas, variables: { limit: 2 })
    assert_plan("query q($limit: Int!) { stories { it(limit: $limit) { body } } }", schemas, variables: { limit: 3 })
    assert_plan("{ stories { a: it(limit: 1) { body } b: it(limit: 2) { body } } }", schemas)
    assert_plan("{ stories { it(limit: -1) { body } } }", schemas, aside: Story, errors: true)
    assert_plan("query q($limit: Int!) { stories { it(limit: $limit) { body } } }", schemas, aside: nil, errors: true, variables: {})
  end

  # Each with the values of its own, though a plan is kept.
  def test_arguments_of_many_documents_and_threads
    schemas = make_schemas([Comment], { limit: [INT] }) { def it(limit: 2) = object.comments.order(:id).limit(limit) }
    query = "query q($limit: Int) { stories { it(limit: $limit) { body } } }"
    answers = (0..200).to_h { |limit| [limit, schemas.first.execute(query, variables: { limit: limit }).to_h] }
    assert_equal answers, answers.to_h { |limit, _| [limit, schemas.last.execute(query, variables: { limit: limit }).to_h] }
    found = 4.times.map { |from| Thread.new { (from..40).step(4).to_h { |limit| [limit, schemas.last.execute(query, variables: { limit: limit }).to_h] } } }
    found.each { |thread| thread.value.each { |limit, answer| assert_equal answers[limit], answer } }
  end

  def test_arguments_with_defaults
    schemas = make_schemas([Comment], { limit: [INT], least: [INT, { required: false, default_value: 4 }] }) do
      def it(least:, limit: 2) = object.comments.where("score >= ?", least).order(:id).limit(limit)
    end
    ["", "(limit: 1)", "(limit: null)", "(least: 7)", "(least: 2, limit: 5)", "(limit: 5, least: null)"].each do |given|
      assert_asked("{ body }", schemas, given)
    end
  end

  def test_arguments_in_conditions
    schemas = make_schemas([Comment], { scores: [[INT, null: true]], order: [String] }) do
      def it(scores: nil, order: :id) = object.comments.where(score: scores).order(order)
    end
    ["(scores: [1, 3, 5, null])", "(scores: [7])", "(scores: 3, order: \"id DESC\")", "(scores: null)"].each do |given|
      assert_asked("{ body }", schemas, given)
    end
    ["(scores: [1], order: \"nothing\")", "(scores: [1], order: \"; DROP TABLE\")"].each do |given|
      assert_plan("{ stories { it#{given} { body } } }", schemas, errors: :any, aside: Story)
    end
  end

  def test_arguments_of_a_calculation
    schemas = make_schemas(INT, { least: [INT] }) { def it(least: 3) = object.comments.where(score: least..).count rescue 0 }
    assert_plan("{ stories { it(least: 3) } }", schemas, aside: Story)
    schemas = make_schemas(INT, { least: [INT] }) { def it(least: 3) = object.comments.scored(least).count }
    ["", "(least: 1)", "(least: 8)", "(least: null)"].each { |given| assert_asked("", schemas, given) }
    schemas = make_schemas(GraphQL::Types::Boolean, { id: [INT] }) { def it(id: 3) = object.comments.exists?(commenter_id: id) }
    ["", "(id: 1)", "(id: null)"].each { |given| assert_asked("", schemas, given) }
    schemas = make_schemas(INT, { column: [String] }) { def it(column: "score") = object.comments.maximum(column) }
    assert_plan("{ stories { it(column: \"id\") } }", schemas, aside: Story)
  end

  # Two Hashes are equal whatever their order, two times whatever their zone.
  def test_arguments_that_are_equal_and_differ
    schemas = make_schemas([Comment], { by: [GraphQL::Types::JSON, { required: true }] }) { def it(by:) = object.comments.order(by) }
    [{ score: "desc", id: "asc" }, { id: "asc", score: "desc" }, %w[score id]].each do |by|
      assert_plan("query q($by: JSON!) { stories { it(by: $by) { body } } }", schemas, variables: { by: by })
    end
    schemas = make_schemas([Comment], { at: [GraphQL::Types::ISO8601DateTime, { required: true }] }) { def it(at:) = object.comments.of_an_hour(at).order(:id) }
    %w[2024-01-01T03:00:00Z 2024-01-01T05:00:00+02:00].each do |at|
      assert_plan("query q($at: ISO8601DateTime!) { stories { it(at: $at) { body } } }", schemas, variables: { at: at })
    end
  end

  def test_arguments_of_scopes_that_read
    schemas = make_schemas([Comment], { most: [INT] }) { def it(most: 2) = object.comments.above.top(most).order(:id) }
    ["", "(most: 1)"].each { |given| assert_plan("{ stories { it#{given} { body } } }", schemas, aside: Story) }
    schemas = make_schemas(INT, { most: [INT] }) { def it(most: 2) = object.comments.top(most).sum(:score) }
    ["", "(most: 1)"].each { |given| assert_plan("{ stories { it#{given} } }", schemas, aside: Story) }
  end

  def test_while_warnings_are_looked_at
    ActiveRecord.db_warnings_action = :log
    schemas = make_schemas(INT) { def it = object.comments.above.count }
    assert_plan("{ stories { it } }", schemas, aside: Story)
  ensure
    ActiveRecord.db_warnings_action = :ignore
  end

  def test_a_first_by_arguments
    schemas = make_schemas(Comment, { score: [INT] }) { def it(score: 3) = object.comments.order(:id).find_by(score: score) }
    ["", "(score: 5)", "(score: null)"].each { |given| assert_asked("{ body }", schemas, given) }
  end

  def test_arguments_that_are_changed
    schemas = make_schemas([Comment], { least: [INT] }) { def it(least: 5) = object.comments.taking([least]).deleting({ least: least }).order(:id) }
    2.times { assert_plan("{ stories { it { body } } }", schemas, aside: Story) }
  end

  def test_arguments_as_keys
    schemas = make_schemas([Comment], { by: [String, { required: true }] }) { def it(by:) = object.comments.order({ by => :desc }).order(:id) }
    assert_asked("{ body }", schemas, "(by: \"score\")")
    assert_plan("{ stories { it(by: \"nothing\") { body } } }", schemas, aside: Story, errors: true)
  end

  Prepared = Class.new(GraphQL::Schema::Argument) { def prepare_value(object, value, context: nil) = super && 1 }
  Twice = Class.new(GraphQL::Types::Int) { graphql_name "Twice"; def self.coerce_input(value, context) = super && 2 }
  LEFT_ARGUMENTS = {
    prepare: -> { field(:it, [Comment]) { argument :limit, INT, prepare: ->(value, _) { value - 1 } } },
    validators: -> { field(:it, [Comment]) { argument :limit, INT, validates: { numericality: { less_than: 3 } } } },
    class: -> { field_class Class.new(GraphQL::Schema::Field) { argument_class Prepared }; field(:it, [Comment]) { argument :limit, INT } },
    scalar: -> { field(:it, [Comment]) { argument :limit, Twice } },
    extras: -> { field(:it, [Comment], extras: [:path]) { argument :limit, INT }; def it(limit:, **) = object.comments.order(:id).limit(limit) },
    other_name: -> { field(:it, [Comment]) { argument :many, INT, as: :limit; argument :more, INT, required: false }; def it(limit:, more: 0) = object.comments.order(:id).limit(limit + more) },
    rest: -> { field(:it, [Comment]) { argument :limit, INT }; def it(**given) = object.comments.order(:id).limit(given[:limit]) },
    positional: -> { field(:it, [Comment]) { argument :limit, INT }; def it(given) = object.comments.order(:id).limit(given[:limit]) }
  }.freeze

  LEFT_ARGUMENTS.each do |name, body|
    define_method(:"test_left_argument_#{name}") do
      schemas = make_schemas([Comment], nil) { class_exec(&body); method_defined?(:it, false) || define_method(:it) { |limit:| object.comments.order(:id).limit(limit) } }
      given = name == :other_name ? "many: 2" : "limit: 2"
      assert_plan("{ stories { it(#{given}) { body } } }", schemas, aside: Story, errors: :any)
      assert_plan("{ stories { it(#{given.tr("2", "5")}) { body } } }", schemas, aside: Story, errors: :any)
    end
  end

  def test_argument_by_another_name
    schemas = make_schemas([Comment], nil) { field(:it, [Comment]) { argument :many, INT, as: :limit }; def it(limit:) = object.comments.order(:id).limit(limit) }
    assert_asked("{ body }", schemas, "(many: 2)")
  end

  def test_in_a_scope_of_all_queries
    schemas = make_schemas([Comment]) { def it = object.comments.order(:id); field :count, INT; def count = object.comments.scored.count; field :comments, [Comment] }
    [false, true, false].each do |everywhere|
      Remark.where(score: 5..).scoping(all_queries: everywhere) { assert_plan("{ stories { it { body } count sorted: comments { body } } }", schemas) }
    end
  end

  # What a gem puts in front of ActiveRecord's methods, that these come to. {name => [what is asked, type, method that is changed]}
  CHANGED = {
    calculate: ["count", INT, ->(value) { value.is_a?(Integer) ? value * 2 : value }],
    perform_calculation: ["sum(:score)", INT, ->(value) { value + 1 }],
    count: ["size", INT, ->(value) { value + 1 }],
    exists?: ["any?", GraphQL::Types::Boolean, :!.to_proc],
    empty?: ["where('score > 5').none?", GraphQL::Types::Boolean, :!.to_proc],
    exec_queries: ["find_by('score > 3')", Comment, ->(_) { [] }],
    records: ["where('score > 3').take", Comment, ->(_) { [] }],
    find_nth: ["order(:id).first", Comment, ->(_) {}]
  }.freeze

  CHANGED.each do |name, (asked, returned, change)|
    define_method(:"test_changed_#{name}") do
      remark = Class.new(ActiveRecord::Base) { self.table_name = "comments" }
      owner = Class.new(ActiveRecord::Base) { self.table_name = "posts" }
      { "Changed" => remark, "Changes" => owner }.each { |prefix, model| self.class.const_set(:"#{prefix}#{name.to_s.camelize.delete("?")}", model) }
      owner.has_many :comments, foreign_key: :post_id, class_name: remark.name
      changed = Module.new { define_method(name) { |*given, **options, &block| change.call(super(*given, **options, &block)) } }
      [ActiveRecord::AssociationRelation, ActiveRecord::Associations::CollectionProxy].each { |host| remark.relation_delegate_class(host).prepend(changed) }
      story = type("Changed") { field :it, returned; class_eval "def it = object.comments.#{asked}", __FILE__, __LINE__ }
      assert_plan("{ stories { it #{"{ body }" if returned == Comment} } }", schemas({ stories: [[story], -> { owner.order(:id) }] }), aside: owner)
    end
  end

  connection = TestDatabase.connect
  connection.exec("CREATE TABLE chain_marks (id bigserial PRIMARY KEY, post_id bigint, at timestamptz, name text)")
  connection.exec("INSERT INTO chain_marks (post_id, at, name) SELECT i % 8, clock_timestamp(), 'mark ' || i % 3 || ' t' || i % 2 FROM generate_series(1, 20) i")
  connection.close

  # Stands for an attribute that is encrypted with the tenant's key.
  class Tenants < ActiveRecord::Type::String
    class << self
      attr_accessor :tenant
    end

    def serialize(value) = value && "#{value} t#{self.class.tenant}"
  end

  class Mark < ActiveRecord::Base
    self.table_name = "chain_marks"
    attribute :name, Tenants.new
  end

  class Marked < ActiveRecord::Base
    self.table_name = "posts"
    has_many :marks, foreign_key: :post_id, class_name: "ChainsTest::Mark"
    has_many :past, -> { where("at <= 'now'").order(:id) }, foreign_key: :post_id, class_name: "ChainsTest::Mark"
    has_many :since, -> { where("at >= '2020-01-01 06:00'").order(:id) }, foreign_key: :post_id, class_name: "ChainsTest::Mark"
    { jan: "Jan 1 2020 06:00", digits: "20200101 060000", dots: "1.1.2020 06:00" }
      .merge(escaped: "", commented: "").each do |name, time|
      sql = { escaped: "E'it\\'s' <> '' AND at >= '20200101 060000'", commented: "/* what's new */ at >= '20200101 060000'" }
      has_many name, -> { where(sql.fetch(name) { "at >= '#{time}'" }).order(:id) }, foreign_key: :post_id, class_name: "ChainsTest::Mark"
    end
    has_many :named, -> { where(name: "mark 1").order(:id) }, foreign_key: :post_id, class_name: "ChainsTest::Mark"
  end

  def marked(&body)
    mark = type("Mark") { field :id, GraphQL::Types::ID }
    schemas({ posts: [[type("Marked") { class_exec(mark, &body) }], -> { Marked.order(:id) }] })
  end

  # The server makes a time of it when a statement is prepared.
  def test_a_literal_that_is_a_time
    schemas = marked { |mark| field :it, [mark]; def it = object.marks.where("at <= 'now'").order(:id); field :past, [mark] }
    2.times do
      assert_plan("{ posts { it { id } past { id } } }", schemas)
      Mark.connection.execute("INSERT INTO chain_marks (post_id, at) SELECT i, clock_timestamp() FROM generate_series(1, 3) i")
    end
  end

  # It takes it for one of the session's time zone.
  def test_a_literal_that_is_a_time_of_a_zone
    Mark.connection.execute("INSERT INTO chain_marks (post_id, at) VALUES (1, '2020-01-01 00:00+00')")
    schemas = marked { |mark| field :it, [mark]; def it = object.marks.where("at >= '2020-01-01 06:00'").order(:id); %i[since jan digits dots escaped commented].each { |name| field name, [mark] } }
    found = %w[UTC Asia/Tokyo UTC].map do |zone|
      Mark.connection.execute("SET TIME ZONE '#{zone}'")
      2.times { assert_plan("{ posts { it { id } since { id } jan { id } digits { id } dots { id } } }", schemas) }
      2.times { assert_same_twice("{ posts { escaped { id } commented { id } } }", schemas) }
      Marked.find(1).since.count
    end
    assert_equal [0, 1, 0], found.map { |count| count - found.first }
  ensure
    Mark.connection.execute("SET TIME ZONE 'UTC'")
  end

  def test_a_literal_that_is_written_by_who_asks
    schemas = marked do |mark|
      field(:it, INT) { argument :name, String, required: true }
      def it(name:) = object.marks.where(name: name).count
      field :found, [mark]
      def found = object.marks.where(name: "mark 1").order(:id)
      field :named, [mark]
    end
    [0, 1].each do |tenant|
      Tenants.tenant = tenant
      assert_plan("{ posts { it(name: \"mark 2\") found { id } named { id } } }", schemas)
    end
  end

  class Watched < ActiveRecord::Base
    self.table_name = "posts"
    has_many :audits, foreign_key: :post_id
    has_many :divided, -> { where("1 / (post_id - 3) > 0") }, foreign_key: :post_id, class_name: "Audit"
  end

  # What fails, ends it.
  def test_inside_a_transaction_of_another_database
    audit = type("Watching") { field :note, String }
    story = type("Watched") { field :count, INT; def count = object.audits.where("1 / (post_id - 3) > 0").count; field :divided, [audit] }
    loud = type("LoudWatched", story) { field :loud, String; def loud = object.title.dup.upcase }
    schemas = schemas({ stories: [[story], -> { Watched.order(:id) }], loud: [[loud], -> { Watched.order(:id) }] })
    ["{ stories { count } }", "{ stories { divided { note } } }", "{ loud { loud count } }", "{ loud { loud divided { note } } }"].each do |query|
      inside = ->(run) { Audit.transaction { run.call; raise ActiveRecord::Rollback } }
      assert_plan(query, schemas, aside: Watched, errors: :any, around: inside)
    end
  end

  # A resolver that comes before may have loaded it, added to it, or changed its key.
  def test_after_a_change
    changes = { load: "object.comments.load", build: "object.comments.build(body: 'new')" }
    changes.each do |name, code|
      story = type("Changed") { field :first, String; field :it, [Comment]; field :count, INT; field :one, Comment }
      story.class_eval <<~RUBY, __FILE__, __LINE__ + 1
        def first = (#{code}; "#{name}")
        def it = object.comments.order(:id)
        def count = object.comments.count
        def one = object.comments.first
      RUBY
      schemas = schemas({ stories: [[story], -> { Story.order(:id) }] })
      # (Execution::Next: see docs/internals.md.)
      behind = Engine::NEXT ? [] : ["it { body } first count one { body }", "count one { body } it { body } first"]
      ["first it { body } count one { body }", *behind].each do |fields|
        assert_plan("{ stories { #{fields} } }", schemas, aside: Story)
      end
    end
  end

  def test_after_a_change_of_the_key
    story = type("Changed") { field :first, String; field :it, [Comment]; field :count, INT }
    story.class_eval { def first = (object.id = 4; "4"); def it = object.comments.order(:id); def count = object.comments.count }
    assert_plan("{ stories { first it { body } count } }", schemas({ stories: [[story], -> { Story.order(:id) }] }), aside: Story)
  end
end
