# frozen_string_literal: true

# Runs one generated program: its schema without Pipeloader (twice, as what answers differently by itself tells nothing), and with it,
# in several ways. This file is part of each script that bin/fuzz writes; it needs nothing else of the fuzzer.
module Fuzz
  # One way to run a program with Pipeloader.
  #
  #     Check.new(run: :execute, compile: true, field_exact: false, cache: false, executions: 3)
  Check = Struct.new(:run, :compile, :field_exact, :cache, :executions, :trips, keyword_init: true) do
    def initialize(executions: 3, trips: :auto, **) = super

    def to_s
      "#{run}, compile: #{compile}, field_exact: #{field_exact}, trips: #{trips}#{", in a query cache" if cache}"
    end

    def options = { compile: compile, field_exact: field_exact, trips: trips, forecast: true }
  end

  class << self
    attr_accessor :runner
  end

  class Runner
    # What the check found: `status` is :same, :different, :unsteady (plain answers differently by itself) or :invalid.
    Finding = Struct.new(:status, :check, :document, :execution, :plain, :piped, keyword_init: true)

    Document = Struct.new(:text, :variables, :context, :current, keyword_init: true) do
      def writes? = text.start_with?("mutation")
    end

    THREADS = 6

    attr_reader :documents, :setup, :unsteady

    # @param engine [String] "interpreter" or "next"
    # @param database [Hash] what establish_connection takes
    # @param space [String] name of the PostgreSQL schema that the program's tables are made in
    def initialize(engine:, database:, space: "fuzz")
      @engine, @database, @space = engine, database, space
      @documents = []
      @rows = {}
      @references = {}
      @unsteady = 0
      @schemas = {}
    end

    # Evaluates a program's text, which calls #tables, #rows, #schema and #document of Words.
    def load(source, file = "program.rb")
      Fuzz.runner = self
      @errors_in_any_order = @engine == "next" && source.include?("dataload")
      ActiveRecord::Encryption.configure(primary_key: "a" * 32, deterministic_key: "b" * 32, key_derivation_salt: "c" * 32,
                                         support_unencrypted_data: true)
      Engine.install if @engine == "next"
      side.exec("DROP SCHEMA IF EXISTS #{@space} CASCADE; CREATE SCHEMA #{@space}; SET search_path TO #{@space}")
      ActiveRecord::Base.establish_connection(**@database, schema_search_path: @space, pool: THREADS + 4, reaping_frequency: nil)
      TOPLEVEL_BINDING.receiver.extend(Words)
      TOPLEVEL_BINDING.eval(source, file)
    end

    def close
      ActiveRecord::Base.connection_handler.clear_all_connections!(:all)
      side.exec("DROP SCHEMA IF EXISTS #{@space} CASCADE")
      side.close
    end

    def tables(&block) = ActiveRecord::Base.connection.instance_exec(&block)

    def row(table, values) = (@rows[table.to_s] ||= []) << values

    def insert
      connection = ActiveRecord::Base.connection
      @tables = connection.tables.sort
      @filling = @rows.slice(*@tables).map do |table, rows|
        columns = connection.columns(table).map(&:name) & rows.flat_map { |row| row.keys.map(&:to_s) }
        values = rows.map { |row| "(#{columns.map { |name| literal(connection, row[name.to_sym]) }.join(", ")})" }
        "INSERT INTO #{table} (#{columns.map { |name| connection.quote_column_name(name) }.join(", ")}) VALUES #{values.join(", ")}"
      end
      @sequences = side.exec("SELECT sequencename FROM pg_sequences WHERE schemaname = '#{@space}'").values.flatten
      restore
    end

    def schema(&block) = @setup = block

    def document(text, variables: {}, context: {}, current: {})
      @documents << Document.new(text: text, variables: variables, context: context, current: current)
    end

    # @return [Finding] the first that isn't :same
    def check(checks)
      checks.each do |check|
        finding = public_send(:"check_#{check.run}", check)
        return finding if finding
      end
      Finding.new(status: :same)
    end

    # Several executions of each document: a plan is proved, interpreted, compiled; what resolvers ask for is observed in the second,
    # and read ahead in the third.
    def check_execute(check)
      @documents.each_with_index do |document, index|
        plain = reference(document, check.cache) or next
        check.executions.times do |execution|
          piped = run(piped(check), document, check.cache)
          return Finding.new(status: :different, check: check, document: index, execution: execution + 1, plain: plain, piped: piped) if piped != plain
        end
      end
      nil
    end

    def check_threads(check)
      queries = @documents.each_with_index.reject { |document, _| document.writes? || reference(document, check.cache).nil? }
      restore
      @dirty = false
      piped(check)
      threads = Array.new(THREADS) do |number|
        Thread.new do
          Thread.current.report_on_exception = false
          queries.rotate(number).filter_map do |document, index|
            plain, piped = reference(document, check.cache), run(piped(check), document, check.cache)
            Finding.new(status: :different, check: check, document: index, execution: 1, plain: plain, piped: piped) if piped != plain
          end.first
        ensure
          ActiveRecord::Base.connection_handler.clear_active_connections!
        end
      end
      threads.map(&:value).compact.first
    end

    def check_multiplex(check)
      queries = @documents.reject { |document| document.writes? || !document.current.empty? || reference(document, check.cache).nil? }
      return if queries.size < 2

      plain, again, *piped = [plain_schema, plain_schema, piped(check), piped(check)].map { |schema| run(schema, queries, check.cache) }
      return if plain != again

      different = piped.find_index { |it| it != plain }
      Finding.new(status: :different, check: check, execution: different + 1, plain: plain, piped: piped[different]) if different
    end

    # {"Post.title" => true if it is compiled, else why it isn't}, of the queries
    def explanations
      @documents.reject(&:writes?).each_with_object({}) do |document, found|
        next if reference(document, false).nil? || reference(document, false).key?(:raised)

        restore if @dirty
        @dirty = false
        prepare(document)
        told = Pipeloader.explain(piped(Check.new(compile: true, field_exact: false)), document.text,
                                  variables: document.variables, context: document.context.dup).to_h
        note(told[:fields], found)
      end
    end

    private

    def note(fields, found)
      fields.to_a.each do |field|
        found[field[:field]] = field[:compiled] || field[:reason]
        note(field[:fields], found)
      end
    end

    # What the plain schema answers; nil where it doesn't answer the same twice.
    def reference(document, cache)
      key = [document, cache]
      return @references[key] if @references.key?(key)

      plain, again = Array.new(2) { run(plain_schema, document, cache) }
      @unsteady += 1 if plain != again
      @references[key] = (plain if plain == again)
    end

    def plain_schema = @plain_schema ||= make

    def piped(check) = @schemas[check.options] ||= make { use Pipeloader, breaker: false, **check.options }

    def make(&block)
      setup, engine = @setup, @engine
      Class.new(GraphQL::Schema) do
        define_singleton_method(:name) { "FuzzSchema" }
        if engine == "next"
          use GraphQL::Execution::Next, as_default: true
          use GraphQL::Dataloader
        end
        class_eval(&setup)
        class_eval(&block) if block
      end
    end

    # @param documents [Document, Array<Document>] several are a multiplex
    # @return [Hash] all that can be seen of it
    def run(schema, documents, cache)
      first = documents.is_a?(Array) ? documents.first : documents
      restore if first.writes? || @dirty
      @dirty = first.writes?
      prepare(first)
      work = -> { answer(schema, documents) }
      seen = cache ? ActiveRecord::Base.cache(&work) : work.call
      seen.merge!(state)
      seen[:rows] = contents if first.writes?
      seen
    ensure
      settle
    end

    def answer(schema, documents)
      told = ->(it) { { variables: it.variables, context: Marshal.load(Marshal.dump(it.context)) } }
      result = if documents.is_a?(Array)
                 schema.multiplex(documents.map { |it| { query: it.text, **told.(it) } }).map(&:to_h)
               else
                 schema.execute(documents.text, **told.(documents)).to_h
               end
      { answer: JSON.generate(comparable(result)).gsub(/0x\h+/, "0x") }
    rescue StandardError, SystemStackError => e
      { raised: "#{e.class}: #{e.message.lines.first}".gsub(/0x\h+/, "0x") }
    end

    # On Execution::Next, errors of fields that load from sources may come in another order (docs/reliability.md).
    def comparable(result)
      return result unless @errors_in_any_order
      return result.map { |it| comparable(it) } if result.is_a?(Array)

      result["errors"] ? result.merge("errors" => result["errors"].sort_by { |it| JSON.generate(it) }) : result
    end

    def prepare(document)
      settle
      document.current.each { |name, value| Current.public_send(:"#{name}=", value) } if defined?(Current)
    end

    def settle
      I18n.available_locales = %i[en de]
      ActiveSupport::CurrentAttributes.descendants.each(&:reset)
      I18n.locale = :en
      Time.zone = "UTC"
    end

    def state
      { current: (Current.attributes if defined?(Current)), locale: I18n.locale, zone: Time.zone.name,
        scopes: ActiveRecord::Base.descendants.reject { |model| model.abstract_class? || model.current_scope.nil? }.map(&:name),
        transactions: ActiveRecord::Base.connection.open_transactions }
    end

    # Another connection, which ActiveRecord and Pipeloader know nothing of.
    def side
      @side ||= PG.connect(host: @database[:host], port: @database[:port], user: @database[:username], password: @database[:password],
                           dbname: @database[:database])
                  .tap { |it| it.set_notice_processor { nil } }
    end

    def literal(connection, value)
      value.is_a?(Hash) || value.is_a?(Array) ? connection.quote(JSON.generate(value)) : connection.quote(value)
    end

    # (TRUNCATE would make new files.)
    def restore
      side.exec([*@tables.map { |table| "DELETE FROM #{table}" }, *@filling, *@sequences.map { |name| "ALTER SEQUENCE #{name} RESTART WITH 1000" }].join(";"))
    end

    def contents
      side.exec(@tables.map { |table| "SELECT '#{table} ' || t::text FROM #{table} t" }.join(" UNION ALL ")).values.flatten.sort
    end
  end

  # What a program's text calls.
  module Words
    def tables(&) = Fuzz.runner.tables(&)
    def row(table, **values) = Fuzz.runner.row(table, values)

    def rows(&block)
      block.call
      Fuzz.runner.insert
    end

    def schema(&) = Fuzz.runner.schema(&)
    def document(...) = Fuzz.runner.document(...)
    def enc(text) = ActiveRecord::Encryption.encryptor.encrypt(text)
  end

  # Execution::Next calls a type's own methods only where it is told to: here, it is, as in test/support/engine.rb.
  module Engine
    module EveryField
      def execution_mode
        @execution_mode == :direct_send && owner.method_defined?(@resolver_method) ? :resolve_legacy_instance_method : super
      end

      def execution_mode_key
        execution_mode == :resolve_legacy_instance_method && @execution_mode == :direct_send ? @resolver_method : super
      end
    end

    def self.install = GraphQL::Schema::Field.prepend(EveryField)
  end
end
