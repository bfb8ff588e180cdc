# frozen_string_literal: true

require "active_storage"
require "active_storage/attached"
require "active_storage/reflection"

# ActiveStorage without a Rails application: its engine would do this, and include Model in ActiveRecord::Base.
def ActiveStorage.table_name_prefix = "active_storage_"
ActiveRecord::Reflection.singleton_class.prepend(ActiveStorage::Reflection::ReflectionExtension)
%i[Record Attachment].each do |name|
  ActiveStorage.autoload(name, File.join(Gem.loaded_specs.fetch("activestorage").full_gem_path, "app/models/active_storage/#{name.downcase}.rb"))
end

module ActiveStorageTables
  # As its migration makes them, without indexes.
  def self.create
    ActiveRecord::Schema.define do
      create_table :active_storage_attachments do |t|
        t.string :name, null: false
        t.references :record, null: false, polymorphic: true, index: false
        t.references :blob, null: false, index: false
        t.datetime :created_at, null: false
      end
    end
  end
end
