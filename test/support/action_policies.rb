# frozen_string_literal: true

require "action_policy"
require_relative "guard_cases"

# Guards that apply a rule of ActionPolicy's: `DocPolicy.new(object, user: context[:viewer]).apply(:show?)`.
class ActionPoliciesTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:action_docs) { |t| t.string :title; t.bigint :owner_id; t.boolean :hidden, null: false, default: false; t.integer :score; t.bigint :parent_id }
    create_table(:action_people) { |t| t.string :name; t.boolean :admin, null: false, default: false }
  end

  class Person < ActiveRecord::Base
    self.table_name = "action_people"
  end

  class Doc < ActiveRecord::Base
    self.table_name = "action_docs"
    has_many :parts, -> { order(:id) }, class_name: "ActionPoliciesTest::Doc", foreign_key: :parent_id
  end

  class DocPolicy < ActionPolicy::Base
    alias_rule :see?, to: :show?
    def show? = !record.hidden? && (user.admin? || owns?)
    def admin? = user.admin?
    def update? = allowed_to?(:show?)
    def any? = true
    def failing? = record.score / (record.score - record.id)
    def denied? = record.score.negative? ? deny! : true
    def mine = owns?
    def manage? = record.score.positive?

    private

    def owns? = record.owner_id == user.id
    def secret? = true
  end

  class CheckedPolicy < DocPolicy
    pre_check :admins
    def admins = record.score > 3 ? allow! : nil
  end

  class CachedPolicy < DocPolicy
    cache :show?
  end

  class AccountPolicy < DocPolicy
    authorize :account, allow_nil: true
    authorize :tenant, optional: true
    def show? = super_show? && account != "none"
    def tenant? = tenant.nil?
    def super_show? = user.admin? || record.owner_id == user.id
  end

  class AppliedPolicy < DocPolicy
    def apply(rule) = !super
  end

  class MadePolicy < DocPolicy
    def initialize(_record, user:) = super(Doc.new(score: 9), user: user)
  end

  class SendingPolicy < DocPolicy
    def public_send(name, *) = record.is_a?(Doc) ? false : super
  end

  class ClasslessPolicy < DocPolicy
    def class = record.is_a?(Doc) ? CheckedPolicy : super
  end

  class LaterPolicy < DocPolicy; end
  class LaterAliasPolicy < DocPolicy; end

  class ReaderPolicy < DocPolicy
    def user = Person.find(2)
  end

  Person.insert_all!((1..4).map { |id| { id: id, name: "person #{id}", admin: id == 1 } })
  Doc.insert_all!((1..9).map { |id| { id: id, title: "doc #{id}", owner_id: (id % 4) + 1, score: id, parent_id: (id - 3 if id > 3) } })

  # {name => [code of `authorized?`, whether a plan can do it]}
  GUARDS = {
    apply: ["DocPolicy.new(object, user: context[:viewer]).apply(:show?)", true],
    by_super: ["super && DocPolicy.new(object, user: context[:viewer]).apply(:show?)", true],
    rule_itself: ["DocPolicy.new(object, user: context[:viewer]).show?", true],
    user_alone: ["DocPolicy.new(object, user: context[:viewer]).apply(:admin?)", true],
    nothing_asked: ["DocPolicy.new(object, user: context[:viewer]).apply(:any?)", true],
    no_predicate: ["DocPolicy.new(object, user: context[:viewer]).apply(:mine) || true", true],
    account: ["AccountPolicy.new(object, user: context[:viewer], account: context[:account], tenant: context[:tenant]).apply(:show?)", true],
    account_nil: ["AccountPolicy.new(object, account: context[:account], user: context[:viewer]).apply(:tenant?)", false],
    alias: ["DocPolicy.new(object, user: context[:viewer]).apply(:see?)", false],
    default: ["DocPolicy.new(object, user: context[:viewer]).apply(:nope?)", false],
    private: ["DocPolicy.new(object, user: context[:viewer]).apply(:secret?)", false],
    of_another: ["DocPolicy.new(object, user: context[:viewer]).apply(:update?)", false],
    denied: ["DocPolicy.new(object, user: context[:viewer]).apply(:denied?)", false],
    pre_check: ["CheckedPolicy.new(object, user: context[:viewer]).apply(:show?)", false],
    cached: ["CachedPolicy.new(object, user: context[:viewer]).apply(:show?)", false],
    own_apply: ["!AppliedPolicy.new(object, user: context[:viewer]).apply(:show?)", false],
    made_otherwise: ["MadePolicy.new(object, user: context[:viewer]).apply(:manage?)", false],
    own_send: ["SendingPolicy.new(object, user: context[:viewer]).apply(:manage?) || true", false],
    own_class: ["ClasslessPolicy.new(object, user: context[:viewer]).apply(:manage?) || true", false],
    own_reader: ["ReaderPolicy.new(object, user: context[:viewer]).apply(:show?) || true", false],
    without_user: ["DocPolicy.new(object).apply(:any?)", false],
    unknown_target: ["DocPolicy.new(object, user: context[:viewer], nobody: context[:nobody]).apply(:any?)", false]
  }.freeze

  include GuardCases

  test_guards GUARDS, "Action"

  def test_raising
    schemas = self.class.made(self.class.guarded("ActionFailing", "DocPolicy.new(object, user: context[:viewer]).apply(:failing?)"))
    [2, nil].each { |id| 2.times { assert_equal(*both("{ docs { id title } doc { id } }", schemas) { id ? viewer(id) : {} }) } }
  end

  # Only a record itself would tell.
  def test_later
    { "LaterPolicy" => -> { LaterPolicy.class_eval { pre_check :no; def no = (deny! if record.is_a?(Doc)) } },
      "LaterAliasPolicy" => -> { LaterAliasPolicy.class_eval { def own? = !record.respond_to?(:owner_id); alias_rule :show?, to: :own? } } }.each do |policy, change|
      schemas = self.class.made(self.class.guarded("Action#{policy}", "#{policy}.new(object, user: context[:viewer]).apply(:show?)"))
      assert_plan "{ docs { id title } }", schemas, made: [Person], context: -> { viewer }
      change.call
      3.times { assert_equal(*both("{ docs { id title } }", schemas) { viewer }) }
    end
  end

  # As ActionPolicy's Railtie has it: who hears of rules is told of each once.
  def test_events
    require "action_policy/rails/policy/instrumentation"
    ActionPolicy::Base.prepend(ActionPolicy::Policy::Rails::Instrumentation) unless ActionPolicy::Base.include?(ActionPolicy::Policy::Rails::Instrumentation)
    schemas = self.class.made(self.class.guarded("ActionHeard", "DocPolicy.new(object, user: context[:viewer]).apply(:show?)"))
    3.times { assert_equal(*both("{ docs { id title } }", schemas) { viewer(2) }) }
    counts = schemas.map do |schema|
      count = 0
      ActiveSupport::Notifications.subscribed(->(*) { count += 1 }, "action_policy.apply_rule") { 3.times { schema.execute("{ docs { id title } }", context: viewer(2)) } }
      count
    end
    assert_equal(*counts)
    assert_operator counts.first, :>, 0
  end

  Applied = const_get(:ActionApplyType)

  def test_explained
    assert_includes Pipeloader.explain(self.class.made(Applied).last, "{ docs { title } }", context: viewer).to_s, "docs: compiled"
  end

  # Prepended for good, so in a process of its own.
  def test_action_policy_of_another
    ["def apply(rule) = super", "def __apply__(rule) = super", "def record = super"].each do |method|
      assert_in_a_process "test/support/action_policies", <<~RUBY
        ActionPolicy::Base.prepend(Module.new { #{method} })
        assert_aside "{ docs { id title } }", ActionPoliciesTest.made(ActionPoliciesTest::Applied), model: ActionPoliciesTest::Doc, context: { viewer: ActionPoliciesTest::Person.find(1) }
      RUBY
    end
  end
end
