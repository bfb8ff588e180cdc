# frozen_string_literal: true

class CreateBlog < ActiveRecord::Migration[7.2]
  def change
    create_table(:users) { |t| t.string :name, null: false }
    create_table(:posts) do |t|
      t.string :title, null: false
      t.references :author, null: false, foreign_key: { to_table: :users }
      t.timestamps
    end
    create_table(:comments) do |t|
      t.text :body, null: false
      t.references :post, null: false, foreign_key: true
      t.references :commenter, null: false, foreign_key: { to_table: :users }
    end
  end
end
