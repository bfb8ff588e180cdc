# frozen_string_literal: true

require "active_record"
require "json"
require "logger"
require "alba"
require "jbuilder"
require "active_model_serializers"

ActiveModelSerializers.logger = Logger.new(nil)

module Gather
  class NameResource
    include Alba::Resource
    attributes :name
  end

  class NameSerializer < ActiveModel::Serializer
    attributes :name
  end

  # What is read and serialized. Its subclasses say #records (the roots), INCLUDES, #load_async, SIZE (how many roots by default)
  # and SERIALIZERS ({name => what an application writes that never thinks of loading: of one root}), and #seed their tables.
  class Tree
    NAMES = %w[posts narrow wide].freeze

    def self.ams(serializer)
      options = { serializer: serializer, adapter: :attributes, include: "**" }
      ->(record) { ActiveModelSerializers::SerializableResource.new(record, **options).as_json }
    end

    # That tree, its tables filled. Only its own models are loaded: two trees have posts.
    def self.planted(name, size)
      require_relative name
      kind = Gather.const_get(name.capitalize)
      kind.new(size || kind::SIZE).tap(&:seed)
    end

    attr_reader :size

    def initialize(size)
      @size = size
    end

    def serializers = self.class::SERIALIZERS
    def included = records.includes(*self.class::INCLUDES)
  end
end
