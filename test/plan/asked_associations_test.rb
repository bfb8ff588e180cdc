# frozen_string_literal: true

require_relative "../support/pages"

# Methods that make something of what they ask several associations: counts, sums, whether there are any.
class AskedAssociationsTest < PlanTest
  class Story < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id, class_name: "AskedAssociationsTest::Remark"
    has_many :every, foreign_key: :post_id, class_name: "AskedAssociationsTest::Remark"
    has_many :low, -> { where(score: ..2) }, foreign_key: :post_id, class_name: "AskedAssociationsTest::Remark"
    has_many :taggings, foreign_key: :post_id
    has_many :tags, through: :taggings
    def busy = comments.where(score: 3..)
    def first_two = comments.first(2)
    def busiest = busy.where(score: 4..).order(score: :desc, id: :asc).limit(2)
    def endless = endless.where(score: 1)
    def changed = comments.tap(&:load)
    def left = likes.to_i - comments.sum(:score)
    def quiet? = comments.none? && low.none?
    def ended = title.end_with?("1") ? 0 : comments.where(score: 3..).sum(:score)
    def asked_further = comments.first.body
    def through = author ? comments.count : 0
    def helped = counted + low.count
    def counted = comments.count
  end

  class Remark < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :commenter, class_name: "User", optional: true
    has_many :siblings, class_name: "AskedAssociationsTest::Remark", foreign_key: :post_id, primary_key: :post_id
    def scored? = score.to_i > 2
    def weight = score.to_i * id
    def part = 100 / (score.to_i - 3)
    scope :high, ->(least = 3) { where("score >= ?", least) }
    LEAST = Struct.new(:score).new(2)
    scope :now, -> { where(score: LEAST.score..) }
    scope :at_times, -> { LEAST.score == 2 ? all : reselect(:score).reorder(nil).distinct }
    scope :reading, -> { where("score > ?", average(:score)) }
    def self.of_its_own = where(score: 1)
  end

  HIGH = { score: 3.. }.freeze
  LUCKY_SCORES = [1, 3].freeze

  # {name => [type, code, whether a plan does it]}
  METHODS = {
    either: [GraphQL::Types::Boolean, "object.low.exists? || object.comments.high.exists?", true],
    none: [GraphQL::Types::Boolean, "object.comments.none? && object.tags.none? && object.low.empty?", true],
    sum: [Integer, "object.likes.to_i + object.comments.sum(:score) - object.low.sum(:score)", true],
    sums: [String, "[object.comments.maximum(:score), object.comments.minimum(:score), object.comments.size, object.title].inspect", true],
    twice: [String, 'object.comments.where(score: 1).count.to_s + "/" + object.comments.where(score: 2).count.to_s', true],
    same: [String, "[object.comments.count, object.comments.count].inspect", true],
    within: [String, "\"\#{object.title} (\#{object.comments.high(4).size})\"", true],
    variable: [String, "count = object.comments.count; count > 2 ? \"\#{count} comments\" : \"few\"", true],
    branch: [Integer, 'return 0 if object.title.end_with?("1"); object.comments.count', true],
    conditional: [Integer, "object.comments.any? ? object.comments.sum(:score) : nil", true],
    average: [GraphQL::Types::Float, "object.comments.any? ? object.comments.sum(:score).to_f / object.comments.size : nil", true],
    negated: [GraphQL::Types::Boolean, "!object.comments.exists?", true],
    helper: [String, "shown(object.comments.count) + shown(object.low.count)", true],
    constant: [String, "object.comments.where(HIGH).count.to_s + object.title", true],
    own_chain: [Integer, "object.busy.count", true],
    own_chains: [String, "[object.busy.count, object.busiest.size, object.busy.maximum(:score)].inspect", true],
    own_chain_further: [Integer, "object.busiest.exists? ? object.busy.low.count : 0", false],
    selected: [Integer, "object.comments.select(:commenter_id).distinct.count + object.low.select(:score).count", true],
    several_selected: [String, "object.comments.select(:id, :score).distinct.count.to_s + object.title", :any],
    mapped: [[Integer], "object.comments.map(&:score)", true],
    first_body: [String, "object.comments.first&.body", true],
    first_that_is_there: [String, "object.comments.first.body", :failing],
    firsts: [String, "[object.comments.first&.id, object.comments.last&.id, object.comments.first&.body, object.low.order(:id).first&.score].inspect", true],
    first_of_no_order: [String, "object.low.first&.body", false],
    first_of_no_order_that_is_given_one: [String, "object.low.order(:score).first&.score.to_s", true],
    last_of_some: [String, "object.comments.where(score: 2..).order(score: :desc, id: :asc).last&.body.to_s + object.title", true],
    found: [String, "object.comments.find_by(score: 3)&.body", true],
    taken: [String, "object.comments.order(:id).take&.weight.to_s", true],
    first_further: [String, "object.comments.first&.commenter&.name", true],
    first_missing: [String, "object.low.where(score: 99).first.body", :failing],
    first_itself: [String, "object.comments.first ? object.title : nil", false],
    first_kept: [String, "first = object.comments.first; first && first.body", false],
    first_two: [String, "object.comments.first(2).map(&:body).inspect", true],
    first_two_of_some: [String, "[object.comments.where(score: 1..).first(2).size, object.busiest.first(1).any?, object.busiest.first(5).map(&:id)].inspect", true],
    first_two_chosen: [String, "object.comments.first(3).select { |it| it.score }.last&.commenter&.name", true],
    first_two_and_one: [String, "object.comments.first(2).map(&:id).inspect + object.comments.first&.id.to_s + object.comments.map(&:id).inspect", true],
    first_two_of_no_order: [String, "object.low.first(2).map(&:id).inspect", false],
    first_two_itself: [String, "object.comments.first(2).inspect.size.to_s", false],
    first_none: [String, "object.comments.first(0).map(&:id).inspect", false],
    first_negative: [String, "object.comments.first(-1).map(&:id).inspect", false],
    first_two_by_argument: [String, "object.comments.first(object.likes).map(&:id).inspect", false],
    last_two: [String, "object.comments.last(2).map(&:id).inspect", false],
    counted_text: [String, "object.comments.count.to_s", true],
    joined: [String, "[object.tags.map(&:name).sort.join(\", \"), object.comments.where(score: 3).collect(&:id).sum].inspect", true],
    mapped_twice: [String, "object.comments.map(&:score).sum.to_s + object.comments.map(&:commenter_id).compact.inspect + object.low.map(&:id).size.to_s", true],
    summed: [Integer, "object.comments.sum(&:id)", true],
    summed_of_some: [String, "object.comments.where(score: 1..).sum(&:score).to_s", true],
    folded: [String, "[object.comments.any?(&:scored?), object.comments.all?(&:scored?), object.comments.none?(&:score), object.comments.one?(&:score), object.comments.count(&:score)].inspect", true],
    filtered: [String, "object.comments.filter_map(&:score).inspect + object.tags.flat_map(&:name).sort.inspect", true],
    summed_by_methods: [String, "object.comments.sum(&:weight).to_s + object.comments.map(&:weight).inspect", true],
    summed_of_nothing: [Integer, "object.comments.sum(&:missing)", false],
    summed_from: [Integer, "object.comments.sum(1, &:id)", false],
    summed_text: [String, "object.comments.sum(&:body).to_s", :failing],
    failing_methods: [String, "object.comments.map(&:part).inspect", :failing],
    mapped_by_code: [[String], "object.comments.map(&:inspect)", false],
    mapped_by_a_block: [[Integer], "object.comments.map { |it| it.score }", true],
    block_sum: [Integer, "object.comments.sum { |it| it.score.to_i * it.id }", true],
    block_numbered: [Integer, "object.comments.sum { _1.score.to_i + _1.id }", true],
    block_map: [[String], 'object.tags.map { |tag| "\#{tag.name}!" }.sort', true],
    block_size: [String, "[object.comments.select { |it| it.score.to_i > 2 }.size, object.comments.reject { |it| it.scored? }.length, object.comments.filter { |it| it.score }.count, object.comments.select(&:scored?).any?].inspect", true],
    block_any: [String, "[object.comments.any? { |it| it.score.to_i > 3 }, object.comments.all? { |it| it.score.to_i > 3 }, object.comments.none? { |it| it.score.nil? }, object.comments.one? { |it| it.score == 1 }].inspect", true],
    block_find: [String, "[object.comments.find { |it| it.score == 3 }&.body, object.comments.detect(&:scored?)&.weight].inspect", true],
    block_find_missing: [String, "object.comments.find { |it| it.score == 3 }.body", :failing],
    block_find_further: [String, "object.comments.find { |it| it.score.to_i > 2 }&.commenter&.name", true],
    block_sorted: [String, "object.comments.sort_by { |it| [-it.score.to_i, it.id] }.map(&:id).inspect", true],
    block_part: [String, "object.comments.sort_by { |it| [it.score.to_i, it.id] }.reverse.first(2).map { |it| [it.id, it.score] }.inspect", true],
    block_taken: [String, "object.comments.take_while { |it| it.score.to_i < 4 }.drop(1).drop_while(&:scored?).last&.id.inspect", true],
    block_extreme: [String, "[object.comments.max_by { |it| [it.score.to_i, it.id] }&.id, object.comments.min_by(&:id)&.score].inspect", true],
    block_first: [String, "object.comments.select { |it| it.scored? }.first&.body.to_s.upcase", true],
    block_outer: [String, "least = object.likes.to_i; object.comments.where(score: 1..).count { |it| it.score > least - object.comments.count }.to_s", true],
    block_assigning: [String, "all = 0; object.comments.map { |it| all += it.id }; all.to_s", true],
    block_next: [String, "object.comments.map { |it| next 'none' unless it.score; it.score > 2 ? it.body : it.id }.inspect", true],
    block_within: [String, "object.comments.map { |a| object.comments.count { |b| b.id > a.id && b.score == a.score } }.inspect", true],
    block_of_values: [String, "object.comments.map { |it| it.body.to_s.split.map { |part| part[0] + it.id.to_s }.join }.inspect", true],
    block_initials: [String, "object.title.split.map { |part| part[0] }.join", true],
    block_associated: [String, "object.comments.map { |it| it.commenter&.name }.inspect + object.comments.sum { |it| it.commenter ? 1 : 0 }.to_s", false],
    block_associates: [String, "object.comments.map { |it| it.commenter&.name }.inspect + object.comments.filter_map { |it| it.commenter&.id }.inspect", true],
    block_helper: [String, "object.comments.map { |it| shown(it.score.to_i) }.inspect", true],
    block_constant: [String, "object.comments.count { |it| LUCKY_SCORES.include?(it.score) }.to_s", true],
    block_context: [String, 'object.comments.map { |it| "\#{context[:viewer]}\#{it.id}" }.inspect', true],
    block_hashes: [String, "object.comments.map { |it| { id: it.id, score: it.score } }.inspect", true],
    block_raising: [String, "object.comments.map { |it| 12 / (it.score.to_i - 3) }.inspect", :failing],
    block_flat: [String, "object.comments.flat_map { |it| [it.id, it.score] }.inspect + object.comments.filter_map { |it| it.score&.pred }.inspect", true],
    block_itself: [String, "object.comments.map { |it| it }.size.to_s", false],
    block_given_on: [String, "object.comments.map { |it| shown(it) }.inspect.size.to_s", false],
    block_uniq: [String, "object.comments.select { |it| it.score }.uniq.size.to_s", false],
    block_compared: [String, "(object.comments.select { |it| it.score } == object.comments.select { |it| it.id }).to_s", false],
    block_inspected: [String, "object.comments.select { |it| it.score }.inspect.size.to_s", false],
    block_kept: [String, "all = object.comments.select { |it| it.score }; all.size.to_s", false],
    block_record: [String, "object.comments.find { |it| it.score } ? 'one' : 'none'", false],
    block_either: [String, "object.comments.map { |it| (it.score ? it : it).id }.inspect", false],
    block_asking: [String, "object.comments.map { |it| it.siblings.count }.inspect", false],
    block_unknown: [String, "object.comments.map { |it| it.body.to_s.hash }.size.to_s", false],
    block_breaking: [String, "object.comments.map { |it| break it.id }.inspect", false],
    block_splat: [String, "object.comments.map { |it, other| it.id }.inspect", false],
    block_destructured: [String, "object.comments.map { |(it, other)| it.id }.inspect", false],
    block_assigned: [String, "object.comments.map { |it| it = it.id; it }.inspect", false],
    block_each: [String, "all = 0; object.comments.each { |it| all += it.id }; all.to_s", false],
    block_grouped: [String, "object.comments.group_by { |it| it.score }.keys.inspect", false],
    block_changing: [String, "object.comments.map { |it| it.score = 3 }.inspect", false],
    block_memo: [String, "object.comments.map { |it| @it ||= it.id }.inspect", false],
    block_blank: [String, "object.comments.select { |it| it.present? }.size.to_s", false],
    block_extra: [String, "object.comments.sum(1) { |it| it.id }.to_s", false],
    plucked: [String, "object.every.pluck(:score).sort.inspect + object.every.where(score: 3).order(:id).pluck(:id).inspect", true],
    ids: [String, "object.every.where(score: 3).ids.sort.inspect", true],
    plucked_in_order: [String, "object.comments.pluck(:score).inspect + object.comments.where(score: 1..).limit(2).ids.inspect", true],
    plucked_of_a_scope: [String, "object.low.pluck(:id).sort.inspect + object.comments.high(2).pluck(:score).inspect", true],
    plucked_of_others: [String, "object.tags.pluck(:name).sort.inspect", false],
    plucked_joined: [String, "object.comments.joins(:commenter).pluck(:id).inspect", false],
    plucked_including: [String, "object.comments.includes(:siblings).pluck(:id).inspect", false],
    plucked_at_times: [String, "object.comments.at_times.pluck(:score).sort_by(&:to_i).inspect", true],
    plucked_distinct: [String, "object.comments.distinct.pluck(:score).sort.inspect + object.title", false],
    plucked_sql: [String, "object.every.pluck(\"score + 1\").sort.inspect + object.title", false],
    plucked_several: [String, "object.every.pluck(:id, :score).sort.inspect + object.title", false],
    author: [String, "\"\#{object.author&.name}: \#{object.comments.count}\"", true],
    alike: [Integer, "object.comments.where(score: 1).count + object.comments.where(score: 1.0).count", true],
    zero: [Integer, "100 / object.comments.count", :failing],
    viewer: [String, "\"\#{object.comments.count} \#{context[:viewer]}\"", true],
    of_the_model: [Integer, "object.left + 1", false],
    association: [String, "object.comments.count.to_s + object.comments.class.name", false],
    kept: [String, "all = object.comments; all.count.to_s", true],
    kept_twice: [String, "all = object.comments; (all.count + all.size).to_s", false],
    kept_and_loaded: [String, "all = object.comments.order(:score); [all.map(&:id), all.first&.id, all.last&.id].inspect", false],
    loaded: [String, "object.comments.to_a.size.to_s + object.title", true],
    loaded_lengths: [Integer, "object.comments.length * 10 + object.low.where(score: 1..).length", true],
    loaded_presence: [String, "[object.comments.present?, object.low.blank?, object.comments.where(score: 99).blank?].inspect", true],
    loaded_condition: [String, 'object.comments.present? ? "\#{object.comments.length} of \#{object.comments.count}" : "none"', true],
    loaded_parts: [String, "object.comments.to_a.first(2).map(&:id).inspect + object.comments.to_a.last&.body.to_s", true],
    loaded_of_others: [String, "[object.tags.length, object.tags.to_a.map(&:name).sort].inspect", true],
    loaded_by_a_method: [Integer, "object.busy.length", true],
    loaded_of_a_number: [String, "[object.comments.count.present?, object.every.pluck(:id).length].inspect", true],
    loaded_itself: [String, "object.comments.to_a.inspect.size.to_s", false],
    loaded_compared: [String, "(object.comments.to_a == object.low.to_a).to_s", false],
    block: [String, "object.comments.count { |it| it.score == 3 }.to_s + object.title", true],
    first: [String, "object.title + object.comments.first.body", :failing],
    class_method: [String, "object.comments.of_its_own.count.to_s + object.title", false],
    computed: [String, "object.comments.where(score: object.id).count.to_s + object.title", false],
    random: [String, 'object.comments.where("random() > 2").count.to_s + object.title', :any]
  }.freeze

  # A field whose resolver method has that code.
  def self.coded(type, name, kind, code)
    type.field name, kind
    type.class_eval("def #{name} = (#{code})", __FILE__, __LINE__)
  end

  StoryType = type("AskedStory") do
    field :id, Integer
    METHODS.each { |name, (kind, code, _)| AskedAssociationsTest.coded(self, name, kind, code) }
    field :opaque, String
    def opaque = object.title.dup.concat((context.dig(:mark) || "!"))
    def shown(number) = number.zero? ? "none" : number.to_s
    private :shown
    field :left, Integer
    field :quiet, GraphQL::Types::Boolean, method: :quiet?
    field :ended, Integer
    field :asked_further, String
    field :through, Integer
    field :helped, Integer
    remark = Class.new(Schemas::Base) { graphql_name "AskedRemark"; field :id, GraphQL::Types::ID; field :score, Integer }
    field :busy, [remark]
    field :busiest, [remark]
    field :calm, remark.connection_type, method: :busy
    field :low_two, [remark]
    def low_two = object.busy.where(score: ..3).limit(2)
    field :changed, [remark]
  end

  # What is merged is asked of a model, once for all.
  AskedRemark = Remark
  MERGED = {
    merged: ["object.comments.merge(AskedRemark.high)", true],
    merged_scope: ["object.comments.merge(AskedRemark.high(4).where(id: 1..)).order(:id)", true],
    merged_where: ["object.comments.merge(AskedRemark.where(score: 1))", true],
    merged_not: ["object.every.merge(AskedRemark.where.not(score: 1).order(:id)).limit(2)", true],
    merged_all: ["object.comments.merge(AskedRemark.all.where('score > ?', 1))", true],
    merged_others: ["object.comments.joins(:commenter).merge(::User.where.not(name: nil))", :any],
    merged_owner: ["object.every.merge(AskedRemark.where(post_id: 3)).order(:id)", :any],
    merged_limit: ["object.comments.merge(AskedRemark.order(score: :desc).limit(1))", :any],
    merged_current: ["object.comments.merge(AskedRemark.now)", true],
    merged_none: ["object.comments.merge(AskedRemark.none)", :any],
    merged_group: ["object.comments.merge(AskedRemark.select(:id).group(:id))", :any],
    merged_reading: ["object.comments.merge(AskedRemark.reading)", :any],
    merged_class_method: ["object.comments.merge(AskedRemark.of_its_own)", :any],
    merged_nothing: ["object.comments.merge(AskedRemark)", :any],
    merged_hash: ["object.comments.merge(limit: 1)", :any],
    merged_unscoped: ["object.comments.merge(AskedRemark.unscoped.where(score: 1))", :any],
    merged_of_several: ["object.comments.merge(Remark.high)", false], # PageTest has one, too
    merged_twice: ["object.comments.merge(AskedRemark.where(score: 1)).merge(AskedRemark.where(score: 3))", true],
    merged_or: ["object.comments.merge(AskedRemark.where(score: 1).or(AskedRemark.where(score: 3)))", :any],
    merged_unknown: ["object.comments.merge(Missing.where(score: 1))", :any],
    merged_other_model: ["object.comments.merge(::User.where(id: 1))", :any],
    merged_within: ["object.comments.merge(AskedRemark.where(score: 1..).merge(AskedRemark.high))", true],
    merged_within_unknown: ["object.comments.merge(AskedRemark.where(score: 1..).merge(AskedRemark.of_its_own))", false],
    given_a_scope_in_a_hash: ["object.comments.where({ id: AskedRemark.where(score: 1).select(:id) }).merge(AskedRemark.high)", false],
    given_a_scope_in_an_array: ["object.comments.where({ id: [AskedRemark.find(1)] }).merge(AskedRemark.high)", false],
    given_a_scope: ["object.comments.where(id: AskedRemark.where(score: 1).select(:id))", :any]
  }.freeze

  MergedRemark = Class.new(Schemas::Base) { graphql_name "MergedRemark"; field :id, GraphQL::Types::ID; field :score, Integer }

  MergedType = type("MergedStory") do
    field :id, Integer
    MERGED.each do |name, (code, _)|
      AskedAssociationsTest.coded(self, name, [MergedRemark], code)
      AskedAssociationsTest.coded(self, :"#{name}_count", Integer, "(#{code}).count")
    end
    field :merged_given, [MergedRemark] do
      argument :score, Integer
    end
    def merged_given(score:) = object.comments.merge(AskedRemark.where(score: score))
    field :merged_viewer, [MergedRemark]
    def merged_viewer = object.comments.merge(AskedRemark.where(score: context[:score]))
  end

  # Errors of a scalar leave `execute` under any dataloader of graphql 2.5.
  def merging
    @merging ||= schemas({ stories: [[MergedType], -> { Story.order(:id) }] }) { use(GraphQL::Dataloader) if GraphQL::VERSION.start_with?("2.5.") }
  end

  MERGED.each do |name, (_, planned)|
    define_method(:"test_#{name}") do
      key = name.to_s.camelize(:lower)
      ["{ stories { id #{key} { id score } } }", "{ stories { #{key}Count } }"].each do |query|
        [2, 4].each do |least|
          Remark::LEAST.score = least
          answers = merging.map { |schema| text_of(outcome { schema.execute(query).to_h }) }
          assert_equal(*answers)
          sent = WireCounter.events("burst.pipeloader") { assert_equal answers.first, text_of(outcome { merging.last.execute(query).to_h }) }
          assert_equal planned, sent.sum { |burst| burst[:reads].size } == 2, query unless planned == :any
        end
      end
    ensure
      Remark::LEAST.score = 2
    end
  end

  def test_merged_arguments
    ["{ stories { mergedGiven(score: 1) { id } } }", "{ stories { mergedViewer { id score } } }", "{ stories { mergedGiven(score: 3) { id } mergedViewer { id score } } }"].each do |query|
      3.times { assert_equal(*merging.map { |schema| text_of(schema.execute(query, context: { score: 3 }).to_h) }) }
    end
    sent = WireCounter.events("burst.pipeloader") { merging.last.execute("{ stories { mergedGiven(score: 1) { id } } }") }
    assert_equal [1, 1], sent.map { |burst| burst[:reads].size }
  end

  # In a block around the query, ActiveRecord adds that to what is asked of the model.
  def test_merged_within_a_scope
    query = "{ stories { id merged { id } mergedCount } }"
    outer = merging.map { |schema| text_of(schema.execute(query).to_h) }
    within = merging.map { |schema| Remark.where(id: ..5).scoping { text_of(schema.execute(query).to_h) } }
    assert_equal(*outer)
    assert_equal(*within)
    refute_equal outer.first, within.first
    assert_equal outer.first, text_of(merging.last.execute(query).to_h)
  end

  def pair
    @pair ||= schemas({ stories: [[StoryType], -> { Story.order(:id) }], few: [[StoryType], -> { Story.order(:id).to_a }], one: [StoryType, -> { Story.find(3) }],
                        nobody: [[StoryType], -> { Story.none }] })
  end

  METHODS.each do |name, (_, _, planned)|
    define_method(:"test_#{name}") do
      query = "{ stories { id #{name.to_s.camelize(:lower)} } }"
      case planned
      when true then assert_plan(query, context: { viewer: "me" })
      when :any, :failing then 2.times { assert_equal(*pair.map { |schema| text_of(schema.execute(query).to_h) }) }
      else assert_aside(query, model: Story, errors: :any)
      end
      ["{ few { #{name.to_s.camelize(:lower)} } one { it: #{name.to_s.camelize(:lower)} } }", "{ stories { opaque it: #{name.to_s.camelize(:lower)} id } }"].each do |beside|
        2.times { assert_equal(*pair.map { |schema| text_of(outcome { schema.execute(beside, context: { viewer: 3 }).to_h }) }) }
      end
    end
  end

  def test_methods_of_the_model
    %w[left quiet ended helped through].each { |name| assert_plan("{ stories { id #{name} } }") }
    assert_plan("{ few { left quiet ended helped } one { left } }", made: [Story])
    assert_aside("{ stories { askedFurther } }", model: Story, errors: :any)
  end

  # Methods of the model that ask an association stand for what they say.
  def test_chains_of_the_model
    ["busy { id score }", "busiest { id }", "lowTwo { id }", "calm(first: 1) { nodes { id } pageInfo { hasNextPage } }"].each { |it| assert_plan("{ stories { id #{it} } }") }
    assert_plan("{ few { busy { id } busiest { score } } }", made: [Story])
    ["opaque busiest { id }", "busy { id } opaque calm(first: 1) { nodes { id } }", "changed { id }"].each do |selected|
      3.times { assert_equal(*pair.map { |schema| text_of(outcome { schema.execute("{ stories { #{selected} } }").to_h }) }) }
    end
  end

  # A scope that says something else one day.
  def test_plucked_where_a_scope_has_become_distinct
    [2, 4, 2].each do |least|
      Remark::LEAST.score = least
      2.times { assert_equal(*pair.map { |schema| text_of(schema.execute("{ stories { id pluckedAtTimes } }").to_h) }) }
    end
  ensure
    Remark::LEAST.score = 2
  end

  # Whose association has another way to be listed.
  module Lengthy
    def length = 99
    def blank? = true
    def to_a = super.reverse
    def first(*) = super.then { |it| it.is_a?(Array) ? it.reverse : it }
  end

  class Lengthened < ActiveRecord::Base
    self.table_name = "comments"
  end

  class Longer < ActiveRecord::Base
    self.table_name = "posts"
    has_many :lengthened, -> { order(:id) }, foreign_key: :post_id, class_name: "AskedAssociationsTest::Lengthened"
  end

  def test_lists_of_another_length
    it = type("Longer") do
      field :id, Integer
      { long: "length.to_s", gone: "present?.to_s", blank: "blank?.to_s", listed: "to_a.map(&:id).inspect", few: "first(2).map(&:id).inspect" }.each do |name, code|
        AskedAssociationsTest.coded(self, name, String, "object.lengthened.#{code}")
      end
    end
    [ActiveRecord::AssociationRelation, ActiveRecord::Associations::CollectionProxy].each { |host| Lengthened.relation_delegate_class(host).include(Lengthy) }
    schemas = schemas({ them: [[it], -> { Longer.order(:id) }] })
    %w[long gone blank listed few].each do |name|
      2.times { assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute("{ them { id #{name} } }").to_h }) }, name) }
    end
  end

  # What somebody has changed of all associations.
  def test_lists_of_which_every_one_has_another_length
    assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
      ActiveRecord::Relation.class_eval do
        def length = 99
        def blank? = true
      end
      schemas = schemas({ stories: [[AskedAssociationsTest::StoryType], -> { AskedAssociationsTest::Story.order(:id) }] })
      %w[loadedLengths loadedPresence].each do |name|
        answers = schemas.map { |schema| Array.new(2) { text_of(schema.execute("{ stories { " + name + " } }").to_h) } }
        assert_equal 1, answers.flatten.uniq.size, name
      end
    RUBY
  end

  # {name => [code, whether a plan does it]}
  FEW = {
    few: ["object.comments.first(2)", true],
    few_of_some: ["object.comments.where(score: 1..).order(score: :desc).first(3)", true],
    few_of_a_scope: ["object.comments.high(2).first(1)", true],
    few_of_few: ["object.busiest.first(5)", true],
    few_of_its_own: ["object.first_two", true],
    few_of_no_order: ["object.low.first(2)", true],
    few_of_a_model: ["::Comment.where(post_id: object.id).order(:id).first(2)", true],
    few_of_a_model_of_no_order: ["::Comment.where(post_id: object.id).first(2)", true],
    few_none: ["object.comments.first(0)", false],
    few_negative: ["object.comments.first(-1)", false],
    few_given: ["object.comments.first(object.likes)", false],
    few_last: ["object.comments.last(2)", false],
    few_nil: ["object.comments.first(nil)", false]
  }.freeze

  FewRemark = Class.new(Schemas::Base) { graphql_name "FewRemark"; field :id, GraphQL::Types::ID; field :body, String }

  FewType = type("FewStory") do
    field :id, Integer
    FEW.each do |name, (code, _)|
      AskedAssociationsTest.coded(self, name, [FewRemark], code)
      AskedAssociationsTest.coded(self, :"#{name}_pages", FewRemark.connection_type, code)
      AskedAssociationsTest.coded(self, :"#{name}_length", Integer, "(#{code}).length")
    end
    field :opaque, String
    field :opaque_loading, String
    field :all, [FewRemark], method: :comments
    field :low, [FewRemark]
    def opaque = object.title.dup.concat((context.dig(:mark) || "!"))
    def opaque_loading = (object.comments.load.size + object.low.load.size).to_s.dup.concat((context.dig(:mark) || "!"))
  end

  def few
    loaded = -> { Story.order(:id).includes(:comments, :low).to_a.each { |it| it.comments.build(body: "new") && it.low.build(body: "new") } }
    @few ||= schemas({ stories: [[FewType], -> { Story.order(:id) }], loaded: [[FewType], loaded] })
  end

  FEW.each do |name, (_, planned)|
    define_method(:"test_#{name}") do
      key = name.to_s.camelize(:lower)
      queries = { "#{key} { id body }" => planned, "#{key}Pages(first: 1) { edges { cursor node { id } } pageInfo { hasNextPage } }" => false,
                  "opaque #{key} { id }" => :any, "#{key} { __typename } opaque" => :any, "opaqueLoading #{key} { id body }" => :any,
                  "all { id } low { id } opaque #{key} { id body }" => :any }
      # In which order the rows were read that nobody has ordered, isn't for a test.
      unordered = name == :few_of_no_order
      queries.reject! { |selected, _| selected.match?(/opaqueLoading|low/) } if unordered
      queries.each do |selected, plan|
        query = "{ stories { id #{selected} } }"
        answers = Array.new(3) { few.map { |schema| text_of(outcome { schema.execute(query).to_h }) } }
        answers.each { |plain, piped| assert_equal plain, piped, query }
        records = instantiated { few.last.execute(query) } if plan != :any && !answers.first.first.include?("raised")
        assert_equal plan, records.empty?, query if records
      end
      ["#{key} { id body }", "all { body } #{key} { body }"].each do |selected|
        next if unordered # `loaded` has read them

        2.times { assert_equal(*few.map { |schema| text_of(outcome { schema.execute("{ loaded { id #{selected} #{key}Length } }").to_h }) }) }
      end
    end
  end

  def test_a_statement_for_each_question_in_one_burst
    query = "{ stories { either sum } }"
    2.times { pair.last.execute(query) }
    statements = WireCounter.events("burst.pipeloader") { pair.last.execute(query) }.map { |it| it[:statements] }
    assert_equal [1, 4], statements
  end

  def test_what_is_in_memory_counts
    loaded = -> { Story.order(:id).includes(:comments).to_a.each { |it| it.comments.build(score: 9) } }
    schemas = schemas({ stories: [[StoryType], loaded] })
    assert_equal(*schemas.map { |schema| text_of(schema.execute("{ stories { sums either sum negated left } }").to_h) })
  end

  # What a block asks of the records is known as long as it is what it was.
  def test_blocks_ask_methods_that_are_defined_anew
    remark = Class.new(ActiveRecord::Base) { self.table_name = "comments"; def part = score.to_i + 1 }
    story = Class.new(ActiveRecord::Base) { self.table_name = "posts"; has_many :comments, -> { order(:id) }, foreign_key: :post_id, class_name: "AskedAssociationsTest::AnewRemark" }
    self.class.const_set(:AnewRemark, remark)
    self.class.const_set(:AnewStory, story)
    it = type("Anew") { field :text, String; def text = object.comments.sum { |it| it.part * 2 }.to_s }
    schemas = schemas({ them: [[it], -> { story.order(:id) }] })
    changes = [-> {}, -> { remark.redefine_method(:part) { id } }, -> { remark.redefine_method(:part) { @part ||= 7 } }]
    answers = changes.map do |change|
      change.call
      Array.new(2) { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ them { text } }").to_h) }) && schemas.last.execute("{ them { text } }").to_h }.last
    end
    assert_equal 3, answers.uniq.size, answers.inspect
  ensure
    %i[AnewRemark AnewStory].each { |name| self.class.send(:remove_const, name) }
  end

  # Its key is another column than `id`, and consists of two.
  class Coded < ActiveRecord::Base
    self.table_name = "comments"
    self.primary_key = "score"
  end

  class Twofold < ActiveRecord::Base
    self.table_name = "comments"
    self.primary_key = %w[id post_id]
    attribute :body, :string
  end

  module Listing
    def pluck(*) = super.map { |it| "P#{it}" }
    def ids = super + [99]
    def map(&) = super.reverse
  end

  class Listed < ActiveRecord::Base
    self.table_name = "comments"
  end

  class Shelf < ActiveRecord::Base
    self.table_name = "posts"
    has_many :coded, foreign_key: :post_id, class_name: "AskedAssociationsTest::Coded"
    has_many :twofold, foreign_key: :post_id, class_name: "AskedAssociationsTest::Twofold"
    has_many :listed, foreign_key: :post_id, class_name: "AskedAssociationsTest::Listed"
  end

  def test_lists_by_another_key
    it = type("Shelf") do
      field :id, Integer
      { plucked: "object.coded.order(:body).pluck(:id).inspect", ids: "object.coded.order(:body).ids.inspect", mapped: "object.coded.order(:body).map(&:id).inspect",
        twofold: "object.twofold.ids.size.to_s", predicate: "object.coded.pluck(:body?).inspect", own: "object.listed.order(:id).pluck(:id).inspect",
        own_ids: "object.listed.ids.sort.inspect", own_map: "object.listed.order(:id).map(&:id).inspect", own_block: "object.listed.order(:id).map { |it| it.id }.inspect" }.each do |name, code|
        AskedAssociationsTest.coded(self, name, String, code)
      end
    end
    [ActiveRecord::AssociationRelation, ActiveRecord::Associations::CollectionProxy].each { |host| Listed.relation_delegate_class(host).include(Listing) if host }
    schemas = schemas({ them: [[it], -> { Shelf.order(:id) }] })
    %w[plucked ids mapped twofold predicate own ownIds ownMap ownBlock].each do |name|
      2.times { assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute("{ them { id #{name} } }").to_h }) }, name) }
    end
  end

  # What an association object remembers that somebody has asked before.
  LEAST = Struct.new(:score).new(2)

  class Asked < ActiveRecord::Base
    self.table_name = "posts"
    has_many :scored, -> { where(score: LEAST.score..) }, foreign_key: :post_id, class_name: "AskedAssociationsTest::Remark"
    has_many :titled, primary_key: :title, foreign_key: :body, class_name: "AskedAssociationsTest::Remark"
    has_many :notes, foreign_key: :post_id, class_name: "AskedAssociationsTest::Remark"
  end

  MEMORIES = {
    scope: ->(it) { it.scored.to_sql; LEAST.score = 4 },
    key: ->(it) { it.titled.to_sql; it.title = "comment 1" },
    ids: ->(it) { Remark.insert!({ id: 999, post_id: 3, score: 1 }); it.note_ids; Remark.where(id: 999).delete_all },
    extended: ->(it) { it.notes.extend(Module.new { def count = 99; def size = 98; def any? = false }) },
    singleton: ->(it) { def (it.notes).count = 99 },
    untouched: ->(it) { it.notes.where(score: 3).exists? }
  }.freeze

  MEMORIES.each do |name, ask|
    define_method(:"test_memory_#{name}") do
      remark = type("AskedNote") { field :id, GraphQL::Types::ID }
      it = type("Remembering") do
        field :counts, String
        field :notes, [remark]
        field :scored, [remark]
        field :opaque, String
        def counts = [object.scored.count, object.titled.count, object.notes.count, object.notes.size, object.notes.any?].inspect
        define_method(:opaque) { ask.call(object) && object.title.dup }
      end
      schemas = schemas({ one: [it, -> { Asked.find(3).tap(&ask) }], few: [[it], -> { Asked.where(id: [3, 4]).order(:id) }] })
      queries = ["{ one { counts } }", "{ one { notes { id } scored { id } counts } }"]
      # (On Next records are read ahead by what their association's scope says now.)
      queries << "{ few { opaque notes { id } scored { id } counts } }" unless Engine::NEXT && name == :scope
      queries.each do |query|
        3.times do
          answers = schemas.map do |schema|
            LEAST.score = 2
            text_of(schema.execute(query).to_h)
          end
          assert_equal(*answers, query)
        end
      end
    ensure
      LEAST.score = 2
      Remark.where(id: 999).delete_all
    end
  end

  # An attribute type of the application's runs as often as without plans.
  class Money
    LOG = []
    attr_reader :cents

    def initialize(cents) = @cents = cents
    def to_s = LOG.push(cents) && "$#{cents}"
    def zero? = LOG.push(cents) && cents.zero?
  end

  class MoneyType < ActiveModel::Type::Value
    def deserialize(value) = value && Money.new(value.to_i)
    def cast(value) = value.is_a?(Money) ? value : value && Money.new(value.to_i)
  end

  class Sold < ActiveRecord::Base
    self.table_name = "comments"
    attribute :score, MoneyType.new
  end

  class Seller < ActiveRecord::Base
    self.table_name = "posts"
    has_many :sales, foreign_key: :post_id, class_name: "AskedAssociationsTest::Sold"
  end

  def test_values_of_an_own_type
    it = type("Seller") { field :text, String; field :all, String; def text = object.sales.maximum(:score).to_s + object.title; def all = object.sales.map(&:score).inspect.gsub(/0x\h+/, "") }
    schemas = schemas({ them: [[it], -> { Seller.order(:id) }] })
    ["{ them { text } }", "{ them { all } }"].each do |query|
      logs = schemas.map do |schema|
        Money::LOG.clear
        [text_of(schema.execute(query).to_h), Money::LOG.dup]
      end
      assert_equal(*logs)
    end
  end

  # What fails each time is tried no more, after a while.
  def test_a_branch_that_nobody_takes
    it = type("Branching") { field :text, String; def text = object.id.negative? ? object.comments.where("1 / (score - score) > 0").count.to_s : object.title }
    schemas = schemas({ them: [[it], -> { Story.order(:id) }] })
    sent = Array.new(6) do
      statements = WireCounter.events("burst.pipeloader") { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ them { text } }").to_h) }) }
      statements.sum { |burst| burst[:statements] }
    end
    assert_operator sent.first, :>, 1
    assert_equal 1, sent.last
  end

  # Its counter says how many there are.
  class Counted < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, foreign_key: :post_id, class_name: "AskedAssociationsTest::CountedRemark", inverse_of: :story
    attribute :comments_count, :integer, default: 77
  end

  class CountedRemark < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :story, foreign_key: :post_id, class_name: "AskedAssociationsTest::Counted", counter_cache: :comments_count
  end

  def test_counter_caches
    type = type("CountedStory") { field :text, String; def text = "#{object.title} #{object.comments.size} #{object.comments.count}" }
    schemas = schemas({ stories: [[type], -> { Counted.order(:id) }] })
    3.times { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ stories { text } }").to_h) }) }
  end
end
