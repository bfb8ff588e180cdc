# frozen_string_literal: true

module Pipeloader
  # The execution that is going on: the outermost one, with all that its resolvers execute. Knows whether it has written, so that
  # nothing is written twice.
  #
  # Limits: what is written to PostgreSQL on a thread or a fiber of the resolver's own is only seen if the connection is the
  # response's, and what goes anywhere else (HTTP, Redis, a queue) isn't seen at all.
  class Attempt
    # Of a fiber, and those of its dataloader.
    KEY = :pipeloader_attempt
    # Of a fiber: true while it looks. What others do meanwhile, under a fiber scheduler, is theirs.
    LOOKING = :pipeloader_looking
    # Of a thread: true if another thread has raised something there.
    STRUCK = :pipeloader_struck
    private_constant :KEY, :LOOKING, :STRUCK

    class << self
      #: () -> Attempt?
      def current = Thread.current[KEY]

      # A statement that may write is about to go, or one that takes a lock, or BEGIN.
      def written = Thread.current[KEY]&.written

      # Yields to set a connection up, or to look at the schema of the database: that writes nothing.
      def looking(&) = within(LOOKING, true, &)
      def looking? = Thread.current[LOOKING]

      # Something in a session is about to be set, and nothing else is written by that.
      def set = Thread.current[KEY]&.set

      # Something is about to be raised in a +thread+.
      def strike(thread) = (thread.thread_variable_set(STRUCK, true) unless thread.frozen?)
      def struck? = Thread.current.thread_variable_get(STRUCK)

      # Yields while +attempt+ goes on.
      def around(attempt, &)
        Thread.current.thread_variable_set(STRUCK, nil)
        within(KEY, attempt, &)
      end

      private

      def within(key, value)
        outer, Thread.current[key] = Thread.current[key], value
        yield
      ensure
        Thread.current[key] = outer
      end
    end

    # @yieldparam error [Exception] of Bugs, that the application is about to handle
    # @yieldparam query [GraphQL::Query] in which it was raised
    # @yieldreturn [Boolean] whether all of it will be executed again, so that nobody needs to handle it
    def initialize(&met)
      @met = met
    end

    alias inspect to_s

    # Yields while it goes on.
    def around(&) = Attempt.around(self, &)

    # An execution begins: the first is its own. Others are its resolvers', of whichever schema, and may do what no connection
    # tells of.
    #
    # @yieldreturn [Boolean] whether it only reads
    def executing
      written if @executing && !yield
      @executing = true
    end

    # What it was given, if it may begin anew; nil if it may not.
    #
    #: (Given?) -> void
    attr_writer :restarts

    # True if it may, as long as nothing was written.
    def restarts? = !written? && !@restarts.nil? && @restarts.queries?

    # A statement has failed in a transaction of the caller's: all is to be done again, even if a resolver rescues the error.
    def fail = @failed = true
    def failed? = @failed || false

    # An +error+ leaves a job.
    def leave(error) = note(error, :left)

    # It comes to code that is around the execution, and may make something of it.
    def enclose(error) = @enclosed = error

    # @return [StandardError, nil]
    attr_reader :enclosed

    # An object has become null, so that graphql-ruby doesn't begin some of its fields; here they may have been begun.
    def lose_fields = @loses_fields = true
    def loses_fields? = @loses_fields || false

    # A job has left +settings+ of database sessions as they weren't.
    #
    # @param settings [Array<LeftSettings::Setting>]
    def leave_settings(settings) = (@left_settings ||= []).concat(settings)

    # @return [Array<LeftSettings::Setting>, nil] in that order
    attr_reader :left_settings

    # The application's handlers are asked what it is.
    def offer(error) = note(error, :offered)

    # One of them raises that +error+ in another's stead.
    def remake(error) = note(error, :remade)

    # True if it has left a field: it, or what it was made of.
    def left?(error) = known?(error, :left) || remade?(error)

    # True if it has, and handlers were never asked: of it, if one has raised it, else of what it was made of, too.
    def unhandled?(error) = left?(error) && (remade?(error) || !known?(error, :offered))

    def written = @wrote ||= !Attempt.looking?
    def set = @set ||= !Attempt.looking?

    # True if it has written, or set something in a session.
    def written? = @set || wrote?

    # True if it has written anything but that.
    def wrote? = @wrote || false

    # @return [Boolean] whether +error+ is to leave the execution, past the application's handlers
    def let_out?(error, query) = Bugs === error && @met.call(error, query)

    private

    def remade?(error) = (noted = @errors&.fetch(error, nil)) ? noted.include?(:remade) && !noted.include?(:offered) : false

    def note(error, what) = ((@errors ||= {}.compare_by_identity)[error] ||= []) << what

    # Of an error, or of what it was made of.
    def known?(error, what)
      @errors&.fetch(error, nil)&.include?(what) || (!error.cause.nil? && known?(error.cause, what))
    end
  end
end
