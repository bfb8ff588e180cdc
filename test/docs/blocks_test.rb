# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/readme"

# The Ruby in README.md, UPGRADING.md and docs/. Two kinds of fences:
#
#   ```ruby             is run here, in a place that its first line asks for: see Place
#   ```ruby excerpt     can't run alone (Rails, another application's classes); it must be Ruby that compiles
#
# Options that a page names, in a fence or outside, must exist. docs/testing.md is run by test/report/testing_docs_test.rb,
# docs/observability.md by test/report/observers_test.rb.
class BlocksTest < PipeloaderTest
  ROOT = File.expand_path("../..", __dir__)
  PAGES = Dir.chdir(ROOT) { Dir["README.md", "UPGRADING.md", "docs/*.md"] }.sort.freeze
  RUN_ELSEWHERE = %w[docs/observability.md docs/testing.md].freeze
  Block = Struct.new(:page, :line, :kind, :code)

  TEXTS = PAGES.to_h { |page| [page, File.read("#{ROOT}/#{page}")] }.freeze
  BLOCKS = TEXTS.flat_map do |page, text|
    text.to_enum(:scan, /^```(ruby[^\n]*)\n(.*?)^```$/m).map do
      Block.new(page, Regexp.last_match.pre_match.count("\n") + 2, Regexp.last_match[1], Regexp.last_match[2])
    end
  end.freeze

  # What a block finds around it: the names that the documents use for an application's own classes.
  class Place
    def initialize
      @home = Module.new
      @home.const_set(:Types, types = Module.new)
      types.define_singleton_method(:const_missing) { |name| const_set(name, Class.new(GraphQL::Schema::Object) { graphql_name(name.to_s) }) }
      query = Class.new(GraphQL::Schema::Object) { graphql_name("Query") }
      @home.const_set(:AppSchema, Class.new(GraphQL::Schema) { query(query.tap { |it| it.field(:id, GraphQL::Types::ID) }) })
      BlocksTest.const_set(:"Home#{@home.object_id}", @home)
    end

    # `use …` is said in a schema, `field` and `def` in a type, all else at the top of a file.
    def run(block)
      opening, closing = case block.code[/^(?!#)\w+/]
                         when "use" then ["class ReaderSchema < GraphQL::Schema", "end"]
                         when "field", "def" then ["class Types::Reader < GraphQL::Schema::Object", "end"]
                         end
      # `class AppSchema` is the reader's own there.
      @home.send(:remove_const, :AppSchema) if block.code.start_with?("class AppSchema")
      @home.module_eval("#{opening}\n#{block.code.gsub(/^ *…$/, "")}\n#{closing}", "#{ROOT}/#{block.page}", block.line - 1)
    end
  end

  def setup
    @settings = %i[defaults enabled log collections field_exact].to_h { |name| [name, Pipeloader.public_send(name)] }
  end

  def teardown
    @settings.each { |name, value| Pipeloader.public_send("#{name}=", value) }
    super
  end

  BLOCKS.each do |block|
    name = "#{block.page.tr("/.", "_")}_#{block.line}"
    case [block.kind, RUN_ELSEWHERE.include?(block.page)]
    when ["ruby", false]
      define_method(:"test_#{name}_runs") do
        Place.new.run(block)
        assert true
      end
    else
      define_method(:"test_#{name}_is_ruby") { assert_kind_of RubyVM::InstructionSequence, compile(block) }
    end
  end

  def test_there_are_two_kinds
    assert_empty BLOCKS.map(&:kind).uniq - ["ruby", "ruby excerpt"]
    assert_operator BLOCKS.count { |it| it.kind == "ruby" }, :>, 10
  end

  # Indented, it would be looked at by nobody.
  def test_ruby_is_fenced
    loose = TEXTS.flat_map do |page, text|
      text.gsub(/^```.*?^```$/m) { |block| "\n" * block.count("\n") }.lines.each_with_index.filter_map do |line, index|
        "#{page}:#{index + 1}: #{line}" if line.match?(/\A {4}(?:def |use [A-Z]|class [A-Z]|config\.|puts Pipeloader|Pipeloader\.)/)
      end
    end
    assert_empty loose, "Put it into a fence: ```ruby, or ```ruby excerpt where it can't run alone"
  end

  def test_options_exist
    named = TEXTS.flat_map { |page, text| options_in(text).map { |name| [name, page] } }
    assert_empty(named.reject { |name, _| Pipeloader::Options::NAMES.include?(name) })
    assert_empty Pipeloader::Options::NAMES - named.map(&:first), "no page names them"
  end

  def test_settings_exist
    named = TEXTS.flat_map { |page, text| text.scan(/\bconfig\.pipeloader\.([a-z]\w*)/).map { |name,| [name.to_sym, page] } }
    assert_operator named.size, :>, 5
    assert_empty(named.reject { |name, _| Pipeloader::Options::NAMES.include?(name) || Pipeloader.respond_to?("#{name}=") })
  end

  # README's first example, whole: what `rake release:check` runs by the installed gem.
  def test_readme
    Readme.create
    plain = Readme.schema(with: false).execute(Readme::QUERY).to_h
    piped = Readme.schema(with: true)
    assert_equal 12, plain.dig("data", "posts").size
    assert_round_trips(3) do
      assert_equal JSON.generate(plain), JSON.generate(piped.execute(Readme::QUERY).to_h)
    end
  ensure
    Readme.drop
  end

  private

  def compile(block) = RubyVM::InstructionSequence.compile(block.code, block.page, block.page, block.line)

  # @return [Array<Symbol>] those behind `use Pipeloader,` up to the line's, the quote's or the comment's end, but not their own Hashes'
  def options_in(text)
    text.scan(/\buse Pipeloader, ([^\n`#]*)/).flat_map do |said,|
      said = said.gsub(/\{.*\}/, "") while said.match?(/\{.*\}/)
      said.scan(/(?<![\w:"])([a-z]\w*):(?!:)/).flatten.map(&:to_sym)
    end
  end
end
