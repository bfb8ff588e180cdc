# frozen_string_literal: true

# Of the application of boot_run.rb: a model of a name that ActiveSupport has, too.
class Record < ActiveRecord::Base
  self.table_name = "employees"
  belongs_to :record, foreign_key: :manager_id, optional: true
end
