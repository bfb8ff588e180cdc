# frozen_string_literal: true

module Pipeloader
  # One part's rows of a Coalesced, in place of the PG::Result that it would have had by itself. It has the methods
  # that ActiveRecord asks of a result (test/patches/contract_test.rb), and no others: they would be the whole's.
  class Slice
    alias inspect to_s

    def initialize(coalesced, index)
      @coalesced = coalesced
      @index = index
    end

    def check = self
    def result_status = PG::PGRES_TUPLES_OK
    def error_field(_) = nil

    def fields = @coalesced.columns.names
    def ftype(column) = @coalesced.columns.types.fetch(column)
    def fmod(column) = @coalesced.columns.modifiers.fetch(column)

    # The caller may change them.
    def values
      rows = @coalesced.rows[@index]
      @shared ? Rows.copy(rows) : rows
    end

    def ntuples = @coalesced.rows[@index].size
    alias count ntuples
    alias cmd_tuples ntuples

    def clear = nil

    # The ResultTemplate that ActiveRecord made of another part of the same statement, if it has come to any.
    #
    #: () -> ResultTemplate?
    def template = @coalesced.template

    def template=(template)
      @coalesced.template = template
    end

    # It is the answer of several reads.
    def share
      @shared = true
    end
  end
end
