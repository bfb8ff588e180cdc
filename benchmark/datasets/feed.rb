# frozen_string_literal: true

module Bench
  module Datasets
    # What people did to articles, photos and one another.
    class Feed < Dataset
      def models_module = ::Feed
      def model(type) = (super unless type < GraphQL::Schema::Union)

      # 1,000 items, of which each third is about an article, a photo or a person.
      def seed(connection)
        connection.execute(<<~SQL)
          CREATE TABLE people (id bigserial PRIMARY KEY, name text NOT NULL);
          CREATE TABLE albums (id bigserial PRIMARY KEY, title text NOT NULL);
          CREATE TABLE entries (
            id bigserial PRIMARY KEY, type text NOT NULL, title text NOT NULL, body text NOT NULL,
            author_id bigint NOT NULL REFERENCES people, album_id bigint REFERENCES albums);
          CREATE TABLE items (
            id bigserial PRIMARY KEY, verb text NOT NULL, actor_id bigint NOT NULL REFERENCES people,
            subject_type text NOT NULL, subject_id bigint NOT NULL);
          INSERT INTO people (name) SELECT 'Person ' || n FROM generate_series(1, 200) n;
          INSERT INTO albums (title) SELECT 'Album ' || n FROM generate_series(1, 30) n;
          INSERT INTO entries (type, title, body, author_id, album_id)
          SELECT CASE WHEN n % 2 = 0 THEN 'Feed::Article' ELSE 'Feed::Photo' END, 'Entry ' || n, repeat('amber basalt cedar ', 20),
                 1 + n * 31 % 200, CASE WHEN n % 2 = 1 THEN 1 + n % 30 END
          FROM generate_series(1, 400) n;
          INSERT INTO items (verb, actor_id, subject_type, subject_id)
          SELECT CASE n % 3 WHEN 2 THEN 'followed' ELSE 'liked' END, 1 + n * 57 % 200,
                 CASE n % 3 WHEN 2 THEN 'Feed::Person' ELSE 'Feed::Entry' END,
                 CASE n % 3 WHEN 0 THEN 2 * (1 + n * 7 % 200) WHEN 1 THEN 2 * (1 + n * 11 % 200) - 1 ELSE 1 + n * 13 % 200 END
          FROM generate_series(1, 1000) n;
          ANALYZE people, albums, entries, items;
        SQL
      end
    end
  end
end
