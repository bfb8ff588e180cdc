# frozen_string_literal: true

require_relative "example"

module Bench
  module Datasets
    # The example's tables, asked for what isn't an association: counts, sums, whether there is one, the last three of each.
    class Aggregates < Example
      def namespace = "bench_example"

      def define
        super
        require_relative "aggregates/schema"
      end

      def types_module = ::Aggregates::Types

      # As somebody would write them who batches by hand.
      def batches
        { ["Post", :comment_count] => ->(posts) { comments(posts).count.values_at(*posts.map(&:id)).map(&:to_i) },
          ["Post", :last_commenter_id] => ->(posts) { comments(posts).maximum(:commenter_id).values_at(*posts.map(&:id)) },
          ["Post", :letters] => ->(posts) { comments(posts).sum("length(body)").values_at(*posts.map(&:id)).map(&:to_i) },
          ["Post", :discussed] => ->(posts) { discussed(posts) },
          ["Author", :post_count] => ->(authors) { counts(::Example::Post, :author_id, authors) },
          ["Post", :latest_comments] => ->(posts, limit:) { latest(posts, limit) },
          ["Author", :latest_posts] => ->(authors, limit:) { latest_posts(authors, limit) } }
      end

      private

      def comments(posts) = ::Example::Comment.where(post_id: posts.map(&:id)).group(:post_id)

      def discussed(posts)
        found = ::Example::Comment.where(post_id: posts.map(&:id)).where("commenter_id > 250").distinct.pluck(:post_id).to_set
        posts.map { |post| found.include?(post.id) }
      end

      def counts(model, key, owners)
        model.where(key => owners.map(&:id)).group(key).count.values_at(*owners.map(&:id)).map(&:to_i)
      end

      def latest(posts, limit) = first_of_each(::Example::Comment, :post_id, posts, limit)
      def latest_posts(authors, limit) = first_of_each(::Example::Post, :author_id, authors, limit)

      # SELECT rows.* FROM unnest($1::bigint[]) keys(key), LATERAL (SELECT … WHERE post_id = key ORDER BY id DESC LIMIT 3) rows
      def first_of_each(model, key, owners, limit)
        each = model.where("#{model.quoted_table_name}.#{key} = keys.key").order(id: :desc).limit(limit).to_sql
        keys = owners.map(&:id).uniq
        sql = "SELECT rows.* FROM unnest(ARRAY[#{keys.join(",")}]::bigint[]) keys(key), LATERAL (#{each}) rows"
        found = model.find_by_sql(sql).group_by(&key)
        owners.map { |owner| found.fetch(owner.id, []) }
      end
    end
  end
end
