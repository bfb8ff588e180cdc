# frozen_string_literal: true

module Pipeloader
  # The statements that a burst's reads become, before any are put together.
  class Statements
    # @param session [Session] which knows what the server has prepared
    def initialize(session)
      @session = session
      @names = {} # {SQL => Statement} of what this burst prepares itself
    end

    # Equal reads become one statement, where that can't be noticed.
    #
    # @param reads [Array<Read>] in the order in which they are sent
    # @param grow [Boolean] whether reads may bring along what their rows lead to
    # @return [Array<Statement>]
    def of(reads, grow)
      trees = grow ? trees_among(reads) : []
      twins = {} # {key => Statement}
      reads.each_with_object([]) do |read, statements|
        # Later reads may see what it does, or waits for.
        twins.delete_if { |_, statement| !statement.reads.first.cached? } unless read.pure?
        twin = twins[key = read.key]
        next twin.share(read) if twin && read.shareable_with?(twin.reads.first)

        statements << (twins[key] = trees.include?(read) ? tree(read) : named(Statement.new(read)))
      end
    end

    private

    # Many of one SQL text are better asked for by one statement. And what isn't pure may change what is behind it.
    def trees_among(reads)
      trees = reads.select(&:followers)
      return trees if trees.empty? || !reads.all?(&:pure?)

      few = trees.group_by(&:sql).each_value.select { |alike| alike.uniq(&:key).size < Coalesced::WORTH }
      few.flatten.select { |read| Tree.of?(read) }
    end

    def tree(read) = named(Tree.new(read, read.followers.reads.map { |it| named(Statement.new(it)) }))

    # @return [Statement] the same, with the name under which the server knows it, or will
    def named(statement)
      return statement unless statement.reads.first.prepared?

      sql = statement.sql
      if (preparer = @names[sql]) then statement.known_as(preparer.name, preparer)
      elsif (name = @session.statement_name(sql)) then statement.known_as(name)
      else @names[sql] = statement.prepare_as(@session.next_statement_name)
      end
    end
  end
end
