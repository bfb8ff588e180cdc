# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../wire/subprocess"

# What a scope's code says by itself; and that what ActiveRecord is asked is the same however often it is asked.
class FixedScopeTest < PipeloaderTest
  include Subprocess

  class Entry < ActiveRecord::Base
    self.table_name = "comments"
  end

  # Has a clause of its own.
  class Loud < ActiveRecord::Base
    self.table_name = "comments"
    scope :limit_to, -> { limit(1) }
    relation_delegate_class(ActiveRecord::Relation).class_eval { def order(*) = super.reverse_order }
  end

  class Page < ActiveRecord::Base
    self.table_name = "posts"
    OF = { class_name: "FixedScopeTest::Entry", foreign_key: :post_id }.freeze
    has_many :entries, -> { where(score: 1..).order(:id) }, **OF
    has_many :told, -> { where(score: FixedScopeTest.least..).order(:id) }, **OF
  end

  class Late < ActiveRecord::Base
    self.table_name = "comments"
  end

  # Its rows are those of whoever asks, as some gems for tenants have it.
  class Tenant < ActiveRecord::Base
    self.table_name = "comments"
    def self.relation = super.where(score: FixedScopeTest.least..)
    private_class_method :relation
  end

  class Chapter < ActiveRecord::Base
    self.table_name = "posts"
    has_many :lates, -> { order(:id) }, class_name: "FixedScopeTest::Late", foreign_key: :post_id
    has_many :tenants, -> { order(:id) }, class_name: "FixedScopeTest::Tenant", foreign_key: :post_id
    has_many :leased, -> { order([:id].first) }, class_name: "FixedScopeTest::Tenant", foreign_key: :post_id
  end

  class << self
    attr_accessor :least
  end

  A_SCORE = 3

  def test_fixed
    [-> { order(:id) }, -> { offset(1) }, -> { order(id: :desc) }, -> { where(body: nil).where.not(score: [1, 2]) }, -> { where("score > ?", 3).limit(4) },
     -> { where("score > 2").order("body", :id) }, -> { self.where(comments: { body: "x" }).distinct },
     proc { where(score: 1..4) }, -> { reorder(:score) }, -> {}].each { |scope| assert fixed?(scope), told(scope) }
  end

  def test_others
    score = 3
    [-> { where(score: score) }, -> { where(score: A_SCORE) }, -> { where(score: FixedScopeTest.least) }, -> { order(:id) if limit(1) },
     ->(post) { where(post_id: post.id) }, -> { where("score > #{score}") }, -> { merge(limit(1)) }, -> { extending(Comparable) },
     -> { where(**{ score: score }) }, -> { where(score: @score) }, -> { where(score: rand) }, :order.to_proc,
     -> { order(:id) rescue limit(1) }, Object.new,
     -> { limit(1).tap(&:load) }].each { |scope| refute fixed?(scope), told(scope) }
  end

  def test_clauses_of_somebodys_own
    assert Pipeloader::FixedScope.fixed?(Loud, -> { where(score: 1) })
    refute Pipeloader::FixedScope.fixed?(Loud, -> { where(score: 1).order(:id) })
    refute Pipeloader::FixedScope.fixed?(Loud, -> { limit_to })
  end

  def test_as_an_association_has_it
    assert fixed?(Page.reflect_on_association(:entries).scope)
    refute fixed?(Page.reflect_on_association(:told).scope)
  end

  # The code tells nothing of it.
  def test_refined
    assert_equal :opaque, (in_process do
      refute Pipeloader::KnownMethods.refined?(:offset), "nobody has, as yet"
      require_relative "../support/refined_scope"
      fixed?(REFINED_SCOPE) ? :fixed : :opaque
    end)
  end

  # Its `relation` is asked for each read, and so are those of a scope that isn't fixed.
  def test_a_class_with_relations_of_its_own
    [1, 4].each do |least|
      FixedScopeTest.least = least
      read = ->(chapter) { [chapter.tenants, chapter.leased].map { |it| it.map(&:id) } }
      found = Chapter.order(:id).map(&read)
      assert_equal found, Pipeloader.map(Chapter.order(:id), &read) # from the third time on it is foreseen
      refute_empty found.flatten
    end
  end

  # Whatever is around, or has come since.
  def test_said_anew
    assert_equal(*both)
    assert_equal(*Late.where(score: 4..).scoping { both })
    assert_equal(*Late.unscoped { both })
    Late.send(:default_scope) { where(score: 3..) }
    assert_equal(*both)
    assert_equal(*Late.unscoped { both })
    Late.attribute(:score, :string)
    Late.send(:default_scope) { where(score: "4") }
    assert_equal(*both)
    Late.reset_column_information
    assert_equal(*both)
  end

  # ActiveRecord asks it no default scope while it asks one of its family.
  def test_asked_by_a_default_scope
    Late.send(:default_scope) { where(score: 2..) }
    assert_equal(*both)
    registry = ActiveRecord::Scoping::ScopeRegistry.instance
    registry.set_ignore_default_scope(Late.base_class, true)
    assert_equal(*both)
    refute_empty both.first.flatten
  ensure
    registry&.set_ignore_default_scope(Late.base_class, nil)
  end

  private

  # What a serial loop finds, and what is found together: both times, as at first each one reads for itself, and the third time
  # it is foreseen.
  def both
    nowhere = __LINE__ + 1000 + (@asked = @asked.to_i + 1) # nothing is known of a block there
    read = eval("->(chapter) { chapter.lates.map(&:attributes) }", binding, __FILE__, nowhere)
    3.times.map { [Chapter.order(:id).map(&read), Pipeloader.map(Chapter.order(:id), &read)] }.transpose
  end

  def fixed?(scope) = Pipeloader::FixedScope.fixed?(Entry, scope)
  def told(scope) = scope.respond_to?(:source_location) ? scope.source_location.inspect : scope.inspect
end
