# frozen_string_literal: true

require_relative "../../demo/queries"

# The queries of bin/demo.
module Bench
  track = { track: [:media_type, :genre, { album: :artist }] }
  includes = {
    "narrow" => { invoices: [:customer, { invoice_lines: :track }] },
    "wide" => { customers: [{ support_rep: :manager, invoices: { invoice_lines: track } }] },
    "aggregates" => { employees: [:manager] }
  }
  Demo::QUERIES.each do |query|
    Workload.define "chinook-#{query.name}", "Chinook: #{query.about}",
                    about: "bin/demo's query #{query.name}", dataset: :chinook, query: query.text,
                    includes: includes.fetch(query.name)
  end
end
