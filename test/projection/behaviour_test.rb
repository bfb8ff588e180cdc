# frozen_string_literal: true

require_relative "projection_case"

# Records that were narrowed, used as if they weren't.
class BehaviourTest < ProjectionCase
  {
    attributes: ->(work) { work.attributes },
    attribute_names: ->(work) { work.attribute_names },
    as_json: ->(work) { work.as_json },
    dup: ->(work) { work.dup.attributes },
    clone: ->(work) { work.clone.attributes },
    reload: ->(work) { work.reload.attributes },
    changed: ->(work) { [work.changed?, work.changes, work.tap { |it| it.body = "x" }.changes, work.body_was] },
    assign: ->(work) { work.tap { |it| it.assign_attributes(body: "y", summary: work.summary) }.changes },
    will_change: ->(work) { work.tap(&:body_will_change!).body << "more"; work.changed },
    inspect: ->(work) { work.inspect + work.full_inspect },
    equality: ->(work) { [work == Work.find(work.id), work.eql?(Work.find(work.id)), work.hash == Work.find(work.id).hash, { work => 1 }[Work.find(work.id)]] },
    marshal: ->(work) { Marshal.load(Marshal.dump(work)).then { |it| [it.class, it.attributes, it.body, it.persisted?, it == work] } },
    yaml: ->(work) { YAML.unsafe_load(YAML.dump(work)).attributes },
    cache_key: ->(work) { [work.cache_key, work.cache_version, work.to_param, work.to_key] },
    readonly: ->(work) { [work.readonly?, work.frozen?, work.new_record?, work.persisted?, work.destroyed?, work.strict_loading?] },
    has_attribute: ->(work) { [work.has_attribute?(:body), work.has_attribute?(:nothing), work.has_attribute?(:rank), work.body?, work.attribute_present?(:body)] },
    before_type_cast: ->(work) { [work.price_before_type_cast, work.attributes_before_type_cast, work.attributes_for_database] },
    brackets: ->(work) { [work[:body], work["summary"], work.read_attribute(:price), work.slice(:body, :rank), work.values_at(:body, :title)] },
    unknown: ->(work) { work[:nothing].inspect + (work.read_attribute(:nothing) { "block" }).inspect },
    save: ->(work) { [work.save, work.previous_changes, work.reload.attributes] },
    update: ->(work) { [work.update(body: "new", title: "t"), work.previous_changes, work.body_previously_was, work.reload.attributes] },
    update_columns: ->(work) { [work.update_columns(body: "new"), work.attributes] },
    increment: ->(work) { [work.increment!(:reviews_count).reviews_count, work.reload.reviews_count] },
    destroy: ->(work) { [work.destroy.destroyed?, work.frozen?, work.title, work.body] },
    freeze: ->(work) { work.freeze.attributes },
    becomes: ->(work) { work.becomes(Work).attributes },
    serialized: ->(work) { [work.options, work.prefs, work.font, work.tap { |it| it.font = "z" }.changes] },
    fetch_association: ->(work) { [work.reviewer&.attributes, work.reviews.map(&:attributes), work.reviews.size, work.cover&.artist] },
    pattern: ->(work) { work.serializable_hash(only: %i[title body], methods: :font) }
  }.each do |name, use|
    define_method("test_#{name}") do
      assert_behaves do |works|
        results = nil
        ActiveRecord::Base.transaction do
          results = works.map { |work| use.call(work) }
          raise ActiveRecord::Rollback
        end
        results
      end
    end
  end

  def test_what_needs_no_more_columns_reads_none
    assert_behaves(misses: 0) { |works| works.map { |work| [work.id, work.title, work.to_param, work == works.first, work.persisted?, work.readonly?, work.hash.class] } }
  end

  def test_touch
    results = []
    pair = schemas do
      field :kept, [Library::Writer], null: false
      field :probe, String
      define_method(:kept) { context[:kept] = ::Writer.order(:id).limit(2) }
      define_method(:probe) do
        ActiveRecord::Base.transaction do
          results << context[:kept].map { |it| [it.touch(time: Time.utc(2030)), it.updated_at, it.cache_version, it.update(name: "n"), it.saved_changes.except("updated_at"), it.settings, it.color] }
          raise ActiveRecord::Rollback
        end
        "done"
      end
    end
    pair.each { |schema| execute("{ kept { name } probe }", schema) }
    assert_equal(*results)
  end

  # Records of a model of its own, narrowed to their names by `{ kept { name } probe }`, and used by the block in a resolver.
  def assert_used(model, &block)
    results = []
    type = Class.new(Library::Base) { graphql_name("Kept"); field(:name, String) }
    pair = schemas do
      field :kept, [type], null: false
      field :probe, String
      define_method(:kept) { context[:kept] = model.order(:id) }
      define_method(:probe) do
        model.transaction do
          results << context[:kept].map(&block)
          raise ActiveRecord::Rollback
        end
        "done"
      end
    end
    read = pair.map { |schema| sql { execute("{ kept { name } probe }", schema) }.first }
    assert_equal(*results)
    read.last
  end

  # It is in the version that it was read in, and not in that of a column that is read later.
  def test_optimistic_locking
    ActiveRecord::Base.connection.execute("CREATE TABLE accounts (id bigserial PRIMARY KEY, name text, note text, lock_version integer NOT NULL DEFAULT 0)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "accounts"; def self.name = "Account" }
    model.insert_all!([{ name: "one", note: "n" }, { name: "two", note: "m" }])
    read = assert_used(model) do |account|
      seen = [account.update(name: "mine"), account.note, account.lock_version]
      model.where(id: account.id).update_all("lock_version = lock_version + 1")
      [*seen, *%i[save touch destroy].map { |name| account.name += "!"; account.public_send(name) && nil rescue [name, $!.class] }]
    end
    assert_equal 'SELECT "accounts"."id", "accounts"."name", "accounts"."lock_version" FROM "accounts" ORDER BY "accounts"."id" ASC', read
    assert_used(model) do |account|
      model.where(id: account.id).update_all("lock_version = lock_version + 1")
      [account.update(name: "mine")] rescue $!.class
    end
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE accounts")
  end

  class Volume < ActiveRecord::Base
    self.table_name = "works"
    self.inheritance_column = nil
    alias_attribute :name, :title
    has_many :notes, class_name: "BehaviourTest::Note", foreign_key: :work_id, inverse_of: false, counter_cache: :reviews_count
  end

  class Note < ActiveRecord::Base
    self.table_name = "reviews"
    belongs_to :volume, foreign_key: :work_id, inverse_of: false, counter_cache: :reviews_count
  end

  # Counted in the table and in the owner: if the owner learned its count between the two, the new one would count twice.
  def test_counter_cache
    assert_used(Volume) do |volume|
      volume.notes.create!(text: "one")
      volume.notes << Note.new(text: "two")
      [volume.reviews_count, volume.notes.size, volume.changed?]
    end
  end
end
