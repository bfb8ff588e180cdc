# frozen_string_literal: true

module Pipeloader
  # Who defines a method: graphql-ruby, ActiveRecord, Ruby, or somebody whose code we can't see through.
  module Host
    RUBY = [Class, Module, Object, Kernel, BasicObject].freeze
    private_constant :RUBY

    class << self
      #: (Method | UnboundMethod) -> bool
      def graphql?(method) = RUBY.include?(method.owner) || of?(method.owner, "GraphQL::")

      #: (Method | UnboundMethod) -> bool
      def active_record?(method)
        RUBY.include?(method.owner) || of?(method.owner, "ActiveRecord::") || of?(method.owner, "ActiveModel::")
      end

      private

      # (The owner of a class method is a module that the class is extended by, or the singleton class of an ancestor.)
      def of?(owner, namespace)
        name = owner.singleton_class? ? owner.inspect[/\A#<Class:(.*)>\z/, 1] : owner.name
        name.to_s.start_with?(namespace)
      end
    end
  end
end
