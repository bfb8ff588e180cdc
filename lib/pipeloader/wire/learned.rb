# frozen_string_literal: true

module Pipeloader
  # Facts about SQL texts that one connection of a pool has learned for the others: the server's description, how many bytes
  # results had, and how long the server took. Another connection may see another table of that name, or the table may have
  # changed since; so a description is a guess, and what is asked for on its strength counts if the connection's own server says
  # the same in the same burst.
  #
  # Threads share it: each of its steps is one that Ruby doesn't interrupt.
  class Learned
    LIMIT = 1000
    # Longer texts aren't kept.
    LONGEST = 5000
    private_constant :LIMIT, :LONGEST

    # @return [Learned] the pool's, kept as long as the pool is
    def self.of(pool)
      pool.instance_variable_get(:@pipeloader_learned) || pool.instance_variable_set(:@pipeloader_learned, new)
    end

    # @return [ResultSizes]
    attr_reader :sizes

    # @return [Distance]
    attr_reader :distance

    # @return [ServerTimes]
    attr_reader :times

    def initialize
      @descriptions = Bounded.new(LIMIT) # {key of an SQL text => Statement::Description}
      @sizes = ResultSizes.new
      @distance = Distance.new
      @times = ServerTimes.new
    end

    #: (String) -> Statement::Description?
    def [](key) = @descriptions[key]

    # @param description [Statement::Description, nil] nil if the server has refused to say
    #
    #: (String, Statement::Description?) -> void
    def learn(key, description)
      if description.nil? then @descriptions.delete(key)
      elsif key.size <= LONGEST then @descriptions[key] = description.freeze
      end
    end
  end
end
