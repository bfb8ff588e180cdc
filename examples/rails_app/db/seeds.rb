# frozen_string_literal: true

# The same for everybody: 20 users, 60 posts, 360 comments.
names = %w[Ada Alan Barbara Claude Donald Edsger Frances Grace Hedy Ivan Jean John Kathleen Ken
           Leslie Margaret Niklaus Radia Tony Yukihiro]
topics = %w[fibers pipelines indexes cursors locks planners pages joins budgets snapshots]
remarks = ["So that is why.", "Measured where?", "I had this on Friday.", "And with a thousand rows?",
           "Thank you!", "Not on my machine."]

users = User.insert_all!(names.map { |name| { name: name } }).rows.flatten
posts = Post.insert_all!(Array.new(60) do |i|
  { title: "On #{topics[i % 10]}, part #{(i / 10) + 1}", author_id: users[i * 7 % 20] }
end).rows.flatten
comments = posts.each_with_index.flat_map do |post, i|
  Array.new(i % 13) { |n| { body: remarks[(i + n) % 6], post_id: post, commenter_id: users[(i + (n * 3)) % 20] } }
end
Comment.insert_all!(comments)
