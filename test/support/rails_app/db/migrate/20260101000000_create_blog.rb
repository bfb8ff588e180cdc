# frozen_string_literal: true

class CreateBlog < ActiveRecord::Migration[7.2]
  def change
    create_table(:users) { |t| t.string :name, null: false }
    create_table(:posts) do |t|
      t.string :title, null: false
      t.text :body
      t.references :user, null: false, foreign_key: true
      t.datetime :deleted_at
      t.timestamps
    end
    create_table(:comments) do |t|
      t.string :body, null: false
      t.references :post, null: false, foreign_key: true
      t.references :user, foreign_key: true
    end
    create_table(:records) { |t| t.string :name; t.references :post, foreign_key: true }
  end
end
