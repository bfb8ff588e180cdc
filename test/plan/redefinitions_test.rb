# frozen_string_literal: true

require_relative "../support/plans"

# Methods of models that become others once plans know them: stubs of an application's tests, above all.
class RedefinitionsTest < PlanTest
  class Root < ActiveRecord::Base
    self.abstract_class = true
  end

  class Writer < Root
    self.table_name = "users"
  end

  class Entry < Root
    self.table_name = "posts"
    belongs_to :author, class_name: "RedefinitionsTest::Writer"
  end

  class WriterType < Schemas::Base
    graphql_name "RedefinedWriter"
    field :id, ID
    field :name, String
  end

  class EntryType < Schemas::Base
    graphql_name "RedefinedEntry"
    field :title, String
    field :author, WriterType
    field :opaque, WriterType
    def opaque = object.author.presence
  end

  QUERIES = ["{ entries { title author { name } } }", "{ entries { title opaque { id name } } }", "{ writers { id name } }"].freeze

  # {what changes => [the change, its end]}
  CHANGES = {
    defined: [-> { Writer.class_eval { def name = "#{super}!" } }, -> { Writer.remove_method(:name) }],
    defined_above: [-> { Root.class_eval { def name = "#{self[:name]}!" } }, -> { Root.remove_method(:name) }],
    association: [-> { Entry.class_eval { def author = super.dup.tap { |it| it.id, it.name = 7, "stub" } } }, -> { Entry.remove_method(:author) }],
    aliased: [-> { Writer.class_eval { alias_method :name, :created } }, -> { Writer.remove_method(:name) }],
    by_code: [-> { Writer.define_method(:name) { "by code" } }, -> { Writer.remove_method(:name) }]
  }.freeze

  Writer.class_eval { def created = "created" }

  def pair = schemas({ entries: [[EntryType], -> { Entry.order(:id).limit(5) }], writers: [[WriterType], -> { Writer.order(:id).limit(5) }] })

  CHANGES.each do |name, (change, back)|
    define_method(:"test_#{name}") do
      schemas = pair
      before = answers(schemas)
      begin
        change.call
        after = answers(schemas)
      ensure
        back.call
      end
      assert_equal before, answers(schemas)
      name == :defined_above ? assert_equal(before, after) : refute_equal(before, after)
      assert_plan(QUERIES.last, schemas) # It has a plan again.
    end
  end

  # A module stays where it was put. mocha prepends one for each stub.
  %w[prepend include].each do |way|
    define_method(:"test_#{way}") do
      made = Class.new(Writer) { def self.name = "Made" }
      schemas = schemas({ writers: [[WriterType], -> { made.order(:id).limit(3) }] })
      before = Array.new(3) { both("{ writers { id name } }", schemas) }.uniq
      made.public_send(way, Module.new { def name = "#{super}!" })
      after = Array.new(3) { both("{ writers { id name } }", schemas) }.uniq
      assert_equal [1, 1], [before.size, after.size]
      [before, after].each { |((plain, piped))| assert_equal plain, piped }
      refute_equal before, after
    end
  end

  # A new subclass changes nothing of its superclass.
  def test_a_class_that_is_derived
    schemas = pair
    answers(schemas)
    known = Writer.instance_variable_get(:@pipeloader_plain)
    Class.new(Writer) { def name = "derived" }
    answers(schemas)
    assert_same known, Writer.instance_variable_get(:@pipeloader_plain)
  end

  # Threads that meet a model together go by one proof of it: a redefinition outdates that.
  def test_threads_that_meet_a_model_together
    met = Queue.new
    made = Class.new(Writer) do
      def self.name = "Made"
      define_singleton_method(:attribute_types) do
        gate = Thread.current[:gate]
        (met << true) && gate.pop if gate
        super()
      end
    end
    made.attribute_types # its columns are known
    gates = Array.new(2) { Queue.new }
    threads = gates.map { |gate| Thread.new { (Thread.current[:gate] = gate) && Pipeloader::PlainModel.of(made) } }
    2.times { met.pop }
    gates.each(&:close)
    known = threads.map(&:value)
    assert_same(*known)
    made.class_eval { def name = "stub" }
    refute_predicate known.first, :current?
  end

  # Not even where all is again as it was when that was proved.
  def test_a_proof_that_was_replaced_holds_no_more
    made = Class.new(ActiveRecord::Base) { self.table_name = "vehicles" }
    made.define_singleton_method(:name) { "Made" }
    schemas = schemas({ vehicles: [[WriterType], -> { made.where(type: nil).order(:id) }] })
    made.insert!({ name: "vehicle", type: nil })
    first, second = "{ vehicles { id name } }", "{ vehicles { name } }"
    3.times { assert_equal(*both(first, schemas)) }
    heir = Class.new(made) { def self.name = "Heir" }
    3.times { assert_equal(*both(second, schemas)) }
    made.class_eval { def name = "stub #{id}" }
    3.times { assert_equal(*both(second, schemas)) }
    ActiveSupport::DescendantsTracker.clear([heir])
    3.times { assert_equal(*both(first, schemas)) }
  ensure
    made&.where(type: nil)&.delete_all
  end

  class Chain < Root
    self.table_name = "users"
    def friend = Chain.find_by(id: id + 1)
  end

  class ChainType < Schemas::Base
    graphql_name "RedefinedChain"
    field :name, String
    field :friend, self
    field :via, self
    def via = object.friend.presence
  end

  # Which graphql-ruby asks first, once it's there.
  def test_resolver_methods_that_come_and_go
    schemas = schemas({ chains: [[ChainType], -> { Chain.order(:id).limit(2) }] })
    query = "{ chains { name friend { name } via { name } } }"
    before = Array.new(4) { both(query, schemas) }.uniq
    ChainType.class_eval { def friend = Chain.first }
    after = Array.new(4) { both(query, schemas) }.uniq
    ChainType.remove_method(:friend)
    back = Array.new(4) { both(query, schemas) }.uniq
    own = ChainType.instance_method(:via)
    ChainType.remove_method(:via)
    without = Array.new(4) { both(query, schemas) }.uniq
    [before, after, back, without].each { |((plain, piped), *others)| assert_equal([plain, []], [piped, others]) }
    assert_equal before, back
    assert_equal 3, [before, after, without].uniq.size
  ensure
    ChainType.define_method(:via, own) if own
  end

  # What a chain or a guard asks by a helper, or by `super`.
  def test_helpers_of_the_context
    base = Class.new(Schemas::Base) { def viewer_id = context[:viewer] }
    entry = Class.new(base) do
      graphql_name "HelpedEntry"
      field :own, "Boolean"
      field :count, Integer
      def own = object.author_id == viewer_id
      def count = object.comments.where(commenter_id: given).count
      def given = viewer_id
    end
    model = Class.new(Root) do
      self.table_name = "posts"
      has_many :comments, foreign_key: :post_id
      def self.name = "Helped"
    end
    schemas = schemas({ entries: [[entry], -> { model.order(:id) }] })
    ask = -> { Array.new(3) { schemas.map { |schema| schema.execute("{ entries { own count } }", context: { viewer: 1, other: 2 }).to_h.to_s } }.each { |it| assert_equal(*it) }.uniq }
    before = ask.call
    base.class_eval { remove_method(:viewer_id) && define_method(:viewer_id) { context[:other] } }
    after = ask.call
    entry.prepend(Module.new { def viewer_id = 3 })
    assert_equal 3, [*before, *after, *ask.call].uniq.size
  end

  def test_what_a_guard_calls_by_super
    base = Class.new(Schemas::Base) { def self.authorized?(object, context) = super && object.id < 99 }
    entry = Class.new(base) do
      graphql_name "GuardedEntry"
      field :title, String
      def self.authorized?(object, context) = super && object.id.positive?
    end
    schemas = schemas({ entries: [[entry], -> { Entry.order(:id) }] })
    ask = -> { Array.new(3) { both("{ entries { title } }", schemas) }.each { |it| assert_equal(*it) }.uniq }
    before = ask.call
    base.singleton_class.remove_method(:authorized?)
    base.define_singleton_method(:authorized?) { |object, context| super(object, context) && !object.is_a?(Entry) }
    assert_equal 2, [*before, *ask.call].uniq.size
  end

  # A class loads, and sends no statement, whatever class methods it has.
  def test_classes_with_methods_of_that_name
    answers(pair)
    made = nil
    statements = WireCounter.trips([]) do
      made = Class.new(Root) do
        self.table_name = "users"
        def self.descendants(of) = where(id: of..)
        def self.ancestors = where(id: 3)
        def self.subclasses = where(id: 3)
        def self.instance_variable_get(_) = raise("asked")
        def self.name = "Made"
        def first = 1
        define_method(:second) { 2 }
        remove_method :first
        include Module.new
      end
    end
    assert_empty statements
  ensure # others ask all models that there are
    made&.singleton_class&.class_eval { instance_methods(false).each { |name| remove_method(name) } }
  end

  class Either < GraphQL::Schema::Union
    possible_types WriterType, EntryType
    def self.resolve_type(object, _context) = object.is_a?(RedefinitionsTest::Writer) ? WriterType : EntryType
  end

  # {method of graphql-ruby's own that somebody replaces where it is => [where, by what, query]}
  REPLACED = {
    authorized?: [GraphQL::Schema::Field, "(object, arguments, context) = before(object, arguments, context) && name != %(name)", "{ writers { id name } }"],
    resolve: [GraphQL::Schema::Field, "(...) = before(...).then { |it| name == %(name) ? %(a name) : it }", "{ writers { id name } }"],
    with_extensions: [GraphQL::Schema::Field, "(...) = before(...).then { |it| name == %(name) ? %(a name) : it }", "{ writers { id name } }"],
    visible?: [GraphQL::Schema::Member::BaseDSLMethods, "(context) = before(context) && (context[:admin] || graphql_name != %(RedefinedWriter))", "{ either { __typename } }"]
  }.freeze

  # In a process of its own, as an application's initializer does it.
  REPLACED.each do |name, (host, code, query)|
    define_method(:"test_#{name.to_s.delete("?")}_of_graphql_rubys_own_module") do
      assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
        writers = -> { RedefinitionsTest::Writer.order(:id) }
        schemas = schemas({ writers: [[RedefinitionsTest::WriterType], writers], either: [[RedefinitionsTest::Either], writers] }) { use(GraphQL::Dataloader); use(GraphQL::Schema::Warden) }
        #{host}.class_eval do
          alias_method :before, :#{name}
          def #{name}#{code}
        end
        assert_aside "#{query}", schemas, model: RedefinitionsTest::Writer, errors: :any
      RUBY
    end
  end

  # A Ractor may define methods, but not read what the main one keeps of a class.
  def test_a_ractor
    assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
      Warning[:experimental] = false
      Pipeloader::PlainModel.of(RedefinitionsTest::Writer) # or nothing is looked at
      assert_equal :defined, Ractor.new(Class.new(RedefinitionsTest::Root)) { |it| it.class_eval("def foo = 1") && :defined }.take
    RUBY
  end

  # As above, of what is refined.
  def test_a_refinement_in_a_ractor
    assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
      Warning[:experimental] = false
      Pipeloader::KnownMethods.refined?(:strip)
      assert_equal :refined, Ractor.new { Module.new { refine(String) { def shouted = upcase } } && :refined }.take
    RUBY
  end

  private

  def both(query, schemas) = schemas.map { |schema| text_of(outcome { schema.execute(query).to_h }) }

  def answers(schemas)
    QUERIES.map do |query|
      3.times { assert_equal(*both(query, schemas)) }
      both(query, schemas).last
    end
  end
end
