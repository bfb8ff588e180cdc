# frozen_string_literal: true

require_relative "../support/test_helper"

# A field that assigns (`Current.tenant = 1`, `I18n.locale = :de`) is seen by what a serial run comes to after it, and by nothing
# else: its own subtree sees it whatever later siblings assign meanwhile. Under GraphQL::Dataloader, and so on Execution::Next here,
# the serial order is another one: siblings come before subtrees.
class AssignmentsTest < PipeloaderTest
  class Current < ActiveSupport::CurrentAttributes
    attribute :tenant, :user
  end

  # With an attribute that nobody assigns.
  class Settings < ActiveSupport::CurrentAttributes
    attribute :size, default: 2
  end

  # Posts by an even author are tenant 0's, by an odd one tenant 1's; without a tenant there are none.
  class Doc < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :owner, class_name: "AssignmentsTest::Owner", foreign_key: :author_id, optional: true
    default_scope { where("posts.author_id % 2 = ?", Current.tenant || 5) }
  end

  class Owner < ActiveRecord::Base
    self.table_name = "users"
    has_many :docs, -> { order(:id) }, class_name: "AssignmentsTest::Doc", foreign_key: :author_id
  end

  def setup
    Current.reset
    I18n.available_locales = %i[en de fr]
  end

  def teardown
    super
    Current.reset
    I18n.locale = :en
    Time.zone = nil
  end

  def doc_type
    @doc_type ||= Class.new(GraphQL::Schema::Object) do
      graphql_name "Doc"
      field :id, Integer, null: false
    end
  end

  def owner_type
    docs = doc_type
    @owner_type ||= Class.new(GraphQL::Schema::Object) do
      graphql_name "Owner"
      field :id, Integer, null: false
      field :docs, [docs]
      field :docs_count, Integer
      field :docs_seen, String
      # Without arguments: a field that has some is begun after those that have none, as under any dataloader.
      field :enter0, Integer
      field :enter1, Integer
      field :seen, String
      def docs_count = object.docs.count
      def docs_seen = "#{Current.tenant} #{Doc.where(author_id: object.id).count} #{I18n.locale} #{Time.zone&.name}"
      def enter0 = Current.tenant = 0
      def enter1 = Current.tenant = 1
      def seen = "#{Current.tenant} #{Current.user}"
    end
  end

  def query_type
    docs, owner = doc_type, owner_type
    docs.field(:owner, owner)
    Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :docs, [docs] do
        argument :tenant, Integer, required: false
        argument :locale, String, required: false
      end
      field :owners, [owner] do
        argument :tenant, Integer, required: false
      end
      field :seen, String
      def docs(tenant: nil, locale: nil)
        Current.tenant = tenant if tenant
        I18n.locale = locale if locale
        Doc.order(:id).limit(4)
      end

      field :loaded, [owner] do
        argument :tenant, Integer, required: false
      end
      def owners(tenant: nil)
        Current.tenant = tenant if tenant
        Owner.order(:id).limit(4)
      end

      def loaded(**options) = owners(**options).to_a

      def seen = "#{Current.tenant} #{Current.user} #{I18n.locale}"
    end
  end

  # @return [Hash] the answer, which must be the plain one for every set of options, as must be what is assigned afterwards
  def assert_same_tenants(query)
    [{ compile: true }, { compile: false }, { compile: true, field_exact: true }].map do |options|
      @doc_type = @owner_type = nil
      answers = Schemas.make(query: query_type, mutation: nil, pipeloader: options) { Engine.depth_first(self) }.map do |schema|
        Array.new(2) do
          Current.reset
          I18n.locale = :en
          [schema.execute(query).to_h.to_json, Current.tenant, I18n.locale]
        end
      end
      assert_equal(*answers, options.inspect)
      JSON.parse(answers.last.last.first)
    end.last
  end

  def test_subtrees_see_what_their_own_field_has_assigned
    answer = assert_same_tenants("{ a: docs(tenant: 0) { owner { docsCount } } b: docs(tenant: 1) { owner { docsCount } } }")
    return if Engine::NEXT

    assert(answer.dig("data", "a").all? { |it| it.dig("owner", "docsCount").positive? })
    assert(answer.dig("data", "b").all? { |it| it.dig("owner", "docsCount").positive? })
  end

  def test_by_resolvers_of_their_own
    assert_same_tenants("{ a: docs(tenant: 0) { owner { docsSeen docs { id } } } b: docs(tenant: 1) { owner { docs { id owner { id docsSeen } } docsSeen } } }")
  end

  def test_records_that_are_loaded
    query = "{ a: loaded(tenant: 0) { docsSeen docsCount docs { id owner { docsSeen } } } b: loaded(tenant: 1) { docsCount docsSeen docs { id } } }"
    assert_same_tenants(query)
    assert_same_tenants(query.gsub("loaded", "owners"))
  end

  def test_a_later_field_sees_what_an_earlier_one_has_assigned
    assert_same_tenants("{ before: seen a: docs(tenant: 1) { id } after: seen c: docs { id owner { docsSeen } } b: docs(tenant: 0) { owner { docsSeen } } last: seen }")
  end

  # Fields of ancestors that come later have begun by then, as under any dataloader.
  def test_the_next_object_of_a_list_sees_what_the_one_before_has_assigned
    assert_same_tenants("{ b: seen a: owners(tenant: 0) { id enter1 seen docsSeen docs { id } } }")
    assert_same_tenants("{ b: seen a: owners(tenant: 0) { docsSeen docsCount docs { id } enter1 count: docsCount seen } }")
  end

  # What is read side by side, too.
  def test_several_associations_of_the_next_object
    assert_same_tenants("{ seen a: owners(tenant: 0) { docs { id } docsCount seen enter1 after: seen } }")
    assert_same_tenants("{ seen a: owners(tenant: 0) { docs { id owner { docs { id } docsCount } } seen enter1 after: seen } }")
  end

  # A fiber whose job has assigned begins another one.
  def test_the_next_job_of_a_fiber
    assert_same_tenants("{ a: docs(tenant: 0) { id } b: docs(tenant: 1) { owner { docsSeen } } last: owners { docs { id } enter0 } }")
    assert_same_tenants("{ a: owners { docs { id } } b: owners(tenant: 0) { seen } c: docs(tenant: 1) { owner { docsSeen } } last: owners { docs { id } enter0 } }")
  end

  def test_locale
    assert_same_tenants('{ a: docs(tenant: 0, locale: "de") { owner { docsSeen } } b: docs(tenant: 1, locale: "fr") { owner { docsSeen } } seen }')
  end

  # It is made there, beside one that was there before.
  def test_attributes_that_a_field_is_the_first_to_ask
    query = query_type
    query.field(:sized, Integer)
    query.define_method(:sized) { Settings.size }
    schemas = Schemas.make(query: query, mutation: nil)
    ["{ sized docs { id } }", "{ docs { owner { docsSeen } } sized owners { docs { id } } }"].each do |text|
      answers = schemas.map do |schema|
        ActiveSupport::CurrentAttributes.clear_all
        Current.tenant = 1
        [schema.execute(text).to_h, Settings.size]
      end
      assert_equal(*answers)
    end
  end

  def test_round_trips
    schema = Schemas.make(query: query_type, mutation: nil).last
    query = "{ a: docs(tenant: 0) { owner { docsCount } } b: docs(tenant: 1) { owner { docsCount } } }"
    2.times { schema.execute(query) }
    Current.reset
    assert_round_trips(3) { schema.execute(query) }
  end

  # Fields that assign at once, and then read; others that read and say what they see. Until they have waited, they see the same.
  def test_random
    seed = Integer(ENV.fetch("PIPELOADER_SEED", Random.new_seed % 100_000))
    random = Random.new(seed)
    puts "AssignmentsTest seed #{seed}"
    Integer(ENV.fetch("PIPELOADER_PROGRAMS", 3)).times { assert_same_tenants("{ #{random_fields(random)} }") }
  end

  private

  def random_fields(random)
    fields = Array.new(random.rand(2..4)) do |index|
      tenant = ["(tenant: #{random.rand(2)})", ""].sample(random: random)
      case random.rand(3)
      when 0 then "f#{index}: seen"
      when 1 then "f#{index}: docs#{tenant} { id owner { #{random_owner(random)} } }"
      else "f#{index}: owners#{tenant} { #{random_owner(random)} }"
      end
    end
    [*fields, "last: owners { #{random_owner(random, 0)} enter#{random.rand(2)} more: docsSeen }"].join(" ")
  end

  def random_owner(random, depth = 1)
    fields = ["docsSeen", "docsCount", "docs { id }", "seen"]
    fields << "docs { id owner { #{random_owner(random, depth - 1)} } }" if depth.positive?
    fields.sample(random.rand(1..3), random: random).map.with_index { |field, index| "o#{index}: #{field}" }.join(" ")
  end
end
