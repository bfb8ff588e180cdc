# frozen_string_literal: true

class User < ApplicationRecord
  has_many :posts, foreign_key: :author_id, inverse_of: :author
  has_many :comments, foreign_key: :commenter_id, inverse_of: :commenter
end
