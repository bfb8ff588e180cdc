# frozen_string_literal: true

module Pipeloader
  # Pipeloader's state for one PostgreSQL connection: the bursts that are gathered for it, and what its server has prepared and
  # described. The adapter owns it; it lasts as long as the adapter, and #reset forgets what ended with a server session.
  class Session
    # Shapes kept per connection.
    SHAPES = 1000
    private_constant :SHAPES

    # {OID => OID of its array}, of types that aren't PostgreSQL's own
    attr_reader :array_types

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    #: (ActiveRecord::ConnectionAdapters::PostgreSQLAdapter) -> void
    def initialize(adapter)
      @adapter = adapter
      # [WeakReference] to Bursts in the order of their levels; one that was interrupted still has reads to send, and its fibers
      # hold it.
      @gathering = []
      @sending = {}.compare_by_identity # {Fiber => true}: under a fiber scheduler others work with it while one waits
      @aside = false
      @response = nil
      reset
    end

    # The server session is new: nothing is prepared or described.
    def reset
      @cut_short = @changed = @locking = false
      @shapes = Bounded.new(SHAPES) # {key of an SQL text => Shape}
      @array_types = {}
      @surplus = [] # names that the server knows and ActiveRecord's pool doesn't
    end

    ## Gathered bursts

    def gather(burst)
      @gathering << WeakReference.new(burst) unless @gathering.any? { |it| it.object.equal?(burst) }
    end

    # +burst+ is about to be sent.
    def gathered(burst) = @gathering.delete_if { |it| it.object.equal?(burst) }

    # +response+ has ended by an exception: its gathered reads are never sent.
    def abandon(response)
      @response = nil if self.response.equal?(response)
      @gathering.reject! { |it| (burst = it.object).nil? || burst.response.equal?(response) }
    end

    # The first burst that this thread gathers.
    #
    #: () -> Burst?
    def gathered_here
      @gathering.each { |it| (burst = it.object)&.gathered_here? and return burst }
      nil
    end

    def gathering? = !@gathering.empty?

    def send_gathered
      while (burst = gathered_here)
        burst.response.waiting { Burst.run([burst]) }
      end
    end

    # Yields with nothing gathered, while the connection is being set up. What is gathered waits.
    def set_aside
      gathering, aside = @gathering, @aside
      @gathering = []
      @aside = true
      yield
    ensure
      @gathering = gathering if gathering # an interrupt can come before
      @aside = aside
    end

    # True while the connection works for no response.
    def aside? = @aside

    # True if the current fiber is sending a level's own statements.
    def sending? = @sending.key?(Fiber.current)

    def sending
      outer = sending?
      @sending[Fiber.current] = true
      yield
    ensure
      @sending.delete(Fiber.current) unless outer
    end

    # The Response that uses the connection, if any.
    #
    #: () -> Response?
    def response = @response&.object

    #: (Response) -> void
    def response=(response)
      @response = WeakReference.new(response)
    end

    # In which a response reads; nil if none is open.
    #
    #: () -> ReadTransaction?
    attr_accessor :read_transaction

    # Pipeloader ended a transaction of the caller's: by a cancel request, or with the connection.
    attr_accessor :cut_short

    alias cut_short? cut_short

    ## Whether other connections of the pool answer as this one does, see Patches::SessionWatch

    # True if a statement has changed what it answers to later ones, or others had their hands on it.
    attr_writer :changed

    # True if whoever has it may hold advisory locks.
    attr_writer :locking

    # @param effect [Symbol] as SQLText.effect_on_session says
    def note(effect) = effect == :locks ? @locking = true : @changed = true

    def alike? = !@changed && !@locking

    # True if what is asked for now may be asked of them, too: in no transaction, or in one whose snapshot they can have.
    def lends? = alike? && (@adapter.pipeloader_idle? || !!@read_transaction&.shared?)

    ## Statements that the server knows by name

    # @return [String, nil]
    def statement_name(sql) = statements[key(sql)]

    def next_statement_name = statements.next_key

    # Takes note of a statement that is answered, and of all that its Sync has ended: only what the server has confirmed, and only
    # then, as ActiveRecord's pool may evict by a statement of its own.
    #
    # @param again [Boolean] whether all of it is to be done again, as if nothing had been prepared
    def register(whole, again)
      whole.each_command do |statement|
        if statement.prepared?
          again ? @surplus << statement.name : register_statement(statement.sql, statement.name)
        end
        learn(statement) if statement.description || statement.undescribed?
        forget_statement(statement.sql) if whole.spoiled? && statement.name
      end
    end

    # May evict another name, by a statement of its own. The server refuses that in a failed transaction, and would keep the name
    # forever: then the new name is dropped as soon as possible.
    def register_statement(sql, name)
      full = statements.length >= statements.instance_variable_get(:@statement_limit)
      return @surplus << name if full && @adapter.pipeloader_takes_no_statement?

      statements[key(sql)] = name
    end

    def forget_statement(sql)
      statements.delete(key(sql)) if statements.key?(key(sql))
    end

    #: (PG::Connection) -> void
    def drop_surplus(connection)
      return if @surplus.empty? || @adapter.pipeloader_takes_no_statement?

      names, @surplus = @surplus, []
      connection.query(names.map { |name| "DEALLOCATE #{name}" }.join("; "))
    rescue PG::Error # as ActiveRecord's pool does
      nil
    end

    ## What the server says of SQL texts

    #: () -> ResultSizes
    def result_sizes = learned.sizes

    #: () -> Distance
    def distance = learned.distance

    #: () -> ServerTimes
    def server_times = learned.times

    # The Shape of +sql+, if this server has described it as +name+. Without a name the server is asked again in any case, so a
    # guess will do.
    #
    #: (String, String?) -> Shape?
    def shape(sql, name)
      known = @shapes[key(sql)]
      return known if known && known.name == name

      name.nil? && (guess = guess(sql, nil)) && keep(guess)
    end

    # The Shape of +sql+ as another connection's server has described it.
    #
    #: (String, String?) -> Shape?
    def guess(sql, name)
      description = learned[key(sql)]
      Shape.new(sql, name, description, @array_types) if description
    end

    # @param statement [Statement] which was described
    def learn(statement)
      sql = statement.described_sql || statement.sql
      name = statement.name unless statement.described_sql
      learned.learn(key(sql), statement.description)
      description = statement.description || Statement::UNKNOWN
      expected = statement.shape if statement.shape&.description == description
      keep(expected || Shape.new(sql, name, description, @array_types))
    end

    private

    def statements = @adapter.pipeloader_statements

    def key(sql) = @adapter.pipeloader_statement_key(sql)

    def learned = Learned.of(@adapter.pool)

    def keep(shape) = @shapes[key(shape.sql)] = shape
  end
end
