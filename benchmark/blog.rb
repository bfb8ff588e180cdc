# frozen_string_literal: true

# The tables and models of gather.rb, subscribers.rb and web_page.rb, empty, on a private PostgreSQL.
require "active_record"
require "pg"
require_relative "../test/support/private_cluster"

ActiveRecord::Base.establish_connection(PrivateCluster.tcp_hash)
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:people) { |t| t.string :name }
  create_table(:posts) { |t| t.string :title; t.belongs_to :author }
  create_table(:comments) { |t| t.string :body; t.belongs_to :post, index: true; t.belongs_to :author, index: true }
end

class Person < ActiveRecord::Base; end

class Comment < ActiveRecord::Base
  belongs_to :author, class_name: "Person"
end

class Post < ActiveRecord::Base
  belongs_to :author, class_name: "Person"
  has_many :comments, -> { order(:id) }
end
