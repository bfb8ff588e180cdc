# frozen_string_literal: true

class Post < ApplicationRecord
  default_scope { where(deleted_at: nil) }
  belongs_to :user
  has_many :comments, -> { order(:id) }

  def shout = title.upcase
end
