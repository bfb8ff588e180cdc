# frozen_string_literal: true

class Record < ApplicationRecord
  belongs_to :post, optional: true
end
