# frozen_string_literal: true

require "ripper"
require "tsort"
require_relative "../support/test_helper"

# lib/ is a house of rooms: a file names only files of its own room and of rooms before it; patches may name all.
class HouseTest < PipeloaderTest
  LIB = File.expand_path("../../lib/pipeloader", __dir__)
  ROOMS = %w[base wire proof fibers reading projection lookup plan execute report patches].freeze

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
end
