# frozen_string_literal: true

require_relative "checklist_case"

# What of a field, a type or a model may have a word in the answer.
class PlanChecklistTest < PlanChecklistCase
  class Upcase < GraphQL::Schema::FieldExtension
    def after_resolve(value:, **) = value.is_a?(String) ? value.upcase : value
  end

  class Quiet < GraphQL::Schema::FieldExtension
    def after_resolve(value:, **) = value
  end

  class Resolving < GraphQL::Schema::Resolver
    type String, null: true
    def resolve = "resolved #{object.title}"
  end

  class LoudField < GraphQL::Schema::Field
    def resolve(object, args, context) = super.then { |it| it.is_a?(String) ? "#{it}!" : it }
  end

  class GuardedField < GraphQL::Schema::Field
    def authorized?(object, args, context) = super && (!object.respond_to?(:id) || object.id.odd?)
  end

  class ExtendingField < GraphQL::Schema::Field
    def with_extensions(...) = super.then { |it| it.is_a?(String) ? it.reverse : it }
  end

  class Shout < GraphQL::Schema::Scalar
    def self.coerce_result(value, _context) = "#{@mark ||= value && "?"}#{value}!"
  end

  class Stars < GraphQL::Schema::Enum
    (0..10).each { |number| value "N#{number}", value: number }
    def self.coerce_result(value, context) = super.downcase
  end

  class OddOnly < GraphQL::Schema::Validator
    def validate(object, _context, _value) = object.object.id.odd? ? nil : "is even"
  end

  module TitleOfAnInterface
    include GraphQL::Schema::Interface
    field :title, String
    def title = "interface #{object.title}".dup
  end

  module Helpers
    def title = "module #{object.title}".dup
  end

  # {condition => body of an object type over posts}. Each has a title.
  TYPES = {
    resolver_method: -> { field :title, String; def title = "type's #{object.title}".dup },
    resolver_method_by_name: -> { field :title, String, resolver_method: :fancy; def fancy = "fancy #{object.title}".dup },
    resolver_method_of_a_module: -> { field :title, String; include Helpers },
    resolver_method_prepended: -> { field :title, String; prepend Helpers },
    resolver_method_of_an_interface: -> { implements TitleOfAnInterface },
    resolver_method_of_its_parent: -> { field :title, String; superclass.define_method(:title) { "parent's #{object.title}".dup } },
    resolver_class: -> { field :title, resolver: Resolving },
    extension: -> { field :title, String, extensions: [Upcase] },
    extension_that_does_nothing: -> { field :title, String, extensions: [Quiet] },
    field_resolve: -> { field_class LoudField; field :title, String },
    field_authorized: -> { field_class GuardedField; field :title, String },
    field_with_extensions: -> { field_class ExtendingField; field :title, String },
    extras: -> { field :title, String, extras: [:path]; def title(path:) = path.join(".") },
    hash_key: -> { field :title, String, hash_key: "title" },
    hash_key_of_another: -> { field :title, String, hash_key: :body },
    dig: -> { field :title, String, dig: [:body] },
    fallback: -> { field :title, String, method: :nothing_like_it, fallback_value: "fallback" },
    arguments: -> { field(:title, String) { argument :loud, GraphQL::Types::Boolean, required: false }; def title(loud: nil) = "#{object.title} #{loud.inspect}".dup },
    validator: -> { field(:title, String) { validates OddOnly => {} } },
    method_missing: -> { field :title, String; def method_missing(name, ...) = name == :title ? "missing" : super; def respond_to_missing?(name, *) = name == :title || super },
    respond_to: -> { field :title, String; def respond_to?(name, *) = name == :title || super; def method_missing(name) = name == :title ? "answers" : super },
    its_initialize: -> { field :title, String; def initialize(object, context) = super(object.dup.tap { |it| it.title = "dup" }, context) },
    its_object: -> { field :title, String; def object = super.dup.tap { |it| it.title = "other" }; def title = object.title },
    type_authorized: -> { field :title, String; define_singleton_method(:authorized?) { |object, context| super(object, context) && object.id.odd? } },
    type_authorized_new: -> { field :title, String; define_singleton_method(:authorized_new) { |object, context| super(object.dup.tap { |it| it.title = "new" }, context) } },
    type_wrap: -> { field :title, String; define_singleton_method(:wrap) { |object, context| super(object.dup.tap { |it| it.title = "wrapped" }, context) } },
    type_new: -> { field :title, String; define_singleton_method(:new) { |object, context| super(object.dup.tap { |it| it.title = "made" }, context) } },
    scalar: -> { field :title, Shout },
    list_of_scalars: -> { field :title, [Shout] },
    field_of_another_type: -> { field :title, GraphQL::Types::JSON, method: :attributes }
  }.freeze

  TYPES.each do |name, body|
    define_method(:"test_#{name}") do
      parent = Class.new(Schemas::Base) { graphql_name "Parent" }
      plain = type("Plain") { field :id, GraphQL::Types::ID; field :heading, String, method: :title }
      broken = Class.new(parent) { graphql_name "Broken"; class_exec(&body); field :id, GraphQL::Types::ID; field :heading, String, method: :title }
      author = type("Author") { field :name, String; field :posts, [broken]; field :plain_posts, [plain], method: :posts }
      comment = type("Comment") { field :body, String; field :post, broken }
      schemas = schemas({ them: [[broken], -> { Post.order(:id) }], plain: [[plain], -> { Post.order(:id) }], it: [broken, -> { Post.find(3) }],
                          authors: [[author], -> { User.order(:id) }], comments: [[comment], -> { Comment.order(:id) }] })
      shows(schemas, broken)
      ["{ them { id title heading } }", "{ them { t: title } }", "{ it { title id } }", "{ authors { name posts { title } } }", "{ comments { body post { title } } }"].each do |query|
        assert_plan(query, schemas, aside: Post, errors: :any)
      end
      assert_plan("{ plain { id heading } authors { name plainPosts { heading } } }", schemas)
    end
  end

  def test_scope_items
    post = type("Post") { field :title, String; define_singleton_method(:scope_items) { |items, _context| items.where(id: ..4) } }
    author = type("Author") { field :name, String; field :posts, [post]; field :all_posts, [post], method: :posts, scope: false }
    schemas = schemas({ them: [[post], -> { Post.order(:id) }], authors: [[author], -> { User.order(:id) }] })
    assert_equal 4, assert_plan("{ them { title } }", schemas)["data"]["them"].size
    assert_plan("{ authors { name posts { title } } }", schemas)
    assert_plan("{ authors { name allPosts { title } } }", schemas)
  end

  # What is told of a record by its model. {condition => body of a model over posts}
  MODELS = {
    reader: -> { def title = "own #{super}".dup },
    reader_without_super: -> { def title = "own".dup },
    reader_of_a_concern: -> { include(Module.new { def title = "concern's #{super}".dup }) },
    reader_prepended: -> { prepend(Module.new { def title = "prepended #{super}".dup }) },
    reader_by_read_attribute: -> { define_method(:title) { self[:title].reverse.dup } },
    reader_of_a_parent: -> { superclass.define_method(:title) { "parent's #{super()}" } },
    private_reader: -> { private define_method(:title) { "private" } },
    delegated: -> { delegate :title, to: :twin; define_method(:twin) { Post.new(title: "delegated") } },
    alias_method: -> { define_attribute_methods; alias_method :title, :body },
    aliased: -> { alias_method :title, :id },
    after_find: -> { after_find { self.title = "found" } },
    after_initialize: -> { after_initialize { self.title = "initialized" } },
    after_initialize_if_saved: -> { after_initialize(if: :persisted?) { self.title = "initialized" } },
    after_initialize_of_its_own: -> { after_initialize(if: :new_record?) { self.title = "initialized" }; define_method(:new_record?) { true } },
    after_initialize_of_several: -> { after_initialize(if: [-> { self.title = "asked" }, :new_record?]) { self.title = "initialized" } },
    inner_read_attribute: -> { define_method(:_read_attribute) { |name, &block| name == "title" ? "inner" : super(name, &block) } },
    init_with: -> { define_method(:init_with_attributes) { |*arguments, &block| super(*arguments, &block).tap { |it| it.title = "init" } } },
    instantiate: lambda do
      define_singleton_method(:instantiate) { |attributes, *rest, &block| super(attributes.merge("title" => "inst"), *rest, &block) }
      define_singleton_method(:instantiate_instance_of) { |klass, attributes, *rest, &block| super(klass, attributes, *rest, &block).tap { |it| it.title = "inst" } }
    end,
    store: -> { store :title, accessors: [:inner], coder: JSON; define_method(:title) { "store".dup } },
    composed: -> { composed_of :title, class_name: "PlanChecklistTest::Composed", mapping: [%w[body text]] },
    a_strict_model: -> { self.strict_loading_by_default = true; define_method(:title) { "strict" } }
  }.freeze

  # What ActiveRecord asks of a record that isn't saved yet.
  class Initialized < ActiveRecord::Base
    self.table_name = "posts"
    after_initialize :name_it, if: :new_record?
    after_initialize(unless: :persisted?) { self.title = "initialized" }
    def name_it = self.title = "named"
  end

  def test_callbacks_of_new_records
    it = type("Initialized") { field :id, GraphQL::Types::ID; field :title, String }
    schemas = schemas({ them: [[it], -> { Initialized.order(:id) }], made: [it, -> { Initialized.new }] })
    assert_plan("{ them { id title } }", schemas)
    assert_plan("{ them { title } made { title } }", schemas, made: [Initialized])
  end

  Composed = Struct.new(:text) { def to_s = "composed #{text}" }

  MODELS.each do |name, body|
    define_method(:"test_model_#{name}") do
      parent = Class.new(ActiveRecord::Base) { self.abstract_class = true; def self.name = "PlanChecklistTest::Parent" }
      model = named(:Broken, Class.new(parent) { self.table_name = "posts" }) { |it| it.class_exec(&body) }
      owner = named(:Owner, Class.new(ActiveRecord::Base) { self.table_name = "users"; has_many :posts, -> { order(:id) }, class_name: "PlanChecklistTest::Broken", foreign_key: :author_id })
      broken = type("Broken") { field :id, GraphQL::Types::ID; field :title, String; field :likes, Integer }
      author = type("Author") { field :name, String; field :posts, [broken] }
      schemas = schemas({ them: [[broken], -> { model.order(:id) }], loaded: [[broken], -> { model.order(:id).to_a }], it: [broken, -> { model.find(3) }],
                          owners: [[author], -> { owner.order(:id) }] })
      refute_equal Post.order(:id).map(&:title), schemas.first.execute("{ them { title } }").to_h["data"]["them"]&.map { |it| it && it["title"] }
      ["{ them { id title } }", "{ owners { name posts { title likes } } }"].each { |query| assert_plan(query, schemas, aside: model, errors: :any) }
      ["{ loaded { title likes } }", "{ it { title id } }"].each { |query| assert_plan(query, schemas, aside: model, errors: :any) }
      assert_plan("{ owners { name } }", schemas)
    end
  end

  # Attributes whose values aren't the columns': these a plan does know how to make.
  CAST = {
    attribute_type: -> { attribute :title, Class.new(ActiveRecord::Type::String) { def deserialize(value) = "cast #{value}" }.new },
    attribute_as_integer: -> { attribute :title, :integer },
    attribute_default: -> { attribute :title, :string, default: "default" },
    alias_attribute: -> { alias_attribute :title, :body },
    serialized: -> { serialize :title, coder: Class.new { def self.load(text) = "loaded #{text}"; def self.dump(value) = value } },
    enum: -> { enum :likes, { none: 5, few: 4 }, prefix: true },
    normalized: -> { normalizes :title, with: ->(title) { title.upcase } },
    virtual: -> { attribute :heading, :string, default: "virtual"; define_method(:title) { heading } },
    ignored: -> { self.ignored_columns = %w[title]; define_method(:title) { "ignored" } },
    ignored_alone: -> { self.ignored_columns = %w[title] },
    no_sti: -> { self.inheritance_column = nil },
    no_key: -> { self.primary_key = nil },
    other_key: -> { self.primary_key = "title" },
    readonly: -> { attr_readonly :title },
    secure: -> { has_secure_token :title }
  }.freeze

  CAST.each do |name, body|
    define_method(:"test_attributes_#{name}") do
      model = named(:Cast, Class.new(ActiveRecord::Base) { self.table_name = "posts" }) { |it| it.class_exec(&body) }
      owner = named(:Owner, Class.new(ActiveRecord::Base) { self.table_name = "users"; has_many :posts, -> { order(:body) }, class_name: "PlanChecklistTest::Cast", foreign_key: :author_id })
      cast = type("Cast") { field :id, GraphQL::Types::ID; field :title, String; field :likes, String }
      author = type("Author") { field :name, String; field :posts, [cast] }
      schemas = schemas({ them: [[cast], -> { model.order(:body) }], loaded: [[cast], -> { model.order(:body).to_a }], changed: [[cast], -> { model.order(:body).each { |it| it.likes = 4 } }],
                          owners: [[author], -> { owner.order(:id) }] })
      ["{ them { title } }", "{ them { id likes title } }", "{ loaded { title likes } }", "{ changed { likes title id } }", "{ owners { posts { id title likes } } }"].each do |query|
        assert_parity(query, schemas)
      end
    end
  end

  def test_encrypted_attributes
    ActiveRecord::Encryption.configure(primary_key: "a" * 32, deterministic_key: "b" * 32, key_derivation_salt: "c" * 32)
    model = named(:Secret, Class.new(ActiveRecord::Base) { self.table_name = "attachments"; self.inheritance_column = nil; encrypts :name })
    secret = type("Secret") { field :name, String }
    Attachment.transaction do
      model.create!(id: 900, name: "hidden")
      Attachment.where(id: 901).delete_all
    end
    schemas = schemas({ fine: [[secret], -> { model.where(id: 900) }], broken: [[secret], -> { model.where(id: [1, 900]).order(:id) }], loaded: [[secret], -> { model.where(id: [1, 900]).order(:id).to_a }] })
    assert_plan("{ fine { name } }", schemas)
    assert_parity("{ broken { name } }", schemas)
    assert_parity("{ loaded { name } }", schemas)
  ensure
    Attachment.where(id: 900..).delete_all
  end

  # STI, polymorphic associations, unions, interfaces: not yet.
  def test_single_table_inheritance
    heirs = Class.new(Vehicle) { self.table_name = "vehicles"; def self.name = "Van"; def name = "van #{super}" }
    vehicle = type("Vehicle") { field :name, String; field :type, String }
    user = type("User") { field :vehicles, [vehicle] }
    schemas = schemas({ them: [[vehicle], -> { Vehicle.order(:id) }], cars: [[vehicle], -> { Car.order(:id) }], loaded: [[vehicle], -> { Vehicle.order(:id).to_a }], users: [[user], -> { User.order(:id) }] })
    Car.define_method(:name) { "car #{super()}" }
    ["{ them { name type } }", "{ cars { name } }", "{ users { vehicles { name } } }", "{ loaded { name } }"].each { |query| assert_parity(query, schemas) }
    assert heirs
    ride = named(:Ride, Class.new(ActiveRecord::Base) { self.table_name = "profiles"; belongs_to :car, class_name: "Car", foreign_key: :user_id })
    car = type("Car") { field :id, GraphQL::Types::ID }
    ridden = type("Ride") { field :bio, String; field :car, car }
    assert_parity("{ rides { bio car { id } } }", schemas({ rides: [[ridden], -> { ride.order(:id) }] }))
  ensure
    Car.send(:remove_method, :name)
  end

  # What is proved for one document holds for the next, unless there is another method by then.
  def test_methods_between_documents
    model = named(:Latecomer, Class.new(ActiveRecord::Base) { self.table_name = "posts" })
    item = type("Latecomer") { field :title, String; field :likes, Integer; field :id, GraphQL::Types::ID }
    schemas = schemas({ them: [[item], -> { model.order(:id) }], loaded: [[item], -> { model.order(:id).to_a }] })
    assert_plan("{ them { title likes } }", schemas)
    assert_parity("{ loaded { title likes } }", schemas)
    model.define_method(:title) { "own #{super()}" }
    %w[them loaded].each { |list| assert_parity("{ #{list} { title likes id } }", schemas) }
    item.define_method(:likes) { object.likes.to_i - 1 }
    %w[them loaded].each { |list| assert_parity("{ #{list} { likes id title } }", schemas) }
  end

  # So is what a field or a type says of itself.
  def test_authorization_between_documents
    comment = type("LateComment") { field :body, String; field :id, GraphQL::Types::ID }
    item = type("LatePost") { field :title, String; field :comments, [comment]; field :id, GraphQL::Types::ID }
    schemas = schemas({ them: [[item], -> { Post.order(:id) }] })
    assert_plan("{ them { comments { body } } }", schemas)
    comment.define_singleton_method(:scope_items) { |items, _context| items.where("1=0") }
    assert_parity("{ them { id comments { body } } }", schemas)
    item.fields["title"].define_singleton_method(:resolve) { |*| "of its own" }
    assert_parity("{ them { title } }", schemas)
  end

  # What is kept of a model keeps nothing else.
  def test_what_is_kept
    model = named(:Keeper, Class.new(ActiveRecord::Base) { self.table_name = "posts"; has_many :comments, foreign_key: :post_id, class_name: "Comment" })
    comment = type("KeptComment") { field :body, String }
    item = type("KeptPost") { field :title, String; field :likes, Integer; field :comments, [comment] }
    schemas = schemas({ them: [[item], -> { model.order(:id) }] })
    heirs = %w[title likes].permutation.map do |fields|
      assert_parity("{ them { #{fields.join(" ")} comments { body } } }", schemas)
      WeakRef.new(Class.new(model)).tap { assert_parity("{ them { a: #{fields.join(" b: ")} } }", schemas) }
    end
    assert_operator heirs.count { |it| GC.start && it.weakref_alive? }, :<=, 1 # (one may still be on the stack)
    kept = ObjectSpace.each_object(Pipeloader::Projection).flat_map { |it| it.instance_variables.map { |name| it.instance_variable_get(name) } }.grep(Hash)
    refute(kept.any? { |hash| hash.keys.flatten.any? { |it| it.is_a?(ActiveRecord::Reflection::AbstractReflection) && it.active_record == model } })
  end

  # However deep they are: a fiber's stack isn't.
  def test_deep_documents
    employee = type("DeepEmployee") { field :id, GraphQL::Types::ID; field :manager, self; field :reports, [self]; field :manages, connection_type, method: :reports; field :label, String; def label = context[:label].to_s + object.name }
    schemas = schemas({ them: [[employee], -> { Employee.order(:id) }], pages: [employee.connection_type, -> { Employee.order(:id) }] })
    assert_plan("{ them { id #{"manager { id " * 39} #{"}" * 39} } }", schemas)
    assert_aside("{ them { id #{"manager { id " * 40} #{"}" * 40} } }", schemas, model: Employee)
    [["manager { id", "}", 150], ["manager { id label", "}", 150], ["reports { id", "}", 150], ["manages { nodes { id", "} }", 60], ["manages { edges { node { id", "} } }", 50]].each do |open, close, times|
      ["them { id", "pages { nodes { id"].each do |root|
        assert_parity("{ #{root} #{"#{open} " * times} #{"#{close} " * times} #{"}" * root.count("{")} }", schemas)
      end
    end
  end

  def test_polymorphic
    target = Class.new(GraphQL::Schema::Union) do
      graphql_name "Target"
      possible_types Schemas::Post, Schemas::User
      define_singleton_method(:resolve_type) { |object, _| object.is_a?(::Post) ? Schemas::Post : Schemas::User }
    end
    attachment = type("Attachment2") { field :name, String; field :attachable, target }
    user = type("Owner2") { field :name, String }
    as_object = type("Attachment3") { field :name, String; field :attachable, user }
    schemas = schemas({ them: [[attachment], -> { Attachment.order(:id) }], objects: [[as_object], -> { Attachment.where(attachable_type: [nil, "User"]).order(:id) }] })
    assert_parity("{ them { name attachable { __typename ... on Post { title } ... on User { name } } } }", schemas)
    assert_parity("{ objects { name attachable { name } } }", schemas)
  end

  def test_field_that_is_looked_up_by_the_type
    post = type("Post") do
      field :title, String
      field :body, String
      define_singleton_method(:get_field) { |name, *context| super(name == "title" ? "body" : name, *context) }
    end
    schemas = schemas({ them: [[post], -> { Post.order(:id) }] })
    assert_parity("{ them { title } }", schemas)
  end

  # After the table has changed, and ActiveRecord knows it.
  def test_a_model_whose_columns_change
    connection = TestDatabase.connect
    connection.exec("CREATE TABLE plan_changes (id serial PRIMARY KEY, value integer); INSERT INTO plan_changes (value) VALUES (1), (2)")
    model = named(:Change, Class.new(ActiveRecord::Base) { self.table_name = "plan_changes" })
    change = type("Change") { field :id, GraphQL::Types::ID; field :value, String }
    schemas = schemas({ them: [[change], -> { model.order(:id) }] })
    assert_plan("{ them { id value } }", schemas)
    connection.exec("ALTER TABLE plan_changes ALTER value TYPE text USING 'text ' || value")
    model.reset_column_information
    assert_parity("{ them { id value } }", schemas)
  ensure
    connection.exec("DROP TABLE plan_changes")
    connection.close
  end

  def teardown
    @named&.each { |name| self.class.send(:remove_const, name) }
    super
  end

  private

  QUIET = %w[test_extension_that_does_nothing test_hash_key test_validator test_its_object test_dig].freeze

  # Next calls the record, and asks neither the field nor the type: its own answer is the one without that condition.
  UNASKED_ON_NEXT = %w[test_field_resolve test_field_with_extensions test_method_missing test_respond_to test_its_initialize
                       test_type_authorized_new test_type_wrap test_type_new].freeze
  private_constant :QUIET, :UNASKED_ON_NEXT

  # The condition does show.
  def shows(schemas, broken)
    answer = outcome { schemas.first.execute("{ them { title } }").to_h }
    return unless broken.own_fields.key?("title") && answer["data"] && answer["data"]["them"]

    titles = [Post.order(:id).map(&:title), answer["data"]["them"].map { |it| it && it["title"] }]
    return assert_equal(*titles) if Engine::NEXT && UNASKED_ON_NEXT.include?(name)

    refute_equal(*titles) unless QUIET.include?(name)
  end

  # A model that is there by its name for the length of a test.
  def named(name, model)
    (@named ||= []) << name
    self.class.const_set(name, model)
    yield model if block_given?
    model
  end
end
