# frozen_string_literal: true

require_relative "../blog"
require_relative "post_tree"

Comment.belongs_to :commenter, class_name: "Person", foreign_key: :author_id

module Gather
  # posts → author, comments → commenter, of the benchmarks' blog
  class Posts < Tree
    include PostTree

    SIZE = 50
    PEOPLE = 200

    def records = Post.order(:id)

    def seed
      Person.insert_all!((1..PEOPLE).map { |id| { name: "Person #{id}" } })
      Post.insert_all!((1..@size).map { |id| { title: "Post #{id}", author_id: id % PEOPLE + 1 } })
      Comment.insert_all!((1..(@size * 5)).map do |id|
        { body: "Comment #{id}", post_id: (id % @size) + 1, author_id: (id * 7 % PEOPLE) + 1 }
      end)
      ActiveRecord::Base.connection.execute("ANALYZE")
    end
  end
end
