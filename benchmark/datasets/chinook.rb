# frozen_string_literal: true

module Bench
  module Datasets
    # The Chinook sample database as bin/demo has it, with its models and types.
    class Chinook < Dataset
      FILE = File.expand_path("../../tmp/chinook/Chinook.sqlite", __dir__)

      def define
        require_relative "../../demo/models"
        require_relative "../../demo/schema"
      end

      def seed(connection)
        require_relative "../../demo/chinook"
        ::Demo::Chinook.new(FILE, connection).load
      end

      def types = super.except("Base")
      def models_module = Object

      # As somebody would write them who batches by hand.
      def batches
        { ["Customer", :total_spent] => ->(customers) { sums(Invoice.group(:customer_id), :total, customers) },
          ["Genre", :track_count] => ->(genres) { counts(Track.group(:genre_id), genres) },
          ["Genre", :average_minutes] => ->(genres) { average_minutes(genres) },
          ["Genre", :revenue] => ->(genres) { revenues(genres) },
          ["Artist", :album_count] => ->(artists) { counts(Album.group(:artist_id), artists) },
          ["Artist", :track_count] => ->(artists) { counts(Track.joins(:album).group("albums.artist_id"), artists) },
          ["Artist", :copies_sold] => ->(artists) { sums(lines_by_artist, :quantity, artists) },
          ["Artist", :best_seller] => ->(artists) { best_sellers(artists) },
          ["Track", :copies_sold] => ->(tracks) { sums(InvoiceLine.group(:track_id), :quantity, tracks) },
          ["Employee", :customer_count] => ->(employees) { counts(Customer.group(:support_rep_id), employees) },
          ["Employee", :sales] => ->(employees) {
            sums(Invoice.joins(:customer).group("customers.support_rep_id"), :total, employees)
          },
          ["Playlist", :track_count] => ->(lists) { counts(Playlist.joins(:tracks).group("playlists.id"), lists) } }
      end

      private

      def counts(grouped, owners) = of(grouped, owners).count.then { |found| owners.map { |owner| found.fetch(owner.id, 0) } }
      def sums(grouped, of, owners) = of(grouped, owners).sum(of).then { |found| owners.map { |owner| found.fetch(owner.id, 0) } }

      def of(grouped, owners) = grouped.where(grouped.group_values.first.to_s => owners.map(&:id))

      def average_minutes(genres)
        found = of(Track.group(:genre_id), genres).average(:milliseconds)
        genres.map { |genre| found[genre.id]&.fdiv(60_000)&.round(2) }
      end

      def revenues(genres)
        sums(InvoiceLine.joins(:track).group("tracks.genre_id"), "invoice_lines.unit_price * quantity", genres)
      end

      def lines_by_artist = InvoiceLine.joins(track: :album).group("albums.artist_id")

      def best_sellers(artists)
        found = Track.find_by_sql([<<~SQL, artists.map(&:id)]).index_by(&:artist_id)
          SELECT DISTINCT ON (albums.artist_id) tracks.*, albums.artist_id
          FROM tracks JOIN albums ON albums.id = tracks.album_id JOIN invoice_lines ON invoice_lines.track_id = tracks.id
          WHERE albums.artist_id IN (?) GROUP BY tracks.id, albums.artist_id
          ORDER BY albums.artist_id, SUM(invoice_lines.quantity) DESC, tracks.id
        SQL
        artists.map { |artist| found[artist.id] }
      end
    end
  end
end
