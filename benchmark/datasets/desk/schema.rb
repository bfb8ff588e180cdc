# frozen_string_literal: true

# A support desk with a policy for each type, as applications write them: who asks is in the context.
module Desk
  class User < ActiveRecord::Base
  end

  class Ticket < ActiveRecord::Base
    belongs_to :author, class_name: "Desk::User"
    belongs_to :assignee, class_name: "Desk::User", optional: true
    has_many :comments, -> { order(:id) }, class_name: "Desk::Comment"
  end

  class Comment < ActiveRecord::Base
    belongs_to :ticket, class_name: "Desk::Ticket"
    belongs_to :author, class_name: "Desk::User"
  end

  module Policies
    class Policy
      attr_reader :viewer, :record

      def initialize(viewer, record)
        @viewer = viewer
        @record = record
      end
    end

    class User < Policy
      def show? = record.account_id == viewer.account_id
    end

    class Ticket < Policy
      def show? = same_account? && (viewer.agent? || open?)

      private

      def same_account? = record.account_id == viewer.account_id
      def open? = !record.internal? || record.author_id == viewer.id
    end

    class Comment < Policy
      def show? = viewer.agent? || !record.internal?
    end
  end

  module Types
    class User < GraphQL::Schema::Object
      def self.authorized?(object, context) = super && Policies::User.new(context[:viewer], object).show?
      field :name, String, null: false
    end

    class Comment < GraphQL::Schema::Object
      def self.authorized?(object, context) = super && Policies::Comment.new(context[:viewer], object).show?
      field :body, String, null: false
      field :author, User, null: false
    end

    class Ticket < GraphQL::Schema::Object
      def self.authorized?(object, context) = super && Policies::Ticket.new(context[:viewer], object).show?
      field :id, ID, null: false
      field :subject, String, null: false
      field :author, User, null: false
      field :assignee, User
      field :comments, [Comment], null: false
    end

    class Query < GraphQL::Schema::Object
      field :tickets, [Ticket], null: false do
        argument :limit, Integer, required: true
      end

      def tickets(limit:) = Desk::Ticket.order(id: :desc).limit(limit)
    end
  end
end
