# frozen_string_literal: true

require "graphql/batch"
require_relative "../support/test_helper"

# A level is one round trip, whatever asks for its rows, and in whatever order: associations, chains and calculations that are looked
# up for all owners, custom resolvers, sources, lazy values. Two limits are known, with figures in docs/internals.md:
#
# - A source of graphql-ruby's that loads an association which a field beside it reads waits for that one: one burst more where the
#   level has another source, too.
# - Deeper than that level, fields that have got their rows in different ways may go on in different rounds.
#
# PIPELOADER_ROUNDS sets how many random mixes are tried, PIPELOADER_SEED where to begin; a failure says what to set.
class DepthTest < PipeloaderTest
  ROUNDS = Integer(ENV.fetch("PIPELOADER_ROUNDS", 60))
  SEED = Integer(ENV.fetch("PIPELOADER_SEED", Random.new_seed % 1_000_000))

  # Until then graphql-ruby's own source knows no collections.
  DATALOADS = Gem::Version.new(GraphQL::VERSION) >= Gem::Version.new("2.5.10")
  # Before, lazy values come when all else is done, one after the other.
  LAZIES = GraphQL::Dataloader.method_defined?(:lazy_at_depth)

  ActiveRecord::Schema.define do
    create_table(:depth_writers) { |t| t.string :name }
    create_table(:depth_stories) { |t| t.string :title; t.belongs_to :author; t.belongs_to :editor }
    create_table(:depth_remarks) { |t| t.belongs_to :story; t.belongs_to :commenter; t.belongs_to :subject, polymorphic: true; t.string :body; t.integer :score }
    create_table(:depth_labels) { |t| t.belongs_to :story; t.belongs_to :writer }
  end

  class Record < ActiveRecord::Base
    self.abstract_class = true
    self.table_name_prefix = "depth_"
  end

  class Writer < Record
    self.table_name = "depth_writers"
    has_many :stories, -> { order(:id) }, foreign_key: :author_id, class_name: "DepthTest::Story"
    has_one :last_story, -> { order(id: :desc) }, foreign_key: :editor_id, class_name: "DepthTest::Story"
  end

  class Story < Record
    self.table_name = "depth_stories"
    belongs_to :author, class_name: "DepthTest::Writer"
    belongs_to :editor, class_name: "DepthTest::Writer"
    has_many :remarks, -> { order(:id) }, class_name: "DepthTest::Remark"
    has_many :labels, class_name: "DepthTest::Label"
    has_many :labelers, -> { order(:id) }, through: :labels, source: :writer
    has_one :last_remark, -> { order(id: :desc) }, class_name: "DepthTest::Remark"
  end

  class Remark < Record
    self.table_name = "depth_remarks"
    belongs_to :story, class_name: "DepthTest::Story"
    belongs_to :commenter, class_name: "DepthTest::Writer"
    belongs_to :subject, polymorphic: true
  end

  class Label < Record
    self.table_name = "depth_labels"
    belongs_to :story, class_name: "DepthTest::Story"
    belongs_to :writer, class_name: "DepthTest::Writer"
  end

  # Nothing is missing, so that each tree is as deep as it is written.
  Writer.insert_all!((1..6).map { |n| { name: "writer #{n}" } })
  Story.insert_all!((1..12).map { |n| { title: "story #{n}", author_id: 1 + (n % 6), editor_id: 1 + (n * 5 % 6) } })
  Remark.insert_all!((1..24).map do |n|
    { story_id: 1 + (n % 12), commenter_id: 1 + (n % 6), body: "remark #{n}", score: 3 + (n % 4), subject_id: 1 + (n % 6),
      subject_type: n.odd? ? "DepthTest::Writer" : "DepthTest::Story" }
  end)
  Label.insert_all!((1..24).map { |n| { story_id: 1 + (n % 12), writer_id: 1 + (n * 7 % 6) } })

  # How many rows there are for each key.
  class Count < GraphQL::Dataloader::Source
    def initialize(model, column)
      @model = model
      @column = column
    end

    def fetch(keys)
      found = @model.where(@column => keys).group(@column).count
      keys.map { |key| found.fetch(key, 0) }
    end
  end

  class Find < GraphQL::Dataloader::Source
    def initialize(model)
      @model = model
    end

    def fetch(keys)
      found = @model.where(id: keys).index_by(&:id)
      keys.map { |key| found[key] }
    end
  end

  # What is worked out when somebody asks.
  class Later
    def initialize(&work)
      @work = work
    end

    def value = @value ||= @work.call
  end

  class Base < GraphQL::Schema::Object; end

  module Titled
    include GraphQL::Schema::Interface
    graphql_name "Titled"
    field :id, GraphQL::Types::ID
    def self.resolve_type(object, _context) = object.is_a?(Writer) ? WriterType : StoryType
  end

  WriterType = Class.new(Base) { graphql_name "Writer"; implements Titled }
  RemarkType = Class.new(Base) { graphql_name "Remark" }

  StoryType = Class.new(Base) do
    graphql_name "Story"
    implements Titled
    field :title, String
    field :author, WriterType
    field :editor, WriterType
    field :remarks, [RemarkType]
    field :labelers, [WriterType]
    field :last_remark, RemarkType
    field :remarks_page, RemarkType.connection_type, connection: true, method: :remarks
    field(:latest, [RemarkType]) { argument :limit, Integer }
    field :remarks_count, Integer
    field :score_sum, Integer
    field :commented, GraphQL::Types::Boolean
    field :loud, String
    field :liked, GraphQL::Types::Boolean
    field :viewer_count, Integer
    field :found, WriterType
    field :seen, [RemarkType]
    field :seen_lazily, [RemarkType], method: :remarks
    field :twice, Integer
    field :sourced_count, Integer
    field :sourced, WriterType
    field :lazy_count, Integer
    field :lazy, WriterType
    field :loaded, WriterType
    field :loaded_remarks, [RemarkType]

    def latest(limit:) = object.remarks.reorder(id: :desc).limit(limit)
    def remarks_count = object.remarks.count
    def score_sum = object.remarks.sum(:score)
    def commented = object.remarks.exists?
    def loud = object.title.dup.upcase
    def liked = object.remarks.where(commenter_id: context[:viewer]).exists?
    def viewer_count = Remark.where(commenter_id: context[:viewer], story_id: ..object.id).count
    def found = Writer.find_by(id: 1 + ((object.author_id + context[:viewer]) % 6))
    def seen = Remark.where(story_id: object.id, score: context[:viewer]..).order(:id).to_a
    def seen_lazily = Remark.where(story_id: object.id.itself, score: context[:viewer]..).order(:id)
    def twice = Remark.where(score: ..Remark.where(story_id: object.id).minimum(:score)).count + context[:viewer]
    def sourced_count = dataloader.with(Count, Remark, :story_id).load(object.id)
    def sourced = dataloader.with(Find, Writer).load(object.author_id)
    def lazy_count = Later.new { Remark.where(story_id: object.id, score: context[:viewer]..).count }
    def lazy = Later.new { Writer.find_by(id: object.author_id) }
    def loaded = dataload_association(:author)
    def loaded_remarks = dataload_association(:remarks)
  end

  WriterType.class_eval do
    field :name, String
    field :stories, [StoryType]
    field :last_story, StoryType
    field :stories_count, Integer
    field :followed, GraphQL::Types::Boolean
    field :sourced_count, Integer
    field :lazy_count, Integer

    def stories_count = object.stories.count
    def followed = Remark.exists?(commenter_id: object.id, score: context[:viewer])
    def sourced_count = dataloader.with(Count, Story, :author_id).load(object.id)
    def lazy_count = Later.new { Story.where(author_id: object.id, id: context[:viewer]..).count }
  end

  RemarkType.class_eval do
    field :body, String
    field :commenter, WriterType
    field :story, StoryType
    field :subject, Titled
    field :marked, Integer
    field :sourced, WriterType
    field :lazy, WriterType

    def marked = Remark.where(commenter_id: context[:viewer], story_id: ..object.id).count
    def sourced = dataloader.with(Find, Writer).load(object.commenter_id)
    def lazy = Later.new { Writer.find_by(id: object.commenter_id) }
  end

  QueryType = Class.new(Base) do
    graphql_name "Query"
    field(:stories, [StoryType]) { argument :limit, Integer }
    field(:writers, [WriterType])
    field(:story, StoryType) { argument :id, GraphQL::Types::ID }
    def stories(limit:) = Story.order(:id).limit(limit)
    def writers = Writer.order(:id).to_a
    def story(id:) = Story.find(id)
  end

  SCHEMAS = [false, true].map do |piped|
    Class.new(GraphQL::Schema) do
      query QueryType
      orphan_types WriterType, StoryType
      lazy_resolve Later, :value
      use GraphQL::Dataloader
      use(Pipeloader, compile: true) if piped
    end
  end
  OPTIONS = { context: { viewer: 3 } }.freeze

  # {type => {field => [the levels that it reads, the type of what it returns]}}
  FIELDS = {
    root: { "stories(limit: 1)" => [1, :story], "stories(limit: 5)" => [1, :story], "writers" => [1, :writer], "story(id: 3)" => [1, :story] },
    story: {
      "id" => [0], "title" => [0], "loud" => [0],
      # looked up
      "author" => [1, :writer], "editor" => [1, :writer], "remarks" => [1, :remark], "labelers" => [1, :writer], "lastRemark" => [1, :remark],
      "latest(limit: 1)" => [1, :remark], "latest(limit: 2)" => [1, :remark], "remarksPage" => [1, :remark_page],
      "remarksCount" => [1], "scoreSum" => [1], "commented" => [1],
      # of one's own
      "liked" => [1], "viewerCount" => [1], "found" => [1, :writer], "seen" => [1, :remark], "seenLazily" => [1, :remark], "twice" => [2],
      # sources
      "sourcedCount" => [1], "sourced" => [1, :writer],
      **(DATALOADS ? { "loaded" => [1, :writer], "loadedRemarks" => [1, :remark] } : {}),
      # lazy values
      **(LAZIES ? { "lazyCount" => [1], "lazy" => [1, :writer] } : {})
    },
    writer: {
      "id" => [0], "name" => [0], "stories" => [1, :story], "lastStory" => [1, :story], "storiesCount" => [1], "followed" => [1],
      "sourcedCount" => [1], **(LAZIES ? { "lazyCount" => [1] } : {})
    },
    remark: {
      "body" => [0], "commenter" => [1, :writer], "story" => [1, :story], "subject" => [1, :titled], "marked" => [1], "sourced" => [1, :writer],
      **(LAZIES ? { "lazy" => [1, :writer] } : {})
    },
    remark_page: { "nodes" => [0, :remark] },
    titled: { "id" => [0], "__typename" => [0] }
  }.freeze

  # A field of a tree, and what is selected below it.
  Node = Struct.new(:name, :levels, :below) do
    def self.text(nodes) = "{ #{nodes.map.with_index { |node, at| "a#{at}: #{node}" }.join(" ")} }"
    def self.depth(nodes) = nodes.map(&:depth).max
    def self.names(nodes) = nodes.flat_map { |node| [node.name, *(names(node.below) if node.below)] }

    def depth = levels + (below ? Node.depth(below) : 0)

    # @param kept [Array<String>] names of fields that a source may have loaded elsewhere
    # @return [Integer] levels, if it has
    def least(kept) = (kept.include?(name) ? 0 : levels) + (below&.map { |node| node.least(kept) }&.max || 0)

    def to_s = below ? "#{name} #{Node.text(below)}" : name
  end

  # A random tree.
  class Tree
    def initialize(random)
      @random = random
      @budget = 40 # objects
    end

    # @return [Array<Node>]
    def call = below(:root, @random.rand(1..4))

    private

    def below(type, depth)
      known = FIELDS.fetch(type).select { |_, (levels, below)| below.nil? || levels.zero? || (depth.positive? && @budget.positive?) }
      Array.new(@random.rand(1..5)) { node(known.keys.sample(random: @random), type, depth) }
    end

    def node(name, type, depth)
      levels, below = FIELDS.fetch(type).fetch(name)
      @budget -= 1 if below
      Node.new(name, levels, (below(below, depth - levels.clamp(0, 1)) if below))
    end
  end

  SOURCE = /\A(?:sourced|loaded)/
  LAZY = /\Alazy/

  # @return [Boolean] whether a source loads the association that another field reads, and other sources are there
  def contended?(names) = names.include?("loaded") && names.include?("author") && names.grep(SOURCE).uniq.size > 1

  # @param bursts [Range, Integer]
  def assert_depth(query, bursts, message = nil)
    assert_same_answer(query, SCHEMAS, **OPTIONS)
    return assert_round_trips(bursts, "#{message}\n#{query}") { SCHEMAS.last.execute(query, **OPTIONS) } if bursts.is_a?(Integer)

    take_first_alias
    WireCounter.trips([]) { SCHEMAS.last.execute(query, **OPTIONS) }.size.tap { |trips| assert_includes bursts, trips, "#{message}\n#{query}" }
  end

  # Asserts that all fields of one level share its burst.
  #
  # @param names [Array<String>] of a story's fields
  def assert_level(root, names, message = nil)
    parts = names.map.with_index do |name, at|
      levels, below = FIELDS.fetch(:story).fetch(name)
      leaf = { writer: " { name }", remark: " { body }", remark_page: " { nodes { body } }" }[below]
      ["a#{at}: #{name}#{leaf}", levels]
    end
    depth = 1 + parts.map(&:last).max
    assert_depth("{ #{root} { #{parts.map(&:first).join(" ")} } }", contended?(names) ? depth..(depth + 1) : depth, message)
  end

  ROOTS = ["stories(limit: 5)", "story(id: 3)"].freeze

  # A chain, between reads that a custom resolver asks for.
  def test_chain_among_opaque_reads
    ROOTS.each do |root|
      assert_depth("{ #{root} { liked loud latest(limit: 2) { body } viewerCount } }", 2)
    end
  end

  # 26 different reads of one object, and all but those that graphql-ruby comes to later.
  def test_all_fields
    names = FIELDS[:story].keys
    [names, names - ["twice"]].product(ROOTS) do |fields, root|
      [fields, fields.grep_v(LAZY), fields.grep_v(SOURCE)].each do |some|
        assert_level(root, some)
        assert_level(root, some.reverse)
      end
    end
  end

  # Each pair at one root. The seed says at which.
  def test_pairs
    FIELDS[:story].keys.permutation(2).with_index(SEED) { |pair, index| assert_level(ROOTS[index % ROOTS.size], pair) }
  end

  def test_random_levels
    ROUNDS.times do |round|
      random = Random.new(seed = SEED + round)
      names = Array.new(random.rand(3..12)) { FIELDS[:story].keys.sample(random: random) }
      assert_level(ROOTS.sample(random: random), names, "PIPELOADER_SEED=#{seed} PIPELOADER_ROUNDS=1")
    end
  end

  # The bounds are guards, not promises: docs/internals.md has the figures that this prints if PIPELOADER_ROUNDS is set.
  def test_random_trees
    found = Hash.new { |all, kind| all[kind] = Hash.new(0) }
    ROUNDS.times do |round|
      seed = SEED + round
      nodes = Tree.new(Random.new(seed)).call
      depth = Node.depth(nodes)
      # A source loads a key once, so that a level of another one's fields may need no burst.
      kept = Node.names(nodes).grep(SOURCE).tally.select { |_, times| times > 1 }.keys
      least = nodes.map { |node| node.least(kept) }.max
      late = Node.names(nodes).grep(Regexp.union(SOURCE, LAZY)).any?
      most = late ? depth * 4 : [depth, (depth * 2) - 2].max
      trips = assert_depth(Node.text(nodes), least..most, "PIPELOADER_SEED=#{seed} PIPELOADER_ROUNDS=1")
      found[[SOURCE, LAZY].count { |kind| Node.names(nodes).grep(kind).any? }][trips - depth] += 1
    end
    return unless ENV["PIPELOADER_ROUNDS"]

    found.sort.each { |kinds, more| puts "trees with #{kinds} of sources and lazy values, {bursts more than levels => trees}: #{more.sort.to_h}" }
  end
end
