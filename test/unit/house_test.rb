# frozen_string_literal: true

require "ripper"
require "tsort"
require "yaml"
require_relative "../support/test_helper"

# lib/ is a house of rooms: a file names only files of its own room and of rooms before it; patches may name all.
class HouseTest < PipeloaderTest
  LIB = File.expand_path("../../lib/pipeloader", __dir__)
  # The engine, which knows of no GraphQL: what `require "pipeloader/active_record"` loads.
  ENGINE = %w[base wire code fibers reading].freeze
  ROOMS = (ENGINE + %w[queries proof projection lookup plan execute forecast report views web patches]).freeze

  # What is yet to be mended. Whoever mends it takes it off; nothing is added.
  BACK = [].freeze
  CIRCLES = [].freeze
  NAME_PATCHES = [].freeze

  Part = Struct.new(:name, :text) do
    def room = name[%r{\A(\w+)/}, 1]
    def rank = ROOMS.index(room)
    def patch? = room == "patches"

    # @return [Array<String>] constants that it defines, in Pipeloader or in Patches
    def defined = text.scan(patch? ? /^    (?:class|module) ([A-Z]\w*)/ : /^  (?:class |module )?([A-Z]\w*)(?: =|$| <)/).flatten

    # @return [Array<String>] constants that it names: the first of each path, and those behind Pipeloader:: and Patches::
    def named
      tokens = Ripper.lex(text).reject { |_, kind| %i[on_sp on_comment on_nl on_ignored_nl].include?(kind) }
      tokens.each_cons(3).filter_map do |(_, _, owner), (_, _, colons), (_, kind, name)|
        name if kind == :on_const && (colons != "::" || %w[Pipeloader Patches].include?(owner))
      end.uniq
    end
  end

  PARTS = Dir["#{LIB}/*/**/*.rb"].to_h { |file| file.delete_prefix("#{LIB}/").delete_suffix(".rb").then { |name| [name, Part.new(name, File.read(file))] } }
  HOMES = PARTS.each_value.sort_by { |part| part.patch? ? 0 : 1 }.flat_map { |part| part.defined.map { |name| [name, part.name] } }.to_h.freeze
  ARROWS = PARTS.transform_values { |part| part.named.filter_map { |name| HOMES[name] }.uniq - [part.name] }.freeze

  def test_arrows
    back = ARROWS.flat_map do |from, targets|
      targets.select { |to| PARTS[to].rank > PARTS[from].rank }.map { |to| "#{from} names #{to}" }
    end
    assert_equal BACK, back.sort
    assert_operator ARROWS.values.sum(&:size), :>, 200
  end

  # Without graphql-ruby it is loaded, and works: see WithoutGraphQLTest.
  def test_the_engine_names_no_graphql
    engine = PARTS.values.select { |part| ENGINE.include?(part.room) }
    assert_empty(engine.select { |part| part.named.include?("GraphQL") }.map(&:name))
    assert_includes PARTS["queries/query_loader"].named, "GraphQL"
  end

  def test_circles
    circles = TSort.strongly_connected_components(ARROWS.method(:each_key), ->(name, &block) { ARROWS[name].each(&block) })
    assert_equal CIRCLES, circles.select { |it| it.size > 2 }.map(&:sort).sort
  end

  def test_the_core_names_no_patches
    named = PARTS.values.reject(&:patch?).select { |part| part.named.include?("Patches") }
    assert_equal NAME_PATCHES, named.map(&:name).sort
  end

  # What comes in, what goes out, who may call it, and all parts.
  def test_heads
    (ROOMS - ["patches"]).each do |room|
      head = File.read("#{LIB}/#{room}.rb")
      assert_operator head.lines.size, :<=, 40, room
      %w[In Out Called].each { |word| assert_match(/^# (?:.* )?#{word}\b/, head, room) }
      parts = PARTS.keys.grep(%r{\A#{room}/})
      assert_empty(parts.reject { |part| head.include?(part) }, room)
    end
  end

  # -- how large it may be -----------------------------------------------------------------------------------------------

  BUDGETS = File.expand_path("house_budgets.yml", __dir__)
  FILES = Dir["#{LIB}.rb", "#{LIB}/**/*.rb"].to_h { |file| [file.delete_prefix("#{LIB}/").delete_suffix(".rb").delete_prefix("#{File.dirname(LIB)}/"), File.read(file)] }.freeze
  # Lines that a file may have without being listed.
  UNLISTED = 200

  # @return [Hash{String => Integer}] as the budgets are written: "lines_of: wire/pipeline" is one of those
  def self.figures
    methods = FILES.values.flat_map { |text| lines_of_methods(text) }.sort
    { "files" => FILES.size, "lines" => FILES.values.sum { |text| text.lines.size }, "largest_circle" => circles.map(&:size).max,
      "method_lines_p90" => methods[methods.size * 9 / 10], "method_lines_most" => methods.last,
      **FILES.to_h { |name, text| ["lines_of: #{name}", text.lines.size] }.select { |_, lines| lines > UNLISTED } }
  end

  def self.circles = TSort.strongly_connected_components(ARROWS.method(:each_key), ->(name, &block) { ARROWS[name].each(&block) })

  # Between `def` and `end`; 1 for those in one line.
  def self.lines_of_methods(text)
    found = []
    walk = lambda do |node|
      next unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

      found << [node.last_lineno - node.first_lineno - 1, 1].max if %i[DEFN DEFS].include?(node.type)
      node.children.each(&walk)
    end
    walk.call(RubyVM::AbstractSyntaxTree.parse(text))
    found
  end

  def budgets
    YAML.safe_load_file(BUDGETS).flat_map { |name, value| value.is_a?(Hash) ? value.map { |file, lines| ["#{name}: #{file}", lines] } : [[name, value]] }.to_h
  end

  # PIPELOADER_RATCHET=1 lowers what has gone down, and leaves out what is short enough by now.
  def lower(figures)
    lines = File.readlines(BUDGETS).filter_map do |line|
      name = line[/\A( *[\w\/]+): \d/, 1] or next line
      now = figures[name.start_with?(" ") ? "lines_of: #{name.strip}" : name]
      line.sub(/(?<=: )\d+/) { |was| [was.to_i, now].min.to_s } if now
    end
    File.write(BUDGETS, lines.join)
  end

  def test_budgets
    figures = self.class.figures
    lower(figures) if ENV["PIPELOADER_RATCHET"]
    over = figures.filter_map { |name, now| "#{name} is #{now}, and may be #{budgets[name] || UNLISTED}" if now > budgets.fetch(name, UNLISTED) }
    assert_empty over, "lib/ has grown. Make it smaller; or raise the figure in test/unit/house_budgets.yml, with the reason in a comment " \
                       "behind it:\n  wire/pipeline: 320 # an answer may come in pieces\n"
    gone = budgets.keys.grep(/\Alines_of: /) - FILES.keys.map { |name| "lines_of: #{name}" }
    assert_empty gone, "test/unit/house_budgets.yml lists files that are gone: PIPELOADER_RATCHET=1 with this test takes them off"
  end

  # Parts of a class that are files of their own, and its heirs, don't take each other's names.
  def test_parts_of_the_analyzer
    own = ->(host) { host.instance_methods(false) + host.private_instance_methods(false) }
    parts = [Pipeloader::Analyzer, Pipeloader::ConnectionAnalyzer, *Pipeloader::Analyzer.included_modules.select { |it| it.name&.start_with?("Pipeloader::") }]
    assert_operator parts.size, :>, 5
    assert_empty(parts.flat_map(&own).tally.select { |name, count| count > 1 && !%i[initialize analyze].include?(name) })
  end

  # -- what lies on objects of the hosts -----------------------------------------------------------------------------------

  VARIABLES = YAML.safe_load_file(File.expand_path("host_variables.yml", __dir__)).freeze

  # @return [Array<String>] instance variables of hosts' objects that a file writes
  def self.written(text)
    given = text.scan(/instance_variable_set\(:(@\w+)/).flatten
    attributes = text.scan(/attr_(?:writer|accessor) (.*)/).flatten.flat_map { |names| names.scan(/:(\w+)/).map { |name,| "@#{name}" } }
    given | (attributes + assigned(Ripper.sexp(text))).grep(/\A@pipeloader_/)
  end

  # What stands to the left of a =, ||= and the like.
  def self.assigned(node, to_the_left: false)
    return [] unless node.is_a?(Array)
    return [node[1]] if node[0] == :@ivar && to_the_left

    case node[0]
    when :assign, :opassign, :massign
      field = node[0] == :massign || node[1][0] == :var_field
      assigned(node[1], to_the_left: field) + node.drop(2).flat_map { |it| assigned(it) }
    else node.flat_map { |it| assigned(it, to_the_left: to_the_left) }
    end
  end

  def test_host_variables
    written = FILES.flat_map { |name, text| self.class.written(text).map { |variable| "#{name} writes #{variable}" } }
    listed = VARIABLES.flat_map { |variable, it| it["by"].map { |name| "#{name} writes #{variable}" } }
    assert_empty written - listed, "Add to test/unit/host_variables.yml whose objects have it, and who writes it"
    assert_empty listed - written, "So says test/unit/host_variables.yml, but they don't: take it off"
    assert_empty FILES.values.flat_map { |text| text.scan(/@pipeloader_\w+/) }.uniq - VARIABLES.keys, "nobody writes them"
  end
end
