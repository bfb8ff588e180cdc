# frozen_string_literal: true

require "pundit"
require_relative "../support/guard_cases"

# Guards of which Pundit finds the policy: `Pundit.policy!(context[:viewer], object).show?`.
class PoliciesFoundTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:found_docs) { |t| t.string :title; t.bigint :owner_id; t.boolean :hidden, null: false, default: false; t.integer :score; t.string :type; t.bigint :parent_id }
    create_table(:found_people) { |t| t.string :name; t.boolean :admin, null: false, default: false }
  end

  class Person < ActiveRecord::Base
    self.table_name = "found_people"
  end

  class Record < ActiveRecord::Base
    self.abstract_class = true
    self.table_name = "found_docs"
    self.inheritance_column = nil
  end

  class Doc < Record
    belongs_to :owner, class_name: "PoliciesFoundTest::Person", optional: true
    has_many :parts, -> { order(:id) }, class_name: "PoliciesFoundTest::Doc", foreign_key: :parent_id
  end

  class DocPolicy
    attr_reader :user, :record

    def initialize(user, record)
      @user = user
      @record = record
    end

    def show? = !record.hidden? && (user&.admin? || owns?)
    def admin? = user.admin?
    def named? = record.owner&.name != "nobody"
    def any? = true
    def only_refined_here? = true
    def odd? = record.class.name.end_with?("Doc")
    def failing? = record.score / (record.score - record.id)

    private

    def owns? = user && record.owner_id == user.id
  end

  # Each with something of its own that has a say in what Pundit finds, or what comes of it.
  class Named < Record; def self.policy_class = DocPolicy; end
  class NamedEach < Record; def policy_class = id.odd? ? DocPolicy : OtherPolicy; end
  class Renamed < Record; def model_name = ActiveModel::Name.new(self.class, nil, id.odd? ? "PoliciesFoundTest::Doc" : "PoliciesFoundTest::Other"); end
  class RenamedClass < Record; def self.model_name = ActiveModel::Name.new(self, nil, "PoliciesFoundTest::Doc"); end
  class Missing < Record; def respond_to_missing?(name, all = false) = name == :policy_class || super; def method_missing(name, *) = name == :policy_class ? OtherPolicy : super; end
  class Without < Record; end
  class Changed < Record; end
  class Counted < Record; end
  class Classless < Record; def class = NamedEach; end
  class Later < Record; end
  class Redefined < Record; end
  class Family < Record; self.inheritance_column = "type"; def self.sti_name = name; end
  class Heir < Family; end
  class Clan < Record; self.inheritance_column = "type"; end
  class Kin < Clan; end
  class OtherPolicy < DocPolicy; def show? = record.score > 3; end
  class FamilyPolicy < DocPolicy; end
  class HeirPolicy < DocPolicy; def show? = record.score > 5; end
  class ClanPolicy < DocPolicy; end
  KinPolicy = ClanPolicy
  class ChangedPolicy < DocPolicy; end
  class NamedEachPolicy < DocPolicy; end
  class ClasslessPolicy < DocPolicy; end
  class LaterPolicy < DocPolicy; end
  class RedefinedPolicy < DocPolicy; end
  class RenamedPolicy < DocPolicy; end
  class MissingPolicy < DocPolicy; end

  class CountedPolicy < DocPolicy
    def initialize(...) = ((@@made = (@@made ||= 0) + 1) && super)
  end

  Person.insert_all!((1..4).map { |id| { id: id, name: "person #{id}", admin: id == 1 } })
  Record.connection.execute("INSERT INTO found_docs (id, title, owner_id, score, type, parent_id) SELECT n, 'doc ' || n, n % 4 + 1, n, CASE WHEN n % 2 = 0 THEN NULL END, CASE WHEN n > 3 THEN n - 3 END FROM generate_series(1, 9) n")

  # {name => [code of `authorized?`, whether a plan can do it]}; each admits all docs, for a viewer that is an admin
  GUARDS = {
    policy: ["Pundit.policy(context[:viewer], object).show?", true],
    policy!: ["Pundit.policy!(context[:viewer], object).show?", true],
    by_super: ["super && Pundit.policy!(context[:viewer], object).show?", true],
    whole_name: ["::Pundit.policy!(context[:viewer], object).show?", true],
    several: ["Pundit.policy!(context[:viewer], object).show? && Pundit.policy(context[:viewer], object).admin?", true],
    columns_beside: ["object.score > 0 && Pundit.policy!(context[:viewer], object).show?", true],
    user_alone: ["Pundit.policy!(context[:viewer], object).admin?", true],
    nothing_asked: ["Pundit.policy!(context[:viewer], object).any?", true],
    association: ["Pundit.policy!(context[:viewer], object).named?", false],
    and_by_name: ["PoliciesFoundTest::DocPolicy.new(context[:viewer], object).show? && Pundit.policy!(context[:viewer], object).show?", true],
    safe: ["Pundit.policy(context[:viewer], object)&.show?", false],
    asks_the_class: ["Pundit.policy!(context[:viewer], object).odd?", false],
    namespace: ["Pundit.policy!(context[:viewer], [PoliciesFoundTest, object]).nil? || true", false],
    of_the_class: ["Pundit.policy!(context[:viewer], object.class).admin?", false],
    of_the_viewer: ["Pundit.policy!(object, context[:viewer]).nil? || true", false],
    authorize: ["Pundit.authorize(context[:viewer], object, :show?) && true", false],
    without_method: ["object.score > 0 || Pundit.policy!(context[:viewer], object).nope?", false],
    finder: ["Pundit::PolicyFinder.new(object).policy!.new(context[:viewer], object).show?", false],
    another: ["NotPundit.policy!(context[:viewer], object).show?", false]
  }.freeze

  module NotPundit
    def self.policy!(viewer, object) = DocPolicy.new(viewer, object)
  end

  include GuardCases

  test_guards GUARDS, "Found"

  # Whose models have a say in what Pundit finds.
  [Named, NamedEach, Renamed, RenamedClass, Missing, Without, Counted, Family, Classless].each do |model|
    of = guarded("Of#{model.name.demodulize}", "Pundit.policy!(context[:viewer], object).show?")
    define_method(:"test_of_#{model.name.demodulize.underscore}") do
      schemas = self.class.made(of, model)
      assert_aside("{ docs { id title } }", schemas, model: model, errors: :any, context: -> { viewer })
      2.times { assert_equal(*both("{ docs { id } array { title } }", schemas) { viewer(2) }) }
    end
  end

  # Heirs of which it finds the same.
  def test_of_heirs
    assert_plan("{ docs { id title } }", self.class.made(self.class.guarded("OfClan", "Pundit.policy!(context[:viewer], object).show?"), Clan), made: [Person], context: -> { viewer })
  end

  def test_refused_and_raising
    { refused: "show?", raising: "failing?" }.each do |name, rule|
      of = self.class.guarded("Not#{name.to_s.camelize}", "Pundit.policy!(context[:viewer], object).#{rule}")
      schemas = self.class.made(of)
      [2, nil].each { |id| 2.times { assert_equal(*both("{ docs { id title } doc { id } }", schemas) { id ? viewer(id) : {} }) } }
    end
  end

  # The constant is another by now, as after `stub_const`.
  def test_constant_changes
    schemas = self.class.made(self.class.guarded("OfChanged", "Pundit.policy!(context[:viewer], object).show?"), Changed)
    query = "{ docs { id title } }"
    assert_plan(query, schemas, made: [Person], context: -> { viewer })
    former = self.class.send(:remove_const, :ChangedPolicy)
    self.class.const_set(:ChangedPolicy, Class.new(former) { def show? = record.score > 4 })
    3.times { assert_equal(*both(query, schemas) { viewer }) }
    self.class.send(:remove_const, :ChangedPolicy)
    3.times { assert_equal(*both(query, schemas) { viewer }) }
  ensure
    self.class.const_set(:ChangedPolicy, former) unless self.class.const_defined?(:ChangedPolicy, false)
  end

  # {name => [what is asked, what of it is another by then]}: only a record itself would tell.
  LATER = {
    policy_class: ["Pundit.policy!(context[:viewer], object).show?", Later, -> { Later.class_eval { def policy_class = OtherPolicy } }],
    rule: ["Pundit.policy!(context[:viewer], object).show?", Redefined, -> { RedefinedPolicy.class_eval { def show? = !record.try(:owner_id)&.positive? } }],
    prepended: ["PoliciesFoundTest::RedefinedPolicy.new(context[:viewer], object).admin?", Redefined, -> { RedefinedPolicy.prepend(Module.new { def admin? = super && record.try(:owner_id).nil? }) }],
    initialize: ["PoliciesFoundTest::RedefinedPolicy.new(context[:viewer], object).named?", Doc, -> { RedefinedPolicy.class_eval { def initialize(_, record) = super(nil, record.try(:owner_id) ? Doc.new : record); def named? = record.id } }]
  }.freeze

  LATER.each do |name, (code, model, change)|
    define_method(:"test_later_#{name}") do
      schemas = self.class.made(self.class.guarded("Later#{name.to_s.camelize}", code), model)
      3.times { assert_equal(*both("{ docs { id title } }", schemas) { viewer }) }
      change.call
      3.times { assert_equal(*both("{ docs { id title } }", schemas) { viewer }) }
    end
  end

  # Which names are refined, is known for the whole process: no other test has a method of this one.
  module Refining
    refine(DocPolicy) { def only_refined_here? = record.is_a?(Doc) ? record.score > 3 : true }
  end
  using Refining

  REFINED = type("RefinedDoc") do
    field :id, Integer
    field :title, String
    def self.authorized?(object, context) = Pundit.policy!(context[:viewer], object).only_refined_here?
  end

  def test_refined
    3.times { assert_equal(*both("{ docs { id title } }", self.class.made(REFINED)) { viewer }) }
  end

  def test_explained
    explained = Pipeloader.explain(self.class.made(PolicyBang).last, "{ docs { title } }", context: viewer).to_s
    assert_includes explained, "docs: compiled"
  end
  PolicyBang = const_get(:FoundPolicyBangType)

  # Prepended for good, so in a process of its own.
  def test_pundit_of_another
    { "Pundit.singleton_class" => "policy!(user, record) = super(user, record.dup)", "Pundit::PolicyFinder" => "policy! = super" }.each do |host, method|
      assert_in_a_process "test/plan/policies_found_test", <<~RUBY
        #{host}.prepend(Module.new { def #{method} })
        assert_aside "{ docs { id title } }", PoliciesFoundTest.made(PoliciesFoundTest::PolicyBang), model: PoliciesFoundTest::Doc, context: { viewer: PoliciesFoundTest::Person.find(1) }
      RUBY
    end
  end
end
