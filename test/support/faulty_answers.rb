# frozen_string_literal: true

require_relative "answers"
require_relative "faults"
require "stringio"

# Answers of schemas in which Pipeloader has a bug for a while, and what the log says of it.
class FaultyAnswerTest < AnswerTest
  QUERY = "query Posts { posts { title comments { body } } }"

  # Resolvers that read, write, and count how often they are asked.
  ROOT = Class.new(Schemas::Query) do
    graphql_name "Query"
    field :names, [String]
    field :asked, Integer
    field :writes, String

    def names = ::Post.order(:id).limit(3).map { |post| post.author&.name.to_s }
    def asked = context[:asked] = context.fetch(:asked, 0) + 1
    def writes = ::Comment.create!(post: ::Post.first, body: "by a query").body
  end

  MUTATION = Class.new(Schemas::Mutation) do
    graphql_name "Mutation"
    field :count, Integer
    def count = context[:calls].push(1).size.tap { ::Post.count }
  end

  def self.runnable_methods = equal?(FaultyAnswerTest) ? [] : super

  def setup
    @log = StringIO.new
    ActiveSupport::LogSubscriber.logger = Logger.new(@log)
    take_first_alias
  end

  def teardown
    Pipeloader.proof = nil
    Pipeloader.breaker.reset
    ActiveSupport::LogSubscriber.logger = nil
    super
  end

  # @return [Array<String>] what was logged at least as a warning
  def warnings = @log.string.lines.grep(/ (?:WARN|ERROR) /).map { |line| line[/: (Pipeloader: .*)/, 1] }

  def make(pipeloader: {}, &block)
    Schemas.make(query: self.class::ROOT, mutation: MUTATION, pipeloader: { breaker: true, **pipeloader }, &block)
  end

  def schema(**options, &block) = make(pipeloader: options, &block).last

  def plain = @plain ||= make.first
end
