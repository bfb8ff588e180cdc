# frozen_string_literal: true

module Pipeloader
  # One or more equal reads on the wire: SQL, parameters, and the name it is prepared under, if any.
  #
  # It is answered when its Sync has come back and not before: a server that dies in between undoes what it has shown.
  class Statement
    # SQLSTATE of "current transaction is aborted".
    ABORTED = "25P02"

    # SQLSTATE of "prepared statement … does not exist", and of a plan whose result type has changed.
    LOST = "26000"
    CHANGED = "0A000"
    CANCELED = "57014"

    # The answers that are expected, in order. DESCRIBE is in the same Sync, so that a proxy can't hand it to another server.
    ROWS = [:rows].freeze
    PREPARED_ROWS = %i[preparation rows].freeze
    DESCRIPTION = %i[description].freeze
    PARSED_DESCRIPTION = %i[parsed description].freeze
    NONE = [].freeze
    private_constant :NONE, :ROWS, :PREPARED_ROWS, :DESCRIPTION, :PARSED_DESCRIPTION

    # ActiveRecord counts the rows for its event, and PG::Result would make a Hash of each for that.
    #
    # @param result [PG::Result, Slice]
    def self.counted(result)
      result.extend(Counted) if result.respond_to?(:each) && result.ntuples > FEW
      result
    end

    attr_reader :sql, :params, :name, :reads, :result, :error

    # The server's description of the SQL, if it was asked: {types: OIDs of its parameters, columns: their names}
    Description = Struct.new(:types, :columns)
    # Of SQL that the server won't describe.
    UNKNOWN = Description.new([].freeze, [].freeze).freeze

    #: () -> Description?
    attr_reader :description

    # The expected description: a Shape that another connection has learned, or one that holds no longer than a burst.
    #
    #: () -> Shape?
    attr_accessor :shape

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
      @messages = prepare ? PREPARED_ROWS : ROWS
      @next = @set = 0
      @before = @after = NONE
      @in_savepoint = false
    end

    def prepare? = @prepare

    # @return [Statement, nil] that prepares its name in the same burst
    attr_reader :preparer

    # Some are never sent: what they were to prepare, the first that needs it of those that are +left+ prepares.
    #
    #: (Array[Statement], Array[Statement]) -> void
    def self.prepare_instead(dropped, left)
      preparers = commands(dropped).select(&:prepare?)
      commands(left).group_by(&:preparer).slice(*preparers).each_value do |first, *others|
        first.prepare_as(first.name)
        others.each { |other| other.known_as(other.name, first) }
      end
    end

    def self.commands(statements) = [].tap { |all| statements.each { |whole| whole.each_command { |one| all << one } } }
    private_class_method :commands

    # The server knows it by +name+, or will. The +preparer+ is as of #initialize.
    def known_as(name, preparer = nil)
      @name, @preparer = name, preparer
      self
    end

    # It is the one that prepares +name+.
    def prepare_as(name)
      @prepare = true
      @messages = PREPARED_ROWS
      known_as(name)
    end

    # Bytes that its result will have, going by those of earlier ones.
    #
    #: (ResultSizes) -> Integer
    def size_by(sizes) = sizes.expect(@sql)

    # Its result had +bytes+. What is asked for with other values will have as many.
    def tell_size(bytes, sizes) = sizes.remember(described_sql || @sql, bytes)

    # Statements that go behind it under its Sync, and look up what its rows lead to.
    def followers = NONE

    # Yields all that its Sync ends.
    def each_command(&)
      yield self
      followers.each(&)
    end

    # The server has worked on it for so long.
    def tell_time(milliseconds, times) = reads.first&.then { |read| times.remember(read.text, milliseconds) }

    # OIDs that the server is told; nil where it infers them.
    def types = nil

    # Asks for the types of the parameters, too.
    #
    # @param sql [String, nil] of other SQL, which will be parsed under no name
    def describe(sql = nil)
      @described_sql = sql
      @messages = (@prepare ? PREPARED_ROWS : ROWS) + (sql ? PARSED_DESCRIPTION : DESCRIPTION)
    end

    def describe? = @messages.include?(:description)

    # SQL that is to be parsed under no name, and described; nil where it's the statement itself.
    attr_reader :described_sql

    # It was asked for, and the server has refused.
    def undescribed? = describe? && answered? && !failed? && @description.nil?

    # The same with values as parameters, that are written into it; nil if there are none.
    #
    #: () -> Literals?
    def literals
      @literals = Literals.of(text, @params) unless defined?(@literals)
      @literals
    end

    # A second read that this statement answers. ActiveRecord clears each result that it has read: this one must last.
    def share(read)
      @reads << read
    end

    # What goes before it and after it, under its Sync: each SQL with its parameters. See Settings, ReadTransaction.
    attr_reader :before, :after

    #: (Array[Array], Array[Array]) -> void
    def surround(before, after)
      @before = before
      @after = after
      @messages = [*before.map { :setting }, *@messages, *after.map { :setting }]
    end

    # If it fails, the transaction that is open goes on. See Savepoint.
    def put_in_savepoint
      @in_savepoint = true
      surround([], TransactionControl::Savepoint::KEEP)
    end

    def in_savepoint? = @in_savepoint

    # True if the server has refused it, behind its savepoint. In a transaction that had failed before, it did nothing there.
    def failed_apart? = @in_savepoint && failed? && !refused? && !follow_up?

    # How much of what goes before it has succeeded.
    attr_reader :set

    # True if any of that has failed.
    def unset? = @set < before.size

    # True if the next answer is its rows.
    def rows_next? = awaited == :rows

    # True if +result+ can be the next that belongs to this statement.
    def expects?(result)
      case result.result_status
      when PG::PGRES_PIPELINE_ABORTED then true
      when PG::PGRES_FATAL_ERROR then !awaited.nil?
      when PG::PGRES_COMMAND_OK then !awaited.nil?
      # A row that was lost, or came twice.
      else tuples_next? && (result.result_status != PG::PGRES_TUPLES_OK || result.cmd_tuples == result.ntuples)
      end
    end

    # Takes one result of the pipeline.
    def take(result)
      message, @next = awaited, @next + 1
      return if result.result_status == PG::PGRES_PIPELINE_ABORTED || half_sent?

      failed = result.result_status == PG::PGRES_FATAL_ERROR
      @set = @next if message == :setting && !failed && @next <= @before.size
      @prepared = !failed if message == :preparation
      @result = result if message == :rows || (failed && @result.nil?)
      @description = describing(result) if message == :description && !failed
    end

    # It couldn't even be sent: a NUL byte in a parameter, say.
    def refuse(error) = @error = error

    def refused? = !@error.nil?

    # Its Sync has come. While the pipeline is being cleared by canceling, what was canceled has no answer.
    def complete(clearing)
      @result = nil if clearing && sqlstate == CANCELED
      @result&.extend(KeepOpen) if @reads.size > 1
      @answered = complete?
    end

    # An answer that was part of another statement's.
    #
    #: (Slice) -> void
    def answer(slice)
      @result = @slice = slice
      slice.share if @reads.size > 1
      @answered = true
    end

    # Its rows, if they came as a part of another statement's.
    #
    #: () -> Slice?
    attr_reader :slice

    # The next answer; nil if none is awaited.
    def awaited = @messages[@next]

    # True if all that belongs to it has come.
    def complete? = !@error.nil? || (!@result.nil? && (awaited.nil? || !sqlstate.nil?))

    def answered? = @answered

    def failed? = !@error.nil? || !sqlstate.nil?

    # True if it only says that the transaction has been aborted before.
    def follow_up? = sqlstate == ABORTED

    # True if it was answered, and its reads weren't.
    def spoiled? = false

    # True once the server knows +name+.
    def prepared? = @prepared

    # The server knows it by no name.
    def nameless? = @name.nil? || unprepared? || !!@preparer&.unprepared?

    # PREPARE itself was what failed.
    def unprepared? = @prepared == false

    # True if another try, unprepared, brings what this one couldn't.
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
      raise @error.dup if @error && !unprepared? # PREPARE's own error comes first, as it does serially

      @result.check
      Statement.counted(@result)
    end

    # True if nobody waits for it any more.
    def late? = reads.all?(&:late?)

    # True if any of its reads has a limit of time.
    def limited? = @reads.any?(&:time_limit)

    # @return [Numeric, nil] when the first of those who wait for it has no more time
    def due = reads.filter_map { |read| read.time_limit&.at }.min

    # Its SQL without the tags.
    def text = tags ? tags.text : @sql

    # As Read's.
    def tags = @reads.first.tags
    def pure? = @reads.first.pure?
    def coalesces? = @reads.first.coalesces?

    # Bytes on their way to the server, roughly: for the bound on what waits to be written.
    def bytesize
      bytes = @params.sum(@name ? 32 : @sql.bytesize) do |param|
        param = param[:value] if param.is_a?(Hash)
        param.is_a?(String) ? param.bytesize : 8
      end
      @before.empty? && @after.empty? ? bytes : bytes + [@before, @after].flatten.sum(&:bytesize)
    end

    def row_count = @result&.ntuples

    # The result of several reads.
    module KeepOpen
      def clear = nil
    end

    module Counted
      def count(*arguments, &block) = arguments.empty? && block.nil? ? ntuples : super
    end
    FEW = 10
    private_constant :FEW

    private

    def describing(result)
      Description.new(Array.new(result.nparams) { |index| result.paramtype(index) }, result.fields.map(&:freeze))
    end

    # Only what is around it.
    def half_sent? = refused? && @after.any?

    def tuples_next? = awaited == :rows || awaited == :setting || half_sent?

    def sqlstate = @result&.error_field(PG::PG_DIAG_SQLSTATE)
  end
end
