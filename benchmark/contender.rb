# frozen_string_literal: true

require "json"

module Bench
  # A way to answer a workload's query. This one is naive: plain resolvers, N+1 and all. Others say what they do differently
  # by overriding a hook; each lives in a process of its own, so that it may change models and types at will, and no gem is
  # required before #load.
  class Contender
    class << self
      # What it is called on the command line, and in a few words; given once by each class.
      attr_reader :title, :about

      # In the order in which reports list them: that of contenders.rb.
      def all = @all ||= []

      def called(title, about)
        @title = title
        @about = about
        Contender.all << self
      end

      def named(title) = Contender.all.find { |contender| contender.title == title }

      # Whether it can run this workload at all. Not asked: whether it does well.
      def serves?(workload) = workload.only.nil? || workload.only.include?(title)
    end

    attr_reader :workload, :dataset

    def initialize(workload)
      @workload = workload
      @dataset = workload.dataset
    end

    # Requires the contender's gems, then models and types, which it makes its own.
    def load
      require_gems
      @dataset.define
      adapt
      @schema = build_schema
    end

    # nil, or why it can't run here. Asked when the gems are loaded.
    def missing = nil

    # The connection isn't leased for good: like a Rails application's it is taken from the pool when it is needed.
    def connect(address)
      ActiveRecord::Base.establish_connection(address)
      @backend = ActiveRecord::Base.with_connection { |connection| connection.select_value("SELECT pg_backend_pid()") }
    end

    # The process id of the server's end of the connection.
    attr_reader :backend

    # The PG::Connection on which answers are fetched. For counting, not for timing: ActiveRecord regards a connection that
    # was shown to somebody as changed.
    def wire = ActiveRecord::Base.with_connection(&:raw_connection)

    # What is timed: from the query's text to the answer's.
    def answer = JSON.generate(execute.to_h)

    # The answer as it is held against naive's.
    def comparable_answer = answer

    private

    def require_gems
      require "active_record"
      require "pg"
      require "graphql"
      require "graphql/schema" # before GraphQL::Schema::Object is touched
    end

    def execute = @schema.execute(@workload.document, variables: @workload.variables, context: @dataset.context)

    def build_schema = @dataset.schema.tap { |schema| plugins.each { |plugin, options| schema.use(plugin, **options.to_h) } }

    # Hooks

    def plugins = []

    # Has the fields resolved in the contender's way.
    def adapt
      @dataset.associations { |type, field, reflection| resolve_association(type, field, reflection) }
      @dataset.batches.each { |(type, field), batch| resolve_batch(@dataset.types[type], field, batch) }
    end

    # The field, a Symbol, stands for an association of the type's model.
    def resolve_association(_type, _field, _reflection) = nil

    # batch: what an expert would write to resolve the field for many objects at once: (objects, **arguments) -> values.
    def resolve_batch(_type, _field, _batch) = nil
  end
end
