# frozen_string_literal: true

module Pipeloader
  # A model's connection pool, and what ActiveRecord has found it by: to see that it would find the same costs a fourth of asking
  # it, which is done for each association that was read ahead.
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
      execution = KnownPool.execution
      @handler = execution[HANDLER]
      @roles = execution[ROLES]
      @last = @roles&.last
      @depth = @roles&.size
    end

    # @return [Hash] what ActiveSupport keeps for this thread or fiber
    def self.execution = ActiveSupport::IsolatedExecutionState.context.active_support_execution_state || {}

    # True if it is the model's still. One that another has taken the place of doesn't reconnect.
    def current?
      execution = KnownPool.execution
      @pool.automatic_reconnect && execution[HANDLER].equal?(@handler) && roles?(execution[ROLES]) &&
        @model.connection_specification_name == @name && ActiveRecord::Base.default_connection_handler.equal?(@default)
    end

    private

    # True if as many `connected_to` blocks are open as then, and the same ones.
    def roles?(roles) = roles.equal?(@roles) && (roles.nil? || (roles.size == @depth && roles.last.equal?(@last)))
  end
end
