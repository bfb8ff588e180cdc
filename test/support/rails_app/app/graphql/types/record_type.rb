# frozen_string_literal: true

module Types
  class RecordType < Types::BaseObject
    field :name, String
    field :post, Types::PostType
  end
end
