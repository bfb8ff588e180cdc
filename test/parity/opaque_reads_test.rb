# frozen_string_literal: true

require "timeout"
require_relative "../support/plans"

# Resolvers that nobody can see into, and that ask their object for associations, in all ways there are.
class OpaqueReadsTest < PlanTest
  class Article < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    belongs_to :editor, class_name: "User", optional: true
    belongs_to :strict_author, class_name: "User", foreign_key: :author_id, optional: true, strict_loading: true
    belongs_to :tenants_author, -> { where(id: ..Tenant.least) }, class_name: "User", foreign_key: :author_id, optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
    has_many :worst_comments, -> { order(:score, :id).limit(2) }, foreign_key: :post_id, class_name: "Comment"
    has_many :own_comments, ->(article) { where(commenter_id: article.author_id).order(:id) }, foreign_key: :post_id, class_name: "Comment"
    has_one :last_comment, -> { order(id: :desc) }, foreign_key: :post_id, class_name: "Comment"
    has_many :commenters, -> { order(:id) }, through: :comments, source: :commenter
    has_many :taggings, foreign_key: :post_id
    has_many :tags, -> { order(:id) }, through: :taggings
    def signed = "#{title} by #{author&.name || "nobody"}"
  end

  class Tenant < ActiveSupport::CurrentAttributes
    attribute :least
  end

  # {name => what it makes of its object: text}; each is asked of all articles
  READS = {
    author: -> { object.author&.name },
    model_method: -> { object.signed },
    two: -> { [object.author, object.editor].map { |user| user&.name }.join },
    two_more: -> { [object.author&.name, object.comments.map(&:body), object.editor&.name].join },
    one_or_the_other: -> { (object.id.even? ? object.author : object.editor)&.name },
    some_alone: -> { object.id > 4 ? object.author&.name : "none" },
    last_alone: -> { object.author&.name if object.id > 10 },
    comments: -> { object.comments.map(&:body).join },
    sized: -> { "#{object.comments.size} #{object.comments.to_a.size} #{object.comments.size}" },
    loaded: -> { "#{object.association(:comments).loaded?} #{object.comments.loaded?} #{object.comments.to_a.size} #{object.comments.loaded?}" },
    worst: -> { object.worst_comments.map(&:id).join(",") },
    own: -> { object.own_comments.map(&:id).join(",") },
    last_comment: -> { object.last_comment&.body },
    commenters: -> { object.commenters.map(&:name).join(",") },
    tags: -> { object.tags.map(&:name).join(",") },
    deep: -> { object.comments.filter_map { |it| it.commenter&.posts&.map(&:title) }.join },
    back: -> { object.comments.map { |it| it.post.title }.join },
    reloaded: -> { [object.author&.name, object.reload_author&.name, object.author&.name].join },
    reset: -> { [object.comments.to_a.size, object.comments.reset.to_a.size, object.comments.reload.size].join(" ") },
    assigned: -> { (object.author = ::User.new(name: "new")) && object.author.name },
    changed: -> { (object.author_id = 3) && object.author.name },
    changed_twice: -> { [object.author&.name, (object.author_id = 2) && object.author.name].join },
    built: -> { object.comments.build(body: "built") && object.comments.map(&:body).join },
    scoped: -> { ::User.where(id: ..4).scoping { object.author&.name } },
    unscoped: -> { ::Comment.unscoped { object.comments.map(&:id).join(",") } },
    connected: -> { ActiveRecord::Base.connected_to(role: :writing, prevent_writes: true) { object.author&.name } },
    tenant: -> { Tenant.set(least: object.id) { object.tenants_author&.name } },
    kept_tenant: -> { (Tenant.least = object.id) && object.tenants_author&.name },
    strict: -> { object.strict_author&.name },
    strict_loading: -> { object.dup.tap { |twin| twin.strict_loading! }.author&.name },
    dup: -> { object.dup.author&.name },
    other: -> { Article.find(object.id % 3 + 1).author&.name },
    raised: -> { raise GraphQL::ExecutionError, "no #{object.author&.name}" if object.id % 3 == 0 || object.author.nil? },
    escapes: -> { object.author.name },
    transaction: -> { Article.transaction { object.author&.name } },
    uncoalesced: -> { Pipeloader.uncoalesced { object.author&.name } },
    without_parking: -> { Pipeloader.without_parking { object.author&.name } },
    locked: -> { (@@lock ||= Mutex.new).synchronize { object.author&.name } },
    threaded: -> { Thread.new { object.author&.name }.value },
    enumerated: -> { Enumerator.new { |all| all << object.author&.name }.next },
    written: -> { ::User.where(id: object.author_id).update_all("name = name || '!'") && object.author&.name },
    timeout: -> { Timeout.timeout(10) { object.author&.name } },
    inner: -> { context.schema.execute("{ few { author } }").to_h.to_s + object.author&.name.to_s }
  }.freeze

  ARTICLE = Class.new(Schemas::Base) do
    graphql_name "Article"
    field :id, Integer
    READS.each do |name, body|
      field name, String
      define_method(name, &body)
    end
    field :opaque_author, Class.new(Schemas::Base) { graphql_name "Writer"; field :name, String; field :loud, String; def loud = object.name.dup.upcase }
    field :opaque_comments, [Class.new(Schemas::Base) { graphql_name "Said"; field :id, Integer; field :who, String; def who = object.commenter&.name.dup }]
    def opaque_author = object.author.presence
    def opaque_comments = object.comments.presence
  end

  def schemas
    @schemas ||= begin
      query = type("Query") do
        field :articles, [ARTICLE]
        field :few, [ARTICLE]
        def articles = Article.order(:id)
        def few = Article.order(:id).limit(2)
      end
      make(query: query, pipeloader: { forecast: true })
    end
  end

  def restore = ::User.update_all("name = 'user ' || id")

  # The second execution is observed, and from the third on resolvers' reads are forecast. (What a write changes is set back.)
  def assert_alike(text)
    plain = answer_of(schemas.first, text)
    4.times { |execution| assert_equal plain, answer_of(schemas.last, text), "#{text}, execution #{execution + 1}" }
  end

  def answer_of(schema, text)
    Tenant.reset
    text_of(outcome { schema.execute(text).to_h }).tap { restore }
  end

  # Since Next calls a field's resolver for all objects before the next field's, and nothing here is a field's alone.
  SHARED = %i[assigned changed changed_twice built kept_tenant written].freeze

  READS.each_key do |name|
    define_method(:"test_#{name}") do
      ["{ articles { #{name.to_s.camelize(:lower)} } }", "{ articles { id #{name.to_s.camelize(:lower)} } few { #{name.to_s.camelize(:lower)} } }"].each { |text| assert_alike(text) }
    end

    next if SHARED.include?(name)

    define_method(:"test_#{name}_beside_others") do
      it = name.to_s.camelize(:lower)
      ["author #{it} two", "#{it} opaqueAuthor { name loud } author", "opaqueComments { id who } #{it} comments", "a: #{it} b: #{it}"].each do |selected|
        assert_alike("{ articles { #{selected} } }")
      end
    end
  end

  def test_under_a_timeout
    assert_equal(*schemas.map { |schema| outcome { Timeout.timeout(5) { schema.execute("{ articles { two comments } }").to_h } } })
  end

  def test_many
    some = READS.keys - SHARED - %i[escapes locked loaded] # (while `reset` waits, nothing is loaded)
    random = Random.new(Integer(ENV.fetch("PIPELOADER_SEED", Random.new_seed % 1_000_000)))
    (8 * Integer(ENV.fetch("PIPELOADER_ROUNDS", 1))).times do
      fields = some.sample(6, random: random).map { |name| name.to_s.camelize(:lower) }
      assert_alike("{ articles { #{fields.first(3).join(" ")} opaqueComments { who } #{fields.last(3).join(" ")} } few { #{fields.join(" ")} } }")
    end
  end
end
