# frozen_string_literal: true

require_relative "wire_case"

# Two tenants, whose rows the database keeps apart: by policies that hold for the tables' owner, too, for a role that is no
# superuser. Without the setting nobody gets a row, but an error.
module SettingsCase
  ROLE = "pipeloader_tenant_#{Process.pid}"
  TENANTS = [1, 2].freeze
  Gated = WireCase::Gated

  # Everything that tests write is undone by this.
  ROWS = <<~SQL
    TRUNCATE tenant_notes, tenant_parts RESTART IDENTITY;
    INSERT INTO tenant_notes (tenant_id, body) SELECT n % 2 + 1, format('t%s note %s', n % 2 + 1, n) FROM generate_series(1, 12) AS n;
    INSERT INTO tenant_parts (tenant_id, note_id, name)
      SELECT tenant_id, tenant_notes.id, format('t%s part %s', tenant_id, n) FROM tenant_notes, generate_series(1, 3) AS n ORDER BY 2, n;
  SQL

  class << self
    def create
      return if @created

      connection = TestDatabase.connect
      connection.exec("CREATE ROLE #{ROLE} NOLOGIN")
      connection.exec(<<~SQL)
        CREATE TABLE tenant_notes (id serial PRIMARY KEY, tenant_id int NOT NULL DEFAULT current_setting('app.tenant_id')::int, body text);
        CREATE TABLE tenant_parts (id serial PRIMARY KEY, tenant_id int NOT NULL, note_id int, name text);
      SQL
      %w[tenant_notes tenant_parts].each do |table|
        connection.exec(<<~SQL)
          ALTER TABLE #{table} ENABLE ROW LEVEL SECURITY;
          ALTER TABLE #{table} FORCE ROW LEVEL SECURITY;
          CREATE POLICY own ON #{table} USING (tenant_id = current_setting('app.tenant_id')::int);
          GRANT ALL ON #{table}, #{table}_id_seq TO #{ROLE};
        SQL
      end
      connection.close
      drop_at_the_end
      @created = true
    end

    private

    # After the databases.
    def drop_at_the_end
      owner = Process.pid
      ObjectSpace.define_finalizer(self, proc { drop if Process.pid == owner }) unless PrivateCluster.own?
    end

    def drop
      connection = TestDatabase.connect(PrivateCluster.database)
      connection.exec("DROP ROLE IF EXISTS #{ROLE}")
      connection.close
    end
  end

  class TenantNote < WireCase::Gated
    self.table_name = "tenant_notes"
    has_many :parts, -> { order(:id) }, class_name: "SettingsCase::TenantPart", foreign_key: :note_id, inverse_of: :note
  end

  class TenantPart < WireCase::Gated
    self.table_name = "tenant_parts"
    belongs_to :note, class_name: "SettingsCase::TenantNote", inverse_of: :parts
  end

  class Part < GraphQL::Schema::Object
    graphql_name "TenantPart"
    field :id, Integer
    field :name, String
    field :note_body, String
    def note_body = object.note.body
  end

  class Note < GraphQL::Schema::Object
    graphql_name "TenantNote"
    field :id, Integer
    field :body, String
    field :parts, [Part]
    field :parts_count, Integer
    field :last_part, String
    field :before, Integer
    field :loaded, String

    def parts_count = object.parts.count
    def last_part = object.parts.reorder(id: :desc).first.name
    def before = TenantNote.where("body < ?", object.body).count
    def loaded = dataloader.with(BySource).load(object.id)
  end

  class BySource < GraphQL::Dataloader::Source
    def fetch(ids) = TenantNote.where(id: ids).index_by(&:id).values_at(*ids).map { |note| note&.body }
  end

  class Query < GraphQL::Schema::Object
    field :notes, [Note]
    field :note, Note do
      argument :id, Integer
    end
    field :count, Integer
    field :bodies, [String]
    field :run, String do
      argument :index, Integer, required: false
    end

    def notes = TenantNote.order(:id)
    def note(id:) = TenantNote.find_by(id: id)
    def count = TenantNote.count
    def bodies = TenantNote.order(:id).map(&:body)
    def run(index: 0) = context[:run].call(index).inspect
  end

  class Mutation < GraphQL::Schema::Object
    field :change, String do
      argument :index, Integer, required: false
    end

    def change(index: 0) = context[:run].call(index).inspect
  end

  # What is set for one.
  SETTINGS = ->(context) { { "role" => ROLE, "app.tenant_id" => context[:tenant] } }

  # @param options [Hash] of `use Pipeloader`; nil for a plain schema
  def self.schema(options) = WireCase.schema_of(Query, Mutation, options, [ActiveRecord::StatementInvalid, Pipeloader::SettingsError])

  PLAIN = schema(nil)
  PIPED = schema({ settings: SETTINGS })

  ALL = "{ notes { id body parts { name noteBody } partsCount lastPart before loaded } count bodies a: note(id: 1) { body } b: note(id: 2) { body } }"
  OPAQUE = "{ notes { before lastPart } a: bodies b: bodies note(id: 3) { before } }"

  private

  def fill
    SettingsCase.create
    side.exec(ROWS)
    Gated.with_connection { [TenantNote, TenantPart].each(&:columns) }
  end

  # As an application does it without Pipeloader.
  def local(tenant)
    Gated.transaction do
      connection = Gated.lease_connection
      connection.execute("SET LOCAL ROLE #{ROLE}")
      connection.execute("SET LOCAL app.tenant_id = '#{tenant}'") if tenant
      yield
    end
  ensure
    release
  end

  def piped(query, tenant, schema: PIPED, **options)
    schema.execute(query, context: { tenant: tenant, **options.delete(:context).to_h }, **options).to_h
  ensure
    release
  end

  # As the same schema with SET LOCAL in a transaction answers.
  #
  # @return [Hash] the answer
  def assert_as_local(query, tenant, schema: PIPED, **context)
    expected = local(tenant) { PLAIN.execute(query, context: { tenant: tenant, **context }).to_h }
    answer = piped(query, tenant, schema: schema, context: context)
    assert_equal JSON.generate(expected), JSON.generate(answer)
    assert_own(answer, tenant)
    answer
  end

  # @return [String] the answer
  def run_piped(tenant, query = "{ run }", schema: PIPED, **context, &block)
    answer = piped(query, tenant, schema: schema, context: { run: block, **context })
    answer["errors"] ? answer["errors"].map { |error| error["message"] }.join("\n") : answer["data"].values.first
  end

  # It has rows of no other.
  def assert_own(answer, tenant) = assert_empty(JSON.generate(answer).scan(/\bt(\d) /).flatten.map(&:to_i).uniq - [tenant], "another tenant's rows")

  # Nothing is left on any of the connections.
  def assert_nothing_left(pool = Gated.connection_pool)
    pool.connections.each do |adapter|
      next unless raw(adapter)&.status == PG::CONNECTION_OK

      left = raw(adapter).exec("SELECT current_user = session_user, coalesce(current_setting('app.tenant_id', true), '')").values.first
      assert_equal ["t", ""], left.map { |it| it.is_a?(String) ? it : (it ? "t" : "f") }
    end
  end
end
