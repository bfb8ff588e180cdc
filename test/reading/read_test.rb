# frozen_string_literal: true

require_relative "../support/test_helper"

class ReadTest < PipeloaderTest
  PURE = ['SELECT "posts".* FROM "posts" WHERE "posts"."deleted_at" IS NULL ORDER BY "posts"."updated_at"',
          "SELECT inserted_on, current_price, localtime_zone, mergeable, into_account FROM posts"].freeze
  IMPURE = ["DELETE FROM posts", "WITH gone AS (delete FROM posts RETURNING id) SELECT * FROM gone", "UPDATE posts SET likes = 1",
            "INSERT INTO posts DEFAULT VALUES", "SELECT id INTO copy FROM posts", "MERGE INTO posts USING tags ON true WHEN MATCHED THEN DELETE",
            *%w[date time timestamp user role schema catalog].map { |it| "SELECT current_#{it}" }, "SELECT localtime", "SELECT LOCALTIMESTAMP"].freeze

  PURE.each { |sql| define_method(:"test_pure: #{sql}") { assert Pipeloader::Read.pure_text?(sql) } }
  IMPURE.each { |sql| define_method(:"test_impure: #{sql}") { refute Pipeloader::Read.pure_text?(sql) } }
end
