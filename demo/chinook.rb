# frozen_string_literal: true

require "sqlite3"

module Demo
  # Copies the Chinook sample database from its SQLite file into PostgreSQL, with primary keys, foreign keys and indexes.
  class Chinook
    # In an order in which every foreign key's target is there first.
    TABLES = %w[artists albums genres media_types tracks playlists playlists_tracks
                employees customers invoices invoice_lines].freeze

    # connection: the ActiveRecord adapter of the database to fill.
    def initialize(file, connection)
      @sqlite = SQLite3::Database.new(file, readonly: true)
      @connection = connection
    end

    # Returns the number of rows.
    #: () -> Integer
    def load
      define_tables
      rows = TABLES.sum { |table| copy(table) }
      @connection.execute("ANALYZE #{TABLES.join(", ")}")
      rows
    ensure
      @sqlite.close
    end

    private

    def copy(table)
      columns, *rows = @sqlite.execute2("SELECT * FROM #{table}")
      pg = @connection.raw_connection
      pg.copy_data("COPY #{table} (#{columns.join(", ")}) FROM STDIN", PG::TextEncoder::CopyRow.new) do
        rows.each { |row| pg.put_copy_data(row.map { |value| value&.to_s }) }
      end
      rows.size
    end

    def define_tables
      create(:artists) { |t| t.string :name }
      create(:albums) do |t|
        t.string :title, null: false
        t.references :artist, null: false, foreign_key: true
      end
      create(:genres) { |t| t.string :name }
      create(:media_types) { |t| t.string :name }
      create(:tracks) do |t|
        t.string :name, null: false
        t.references :album, foreign_key: true
        t.references :media_type, null: false, foreign_key: true
        t.references :genre, foreign_key: true
        t.string :composer
        t.integer :milliseconds, null: false
        t.integer :bytes
        t.decimal :unit_price, precision: 10, scale: 2, null: false
      end
      define_playlists
      define_people
      define_sales
    end

    def define_playlists
      create(:playlists) { |t| t.string :name }
      create(:playlists_tracks, primary_key: %i[playlist_id track_id]) do |t|
        t.references :playlist, null: false, foreign_key: true, index: false # the primary key begins with it
        t.references :track, null: false, foreign_key: true
      end
    end

    def define_people
      create(:employees) do |t|
        t.string :last_name, null: false
        t.string :first_name, null: false
        t.string :title
        t.references :reports_to_employee, foreign_key: { to_table: :employees }
        t.datetime :birth_date
        t.datetime :hire_date
        address(t)
      end
      create(:customers) do |t|
        t.string :first_name, null: false
        t.string :last_name, null: false
        t.string :company
        address(t)
        t.references :support_rep, foreign_key: { to_table: :employees }
      end
    end

    def address(table) = table.string(*%i[address city state country postal_code phone fax email])

    def define_sales
      create(:invoices) do |t|
        t.references :customer, null: false, foreign_key: true
        t.datetime :invoice_date, null: false
        t.string :billing_address, :billing_city, :billing_state, :billing_country, :billing_postal_code
        t.decimal :total, precision: 10, scale: 2, null: false
      end
      create(:invoice_lines) do |t|
        t.references :invoice, null: false, foreign_key: true
        t.references :track, null: false, foreign_key: true
        t.decimal :unit_price, precision: 10, scale: 2, null: false
        t.integer :quantity, null: false
      end
    end

    def create(...) = @connection.create_table(...)
  end
end
