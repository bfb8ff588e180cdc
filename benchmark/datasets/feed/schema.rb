# frozen_string_literal: true

# A feed as applications have it: a polymorphic subject, single-table inheritance, a union, and names of associated records.
module Feed
  class Person < ActiveRecord::Base
  end

  class Album < ActiveRecord::Base
  end

  class Entry < ActiveRecord::Base
    belongs_to :author, class_name: "Feed::Person"
    belongs_to :album, class_name: "Feed::Album", optional: true
  end

  class Article < Entry
  end

  class Photo < Entry
  end

  class Item < ActiveRecord::Base
    belongs_to :actor, class_name: "Feed::Person"
    belongs_to :subject, polymorphic: true
  end

  module Types
    class Person < GraphQL::Schema::Object
      field :name, String, null: false
    end

    class Album < GraphQL::Schema::Object
      field :title, String, null: false
    end

    class Article < GraphQL::Schema::Object
      field :title, String, null: false
      field :author, Person, null: false
    end

    class Photo < GraphQL::Schema::Object
      field :title, String, null: false
      field :album, Album
      field :credit, String, null: false
      def credit = "by #{object.author.name}"
    end

    class Subject < GraphQL::Schema::Union
      possible_types Article, Photo, Person

      def self.resolve_type(object, _context)
        case object
        when ::Feed::Article then Article
        when ::Feed::Photo then Photo
        when ::Feed::Person then Person
        end
      end
    end

    class Item < GraphQL::Schema::Object
      field :id, ID, null: false
      field :verb, String, null: false
      field :actor_name, String, null: false
      field :subject, Subject, null: false
      def actor_name = object.actor.name
    end

    class Query < GraphQL::Schema::Object
      field :items, [Item], null: false do
        argument :limit, Integer, required: true
      end

      def items(limit:) = Feed::Item.order(id: :desc).limit(limit)
    end
  end
end
