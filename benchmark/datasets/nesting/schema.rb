# frozen_string_literal: true

# Models and plain types. As in an application, nothing here knows of any contender.
module Nesting
  class Reading < ActiveRecord::Base
    has_one :item, inverse_of: false # a chain of them is to be read, not remembered
  end

  class Item < ActiveRecord::Base
    belongs_to :reading, inverse_of: false
    has_many :items, -> { order(:id) }, foreign_key: :parent_id
  end

  module Types
    class Reading < GraphQL::Schema::Object
      field :value, Integer, null: false
      field :item, "Nesting::Types::Item"
    end

    class Item < GraphQL::Schema::Object
      field :id, ID, null: false
      field :reading, Reading, null: false
      field :items, [Item], null: false
    end

    class Query < GraphQL::Schema::Object
      field :items, [Item], null: false do
        argument :limit, Integer, required: true
      end

      def items(limit:) = Nesting::Item.where(parent_id: nil).order(:id).limit(limit)
    end
  end
end
