# frozen_string_literal: true

require_relative "../support/test_helper"

# An association whose class isn't there matters only where there is something to load.
class MissingClassTest < PipeloaderTest
  class Story < ::ActiveRecord::Base
    self.table_name = "posts"
    has_many :parts, class_name: "MissingClassTest::Part", foreign_key: :post_id, inverse_of: false
    has_many :lost, through: :parts, source: :gone
    has_many :absent, class_name: "MissingClassTest::Absent", foreign_key: :post_id, inverse_of: false
  end

  class Part < ::ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :gone, class_name: "MissingClassTest::Gone", foreign_key: :commenter_id, optional: true
  end

  class Item < Schemas::Base
    graphql_name "Item"
    field :id, ID
    field :opaque, String
    def opaque = object.id.to_s.itself
  end

  class StoryType < Schemas::Base
    graphql_name "Story"
    field :id, ID
    field :lost, [Item]
    field :absent, [Item]
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field(:stories, [StoryType]) { argument :limit, Integer }
    def stories(limit:) = Story.order(:id).limit(limit)
  end

  %w[lost absent].product(["id", "id opaque"]).each do |field, below|
    define_method(:"test_#{field}_#{below.tr(" ", "_")}") do
      schemas = [false, true].map { |piped| Class.new(GraphQL::Schema) { query(Query); use(Pipeloader) if piped } }
      [0, 2].each do |limit|
        2.times do
          answers = schemas.map do |schema|
            schema.execute("{ stories(limit: #{limit}) { id #{field} { #{below} } } }").to_h
          rescue NameError, ActiveRecord::ActiveRecordError => e
            [e.class, e.message.lines.first]
          end
          assert_equal(*answers)
        end
      end
    end
  end
end
