# frozen_string_literal: true

# The wide query (12 issues with assignee, creator, project, parent and comments, those with team, lead and authors).
# Contenders and options are those of bench.rb: ruby example/bench_wide.rb --help

require_relative "bench"

module Example
  module Dataloaded
    class User < Types::User
      def team = dataload_record(Example::Team, object.team_id)
    end

    class Project < Types::Project
      field :lead, User, null: false

      def team = dataload_record(Example::Team, object.team_id)
      def lead = dataload_record(Example::User, object.lead_id)
    end

    class IssueComment < Types::IssueComment
      field :author, User, null: false

      def author = dataload_record(Example::User, object.author_id)
    end

    class Issue < Types::Issue
      field :assignee, User
      field :creator, User, null: false
      field :project, Project, null: false
      field :parent, Issue
      field :comments, [IssueComment], null: false

      def assignee = object.assignee_id && dataload_record(Example::User, object.assignee_id)
      def creator = dataload_record(Example::User, object.creator_id)
      def project = dataload_record(Example::Project, object.project_id)
      def parent = object.parent_id && dataload_record(Example::Issue, object.parent_id)
      def comments = dataloader.with(AssociationSource, :comments).load(object)
    end

    class WideQuery < Types::Query
      graphql_name "Query"
      field :issues, [Issue], null: false do
        argument :limit, Integer, required: true
      end
    end
  end

  class WideIncludes < Types::Query
    graphql_name "Query"

    def issues(limit:)
      super.includes(:creator, :parent, assignee: :team, project: %i[team lead], comments: :author)
    end
  end
end

Example::Bench.new(
  "Wide query, 12 issues", Example::WIDE,
  "naive" => -> { Example.build_schema },
  "includes" => -> { Example.build_schema(query: Example::WideIncludes) },
  "dataloader" => -> { Example.build_schema(GraphQL::Dataloader, query: Example::Dataloaded::WideQuery) },
  "pipeloader" => -> { Example.build_schema(Pipeloader) }
).run(ARGV)
