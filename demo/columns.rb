# frozen_string_literal: true

require_relative "words"

module Demo
  # What of each table a query reads with field-exact projection, and how many bytes that leaves on the wire.
  class Columns
    SELECT = /\ASELECT (.*?) FROM "(\w+)"/m
    LIST = /\A(?:"\w+"\."\w+"(?:, )?)+\z/

    # whole, exact: the schema that reads whole rows, and the one that doesn't; the proxy that counts bytes
    def initialize(whole, exact, proxy)
      @whole = whole
      @exact = exact
      @proxy = proxy
    end

    # Array of text
    def lines(query)
      [@whole, @exact].each { |schema| schema.execute(query.text) } # types are asked for, statements prepared
      reads = reads { @exact.execute(query.text) }
      bytes, whole = [@exact, @whole].map { |schema| @proxy.count { schema.execute(query.text) }[:bytes_to_client] }
      ["  Columns that are read of each table (a count or a sum reads none):", *tables(reads),
       "", "  #{Words.count(bytes)} bytes from the server; whole rows are #{Words.count(whole)}."]
    end

    private

    # SQL of the bursts that the block causes.
    def reads(&block)
      reads = []
      taker = ->(*, payload) { reads.concat(payload[:reads].map(&:sql)) }
      ActiveSupport::Notifications.subscribed(taker, "burst.pipeloader", &block)
      reads
    end

    def tables(reads)
      lists = reads.filter_map { |sql| sql[SELECT] && [$2, $1] }.uniq.sort
      lists.filter_map { |table, list| line(table, list) }.uniq
    end

    def line(table, list)
      return format("  %15s  %-8s  %s", table, "all", "whole rows") if list.end_with?("*")
      return unless LIST.match?(list)

      columns = list.scan(/"\w+"\."(\w+)"/).flatten
      all = ActiveRecord::Base.connection.columns(table).size
      format("  %15s  %-8s  %s", table, "#{columns.size} of #{all}", columns.join(", "))
    end
  end
end
