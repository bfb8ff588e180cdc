# frozen_string_literal: true

module Bench
  module Datasets
    # The tables, models and types of example/bench.rb and bench_wide.rb, with more posts, so that a query can grow.
    class Example < Dataset
      POSTS = 10_000
      COMMENTS_EACH = 10

      def define
        require_relative "../../example/schema"
      end

      def models_module = ::Example

      def roots
        { "posts" => "FROM example_posts ORDER BY id LIMIT %<limit>d",
          "issues" => "FROM example_issues ORDER BY id LIMIT %<limit>d" }
      end

      def seed(connection)
        define
        ::Example.seed(connection)
        grow(connection)
      end

      private

      # Beyond the posts that the example has, each with as many comments as those have on average. By arithmetic, so that it
      # takes a second and gives the same rows each time.
      def grow(connection)
        connection.execute(<<~SQL)
          INSERT INTO example_posts (title, author_id)
          SELECT 'Post ' || n, 1 + n * 7919 % 100 FROM generate_series((SELECT max(id) + 1 FROM example_posts), #{POSTS}) n;

          INSERT INTO example_comments (body, post_id, commenter_id)
          SELECT repeat('amber basalt cedar ', 4) || p.id, p.id, 1 + (p.id * 31 + n * 7919) % 500
          FROM example_posts p, generate_series(1, #{COMMENTS_EACH}) n
          WHERE p.id > (SELECT max(post_id) FROM example_comments)
          ORDER BY p.id, n;

          ANALYZE example_posts, example_comments;
        SQL
      end
    end
  end
end
