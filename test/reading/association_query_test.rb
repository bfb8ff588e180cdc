# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/sibling_fields"
require_relative "../support/coalesced_from_two"

# Readers of associations that need nothing of the owner but its keys answer as ActiveRecord's own way does, by objects and by
# events; and where anything else could have a say, that is the way they go.
class AssociationQueryTest < PipeloaderTest
  include SiblingFields
  include CoalescedFromTwo

  # Takes note of which way they go.
  module Ways
    TAKEN = []

    def read_for(...) = super.tap { |read| TAKEN << !read.nil? }
  end
  Pipeloader::AssociationQuery.prepend(Ways)

  # Global state that scopes ask.
  class << self
    attr_accessor :asked
  end

  class Note < ActiveRecord::Base
    self.table_name = "comments"
  end

  class Kept < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { where(score: 3..).order(:id) }
    belongs_to :book, class_name: "AssociationQueryTest::Book", foreign_key: :post_id, optional: true
  end

  class Asked < ActiveRecord::Base
    self.table_name = "comments"
    default_scope { where(score: AssociationQueryTest.asked) }
    belongs_to :commenter, class_name: "User", optional: true
  end

  class Told < ActiveRecord::Base
    self.table_name = "comments"
    SEEN = []
    after_find { SEEN << [:found, id] }
    after_initialize { SEEN << [:made, id] }
    belongs_to :book, class_name: "AssociationQueryTest::Book", foreign_key: :post_id, optional: true, inverse_of: :told
  end

  class Own < ActiveRecord::Base
    self.table_name = "comments"
    def self.find_by_sql(...) = super.each { |it| it.body = "own" }
  end

  class Book < ActiveRecord::Base
    self.table_name = "posts"
    NOTES = { class_name: "AssociationQueryTest::Note", foreign_key: :post_id }.freeze
    has_many :notes, **NOTES
    has_many :ordered, -> { order(:score, :id) }, **NOTES
    has_many :scored, -> { where(score: AssociationQueryTest.asked).order(:id) }, **NOTES
    has_many :quoted, -> { where("score >= #{AssociationQueryTest.asked}").order(:id) }, **NOTES
    has_many :dated, -> { where("now() > ?", Time.at(0)).where.not(body: nil).order(:id) }, **NOTES
    has_many :two, -> { order(id: :desc).limit(2).offset(1) }, **NOTES
    has_many :bodies, -> { distinct.select(:body, :post_id) }, **NOTES
    has_many :locked, -> { lock }, **NOTES
    has_many :readonly_notes, -> { readonly.order(:id) }, **NOTES
    has_many :strict_notes, -> { strict_loading.order(:id) }, **NOTES
    has_many :extended, -> { extending(Loud).order(:id) }, **NOTES
    has_many :none, -> { none }, **NOTES
    has_many :like_owner, ->(book) { where(score: ..book.likes).order(:id) }, **NOTES
    has_many :by_likes, -> { order(:id) }, primary_key: :likes, **NOTES
    has_many :by_author, -> { order(:id) }, primary_key: :author_id, **NOTES
    has_many :by_author_plainly, primary_key: :author_id, **NOTES
    has_one :last_note, -> { order(id: :desc) }, **NOTES
    has_one :note, **NOTES
    has_many :kept, class_name: "AssociationQueryTest::Kept", foreign_key: :post_id
    has_many :kept_few, -> { limit(2) }, class_name: "AssociationQueryTest::Kept", foreign_key: :post_id
    has_many :told, class_name: "AssociationQueryTest::Told", foreign_key: :post_id, inverse_of: :book
    has_many :told_in_order, -> { order(id: :desc) }, class_name: "AssociationQueryTest::Told", foreign_key: :post_id, inverse_of: :book
    has_many :asked, -> { order(:id) }, class_name: "AssociationQueryTest::Asked", foreign_key: :post_id
    has_many :asked_plainly, class_name: "AssociationQueryTest::Asked", foreign_key: :post_id
    has_many :asked_commenters, through: :asked_plainly, source: :commenter
    has_many :own, class_name: "AssociationQueryTest::Own", foreign_key: :post_id
    has_many :taggings, foreign_key: :post_id
    has_many :tags, through: :taggings
    has_many :tags_by_name, -> { order(:name) }, through: :taggings, source: :tag
    belongs_to :author, class_name: "User", optional: true
    belongs_to :strict_author, class_name: "User", foreign_key: :author_id, optional: true, strict_loading: true
    belongs_to :first_author, -> { where(id: 1..4) }, class_name: "User", foreign_key: :author_id, optional: true
  end

  module Loud
    def records = super.each { |it| it.body = it.body.upcase }
  end

  def setup
    super
    self.class.asked = 3
    Told::SEEN.clear
  end

  IDS = (1..6).to_a

  # The same by objects, what they have loaded, and events, whichever way it goes.
  #
  # @return [Array] results of the piped run
  def assert_same_reads(taken, ids = IDS, &block)
    expected = piped = nil
    plain, with = schemas_of(ids.size)
    answers_of(with, ids, &block)
    plain_events = WireCounter.events("sql.active_record") { around { expected = answers_of(plain, ids, &block) } }
    Ways::TAKEN.clear
    piped_events = WireCounter.events("sql.active_record") { around { piped = answers_of(with, ids, &block) } }
    assert_equal expected.map { |it| Comparison.of(it) }, piped.map { |it| Comparison.of(it) }
    plain_events, piped_events = [plain_events, piped_events].map do |events|
      events.reject { |it| it[:name] == "SCHEMA" }.map { |it| Comparison.event(it) }.sort
    end
    assert_equal plain_events.tally, piped_events.tally, "only plain: #{plain_events - piped_events}\nonly piped: #{piped_events - plain_events}"
    assert_includes taken ? [[true]] : [[], [false]], Ways::TAKEN.uniq unless taken == :either
    piped
  end

  def around = @cached ? ActiveRecord::Base.cache { yield } : yield

  def book(id) = Book.find_by(id: id)

  %i[author first_author notes ordered scored quoted two last_note note by_likes kept kept_few told told_in_order tags].each do |name|
    define_method("test_#{name}") { assert_same_reads(true) { |id| read(book(id), name) } }
  end

  %i[dated bodies locked readonly_notes strict_notes extended none like_owner own tags_by_name].each do |name|
    define_method("test_#{name}_goes_its_own_way") { assert_same_reads(false) { |id| read(book(id), name) } }
  end

  # Rows that nothing orders come as the server's plan has them.
  def read(owner, name)
    return owner.tags.sort_by(&:id) if name == :tags

    owner.public_send(name).then { |it| it.is_a?(ActiveRecord::Relation) ? it.to_a : it }
  end

  # -- keys ------------------------------------------------------------------------------------------------------------

  # `= NULL` finds nothing; but where there is a scope ActiveRecord writes IS NULL.
  def test_keys_that_are_null
    Note.create!(body: "of nobody")
    assert_same_reads(:either) { |id| book(id).by_author.to_a }
    assert_same_reads(:either) { |id| book(id).by_author_plainly.to_a }
    assert_same_reads(:either) { |id| Book.new(id: id).author }
  ensure
    Note.where(body: "of nobody").delete_all
  end

  def test_keys_that_are_out_of_range
    assert_same_reads(:either) { |id| Book.new(author_id: id.even? ? 2**80 : id).author }
    assert_same_reads(:either) { |id| Book.new(author_id: id.even? ? 2**80 : id).first_author }
  end

  def test_keys_that_were_assigned
    assert_same_reads(true) { |id| book(1).tap { |it| it.author_id = id }.author }
    assert_same_reads(true) do |id|
      one = book(id)
      [one.author, one.tap { |it| it.author_id = 8 - id }.author]
    end
  end

  def test_keys_that_were_not_loaded
    assert_same_reads(:either) { |id| Book.select(:id).find(id).author }
    assert_same_reads(:either) { |id| Book.select(:id, :author_id).find(id).then { |it| [it.author, it.ordered.to_a] } }
    assert_same_reads(:either) { |id| Book.select(:title).find_by(id: id).ordered.to_a }
  end

  def test_polymorphic_composite_and_self_referring
    assert_same_reads(true) { |id| Attachment.find(id).attachable }
    assert_same_reads(true) { |id| User.find(id).attachments.to_a }
    assert_same_reads(true) { |id| LineItem.order(:number).offset(id % 4).first.notes.to_a }
    assert_same_reads(true) { |id| Employee.find(id).then { |it| [it.manager, it.reports.to_a] } }
  end

  # -- scopes ----------------------------------------------------------------------------------------------------------

  # What a scope says is asked each time.
  def test_scopes_that_change
    assert_same_reads(true) do |id|
      AssociationQueryTest.asked = id
      [book(id), self.class.asked = id].first.scored.tap { AssociationQueryTest.asked = id }.to_a
    end
    [0, 9, 3, nil, [1, 2], 1..4].each do |value|
      self.class.asked = value
      assert_same_reads(true) { |id| book(id).scored.to_a }
    end
  end

  def test_default_scopes_that_change
    [0, 9, 3, nil, [1, 2], 1..4].each do |value|
      self.class.asked = value
      assert_same_reads(true) { |id| book(id).then { |it| [it.asked.to_a, it.asked_plainly.sort_by(&:id)] } }
      assert_same_reads(false) { |id| book(id).asked_commenters.map(&:id).sort }
    end
  end

  # With the time of day in it no two are the same: they aren't kept.
  def test_scopes_that_never_say_the_same
    40.times do |value|
      self.class.asked = value / 4.0
      assert_same_reads(:either, [1, 2]) { |id| book(id).quoted.to_a }
    end
    reads = Pipeloader::AssociationQuery.of(Note, Book.reflect_on_association(:quoted))
    assert_operator reads.instance_variable_get(:@reads).size, :<=, 17
    refute reads.instance_variable_get(:@readable)
  ensure
    Note.initialize_find_by_cache
  end

  def test_scoping_and_unscoped_blocks
    assert_same_reads(:either) { |id| book(id).then { |it| Note.where(score: 4..).scoping { it.ordered.to_a } } }
    assert_same_reads(:either) { |id| book(id).then { |it| Note.where(score: 4..).scoping(all_queries: true) { [it.ordered.to_a, it.notes.to_a] } } }
    assert_same_reads(:either) { |id| book(id).then { |it| Kept.unscoped { it.kept.to_a } } }
    assert_same_reads(true) { |id| book(id).then { |it| User.unscoped { it.notes.to_a } } }
  end

  # In some siblings only, which share the statement with the others.
  def test_scoping_in_one_of_them
    assert_same_reads(:either) { |id| book(id).then { |it| id.even? ? Note.where(score: 4..).scoping { it.notes.to_a } : it.notes.to_a } }
  end

  # -- records ---------------------------------------------------------------------------------------------------------

  def test_callbacks_run_for_each_in_order
    seen = schemas_of(3).map do |schema|
      2.times { Told::SEEN.clear and answers_of(schema, [1, 2, 3]) { |id| book(id).told_in_order.to_a } }
      Told::SEEN.dup
    end
    assert_equal(*seen)
  end

  def test_objects_are_each_reads_own
    records = assert_same_reads(true) { |id| book(id).tap { |it| it.author_id = 1 + (id % 2) }.author }
    assert_equal IDS.size, records.map(&:object_id).uniq.size
    records.first.name << " changed"
    refute_includes records.drop(1).map(&:name), records.first.name
  end

  def test_inverses
    results = assert_same_reads(true) { |id| [book(id).told.to_a, book(id).told_in_order.to_a].flatten.map { |it| [it.association(:book).loaded?, it.book] } }
    assert(results.flatten(1).all?(&:first))
    assert_same_reads(true) { |id| book(id).then { |it| it.told.map { |told| told.book.equal?(it) } + it.told_in_order.map { |told| told.book.equal?(it) } } }
  end

  def test_strict_loading
    assert_same_reads(false) { |id| book(id).strict_author }
    assert_same_reads(:either) { |id| Book.strict_loading.find(id).author }
    assert_same_reads(:either) { |id| Book.strict_loading.find(id).ordered.to_a }
    assert_same_reads(true) { |id| book(id).tap { |it| it.strict_loading!(mode: :n_plus_one_only) }.then { |it| (it.told.to_a + it.ordered.to_a + [it.author]).compact.map { |record| [record.strict_loading?, record.strict_loading_mode] } } }
  end

  def test_children_that_are_not_saved
    assert_same_reads(true) { |id| book(id).tap { |it| it.ordered.build(body: "new"); it.notes.build(body: "new") }.then { |it| [it.ordered.to_a, it.notes.to_a] } }
    assert_same_reads(true) do |id|
      one = book(id)
      one.ordered.find { |it| it.body = "changed" }
      one.ordered.reload.map(&:body)
    end
  end

  def test_loaded_and_reset
    assert_same_reads(true) { |id| book(id).then { |it| [it.author, it.author, it.reload_author, it.notes.to_a, it.notes.reload.to_a, it.association(:ordered).load_target] } }
    assert_same_reads(:either) { |id| Book.preload(:author, :ordered).find(id).then { |it| [it.author, it.ordered.to_a] } }
  end

  # Siblings that ask the same object.
  def test_one_owner
    [[1, 1, 1], [2, 2, 1]].each do |ids|
      owners = {}
      results = assert_same_reads(:either, ids) { |id| [(owners[[Fiber[:x], id]] ||= Book.find(id)).author, owners.clear && nil].first }
      assert_equal ids.size, results.size
    end
  end

  # -- around ----------------------------------------------------------------------------------------------------------

  def test_query_cache
    @cached = true
    assert_same_reads(true) { |id| book(id).then { |it| [it.author, it.ordered.to_a, it.notes.to_a, book(id).notes.to_a, book(id).author, book(id).ordered.to_a] } }
    assert_same_reads(true, [1, 1, 2, 2]) { |id| book(id).then { |it| [it.author, it.ordered.to_a, Note.uncached { it.notes.to_a }] } }
  end

  # What it has isn't asked for again.
  def test_query_cache_hits
    statements = ActiveRecord::Base.cache do
      answers_of(schema = schemas_of(3).last, [1, 2, 3]) { |id| book(id).author && book(id).ordered.to_a }
      WireCounter.trips { answers_of(schema, [1, 2, 3]) { |id| book(id).author && book(id).ordered.to_a } }
    end
    assert_empty statements
  end

  # ActiveRecord asks for them after each statement.
  def test_warnings_of_the_server
    User.reset_column_information # nothing known yet
    ActiveRecord.db_warnings_action = :log
    assert_same_reads(true) { |id| book(id).author }
    assert_empty(WireCounter.events("burst.pipeloader") { answers_of(schemas_of(3).last, [1, 2, 3]) { |id| Book.new(author_id: id).author } })
  ensure
    ActiveRecord.db_warnings_action = :ignore
    assert_same_reads(true) { |id| book(id).author }
  end

  def test_in_a_transaction
    Book.transaction do
      assert_same_reads(true) { |id| book(id).then { |it| [it.author, it.ordered.to_a] } }
    end
    assert_same_reads(:either) { |id| Book.transaction { book(id).then { |it| [it.author, it.ordered.to_a] } } }
  end

  def test_without_parking_and_uncoalesced
    assert_same_reads(true) { |id| book(id).then { |it| Pipeloader.without_parking { [it.author, it.ordered.to_a] } } }
    assert_same_reads(true) { |id| book(id).then { |it| Pipeloader.uncoalesced { [it.author, it.ordered.to_a] } } }
  end

  def test_without_prepared_statements
    ActiveRecord::Base.establish_connection(TestDatabase.hash(prepared_statements: false))
    assert_same_reads(false) { |id| book(id).then { |it| [it.author, it.ordered.to_a] } }
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  # Of the owner, too: it keeps ActiveRecord from keeping a statement.
  def test_default_scopes_without_prepared_statements
    ActiveRecord::Base.establish_connection(TestDatabase.hash(prepared_statements: false))
    assert_same_reads(false) { |id| book(id).then { |it| it.asked_plainly.sort_by(&:id) + it.asked_commenters.sort_by(&:id) } }
    assert_same_reads(false) { |id| Kept.find_by(post_id: id)&.book }
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
  end

  def test_transformed
    ActiveRecord.query_transformers << ->(sql, _connection = nil) { "#{sql} /* test */" }
    assert_same_reads(true) { |id| book(id).then { |it| [it.author, it.ordered.to_a] } }
  ensure
    ActiveRecord.query_transformers.pop
  end

  def test_only_reads_allowed
    assert_same_reads(true) { |id| ActiveRecord::Base.while_preventing_writes { book(id).then { |it| [it.author, it.ordered.to_a] } } }
  end

  def test_errors_are_each_fields_own
    assert_same_reads(:either) do |id|
      one = book(id)
      raise "of #{id}" if id == 2

      id == 3 ? Post.find(1000) : one.author
    end
    connection = ActiveRecord::Base.lease_connection
    connection.execute("ALTER TABLE comments RENAME TO comments_away")
    assert_same_reads(:either) { |id| book(id).ordered.to_a }
  ensure
    connection.execute("ALTER TABLE comments_away RENAME TO comments")
  end

  # -- what is kept ----------------------------------------------------------------------------------------------------

  def test_columns_that_come_and_go
    assert_same_reads(true) { |id| book(id).then { |it| [it.ordered.to_a, it.notes.to_a] } }
    Note.ignored_columns = ["body"]
    assert_same_reads(true) { |id| book(id).then { |it| [it.ordered.to_a, it.notes.to_a] } }
    refute_includes book(1).ordered.to_sql, "*"
    Note.ignored_columns = []
    results = assert_same_reads(true) { |id| book(id).then { |it| [it.ordered.to_a, it.notes.to_a] } }
    assert(results.flatten.all? { |it| it.has_attribute?("body") })
  end

  def test_classes_that_come_later
    owner = Class.new(ActiveRecord::Base) { self.table_name = "users"; def self.name = "AssociationQueryTest::Driver" }
    part = Class.new(Vehicle) { def self.name = "Car" }
    self.class.const_set(:Driver, owner)
    self.class.const_set(:Part, part)
    owner.has_many :cars, -> { order(:id) }, class_name: "AssociationQueryTest::Part", foreign_key: :user_id
    assert_same_reads(true, [1, 2, 3, 4]) { |id| owner.find(id).cars.map(&:id) }
    later = Class.new(part) { def self.name = "Bike" }
    assert_same_reads(true, [1, 2, 3, 4]) { |id| owner.find(id).cars.map(&:name) }
    assert_includes part.descendants, later
  ensure
    self.class.send(:remove_const, :Part)
    self.class.send(:remove_const, :Driver)
  end

  def test_an_association_that_is_defined_again
    owner = Class.new(ActiveRecord::Base) { self.table_name = "posts"; def self.name = "AssociationQueryTest::Again" }
    [-> { order(:id) }, -> { order(id: :desc) }, nil, -> { where(score: 5..).order(:id) }].each do |scope|
      owner.has_many :notes, *scope, class_name: "AssociationQueryTest::Note", foreign_key: :post_id
      assert_same_reads(true) { |id| owner.find(id).notes.to_a }
    end
  end
end
