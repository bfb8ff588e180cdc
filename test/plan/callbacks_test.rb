# frozen_string_literal: true

require "active_support/core_ext/kernel/reporting"
silence_warnings { require "aasm" }
require_relative "../support/plans"

# Models with `after_find` and `after_initialize`: where these do nothing to records that come from the database, or nothing to those
# whose rows came, nobody misses the records.
class CallbacksTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:callback_items) do |t|
      t.string :status
      t.string :title
      t.string :token
      t.integer :score
      t.integer :kind
      t.boolean :active
      t.jsonb :extra
      t.string :type
      t.bigint :holder_id
      t.bigint :item_id
    end
    create_table(:callback_holders) { |t| t.string :name; t.bigint :item_id }
  end

  LOG = []
  HELPER = Class.new { def idle(record) = record.title = "helped" }.new

  class Observer
    def after_initialize(record) = record.title = "observed"
  end

  module Defaulting
    extend ActiveSupport::Concern
    included { after_initialize :by_default, if: :new_record? }
    def by_default = self.status ||= "draft"
  end

  # As gems keep what models tell them.
  module Machines
    MACHINES = Hash.new { |all, model| all[model] = [:status] }
    def self.included(model) = model.after_initialize(:ensure_state)
    def ensure_state = MACHINES[self.class].each { |name| public_send("#{name}=", "initial") if public_send(name).blank? }
  end

  # {name => [what a model says, what does all of six whole rows, what does it where a seventh has nulls]}
  MODELS = {
    new_record: [proc { after_initialize { self.title = "new" if new_record? } }, :plan, :plan],
    next_unless_new: [proc { after_initialize { next unless new_record?; self.title = "new" } }, :plan, :plan],
    return_unless_new: [proc { after_initialize :set; private def set = (return unless new_record?; self.title = "new") }, :plan, :plan],
    return_if_persisted: [proc { after_initialize { |it| next if it.persisted?; it.title = "new" } }, :plan, :plan],
    new_record_and_more: [proc { after_initialize { self.title = "new" if new_record? && title.upcase! } }, :plan, :plan],
    if_lambda: [proc { after_initialize -> { self.title = "new" }, if: -> { new_record? } }, :plan, :plan],
    if_lambda_of_the_record: [proc { after_initialize :set, if: ->(it) { it.new_record? && it.touch }; def set = self.title = "new" }, :plan, :plan],
    unless_lambda: [proc { after_initialize -> { self.title = "new" }, unless: -> { !new_record? } }, :plan, :plan],
    secure_token: [proc { has_secure_token :token, on: :initialize }, :plan, :plan],
    concern: [proc { include Defaulting }, :plan, :plan],
    found_if_new: [proc { after_find { self.title = "new" if new_record? } }, :plan, :plan],
    nothing: [proc { after_initialize { nil } }, :plan, :plan],

    default: [proc { after_initialize { self.status ||= "draft" } }, :plan, :aside],
    default_of_the_record: [proc { after_initialize { |it| it.status ||= "draft" } }, :plan, :aside],
    defaults: [proc { after_initialize { self.status ||= "draft"; self.score ||= 1 } }, :plan, :aside],
    method: [proc { after_initialize :by_default; private def by_default = self.status ||= "draft" }, :plan, :aside],
    methods: [proc { after_initialize :all; def all = (a; b); def a = self.status ||= "draft"; def b = (self.score = 0 if score.nil?) }, :plan, :aside],
    blank: [proc { after_initialize { self.status = "draft" if status.blank? } }, :plan, :aside],
    if_method: [proc { after_initialize :set, if: :missing?; def set = self.title = "set"; private def missing? = status.nil? }, :plan, :aside],
    unless_method: [proc { after_initialize :set, unless: %i[status new_record?]; def set = self.title = "set" }, :plan, :aside],
    if_both: [proc { after_initialize(if: [-> { status.nil? }, :new_record?]) { self.title = "set" } }, :plan, :plan],
    attribute_there: [proc { after_initialize { self.status ||= "draft" if has_attribute?(:status) } }, :plan, :aside],
    by_name: [proc { after_initialize { self[:status] ||= "draft" } }, :plan, :aside],
    read: [proc { after_initialize { self.title = "set" if read_attribute("status").nil? } }, :plan, :aside],
    found: [proc { after_find { self.status ||= "found" } }, :plan, :aside],
    found_first: [proc { after_initialize { self.title = "both" if status == "found" }; after_find { self.status ||= "found" } }, :plan, :aside],
    alias: [proc { alias_attribute :state, :status; after_initialize { self.state ||= "draft" } }, :plan, :aside],
    safe: [proc { after_initialize { self.title = "set" if status&.size == 0 } }, :plan, :plan],
    comparison: [proc { after_initialize { self.title = "set" unless status == "open" } }, :plan, :aside],
    not_equal: [proc { after_initialize { self.title = "set" if status != "open" } }, :plan, :aside],
    numbers: [proc { after_initialize { self.title = "high" if score.to_i > 0 } }, :aside, :aside],
    no_numbers: [proc { after_initialize { self.title = "high" if score.to_i > 30 } }, :plan, :plan],
    raising: [proc { after_initialize { self.title = "high" if score > 30 } }, :plan, :aside],
    boolean: [proc { after_initialize { self.title = "set" unless active? } }, :plan, :aside],
    enum: [proc { enum :kind, { small: 0, large: 1 }; after_initialize { self.title = "set" unless small? } }, :plan, :aside],
    choice: [proc { after_initialize { case status when "open", "shut" then nil else self.title = "set" end } }, :plan, :aside],
    text_of_it: [proc { after_initialize { self.title = "set" if title.to_s.strip.size > 9 || score.nil? && status.nil? } }, :plan, :aside],
    own_reader_of_another: [proc { def token = "own"; after_initialize { self.title = "set" unless token == "own" } }, :plan, :plan],
    skipped: [proc { include Machines; skip_callback :initialize, :after, :ensure_state, unless: :new_record? }, :plan, :plan],
    skipped_altogether: [proc { include Machines; skip_callback :initialize, :after, :ensure_state }, :plan, :plan],

    machine: [proc { include AASM; aasm(column: :status) { state :open, initial: true; state :shut } }, :plan, :aside],
    machine_of_an_enum: [proc { include AASM; enum :kind, { small: 0, large: 1 }, prefix: true; aasm(column: :kind, enum: true) { state :small, initial: true; state :large } }, :plan, :aside],
    machine_of_numbers: [proc { include AASM; aasm(column: :score) { state :low, initial: true } }, :plan, :aside],
    machine_of_no_column: [proc { include AASM; aasm { state :open, initial: true } }, :plan, :plan],
    machine_of_no_table: [proc { include AASM; attribute :mood, :string; aasm(column: :mood, enum: false) { state :open, initial: true, before_enter: ->(*) { self.title = "entered" } } }, :aside, :aside],
    machine_of_json: [proc { include AASM; aasm(column: :extra) { state :open, initial: true } }, :aside, :aside],
    machines: [proc { include AASM; aasm(:one, column: :status) { state :open, initial: true }; aasm(:two, column: :token, namespace: :two) { state :shut, initial: true } }, :plan, :aside],
    machine_with_own_check: [proc { include AASM; aasm(column: :status) { state :open, initial: true }; def aasm_column_is_blank?(_) = true }, :aside, :aside],
    machine_with_own_callback: [proc { include AASM; aasm(column: :status) { state :open, initial: true }; def aasm_ensure_initial_state = (super; self.title = "own") }, :aside, :aside],
    machine_with_own_class_method: [proc { include AASM; aasm(column: :status) { state :open, initial: true }; def self.aasm(*) = super }, :aside, :aside],
    machine_with_own_reader: [proc { include AASM; aasm(column: :status) { state :open, initial: true }; def status = super.presence }, :aside, :aside],

    always: [proc { after_initialize { self.title = "set" if persisted? } }, :aside, :aside],
    state_machine: [proc { include Machines; }, :aside, :aside],
    logging: [proc { after_initialize { LOG << id } }, :aside, :aside],
    memo: [proc { after_initialize { @found = status } }, :aside, :aside],
    reads: [proc { after_initialize { self.title = "set" if self.class.exists?(status: nil) } }, :aside, :aside],
    closure: [proc { set = true; after_initialize { self.title = "set" if set } }, :aside, :aside],
    closure_of_a_condition: [proc { set = true; after_initialize(-> { self.title = "set" }, if: -> { set }) }, :aside, :aside],
    closure_of_a_method: [proc { set = true; define_method(:set?) { set }; after_initialize { self.title = "set" if set? } }, :aside, :aside],
    constant: [proc { after_initialize { self.title = "set" if LOG.empty? } }, :aside, :aside],
    variable: [proc { after_initialize { it = status; self.title = "set" if it } }, :aside, :aside],
    loop: [proc { after_initialize { self.title += "x" while title.size < 3 } }, :aside, :aside],
    ensured: [proc { after_initialize { begin; status; ensure; self.title = "set"; end } }, :aside, :aside],
    rescued: [proc { after_initialize { Integer(title) rescue self.title = "set" } }, :aside, :aside],
    observer: [proc { after_initialize Observer.new }, :aside, :aside],
    symbol_proc: [proc { after_initialize(&:mark); def mark = self.title = "marked" }, :aside, :aside],
    method_proc: [proc { after_initialize(&HELPER.method(:idle)) }, :aside, :aside],
    own_new_record: [proc { after_initialize { self.title = "new" if new_record? }; def new_record? = true }, :aside, :aside],
    before: [proc { set_callback(:initialize, :before) { self.title = "before" } }, :aside, :aside],
    around: [proc { set_callback(:initialize, :around) { |it, rest| rest.call; it.title = "around" } }, :aside, :aside],
    own_reader: [proc { def status = super&.upcase&.then(&:presence); after_initialize { self.title = "set" if status == "OPEN" } }, :aside, :aside],
    virtual: [proc { attribute :mood, :string, default: "fine"; after_initialize { self.title = "set" if mood } }, :aside, :aside],
    serialized: [proc { serialize :token, coder: JSON; after_initialize { self.title = "set" if token.nil? } }, :aside, :aside],
    store: [proc { store_accessor :extra, :color; after_initialize { self.title = "set" if color.nil? } }, :aside, :aside],
    stored: [proc { store_accessor :extra, :color; after_initialize { self.title = "set" if extra.nil? } }, :aside, :aside],
    association: [proc { after_initialize { self.title = "set" if holder } }, :aside, :aside],
    given: [proc { after_initialize :set; def set(title = "set") = self.title = title }, :aside, :aside],
    super: [proc { include Defaulting; after_initialize { by_default }; def by_default = (super; self.title = "set") }, :aside, :aside],
    change_in_place: [proc { after_initialize { title << "!" } }, :aside, :aside],
    read_for_nothing: [proc { after_initialize { status; title } }, :plan, :plan]
  }.freeze

  ROWS = (1..7).map do |id|
    { id: id, title: "t#{id}", score: id, token: '"t"', type: nil, status: "open", active: true, kind: 0, extra: nil, holder_id: ((id + 1) / 2), item_id: (id - 1 if id > 1) }
  end
  ROWS.last.update(status: nil, score: nil, active: nil, kind: nil, holder_id: 4)

  class Item < ActiveRecord::Base
    self.table_name = "callback_items"
    self.abstract_class = true
  end

  class Row < ActiveRecord::Base
    self.table_name = "callback_items"
  end

  def self.model(name, body)
    model = Class.new(Class.new(Item) { self.abstract_class = true })
    holder = Class.new(ActiveRecord::Base) { self.table_name = "callback_holders" }
    const_set(:"#{name.to_s.camelize}Item", model)
    const_set(:"#{name.to_s.camelize}Holder", holder)
    holder.has_many :items, -> { order(:id) }, class_name: model.name, foreign_key: :holder_id
    holder.belongs_to :item, class_name: model.name, optional: true
    model.belongs_to :holder, class_name: holder.name, optional: true
    model.belongs_to :item, class_name: model.name, optional: true
    model.class_eval(&body)
    [model, holder]
  end

  # @return [Array(Class, Class)] of a model's records, and of their owners'
  def self.types(name)
    item = type("#{name.to_s.camelize}CallbackItem") do
      field :id, Integer
      field :title, String
      field :status, String
      field :item, self
      field :heading, String
      field :opaque, String
      def heading = "#{object.title}, #{object.score}"
      def opaque = object.title.dup
    end
    holder = type("#{name.to_s.camelize}CallbackHolder") do
      field :name, String
      field :items, [item]
      field :item, item
      field :pages, item.connection_type, method: :items
      field :count, Integer
      field :item_title, String
      field :titles, String
      field :last_item, item
      def count = object.items.count
      def item_title = object.item&.title
      def titles = object.items.map { |it| it.title.to_s }.join(",")
      def last_item = object.items.order(:id).last
    end
    [item, holder]
  end

  def self.schemas_of(name, models)
    (model, owner), (item, holder) = models, types(name)
    schemas({ good: [[item], -> { model.where(id: ..6).order(:id) }], all: [[item], -> { model.order(:id) }], loaded: [[item], -> { model.order(:id).to_a }], one: [item, -> { model.find(6) }], last: [item, -> { model.find(7) }],
              first: [[holder], -> { owner.where(id: ..3).order(:id) }], holders: [[holder], -> { owner.order(:id) }], pages: [item.connection_type, -> { model.order(:id) }] })
  end

  Row.insert_all!(ROWS)
  Class.new(ActiveRecord::Base) { self.table_name = "callback_holders" }.insert_all!((1..4).map { |id| { id: id, name: "holder #{id}", item_id: (id == 4 ? 7 : id) } })
  SCHEMAS = MODELS.to_h { |name, (body, *)| [name, model(name, body).then { |models| [models.first, schemas_of(name, models)] }] }

  GOOD = ["{ good { id title } }", "{ good { title heading item { title } } }", "{ first { name items { title status } } }", "{ first { item { id title } lastItem { title } } }", "{ first { itemTitle } }",
          "{ first { titles } }", "{ first { pages(first: 1) { nodes { title } pageInfo { hasNextPage } } } }", "{ pages(first: 3) { edges { cursor node { title } } } }"].freeze
  ALL = ["{ all { id title status } }", "{ all { title item { id } } }", "{ holders { items { title } } }", "{ holders { item { title } } }", "{ holders { itemTitle } }", "{ holders { titles } }",
         "{ holders { pages { nodes { title } } } }", "{ pages { nodes { title heading } } }"].freeze
  # Beside what graphql-ruby does itself, and what is there already.
  MIXED = ["{ all { title opaque item { title } } }", "{ holders { name items { opaque title } } }", "{ loaded { title status item { title } } }", "{ one { title } last { title status } }", "{ holders { count } }",
           "{ loaded { opaque title item { opaque } } }"].freeze

  # Of which all is asked.
  FULL = %i[secure_token default found_first if_method alias logging].freeze

  MODELS.each do |name, (_, good, all)|
    define_method(:"test_#{name}") do
      model, schemas = SCHEMAS.fetch(name)
      part = FULL.include?(name) ? GOOD.size : 2
      GOOD.first(part).each { |query| assert_done(good, query, schemas, model) }
      ALL.first(part).each { |query| assert_done(all, query, schemas, model) }
      MIXED.first(part).each { |query| 2.times { assert_same(query, schemas) } }
    end
  end

  def assert_done(how, query, schemas, model)
    return assert_plan(query, schemas) if how == :plan

    assert_aside(query, schemas, model: model, errors: :any)
    schemas.each { |it| it.execute(query) } # a plan that never fits is given up
  end

  def assert_same(query, schemas)
    plain, piped = schemas.map { |schema| text_of(outcome { schema.execute(query).to_h }) }
    assert_equal plain, piped, query
  end

  # What runs for each record runs as often, and for the same.
  def test_callbacks_run_as_ever
    LOG.clear
    %i[logging default raising].each do |name|
      _, schemas = SCHEMAS.fetch(name)
      ["{ good { id } }", "{ all { id opaque } }", "{ holders { items { id opaque } } }"].each do |query|
        seen = schemas.map { |schema| LOG.clear && schema.execute(query) && LOG.dup }
        assert_equal(*seen.map(&:sort), query)
      end
    end
  end

  # -- what is said later ------------------------------------------------------------------------------------------------

  def later(name, body = proc {})
    model, = models = self.class.model(name, body)
    [model, self.class.schemas_of(name, models)]
  end

  LATER = {
    callback: [proc {}, proc { after_initialize { self.title = "later" } }],
    find: [proc {}, proc { after_find { self.title = "later" } }],
    another: [proc { after_initialize { self.status ||= "draft" } }, proc { after_initialize { self.title = "later" } }],
    method: [proc { after_initialize :set; def set = self.status ||= "draft" }, proc { remove_method(:set); def set = self.title = "later" }],
    condition: [proc { after_initialize :set, if: :wanted?; def set = self.title = "later"; def wanted? = status.nil? }, proc { remove_method(:wanted?); def wanted? = true }],
    reader: [proc { after_initialize { self.title = "later" if status.nil? } }, proc { def status = nil }],
    new_record: [proc { after_initialize { self.title = "later" if new_record? } }, proc { def new_record? = true }],
    prepended: [proc { after_initialize :set; def set = self.status ||= "draft" }, proc { prepend(Module.new { def set = (super; self.title = "later") }) }],
    machine: [proc { include AASM; aasm(column: :status) { state :open, initial: true } }, proc { aasm(:other, column: :extra) { state :shut, initial: true } }],
    machines_check: [proc { include AASM; aasm(column: :status) { state :open, initial: true } }, proc { def aasm_column_is_blank?(_) = true }],
    of_the_parent: [proc {}, proc { superclass.after_initialize { self.title = "later" } }]
  }.freeze

  LATER.each do |name, (before, after)|
    define_method(:"test_later_#{name}") do
      model, schemas = later(:"#{name}_later", before)
      GOOD.first(4).each { |query| assert_plan(query, schemas) }
      model.class_eval(&after)
      GOOD.first(4).each { |query| 2.times { assert_same(query, schemas) } }
      assert_aside("{ good { id title } }", schemas, model: model)
    end
  end

  def test_later_none
    model, schemas = later(:none_later, proc { after_initialize :set; def set = self.title = "later" })
    assert_aside("{ good { id title } }", schemas, model: model)
    model.skip_callback(:initialize, :after, :set)
    assert_plan("{ good { id title } }", schemas)
    assert_plan("{ first { items { title } } }", schemas)
  end

  # -- heirs ------------------------------------------------------------------------------------------------------------------

  HEIRS = {
    own: [proc {}, proc { after_initialize { self.title = "heir's" } }, :aside],
    own_default: [proc { after_initialize { self.status ||= "draft" } }, proc { after_initialize { self.token ||= "heir's" } }, :plan],
    redefined: [proc { after_initialize :set; def set = self.status ||= "draft" }, proc { def set = self.title = "heir's" }, :aside],
    by_super: [proc { after_initialize :set; def set = self.status ||= "draft" }, proc { def set = (super; nil) }, :aside],
    skipped: [proc { after_initialize :set; def set = self.title = "all" }, proc { skip_callback :initialize, :after, :set }, :aside],
    machine: [proc { include AASM; aasm(column: :status) { state :open, initial: true } }, proc { aasm(:of_its_own, column: :token) { state :shut, initial: true } }, :plan],
    none: [proc { after_initialize { self.title = "set" if new_record? } }, proc {}, :plan]
  }.freeze

  HEIRS.each do |name, (own, heirs, how)|
    define_method(:"test_heir_#{name}") do
      base, schemas = later(:"#{name}_base", proc { self.inheritance_column = "type" })
      base.class_eval(&own)
      self.class.const_set(:"#{name.to_s.camelize}Heir", Class.new(base)).class_eval(&heirs)
      Row.where(id: [2, 4]).update_all(type: "CallbacksTest::#{name.to_s.camelize}Heir")
      GOOD.first(4).each { |query| how == :plan ? assert_plan(query, schemas) : 2.times { assert_same(query, schemas) } }
      assert_aside("{ good { title } }", schemas, model: base) if how == :aside
      ALL.first(4).each { |query| 2.times { assert_same(query, schemas) } }
    ensure
      Row.update_all(type: nil)
    end
  end

  # -- others who rely on it --------------------------------------------------------------------------------------------

  # Their records are made where they are asked for.
  def test_records_are_not_read_ahead
    model, = SCHEMAS.fetch(:default)
    plain = Pipeloader::PlainModel.of(model)
    assert_nil plain.objection_to_rows
    assert_match(/after_initialize/, plain.objection)
    assert_equal %w[id type status], plain.keys
    assert_nil Pipeloader::PlainModel.of(SCHEMAS.fetch(:new_record).first).objection
    assert_match(/after_initialize/, Pipeloader::PlainModel.of(SCHEMAS.fetch(:attribute_there).first).objection)
  end

  # A plan that fits next to never isn't tried.
  def test_given_up
    _, schemas = later(:given_up, proc { after_initialize { self.title = "set" if score.to_i.positive? } })
    statements = Array.new(6) { WireCounter.events("burst.pipeloader") { schemas.last.execute("{ all { title } }") }.sum { |it| it[:statements] } }
    assert_equal 1, statements.last
    assert_same("{ all { title } }", schemas)
  end

  def test_explained
    _, schemas = SCHEMAS.fetch(:logging)
    assert_includes Pipeloader.explain(schemas.last, "{ good { title } }").to_s, "LoggingItem has after_initialize"
  end
end
