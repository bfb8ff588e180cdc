# frozen_string_literal: true

# Ten fields, each of which has the server sleep for ten milliseconds.
module Sleeps
  class Query < GraphQL::Schema::Object
    10.times do |n|
      field "nap#{n}", Integer, null: false
      define_method("nap#{n}") do
        ActiveRecord::Base.with_connection { |connection| connection.select_value("SELECT #{n} FROM pg_sleep(0.01)") }
      end
    end
  end
end
