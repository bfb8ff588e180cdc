# frozen_string_literal: true

users = Array.new(30) { |i| User.create!(name: "user #{i}") }
posts = Array.new(50) { |i| Post.create!(title: "post #{i}", body: "body " * i, user: users[i * 7 % 30], deleted_at: (Time.utc(2026) if i % 10 == 9)) }
posts.each_with_index { |post, i| (i % 4).times { |n| Comment.create!(body: "comment #{n}", post: post, user: (users[(i + n) % 30] if n != 2)) } }
5.times { |i| Record.create!(name: "record #{i}", post: (posts[i] if i.even?)) }
