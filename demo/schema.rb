# frozen_string_literal: true

# Types as plain as can be, N+1 and all. (piped_schema.rb has the same with one line more; benchmark/ uses this file alone.)

require "graphql/schema" # before GraphQL::Schema::Object

module Types
  class Base < GraphQL::Schema::Object
  end

  class Artist < Base
    field :id, ID, null: false
    field :name, String
    field :albums, ["Types::Album"], null: false
    field :album_count, Int, null: false
    field :track_count, Int, null: false
    field :copies_sold, Int, null: false
    field :best_seller, "Types::Track", description: "The track that sold most"

    def album_count = object.albums.count

    def track_count = object.tracks.count

    def copies_sold = ::InvoiceLine.joins(track: :album).where(albums: { artist_id: object.id }).sum(:quantity)

    def best_seller
      object.tracks.unscope(:order).joins(:invoice_lines).group("tracks.id")
        .order(Arel.sql("SUM(invoice_lines.quantity) DESC, tracks.id")).first
    end
  end

  class Album < Base
    field :id, ID, null: false
    field :title, String, null: false
    field :artist, Artist, null: false
    field :tracks, ["Types::Track"], null: false
    field :track_count, Int, null: false
    field :minutes, Float, null: false

    def track_count = object.tracks.count

    def minutes = (object.tracks.sum(:milliseconds) / 60_000.0).round(1)
  end

  class Genre < Base
    field :id, ID, null: false
    field :name, String
    field :tracks, ["Types::Track"], null: false do
      argument :limit, Int, required: false, default_value: 10
    end
    field :track_count, Int, null: false
    field :average_minutes, Float
    field :revenue, Float, null: false

    def tracks(limit:) = object.tracks.limit(limit)

    def track_count = object.tracks.count

    def average_minutes = object.tracks.average(:milliseconds)&.fdiv(60_000)&.round(2)

    def revenue = ::InvoiceLine.joins(:track).where(tracks: { genre_id: object.id }).sum("invoice_lines.unit_price * quantity")
  end

  class MediaType < Base
    field :id, ID, null: false
    field :name, String
  end

  class Track < Base
    field :id, ID, null: false
    field :name, String, null: false
    field :composer, String
    field :milliseconds, Int, null: false
    field :unit_price, Float, null: false
    field :album, Album
    field :genre, Genre
    field :media_type, MediaType, null: false
    field :playlists, ["Types::Playlist"], null: false
    field :copies_sold, Int, null: false

    def copies_sold = object.invoice_lines.sum(:quantity)
  end

  class Playlist < Base
    field :id, ID, null: false
    field :name, String
    field :tracks, [Track], null: false do
      argument :limit, Int, required: false, default_value: 10
    end
    field :track_count, Int, null: false

    def tracks(limit:) = object.tracks.limit(limit)

    def track_count = object.tracks.count
  end

  class Employee < Base
    field :id, ID, null: false
    field :first_name, String, null: false
    field :last_name, String, null: false
    field :title, String
    field :hire_date, GraphQL::Types::ISO8601DateTime
    field :manager, Employee
    field :reports, [Employee], null: false
    field :customers, ["Types::Customer"], null: false
    field :customer_count, Int, null: false
    field :sales, Float, null: false

    def customer_count = object.customers.count

    def sales = ::Invoice.joins(:customer).where(customers: { support_rep_id: object.id }).sum(:total)
  end

  class Customer < Base
    field :id, ID, null: false
    field :first_name, String, null: false
    field :last_name, String, null: false
    field :country, String
    field :email, String, null: false
    field :support_rep, Employee
    field :invoices, ["Types::Invoice"], null: false
    field :total_spent, Float, null: false
    field :last_invoice, "Types::Invoice"

    def total_spent = object.invoices.sum(:total)

    def last_invoice = object.invoices.order(:invoice_date).last
  end

  class InvoiceLine < Base
    field :id, ID, null: false
    field :unit_price, Float, null: false
    field :quantity, Int, null: false
    field :track, Track, null: false
    field :invoice, "Types::Invoice", null: false
  end

  class Invoice < Base
    field :id, ID, null: false
    field :invoice_date, GraphQL::Types::ISO8601DateTime, null: false
    field :billing_country, String
    field :total, Float, null: false
    field :customer, Customer, null: false
    field :lines, [InvoiceLine], null: false, method: :invoice_lines
  end

  class Query < Base
    # One field for one record, `artist(id: 1)`, and one for a list of them, `artists(limit: 10)`.
    { artist: Artist, album: Album, track: Track, genre: Genre, playlist: Playlist,
      employee: Employee, customer: Customer, invoice: Invoice }.each do |name, type|
      model = Object.const_get(type.graphql_name)

      field name, type do
        argument :id, ID, required: true
      end
      field :"#{name}s", [type], null: false do
        argument :limit, Int, required: false, default_value: 10
      end

      define_method(name) { |id:| model.find_by(id: id) }
      define_method(:"#{name}s") { |limit:| model.order(:id).limit(limit) }
    end
  end
end

class PlainSchema < GraphQL::Schema
  query Types::Query
end
