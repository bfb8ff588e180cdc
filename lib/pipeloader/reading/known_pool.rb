# frozen_string_literal: true

module Pipeloader
  # A model's connection pool, and what ActiveRecord has found it by. It is looked at for each association that was read ahead:
  # to see that ActiveRecord would find the same takes less than half of the time that asking it does.
  #
  # Limit: a model with a `connection_pool` of its own, see AssociationQuery.
  class KnownPool
    HANDLER = :active_record_connection_handler
    ROLES = :active_record_connected_to_stack
    private_constant :HANDLER, :ROLES

    # @return [ActiveRecord::ConnectionAdapters::ConnectionPool]
    attr_reader :pool

    alias inspect to_s

    # @param model [Class]
    def initialize(model)
      @model = model
      @pool = model.connection_pool
      @name = model.connection_specification_name
      @default = ActiveRecord::Base.default_connection_handler
      execution = DynamicState.execution
      @handler = execution[HANDLER]
      @roles = execution[ROLES]
      @last = @roles&.last
      @depth = @roles&.size
    end

    # True if it is the model's still. One that another has taken the place of doesn't reconnect.
    def current?
      execution = DynamicState.execution
      @pool.automatic_reconnect && execution[HANDLER].equal?(@handler) && roles?(execution[ROLES]) &&
        @model.connection_specification_name == @name && ActiveRecord::Base.default_connection_handler.equal?(@default)
    end

    private

    # True if as many `connected_to` blocks are open as then, and the same ones.
    def roles?(roles) = roles.equal?(@roles) && (roles.nil? || (roles.size == @depth && roles.last.equal?(@last)))
  end
end
