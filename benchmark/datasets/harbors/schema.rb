# frozen_string_literal: true

# Models and plain types. As in an application, nothing here knows of any contender.
module Harbors
  class Harbor < ActiveRecord::Base
  end

  class Operator < ActiveRecord::Base
  end

  class Connection < ActiveRecord::Base
    belongs_to :origin, class_name: "Harbors::Harbor", optional: true
    belongs_to :destination, class_name: "Harbors::Harbor", optional: true
    belongs_to :operator, optional: true

    scope :listed, ->(limit) { where(is_enabled: true).order(:name).limit(limit) }
  end

  module Types
    class Harbor < GraphQL::Schema::Object
      field :name, String, null: false
    end

    class Operator < GraphQL::Schema::Object
      field :brand_name, String, null: false
    end

    class Connection < GraphQL::Schema::Object
      field :id, ID, null: false
      field :name, String, null: false
      field :description, String
      field :is_enabled, Boolean, null: false
      field :created_at, GraphQL::Types::ISO8601DateTime, null: false
      field :origin, Harbor
      field :destination, Harbor
      field :operator, Operator
    end

    class Query < GraphQL::Schema::Object
      field :connections, [Connection], null: false do
        argument :limit, Integer, required: true
      end

      def connections(limit:) = Harbors::Connection.listed(limit)
    end
  end
end
