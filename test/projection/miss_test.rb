# frozen_string_literal: true

require_relative "projection_case"

class MissTest < ProjectionCase
  # One read for all records of the load.
  def test_columns_of_all_records_of_the_load
    miss, = WireCounter.events("projection_miss.pipeloader") do
      assert_equal(["SELECT \"works\".* FROM \"works\" WHERE \"works\".\"id\" IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"],
                   sql { execute("{ works { hidden } }") }.drop(1))
    end
    assert_equal [::Work, "body", 12, "Work.hidden"], miss.values_at(:model, :column, :records, :field)
    assert_includes miss[:fetched], "body"
    refute_includes miss[:fetched], "title"
  end

  def test_answer
    assert_reads({ "works" => [%w[id type title], nil] }, "{ works { hidden } }", misses: 1)
    assert_reads({ "works" => [%w[id type], nil] }, "{ works { everything } }", misses: 1)
    assert_reads({ "works" => [%w[id type], nil] }, "{ works { copied } }", misses: 1)
  end

  # Each review's work is a load of its own; their misses go together.
  def test_round_trips
    assert_round_trips(3) { execute("{ reviews { noteOfAll work { title } } }") }
    assert_same_answer("{ reviews { noteOfAll work { title } } }", Library.pair)
  end

  def test_log
    log = StringIO.new
    before, ActiveSupport::LogSubscriber.logger = ActiveSupport::LogSubscriber.logger, Logger.new(log)
    execute("{ works { hidden } }")
    assert_match(/Projection miss.* Work\.hidden reads `body`.* 12 records.*`selects: %i\[body\]`/, log.string)
  ensure
    ActiveSupport::LogSubscriber.logger = before
  end

  def test_after_the_response
    works = nil
    pair = schemas do
      field :kept, [Library::Work], null: false
      define_method(:kept) { works = ::Work.order(:id) }
    end
    execute("{ kept { title writer { name } } }", pair.last)
    assert_equal ::Work.order(:id).pluck(:body), works.map(&:body)
    assert_equal ::Work.first.attributes, works.first.attributes
    # What the response asked for means nothing any more.
    assert_equal(["SELECT \"writers\".* FROM \"writers\" WHERE \"writers\".\"id\" = $1 LIMIT $2"], sql { works.first.reload_writer })
  end

  def test_from_a_thread_and_from_an_enumerator
    assert_behaves { |works| Thread.new { works.map(&:body) }.value + works.lazy.map(&:summary).first(2) + [works.each.next.price] }
  end

  def test_in_a_transaction
    ActiveRecord::Base.transaction { assert_reads({ "works" => [%w[id type title], nil] }, "{ works { hidden } }", misses: 1) }
  end

  def test_row_that_is_gone
    works = nil
    exact = schemas do
      field :kept, [Library::Work], null: false
      define_method(:kept) { works = ::Work.order(:id).limit(2) }
    end.last
    ActiveRecord::Base.transaction do
      execute("{ kept { title } }", exact)
      works.first.title
      ::Work.where(id: works.first.id).delete_all
      error = assert_raises(Pipeloader::RowGoneError) { works.first.body }
      assert_match(/Work.body had been left out.*deleted.*selects: %i\[body\]/m, error.message)
      assert_equal ::Work.find(works.last.id).body, works.last.body
      raise ActiveRecord::Rollback
    end
  end

  def test_composite_key
    results = []
    pair = schemas do
      field :kept, [Library::Shelf], null: false
      field :probe, String
      define_method(:kept) { context[:kept] = ::Shelf.order(:hall, :number) }
      define_method(:probe) { results << context[:kept].map(&:hint) && "done" }
    end
    missed = WireCounter.events("projection_miss.pipeloader") { pair.each { |schema| execute("{ kept { label } probe }", schema) } }
    assert_equal [1, ["hint 1", "hint 2", "hint 3", "hint 4"]], [missed.size, results.last]
    assert_equal(*results)
  end

  # The server takes its time for a thousand of them, and minutes for tens of thousands.
  def test_many_composite_keys
    ActiveRecord::Base.connection.execute("CREATE TABLE cells (a integer, b integer, title text, note text, PRIMARY KEY (a, b))")
    ActiveRecord::Base.connection.execute("INSERT INTO cells SELECT i / 100, i % 100, i, i FROM generate_series(1, 2500) i")
    model = Class.new(ActiveRecord::Base) { self.table_name = "cells"; def self.name = "Cell" }
    type = work_type("Cell") { field :it, String, selects: []; def it = object.then(&:note) }
    pair = schemas do
      field :cells, [type], null: false
      define_method(:cells) { model.order(:a, :b) }
    end
    answer = assert_reads({ "cells" => [%w[a b title], nil] }, "{ cells { title it } }", pair, misses: 1)
    assert_equal 2500, answer["data"]["cells"].size
    sizes = sql { execute("{ cells { it } }", pair.last) }.map { |it| it.scan(" OR ").size + 1 }
    assert_equal [1, 1000, 1000, 500], sizes
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE cells")
  end

  # The database and role that the rows came from is asked, whatever is in force when the column is read.
  def test_role
    handler = ActiveRecord::Base.connection_handler
    handler.establish_connection(TestDatabase.hash, owner_name: ActiveRecord::Base, role: :reading)
    works = nil
    exact = schemas do
      field :kept, [Library::Work], null: false
      define_method(:kept) { works = ::Work.order(:id) }
    end.last
    ActiveRecord::Base.connected_to(role: :reading) { execute("{ kept { title } }", exact).to_json }
    pools = WireCounter.events("sql.active_record") { assert_equal "body 1", works.first.body[0, 6] }.map { |it| it[:connection].pool.role }
    assert_equal [:reading], pools
  ensure
    handler.remove_connection_pool("ActiveRecord::Base", role: :reading)
  end

  def test_ignored_columns
    model = Class.new(ActiveRecord::Base) { self.table_name = "works"; self.inheritance_column = nil; self.ignored_columns += ["body"]; def self.name = "Draft" }
    type = work_type("Ignorant") { field :seen, String, selects: []; def seen = object.attributes.keys.join(" ") }
    pair = schemas do
      field :drafts, [type], null: false
      define_method(:drafts) { model.order(:id) }
    end
    answer = assert_same_answer("{ drafts { title seen } }", pair)
    refute_includes answer["data"]["drafts"].first["seen"], "body"
  end

  # What PostgreSQL quotes, is the statement as it is without projection.
  def test_error_of_the_database
    pair = schemas do
      field :wrong, [Library::Work], null: false
      def wrong = ::Work.where("no_such_column = 1")
    end
    errors = pair.map { |schema| assert_raises(ActiveRecord::StatementInvalid) { execute("{ wrong { title } }", schema) } }
    assert_equal(*errors.map { |error| [error.class, error.message, error.sql] })
  end

  # What is known of a document, and of a model, is so until the model is told to look again.
  def test_columns_that_the_model_has_learnt_of_since
    ActiveRecord::Base.connection.execute("CREATE TABLE sketches (id bigserial PRIMARY KEY, title text, old text)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "sketches"; def self.name = "Sketch" }
    model.insert_all!([{ title: "one", old: "o" }])
    type = work_type("Sketch") { field :seen, String, selects: []; def seen = [object.try(:fresh), object.try(:old), object.attributes].inspect }
    pair = schemas do
      field :sketches, [type], null: false
      define_method(:sketches) { model.order(:id) }
    end
    ["ADD COLUMN fresh text DEFAULT 'f'", "DROP COLUMN old"].each do |change|
      assert_same_answer("{ sketches { title seen } }", pair)
      ActiveRecord::Base.connection.execute("ALTER TABLE sketches #{change}")
      model.reset_column_information
    end
    answer = assert_same_answer("{ sketches { title seen } }", pair)
    assert_match(/\A\["f", nil, /, answer["data"]["sketches"].first["seen"])
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE sketches")
  end

  # It learns of a dropped column when PostgreSQL says so, and asks again for whole rows.
  def test_column_that_was_dropped_since
    ActiveRecord::Base.connection.execute("CREATE TABLE drafts (id bigserial PRIMARY KEY, title text, old text, note text)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "drafts"; def self.name = "Draft" }
    model.insert_all!([{ title: "one", old: "o", note: "n" }])
    model.columns_hash
    ActiveRecord::Base.connection.execute("ALTER TABLE drafts DROP COLUMN old, ADD COLUMN fresh text DEFAULT 'f'")
    type = work_type("Draft") { field :note, String, selects: []; field :old, String; def note = object.then(&:note) }
    pair = schemas do
      field :drafts, [type], null: false
      define_method(:drafts) { model.order(:id) }
    end
    answer = assert_same_answer("{ drafts { title note } }", pair)
    assert_equal({ "drafts" => [{ "title" => "one", "note" => "n" }] }, answer["data"])
    # (The Interpreter asks whether there is such a method, Next just calls it: the one fails by graphql's error, the other by the model's.)
    errors = pair.map { |schema| assert_raises(StandardError) { execute("{ drafts { old } }", schema) } }
    assert_equal(*errors.map { |error| [error.class, error.message.gsub(/0x\h+/, "")] })
    assert_equal Engine::NEXT ? ActiveModel::MissingAttributeError : RuntimeError, errors.first.class
    assert_match(/Draft.old/, errors.first.message)
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE drafts")
  end
end
