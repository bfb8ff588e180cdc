# frozen_string_literal: true

module Pipeloader
  # What one or more equal reads are on the wire: SQL, parameters, and the name it is prepared under, if any.
  #
  # It is answered when its Sync has come back and not before: a server that dies in between undoes what it has shown.
  class Statement
    # SQLSTATE of "prepared statement … does not exist", and of a plan whose result type has changed.
    LOST = "26000"
    CHANGED = "0A000"
    CANCELED = "57014"

    attr_reader :sql, :params, :name, :reads, :result, :error

    # Bytes that its result is expected to have; the pipeline's own account.
    attr_accessor :expected

    # @param name [String, nil] nil sends it unprepared
    # @param prepare [Boolean] whether this statement is the one that prepares +name+
    # @param preparer [Statement, nil] the statement of this burst that prepares +name+, if it is another one
    def initialize(read, name: nil, prepare: false, preparer: nil)
      @sql = read.sql
      @params = read.params
      @name = name
      @prepare = prepare
      @preparer = preparer
      @reads = [read]
    end

    def prepare? = @prepare

    # A second read that this statement answers. ActiveRecord clears each result that it has read: this one must last.
    def share(read)
      @reads << read
    end

    # Whether +result+ can be the next that belongs to this statement.
    def expects?(result)
      case result.result_status
      when PG::PGRES_PIPELINE_ABORTED then true
      when PG::PGRES_FATAL_ERROR then @result.nil?
      when PG::PGRES_COMMAND_OK then preparing? || @result.nil?
      # (A row that was lost, or came twice.)
      else !preparing? && @result.nil? && (result.result_status != PG::PGRES_TUPLES_OK || result.cmd_tuples == result.ntuples)
      end
    end

    # Takes one result of the pipeline: first PREPARE's, if this statement prepares, then its own.
    def take(result)
      if preparing?
        @prepared = result.result_status == PG::PGRES_COMMAND_OK
        @result = result unless @prepared
      elsif result.result_status != PG::PGRES_PIPELINE_ABORTED
        @result = result
      end
    end

    # It couldn't even be sent: a NUL byte in a parameter, say.
    def refuse(error) = @error = error

    # Its Sync has come. While the pipeline is being cleared by cancelling, what was cancelled has no answer.
    def complete(clearing)
      @result = nil if clearing && sqlstate == CANCELED
      @result&.extend(KeepOpen) if @reads.size > 1
      @answered = complete?
    end

    # True if all that belongs to it has come.
    def complete? = !(@result.nil? && @error.nil?)

    def answered? = @answered

    def failed? = !@error.nil? || !sqlstate.nil?

    # True once the server knows +name+.
    def prepared? = @prepared

    # PREPARE itself was what failed.
    def unprepared? = @prepared == false

    # Whether another try, unprepared, brings what this one couldn't.
    def repairable?
      return false unless @name && @answered
      # Then the name is unknown, or somebody else's: rows would be another statement's.
      return true if @preparer&.unprepared?
      return false unless (state = sqlstate)

      state == LOST || (state == CHANGED &&
        @result.error_field(PG::PG_DIAG_SOURCE_FUNCTION) == "RevalidateCachedQuery")
    end

    # The same reads, to be sent without a name.
    def without_name
      Statement.new(@reads.first).tap { |twin| @reads.drop(1).each { |read| twin.share(read) } }
    end

    # @return [PG::Result], or raises what the server answered instead: PG::Error
    def fetch
      raise @error if @error && !unprepared? # PREPARE's own error comes first, as it does serially

      @result.check
      @result
    end

    # Bytes on their way to the server, roughly: for the bound on what waits to be written.
    def bytesize
      @params.sum(@name ? 32 : @sql.bytesize) { |param| param.is_a?(String) ? param.bytesize : 8 }
    end

    def row_count = @result&.ntuples

    # The result of several reads.
    module KeepOpen
      def clear = nil
    end

    private

    # PREPARE is still to be answered.
    def preparing? = @prepare && @prepared.nil?

    def sqlstate = @result&.error_field(PG::PG_DIAG_SQLSTATE)
  end
end
