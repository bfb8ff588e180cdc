# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../support/rails_constant"

# What serializers make of a collection by Pipeloader.map is what they make of it one after the other: the real gems, and naive code
# that loads nothing beforehand.
class SerializersTest < AnswerTest
  # Each gem in its own words: a post, its author, and its comments with those who wrote them.
  def self.gem_for(name, &block) = (GEMS[name] = block)
  GEMS = {}

  gem_for "as_json" do
    ->(post) { post.as_json(only: :title, include: { author: { only: :name }, comments: { only: :body, include: { commenter: { only: :name } } } }) }
  end

  gem_for "alba" do
    require "alba"
    user = Class.new { include(Alba::Resource).attributes(:name) }
    comment = Class.new do
      include Alba::Resource
      attributes :body
      one :commenter, resource: user
    end
    resource = Class.new do
      include Alba::Resource
      attributes :title
      one :author, resource: user
      many :comments, resource: comment
      attribute(:popular) { |post| post.comments.where("id > 1").count > 1 }
    end
    ->(post) { resource.new(post).to_h }
  end

  gem_for "blueprinter" do
    require "blueprinter"
    user = Class.new(Blueprinter::Base) { fields :name }
    comment = Class.new(Blueprinter::Base) do
      fields :body
      association :commenter, blueprint: user
    end
    resource = Class.new(Blueprinter::Base) do
      fields :title
      field(:count) { |post| post.comments.count }
      association :author, blueprint: user
      association :comments, blueprint: comment
    end
    ->(post) { resource.render_as_hash(post) }
  end

  gem_for "active_model_serializers" do
    require "active_model_serializers"
    ActiveModelSerializers.logger = Logger.new(nil)
    user = Class.new(ActiveModel::Serializer) { attributes :name }
    comment = Class.new(ActiveModel::Serializer) do
      attributes :body
      belongs_to :commenter, serializer: user
    end
    resource = Class.new(ActiveModel::Serializer) do
      attributes :title
      belongs_to :author, serializer: user
      has_many :comments, serializer: comment
    end
    ->(post) { ActiveModelSerializers::SerializableResource.new(post, serializer: resource, adapter: :attributes, include: "**").as_json }
  end

  gem_for "jsonapi-serializer" do
    RailsConstant.without { require "jsonapi/serializer" }
    user = Class.new do
      include JSONAPI::Serializer
      set_type :user
      attributes :name
    end
    comment = Class.new do
      include JSONAPI::Serializer
      set_type :comment
      attributes :body
      belongs_to :commenter, serializer: user
    end
    resource = Class.new do
      include JSONAPI::Serializer
      set_type :post
      attributes :title
      belongs_to :author, serializer: user
      has_many :comments, serializer: comment
    end
    ->(post) { resource.new(post, include: %i[author comments comments.commenter]).serializable_hash }
  end

  gem_for "jbuilder" do
    RailsConstant.without { require "jbuilder" }
    lambda do |post|
      Jbuilder.encode do |json|
        json.call(post, :title)
        json.author { json.name post.author&.name }
        json.comments(post.comments) do |comment|
          json.body comment.body
          json.commenter comment.commenter&.name
        end
      end
    end
  end

  # Serializers' own lists inside of a block go on one after the other: each comment's commenter is a round trip of all posts'.
  GEMS.each do |name, gem|
    define_method(:"test_#{name.tr("-", "_")}") do
      serialize = gem.call
      posts = -> { Post.order(:id).to_a }
      expected = actual = nil
      serial = reads { expected = posts.call.map(&serialize) }
      bursts = WireCounter.events("burst.pipeloader") { actual = Pipeloader.map(posts.call, &serialize) }
      assert_equal expected, actual
      assert_includes expected.to_json, Post.first.author.name
      assert_operator bursts.size, :<=, 2 + longest_list + 1
      assert_operator bursts.size * 2, :<, serial
    end
  end

  private

  def reads(&) = WireCounter.events("sql.active_record", &).reject { |it| it[:name] == "SCHEMA" }.size

  def longest_list = Comment.group(:post_id).count.values.max
end
