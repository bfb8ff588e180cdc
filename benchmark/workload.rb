# frozen_string_literal: true

module Bench
  # A query, its variables, and the data that it is run on.
  #
  # includes: what somebody would preload by hand who knows the query, as {root_field => arguments of includes}; or, where
  #   that field returns no relation, the method of the root's type that does.
  # tree: whether the query is a plain tree of columns and associations, so that the floors can answer it.
  # only: the names of the contenders for which it is meant; nil: all.
  # hidden: whether it is a point of a curve, and no workload of its own.
  # cold: whether each time it is a document that nobody has seen before.
  Workload = Struct.new(:name, :title, :about, :dataset_name, :query, :variables, :includes, :tree, :only, :hidden, :cold,
                        keyword_init: true) do
    class << self
      # In the order in which they are reported.
      def all = @all ||= []

      def listed = all.reject(&:hidden)

      def define(name, title, dataset:, query:, about: nil, variables: {}, includes: {}, tree: false, only: nil,
                 hidden: false, cold: false)
        all << new(name: name, title: title, about: about, dataset_name: dataset, query: query, variables: variables,
                   includes: includes, tree: tree, only: only, hidden: hidden, cold: cold)
      end

      def named(name) = all.find { |workload| workload.name == name }
    end

    def dataset = @dataset ||= Dataset.named(dataset_name)
    def tree? = tree

    # From now on it is a document that nobody has seen before.
    def renew = @documents = @documents.to_i + 1

    # What is executed next.
    def document
      renew if cold
      @documents ? "#{query}# the #{@documents}." : query
    end
  end
end
