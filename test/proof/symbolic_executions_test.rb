# frozen_string_literal: true

require_relative "../support/unit_helper"

# On which values of what it asks code does more than to compute: as told from its instructions, and as it is where it's run. bin/wasm
# runs this on Rubies on which the suite can't run.
class SymbolicExecutionsTest < UnitTest
  # Has two values, and remembers whether anything was done to it.
  class Thing
    attr_reader :a, :b, :acted

    def initialize(a, b)
      @a, @b = a, b
    end

    def a=(value)
      @acted = true
      @a = value
    end
    alias b= a=

    def []=(_name, value)
      act(value)
    end

    def act(*) = @acted = true
    def [](name) = public_send(name)
    def fresh? = false
    def blank = a.blank?
    def both = blank && b.nil?
    def by_default = self.a ||= "x"
    def left = (return if fresh?)
    def loop = loop
    def tree = (leaf; tree; leaf; tree)
    def leaf = (a; a)
  end

  VALUES = [nil, false, "", "x", " ", 1].repeated_permutation(2).to_a.freeze

  # What may be done where the values say so.
  CODE = [
    "self.a ||= 1", "self.a = 1 if a.nil?", "self.a = 1 unless a", "self.a = 1 if a.blank? && b", "self.a = 1 if a || b", "self.a &&= 1", "self.a = b.to_s if !a",
    "return if a; self.b = 1", "return unless fresh?; act", "act if fresh?", "act if fresh? && a", "act unless !fresh? || a", "self.a ||= 1; self.b ||= 2",
    "self.a ||= (b || 2)", "self.a = 1 if a == 'x'", "self.a = 1 if a != 'x'", "self.a = 1 unless a == b", "act if a&.to_s&.empty?", "act if a.to_s.strip.empty? && b.nil?",
    "act if blank", "act if both", "by_default", "by_default if b", "left; act if a", "act if (a || b).to_s == 'x'", "case a when 'x' then act when nil then nil else act if b end",
    "case a when 'x', 'y' then nil when '' then act end", "self[:a] ||= 1", "self[:a] = 2 if self[:a].nil?", "a.nil? ? act : b", "a ? b : act", "nil", "a; b; nil",
    "act if a.nil? && b.nil? || b == 1", "act if not a", "if a then (act if b) else b end", "return act unless b", "act if a == nil", "(a ? a : b) || act", "act if (a && b).nil?",
    "a.strip", "a.strip; act if b.nil?", "a.strip if b", "a.nil? || b.strip", "a.to_s; b.upcase; nil", "blank; a.strip || b", "(a.upcase; b) ? nil : act", "act if a.upcase && false", "a&.strip; act unless b",
    *("act if %w[x y].include?(a.to_s)" if RUBY_VERSION < "3.4") # which has an instruction of its own for that
  ].freeze

  # What isn't gone through: it acts, whatever the values are.
  ACTS = ["@seen = a", "act", "send(:a=, 1)", "loop", "tree", "a.frozen?", "[a].each { |it| act if it }", "it = a; act if it", "begin; a; ensure; act; end", "$seen = a", "act if rand(2) == 5",
          "act if defined?(@a)", "Thread.current; act if a", "act unless a.frozen?", "public_send(:act) if a == 7; act", "super() rescue a", "while fresh?; act; end; act", "->(it) { it }.call(a)"].freeze

  Reading = Struct.new(:name) { def of(thing) = thing.public_send(name) }

  # @param code [UnboundMethod, Proc]
  def executed(code)
    Pipeloader::SymbolicExecution.new(Pipeloader::SymbolicExecution::Code.of(code)) do |name, arguments, private|
      case [name, arguments]
      in [:a | :b, []] then Reading.new(name)
      in [:[], [literal]] then Reading.new(literal.value)
      in [:fresh?, []] then Pipeloader::SymbolicExecution::Literal.new(false)
      in [_, []] if Thing.public_method_defined?(name) || private
        method = Thing.instance_method(name)
        Pipeloader::SymbolicExecution::Code.of(method) if method.parameters.empty?
      else nil
      end
    end
  end

  # @return [Symbol] :done, :acts, or :raises
  def told(execution, thing)
    way = execution.decision
    way.is_a?(Symbol) ? way : way.come_to(thing)
  rescue StandardError
    :raises
  end

  def seen(thing)
    yield
    thing.acted ? :acts : :done
  rescue StandardError
    :raises
  end

  def each_form(text)
    yield Class.new { class_eval("def it = (#{text})") }.instance_method(:it), ->(thing) { thing.singleton_class.class_eval("def it = (#{text})"); thing.it }
    return if text.match?(/return|super/)

    [eval("proc { #{text} }"), eval("lambda { |_| #{text} }"), eval("proc { |_| #{text} }")].each { |code| yield code, ->(thing) { thing.instance_exec(*[thing].first(code.arity), &code) } } # rubocop:disable Security/Eval
  end

  def test_what_may_be_done
    CODE.each do |text|
      each_form(text) do |code, run|
        execution = executed(code)
        VALUES.each do |values|
          thing = Thing.new(*values)
          assert_equal seen(thing) { run.call(thing) }, told(execution, Thing.new(*values)), "#{text} of #{values.inspect}"
        end
        ways = VALUES.map { |values| told(execution, Thing.new(*values)) }
        assert_equal [ways.include?(:acts), ways.include?(:done)], [execution.acts?, execution.done?], text unless ways.include?(:raises)
      end
    end
  end

  def test_of_the_object_that_is_given
    code = proc { |it| it.a ||= it.b.nil? }
    VALUES.each do |values|
      thing = Thing.new(*values)
      assert_equal seen(thing) { thing.instance_exec(thing, &code) }, told(executed(code), Thing.new(*values))
    end
  end

  def test_what_is_not_gone_through
    ACTS.each do |text|
      each_form(text) do |code, _|
        execution = executed(code)
        assert_equal [true, true], [execution.acts?, told(execution, Thing.new("q", "q")) == :acts], text
      end
    end
  end

  def test_what_is_no_code_of_the_object
    made = Thing.new(1, 2).method(:blank).to_proc
    assert_nil Pipeloader::SymbolicExecution::Code.of(made)
    assert_nil Pipeloader::SymbolicExecution::Code.of(:blank.to_proc)
    assert_nil Pipeloader::SymbolicExecution::Code.of(String.instance_method(:upcase))
  end

  # Each takes some of a fiber's stack.
  def test_too_many_branches
    execution = executed(eval("proc { #{"act if a == 3; " * 200} }"))
    assert_equal [true, :acts], [execution.acts?, told(execution, Thing.new(1, 1))]
    execution = executed(eval("proc { #{"self.a ||= b; " * 10} }"))
    assert_equal %i[done acts], [told(execution, Thing.new(1, 1)), told(execution, Thing.new(nil, 1))]
  end

  # Ways that come together again are gone once.
  def test_ways_that_join
    execution = executed(eval("proc { #{"a ? b : self; " * 10} self.a ||= 1 }"))
    assert_equal %i[done acts], [told(execution, Thing.new(1, 1)), told(execution, Thing.new(nil, 1))]
  end
end
