# frozen_string_literal: true

require_relative "../support/plans"

# Methods that keep what they ask in local variables.
class LocalVariablesTest < PlanTest
  class Story < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "LocalVariablesTest::Writer", optional: true
    belongs_to :ghost, class_name: "LocalVariablesTest::Ghost", optional: true, foreign_key: :author_id
    belongs_to :fake, class_name: "LocalVariablesTest::Fake", optional: true, foreign_key: :author_id
    has_many :comments, -> { order(:id) }, foreign_key: :post_id, class_name: "LocalVariablesTest::Remark"
    def busy = comments.order(:score)

    def by
      writer = author
      return "nobody" if writer.nil?

      "#{writer.name} #{writer.id}"
    end
  end

  class Writer < ActiveRecord::Base
    self.table_name = "users"
    has_one :profile, class_name: "Profile", foreign_key: :user_id
  end

  # A model of which some records say that they aren't there.
  class Ghost < ActiveRecord::Base
    self.table_name = "users"
    def empty? = true
    def presence = (self if id.odd?)
  end

  class Fake < ActiveRecord::Base
    self.table_name = "users"
    def present? = id.odd?
  end

  class Remark < ActiveRecord::Base
    self.table_name = "comments"
  end

  # {name => [code, whether a plan does it]}
  METHODS = {
    record: ["author = object.author; author ? author.name : 'nobody'", true],
    returned: ["author = object.author; return 'nobody' unless author; [author.name, author.id].inspect", true],
    condition: ["if (author = object.author) then author.name else 'nobody' end", true],
    not_there: ["author = object.author; author.name", :any],
    nil_asked: ["author = object.author; author.nil? ? nil : author.name", true],
    sometimes: ["author = object.author if object.id.even?; author&.name", :any],
    only_there: ["author = object.author; author.present? ? 'there' : nil", true],
    two: ["author = object.author; other = object.author; author && other ? author.name + other.name : nil", true],
    presence_of_it: ["object.author.presence&.name", true],
    presence_kept: ["author = object.author.presence; author ? author.name : nil", :any],
    presence_of_a_ghost: ["object.ghost.presence&.name", false],
    fake: ["fake = object.fake; fake.present? ? fake.name : 'none'", false],
    the_object: ["story = object; story.title + story.likes.to_s", true],
    given_on: ["story = object; story.then { |it| it.title }", false],
    record_itself: ["author = object.author; author.inspect.size.to_s + author.to_s[0, 2]", false],
    equal: ["author = object.author; (author == author).to_s", false],
    column: ["title = object.title; title.upcase + title", true],
    count: ["count = object.comments.count; count > 2 ? \"\#{count} comments\" : 'few'", true],
    list: ["comments = object.comments; comments.count.to_s", true],
    chain: ["comments = object.comments.where(score: 2..).order(:id); comments.first&.body", true],
    list_twice: ["comments = object.comments; (comments.count + comments.size).to_s", false],
    loaded: ["comments = object.comments.order(:score); [comments.map(&:id), comments.first&.id, comments.last&.id, comments.size].inspect", false],
    loaded_of_the_model: ["busy = object.busy; [busy.map(&:id), busy.first&.id, busy.last&.id].inspect", false],
    in_a_block: ["author = object.author; object.comments.map { |comment| comment.commenter_id == author&.id }.inspect", true],
    list_in_a_block: ["comments = object.comments.where(score: 2..); object.title.chars.first(2).map { |it| it + comments.count.to_s }.join", :any],
    shadowed: ["author = object.author; object.comments.map { |author| author.score }.inspect + author&.name.to_s", :any],
    assigned_in_a_block: ["last = nil; object.comments.each { |it| last = it.score }; last.to_s", :any],
    again: ["author = object.author; author = nil if object.id == 2; author&.name", :any],
    or_another: ["author = object.author; author ||= ::User.find(1); author.name", false],
    of_the_context: ["viewer = context[:viewer]; viewer && viewer.id == object.author_id ? 'own' : 'other'", true],
    helper: ["name = shown(object.author&.name); name + '!'", true],
    further: ["author = object.author; profile = author&.profile; profile ? profile.bio : nil", :any],
    through: ["author = object.author; author ? author.profile&.bio : nil", :any],
    rescued: ["author = object.author; begin; author.name; rescue NoMethodError; 'nobody'; end", false],
    own: ["object.by", true]
  }.freeze

  StoryType = Class.new(Schemas::Base) do
    graphql_name "Story"
    field :id, Integer
    field :opaque, String
    def opaque = (context.dig(:mark) || "!")
    METHODS.each do |name, (code)|
      field name, String
      class_eval("def #{name} = (#{code})", __FILE__, __LINE__) unless code.include?("return")
      class_eval("def #{name}\n #{code}\nend", __FILE__, __LINE__) if code.include?("return")
    end
    field :limited, String do
      argument :limit, Integer, required: false
    end
    def limited(limit: 1)
      limit = object.likes if object.id == 3
      object.comments.limit(limit).to_a.size.to_s
    end
    field :listed, [Class.new(Schemas::Base) { graphql_name("Remark") && field(:body, String) }]
    def listed
      comments = object.comments.where(score: 1..)
      comments.order(id: :desc).limit(2)
    end

    private

    def shown(text) = text.to_s.strip
  end

  def pair = @pair ||= schemas({ stories: [[StoryType], -> { Story.order(:id) }], few: [[StoryType], -> { Story.order(:id).to_a }] })

  METHODS.each do |name, (_, planned)|
    define_method(:"test_#{name}") do
      key = name.to_s.camelize(:lower)
      options = { context: { viewer: ::User.find(2) }, errors: :any }
      query = "{ stories { id #{key} } }"
      case planned
      when true then assert_plan(query, **options)
      when false then assert_aside(query, model: Story, **options)
      else 3.times { assert_same(query, **options.except(:errors)) }
      end
      ["{ few { #{key} opaque } }", "{ stories { opaque it: #{key} id } }"].each { |beside| 3.times { assert_same(beside, **options.except(:errors)) } }
    end
  end

  def test_arguments_that_are_assigned
    ["{ stories { limited } }", "{ stories { limited(limit: 2) } }"].each { |query| 3.times { assert_same(query) } }
  end

  def test_a_list
    assert_plan "{ stories { id listed { body } } }"
  end

  def test_why
    told = Pipeloader.explain(pair.last, "{ stories { id listTwice } }").to_s
    assert_match(/listTwice: .*`list_twice` asks `comments`, which it keeps in a variable, more than once/, told)
  end

  private

  def assert_same(query, **options)
    assert_equal(*pair.map { |schema| text_of(outcome { schema.execute(query, **options).to_h }) })
  end
end
