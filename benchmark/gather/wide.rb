# frozen_string_literal: true

require_relative "example_tree"

module Gather
  # issues → assignee → team; creator; project → lead, team; parent; comments → author: the tree of Example::WIDE
  class Wide < ExampleTree
    class MemberResource
      include Alba::Resource
      attributes :name
      one :team, resource: NameResource
    end

    class ProjectResource
      include Alba::Resource
      attributes :name
      one :lead, resource: NameResource
      one :team, resource: NameResource
    end

    class ParentResource
      include Alba::Resource
      attributes :title
    end

    class CommentResource
      include Alba::Resource
      attributes :body
      one :author, resource: NameResource
    end

    class IssueResource
      include Alba::Resource
      attributes :title
      one :assignee, resource: MemberResource
      one :creator, resource: NameResource
      one :project, resource: ProjectResource
      one :parent, resource: ParentResource
      many :comments, resource: CommentResource
    end

    class MemberSerializer < ActiveModel::Serializer
      attributes :name
      belongs_to :team, serializer: NameSerializer
    end

    class ProjectSerializer < ActiveModel::Serializer
      attributes :name
      belongs_to :lead, serializer: NameSerializer
      belongs_to :team, serializer: NameSerializer
    end

    class ParentSerializer < ActiveModel::Serializer
      attributes :title
    end

    class CommentSerializer < ActiveModel::Serializer
      attributes :body
      belongs_to :author, serializer: NameSerializer
    end

    class IssueSerializer < ActiveModel::Serializer
      attributes :title
      belongs_to :assignee, serializer: MemberSerializer
      belongs_to :creator, serializer: NameSerializer
      belongs_to :project, serializer: ProjectSerializer
      belongs_to :parent, serializer: ParentSerializer
      has_many :comments, serializer: CommentSerializer
    end

    SERIALIZERS = {
      "plain Ruby" => lambda do |issue|
        { title: issue.title,
          assignee: issue.assignee && { name: issue.assignee.name, team: { name: issue.assignee.team.name } },
          creator: { name: issue.creator.name },
          project: { name: issue.project.name, lead: { name: issue.project.lead.name }, team: { name: issue.project.team.name } },
          parent: issue.parent && { title: issue.parent.title },
          comments: issue.comments.map { |comment| { body: comment.body, author: { name: comment.author.name } } } }
      end,
      "alba" => ->(issue) { IssueResource.new(issue).to_h },
      "jbuilder" => lambda do |issue|
        Jbuilder.new do |json|
          json.title issue.title
          if issue.assignee
            json.assignee do
              json.name issue.assignee.name
              json.team(issue.assignee.team, :name)
            end
          else
            json.assignee nil
          end
          json.creator(issue.creator, :name)
          json.project do
            json.name issue.project.name
            json.lead(issue.project.lead, :name)
            json.team(issue.project.team, :name)
          end
          issue.parent ? json.parent(issue.parent, :title) : json.parent(nil)
          json.comments(issue.comments) do |comment|
            json.body comment.body
            json.author(comment.author, :name)
          end
        end.attributes!
      end,
      "AMS" => ams(IssueSerializer)
    }.freeze
    INCLUDES = [:creator, :parent, { assignee: :team, project: %i[team lead], comments: :author }].freeze
    SIZE = 12
    MODEL = Example::Issue

    def load_async
      issues = records.to_a
      Level.load([issues, :assignee, :creator, :project, :parent, :comments])
      Level.load([issues.filter_map(&:assignee), :team], [issues.map(&:project), :lead, :team],
                 [issues.flat_map(&:comments), :author])
      issues
    end
  end
end
