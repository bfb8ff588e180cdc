# frozen_string_literal: true

module Bench
  module Datasets
    # A community's site: people and bots, articles, questions and photos, with comments, likes, tags and a feed.
    class App < Dataset
      # Models of types that have another name.
      MODELS = { Actor: :User }.freeze

      def models_module = ::App
      def schema = Class.new(::App::Schema)

      # The bases of fields and arguments, which are there too, are no types.
      def types = super.select { |_, type| type.respond_to?(:own_fields) }

      # nil for what is no record: bases, unions, settings, pages.
      def model(type)
        name = type.graphql_name.to_sym
        models_module.const_get(MODELS.fetch(name, name), false).then { |it| it if it < ::App::ApplicationRecord }
      rescue NameError
        nil
      end

      # Who asks: a member of the staff.
      def context = { viewer: @viewer ||= ::App::User.find(1) }

      # As somebody would write them who batches by hand.
      def batches
        { ["Post", :author_name] => ->(posts) { preload(posts, :author).map { |post| post.author.name } },
          ["Post", :reviewer_name] => ->(posts) { preload(posts, :reviewer).map { |post| post.reviewer&.name } },
          ["Post", :comments] => ->(posts) { preload(posts, :comments).map(&:comments) },
          ["Post", :last_comment] => ->(posts) { last_comments(posts) },
          ["Post", :comments_count] => ->(posts) { comments_counts(posts) },
          ["Post", :likes_count] => ->(posts) { likes_counts(posts) },
          ["Post", :liked_by_viewer] => ->(posts) { liked(posts) },
          ["Photo", :comments_count] => ->(photos) { comments_counts(photos) },
          ["Comment", :likes_count] => ->(comments) { likes_counts(comments) },
          ["Comment", :liked_by_viewer] => ->(comments) { liked(comments) },
          ["Person", :posts_count] => ->(people) { posts_counts(people) },
          ["Bot", :team_name] => ->(bots) { preload(bots, :team).map { |bot| bot.team&.name } },
          ["Activity", :actor_name] => ->(activities) { preload(activities, :actor).map { |activity| activity.actor.name } } }
      end

      def seed(connection)
        connection.execute(TABLES)
        connection.execute(ROWS)
        connection.execute("ANALYZE teams, users, posts, photos, comments, likes, tags, taggings, activities")
      end

      TABLES = <<~SQL
        CREATE TABLE teams (id bigserial PRIMARY KEY, name text NOT NULL, secret boolean NOT NULL);
        CREATE TABLE users (
          id bigserial PRIMARY KEY, type text NOT NULL, name text NOT NULL, avatar_key text NOT NULL, active boolean NOT NULL,
          staff boolean NOT NULL, settings jsonb NOT NULL, team_id bigint REFERENCES teams);
        CREATE TABLE posts (
          id bigserial PRIMARY KEY, type text NOT NULL, title text NOT NULL, body text NOT NULL, status integer NOT NULL,
          words integer NOT NULL, solved boolean NOT NULL, author_id bigint NOT NULL REFERENCES users,
          reviewer_id bigint REFERENCES users, created_at timestamp(6) NOT NULL, deleted_at timestamp(6));
        CREATE TABLE photos (
          id bigserial PRIMARY KEY, caption text, image_key text NOT NULL, hidden boolean NOT NULL,
          author_id bigint NOT NULL REFERENCES users, created_at timestamp(6) NOT NULL, deleted_at timestamp(6));
        CREATE TABLE comments (
          id bigserial PRIMARY KEY, commentable_type text NOT NULL, commentable_id bigint NOT NULL, body text NOT NULL,
          spam boolean NOT NULL, author_id bigint NOT NULL REFERENCES users, created_at timestamp(6) NOT NULL,
          deleted_at timestamp(6));
        CREATE TABLE likes (
          id bigserial PRIMARY KEY, likeable_type text NOT NULL, likeable_id bigint NOT NULL,
          user_id bigint NOT NULL REFERENCES users);
        CREATE TABLE tags (id bigserial PRIMARY KEY, name text NOT NULL, internal boolean NOT NULL);
        CREATE TABLE taggings (
          id bigserial PRIMARY KEY, post_id bigint NOT NULL REFERENCES posts, tag_id bigint NOT NULL REFERENCES tags);
        CREATE TABLE activities (
          id bigserial PRIMARY KEY, verb integer NOT NULL, hidden boolean NOT NULL, actor_id bigint NOT NULL REFERENCES users,
          subject_type text NOT NULL, subject_id bigint NOT NULL, created_at timestamp(6) NOT NULL);
        CREATE INDEX ON posts (author_id);
        CREATE INDEX ON comments (commentable_type, commentable_id);
        CREATE INDEX ON likes (likeable_type, likeable_id);
        CREATE INDEX ON taggings (post_id);
      SQL

      # 200 users, of whom each tenth is a bot; 1,000 posts and 300 photos, of which each eleventh is deleted; 6,000 comments,
      # 12,000 likes, and 1,000 activities about what isn't deleted.
      ROWS = <<~SQL
        INSERT INTO teams (name, secret) SELECT 'Team ' || n, n % 5 = 0 FROM generate_series(1, 20) n;
        INSERT INTO users (type, name, avatar_key, active, staff, settings, team_id)
        SELECT CASE WHEN n % 10 = 0 THEN 'App::Bot' ELSE 'App::Person' END, 'User ' || n, md5(n::text), n % 9 > 0, n % 50 = 1,
               jsonb_build_object('theme', CASE WHEN n % 2 = 0 THEN 'dark' ELSE 'light' END, 'locale', 'en', 'weekly_digest', n % 3 = 0),
               CASE WHEN n % 4 > 0 THEN 1 + n % 20 END
        FROM generate_series(1, 200) n;
        INSERT INTO posts (type, title, body, status, words, solved, author_id, reviewer_id, created_at, deleted_at)
        SELECT CASE WHEN n % 3 = 0 THEN 'App::Question' ELSE 'App::Article' END,
               (ARRAY['Amber', 'Basalt', 'Cedar', 'Dune'])[1 + n % 4] || ' ' || n, repeat('amber basalt cedar ', 20),
               CASE n % 13 WHEN 0 THEN 0 WHEN 1 THEN 2 ELSE 1 END, 100 + n * 37 % 2000, n % 2 = 0, 1 + n * 31 % 200,
               CASE WHEN n % 3 > 0 THEN 1 + n * 57 % 200 END, timestamp '2026-01-01' + n * interval '1 hour',
               CASE WHEN n % 11 = 0 THEN timestamp '2026-06-01' END
        FROM generate_series(1, 1000) n;
        INSERT INTO photos (caption, image_key, hidden, author_id, created_at, deleted_at)
        SELECT CASE WHEN n % 4 > 0 THEN 'Photo ' || n END, md5(n::text), n % 17 = 0, 1 + n * 13 % 200,
               timestamp '2026-01-01' + n * interval '1 hour', CASE WHEN n % 11 = 0 THEN timestamp '2026-06-01' END
        FROM generate_series(1, 300) n;
        INSERT INTO comments (commentable_type, commentable_id, body, spam, author_id, created_at, deleted_at)
        SELECT CASE WHEN n % 6 = 0 THEN 'App::Photo' ELSE 'App::Post' END,
               CASE WHEN n % 6 = 0 THEN 1 + n / 6 % 300 ELSE 1 + n % 1000 END, 'Comment ' || n, n % 19 = 0, 1 + n * 13 % 200,
               timestamp '2026-02-01' + n * interval '1 minute', CASE WHEN n % 23 = 0 THEN timestamp '2026-06-01' END
        FROM generate_series(1, 6000) n;
        INSERT INTO likes (likeable_type, likeable_id, user_id)
        SELECT (ARRAY['App::Post', 'App::Photo', 'App::Comment'])[1 + n % 3],
               CASE n % 3 WHEN 0 THEN 1 + n / 3 * 7 % 1000 WHEN 1 THEN 1 + n / 3 * 7 % 300 ELSE 1 + n / 3 * 7 % 6000 END,
               1 + n * 17 % 200
        FROM generate_series(1, 12000) n;
        INSERT INTO tags (name, internal) SELECT 'Tag ' || n, n % 10 = 0 FROM generate_series(1, 40) n;
        INSERT INTO taggings (post_id, tag_id) SELECT 1 + n % 1000, 1 + (n * 7 + n / 1000) % 40 FROM generate_series(1, 2500) n;
        INSERT INTO activities (verb, hidden, actor_id, subject_type, subject_id, created_at)
        SELECT row_number() OVER (ORDER BY number, type) % 3, number % 15 = 0, 1 + number * 57 % 200, type, id,
               timestamp '2026-03-01' + number * interval '1 minute'
        FROM (SELECT 'App::Post' AS type, id, id * 3 AS number FROM posts WHERE deleted_at IS NULL AND id <= 600
              UNION ALL SELECT 'App::Photo', id, id * 6 + 1 FROM photos WHERE deleted_at IS NULL
              UNION ALL SELECT 'App::Comment', id, id * 6 + 2 FROM comments WHERE deleted_at IS NULL AND id <= 300) subjects
        ORDER BY number, type;
      SQL

      private

      def preload(records, name)
        records.tap { ActiveRecord::Associations::Preloader.new(records: records, associations: name).call }
      end

      def last_comments(posts)
        ::App::Comment.select("DISTINCT ON (commentable_id) comments.*").where(commentable: posts)
                      .order(:commentable_id, id: :desc).index_by(&:commentable_id).values_at(*posts.map(&:id))
      end

      def comments_counts(owners) = counts(::App::Comment.where(commentable: owners).group(:commentable_id), owners)
      def likes_counts(owners) = counts(::App::Like.where(likeable: owners).group(:likeable_id), owners)
      def posts_counts(people) = counts(::App::Post.published.where(author: people).group(:author_id), people)
      def counts(grouped, owners) = grouped.count.values_at(*owners.map(&:id)).map(&:to_i)

      def liked(owners)
        found = ::App::Like.where(likeable: owners, user_id: context[:viewer].id).pluck(:likeable_id).to_set
        owners.map { |owner| found.include?(owner.id) }
      end
    end
  end
end
