# frozen_string_literal: true

require_relative "plans"

# An object of the application's that fields share. It takes note of what it loads before it has read it, so that a field which comes
# meanwhile takes it for loaded.
class NotedEarly
  attr_reader :hidden

  def initialize = (@loaded, @hidden = Set.new, Set.new)

  def hidden?(id)
    load(id) if @loaded.add?(id)
    hidden.include?(id)
  end

  def load(id) = @hidden.merge(Post.where(id: id).pluck(:id))

  # No field comes in between.
  class Unparked < NotedEarly
    def load(id) = Pipeloader.without_parking { super }
  end

  # Its fields ask the object that the context has.
  class Query < Schemas::Base
    graphql_name "Query"
    field :hidden, GraphQL::Types::Boolean do
      argument :id, Integer
    end
    field :fine, Integer
    def hidden(id:) = context[:loader].hidden?(id)
    def fine = Post.count
  end
end
