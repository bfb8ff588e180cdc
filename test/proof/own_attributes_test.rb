# frozen_string_literal: true

require_relative "../support/plans"

# A model's own methods that ask an attribute, and not a method: `self[:title]`, `read_attribute`, and `super`.
class OwnAttributesTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:attribute_jobs) do |t|
      t.string :title
      t.string :nickname
      t.integer :status
      t.integer :price
      t.integer :price_was
      t.jsonb :extra
      t.string :type
      t.bigint :boss_id
    end
  end

  module Titled
    def nickname = super || "nobody"
  end

  class Job < ActiveRecord::Base
    self.table_name = "attribute_jobs"
    self.inheritance_column = nil
    belongs_to :boss, class_name: "OwnAttributesTest::Job", optional: true
    alias_attribute :name, :title
    enum :status, { draft: 0, live: 1 }
    include Titled

    def title = self[:title].presence || "untitled"
    def bare = "#{self["title"]}, #{read_attribute(:title)}, #{read_attribute("name")}, #{self[:name]&.upcase}"
    def status = super.to_s.upcase
    def price = super().to_i * 2
    def both = "#{price}, #{self[:price]}, #{status}, #{self[:status]}, #{nickname}, #{title}"
    def of_boss = boss&.title
    def branch = self[:price] ? "#{self[:title]} costs #{self[:price]}" : "free"
    def chosen = [:title, :nickname].map { |it| it.to_s }.join + read_attribute(:nickname).to_s
    def extra = super.to_s.size
    def twice = (title = self[:title]) ? title + title : "none"

    # Not to be read.
    def missing = self[:nothing]
    def named(name = :title) = self[name]
    def dynamic = self[[:title, :price].first]
    def key = self[:id]
    def changed_in_place = self[:title] << "!"
    def price_was = super # rubocop:disable Lint/UselessMethodDefinition
    def written = self[:title] = "written"
    def with_block = read_attribute(:title) { |it| it }
  end

  class Own < ActiveRecord::Base
    self.table_name = "attribute_jobs"
    self.inheritance_column = nil
    def own = self[:title]
  end

  class Reader < Own
    def [](name) = "own #{name}"
  end

  class Other < ActiveRecord::Base
    self.table_name = "attribute_jobs"
    self.inheritance_column = nil
    def own = self[:title]
    def read_attribute(name) = "own #{name}"
  end

  class Base < ActiveRecord::Base
    self.table_name = "attribute_jobs"
    def title = super.to_s.strip
  end

  class Heir < Base
    def nickname = "heir of #{super}"
  end

  class Above < ActiveRecord::Base
    self.table_name = "attribute_jobs"
    self.inheritance_column = nil
    include(Module.new { def title = [1, 2].sample.to_s.size.to_s })
    def title = "#{super}!"
    def nothing = defined?(super).to_s
  end

  Job.insert_all!((1..6).map do |id|
    { id: id, title: [nil, "", " title #{id} "][id % 3], nickname: ("n#{id}" if id.even?), status: id % 2, price: (id * 10 unless id == 4), price_was: id, extra: { a: id },
      type: [nil, Heir.name][id % 2], boss_id: (id - 1 if id > 1) }
  end)

  def made(model, *fields)
    type = type(model.name.demodulize) { fields.each { |name| field name, String } }
    schemas({ them: [[type], -> { model.order(:id) }], array: [[type], -> { model.order(:id).to_a.each { |it| it.title = "changed" if it.id == 3 } }] })
  end

  %i[title bare status price both of_boss branch chosen twice nickname].each do |name|
    define_method(:"test_#{name}") do
      schemas = made(Job, name)
      text = name.to_s.camelize(:lower)
      assert_plan "{ them { #{text} } }", schemas
      assert_plan "{ array { #{text} } }", schemas, made: [Job]
    end
  end

  %i[missing named dynamic changed_in_place price_was written with_block].each do |name|
    define_method(:"test_#{name}_is_left_alone") do
      assert_aside "{ them { #{name.to_s.camelize(:lower)} } }", made(Job, name), model: Job, errors: :any
    end
  end

  # JSON is made by PostgreSQL's rules where it's a text.
  def test_of_any_type
    %w[key extra].each { |name| 3.times { assert_equal(*made(Job, name).map { |schema| text_of(schema.execute("{ them { #{name} } }").to_h) }) } }
  end

  def test_readers_of_its_own
    [Own, Reader, Other].each { |model| assert_aside "{ them { own } }", made(model, :own), model: model }
  end

  def test_heirs
    type = type("Base") { field :title, String; field :nickname, String }
    schemas = schemas({ them: [[type], -> { Base.order(:id) }] })
    assert_plan "{ them { title } }", schemas
    3.times { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ them { title nickname } }").to_h) }) }
  end

  def test_what_is_between_it_and_the_attribute
    %i[title nothing].each { |name| assert_aside "{ them { #{name} } }", made(Above, name), model: Above }
  end

  # Of heirs an alias may be another column's.
  class Labeled < ActiveRecord::Base
    self.table_name = "attribute_jobs"
    alias_attribute :label, :title
    def heading = self[:label].to_s
  end

  class Night < Labeled
    alias_attribute :label, :nickname
    def self.sti_name = Heir.name
  end

  def test_an_alias_that_an_heir_says_otherwise
    Labeled.define_singleton_method(:find_sti_class) { |name| name == Heir.name ? Night : super(name) }
    assert_aside "{ them { heading } }", made_of(Labeled, :heading), model: Labeled
  end

  # `super` of an alias is that of the method.
  def test_super_of_an_alias
    model = Class.new(ActiveRecord::Base) do
      self.table_name = "attribute_jobs"
      self.inheritance_column = nil
      def self.name = "Aliased"
      def title = super.to_s.strip
      alias_method :nickname, :title
    end
    [false, true].each do |exact|
      type = type("Aliased") { field :nickname, String }
      schemas = schemas({ them: [[type], -> { model.order(:id) }] }, pipeloader: { field_exact: exact })
      assert_plan "{ them { nickname } }", schemas
    end
  end

  def made_of(model, *fields)
    type = type(model.name.demodulize) { fields.each { |name| field name, String } }
    schemas({ them: [[type], -> { model.order(:id) }] })
  end

  # What is put between them later is called.
  def test_what_comes_between_later
    plain = Class.new(ActiveRecord::Base) { self.table_name = "attribute_jobs"; self.inheritance_column = nil; def self.name = "Plain"; def title = super.to_s.size.to_s }
    schemas = made(plain, :title)
    3.times { assert_plan "{ them { title } }", schemas }
    plain.include(Module.new { def title = "#{super} between" })
    3.times { assert_aside "{ them { title } }", schemas, model: plain }
  end
end
