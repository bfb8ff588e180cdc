# frozen_string_literal: true

# The models, as any Rails application would have them. Pipeloader asks nothing of them.

class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end

class Artist < ApplicationRecord
  has_many :albums, -> { order(:id) }
  has_many :tracks, through: :albums
end

class Album < ApplicationRecord
  belongs_to :artist
  has_many :tracks, -> { order(:id) }
end

class Genre < ApplicationRecord
  has_many :tracks, -> { order(:id) }
end

class MediaType < ApplicationRecord
  has_many :tracks, -> { order(:id) }
end

class Track < ApplicationRecord
  belongs_to :album
  belongs_to :genre
  belongs_to :media_type
  has_many :invoice_lines, -> { order(:id) }
  has_and_belongs_to_many :playlists, -> { order(:id) }
end

class Playlist < ApplicationRecord
  has_and_belongs_to_many :tracks, -> { order(:id) }
end

class Employee < ApplicationRecord
  belongs_to :manager, class_name: "Employee", foreign_key: :reports_to_employee_id, optional: true
  has_many :reports, -> { order(:id) }, class_name: "Employee", foreign_key: :reports_to_employee_id
  has_many :customers, -> { order(:id) }, foreign_key: :support_rep_id
end

class Customer < ApplicationRecord
  belongs_to :support_rep, class_name: "Employee"
  has_many :invoices, -> { order(:id) }
end

class Invoice < ApplicationRecord
  belongs_to :customer
  has_many :invoice_lines, -> { order(:id) }
end

class InvoiceLine < ApplicationRecord
  belongs_to :invoice
  belongs_to :track
end
