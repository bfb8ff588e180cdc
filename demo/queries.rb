# frozen_string_literal: true

module Demo
  Query = Struct.new(:name, :about, :text)

  # What the demo runs when it is given no query.
  QUERIES = [
    Query.new("narrow", "invoices and their lines", <<~GRAPHQL),
      {
        invoices(limit: 40) {
          invoiceDate total
          customer { firstName lastName }
          lines { quantity track { name } }
        }
      }
    GRAPHQL
    Query.new("wide", "customers, down to the tracks they bought", <<~GRAPHQL),
      {
        customers(limit: 6) {
          firstName lastName totalSpent
          supportRep { firstName manager { firstName title } }
          invoices {
            invoiceDate total
            lines {
              quantity
              track { name mediaType { name } genre { name } album { title artist { name } } }
            }
          }
        }
      }
    GRAPHQL
    Query.new("aggregates", "counts, sums and hand-written resolvers", <<~GRAPHQL)
      {
        genres(limit: 25) { name trackCount averageMinutes revenue }
        artists(limit: 25) { name albumCount trackCount copiesSold bestSeller { name copiesSold } }
        employees { firstName title customerCount sales manager { firstName } }
        playlists(limit: 18) { name trackCount }
      }
    GRAPHQL
  ].freeze
end
