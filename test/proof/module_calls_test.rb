# frozen_string_literal: true

require "active_support/core_ext/kernel/reporting"
require_relative "../support/plans"

# Methods of modules, and of objects that are made for one call, as far as they only work something out.
class ModuleCallsTest < PlanTest
  module Written
    STAR_OF_WRITTEN = "*"

    module_function

    def short(text) = text.to_s[0, 5]
    def marked(text) = STAR_OF_WRITTEN + short(text) + STAR_OF_WRITTEN
    def of_two(text, other) = [text, other].compact.join(Dashes.dash)
    def changing(text) = text << "!"
    def counting(text) = "#{text} #{@count = @count.to_i + 1}"
    def endless(text) = text.nil? ? nil : Circle.back(text)
    def given(text, times = 2) = text * times
    def looking(text) = "#{text} #{Post.count}"
    def object = "an object"
    def of_an_object = object.upcase
    def tenant(text) = "#{text} of #{Written.name}"
  end

  module Dashes
    def self.dash = " – "
    class << self
      def wrapped(text) = around(dash, text)

      private

      def around(dash, text) = dash + text.to_s + dash
      def hidden(text) = text
    end
  end

  module Circle
    def self.back(text) = Written.endless(text)
  end

  class FullName
    attr_reader :last

    def self.of(first, last) = new(first, last).to_s
    def self.kept(first, last) = (@kept = new(first, last)).to_s

    def initialize(first, last)
      @first = first.to_s
      @last = last
    end

    def to_s = [@first, last].compact.join(", ")
    def times(count) = @times ||= shown * count
    def itself_too = itself.to_s
    def shown = "<#{self}>"
    def upper = self.class.name + @first
    def signed(mark) = "#{@first} #{mark}"
  end

  class Heir < FullName
    def initialize(first) = super(first, "heir")
  end

  class Counted < FullName
    def self.new(...) = super.tap { @count = @count.to_i + 1 }
  end

  PLAIN = {
    module_function: %q(Written.short(object.title)),
    of_others: %q(Written.of_two(object.title, object.body)),
    constants: %q(Written.marked(object.title.upcase)),
    private_ones: %q(Dashes.wrapped(object.title&.strip || "none")),
    in_one_another: %q(Written.short(Dashes.wrapped(object.likes.to_i > 3 ? object.title : object.body))),
    branches: %q(object.likes.to_i.even? ? Written.short(object.title) : Dashes.dash),
    twice: %q(Written.short(object.title) + Written.short(object.body)),
    in_text: %q("#{Written.short(object.title)} #{Dashes.dash}"),
    an_object: %q(FullName.new(object.title, object.body).to_s),
    an_object_given_more: %q(FullName.new(object.title, nil).signed(Written.short(object.body))),
    a_class_method: %q(FullName.of(object.title, object.likes)),
    a_name_like_ours: %q(Written.of_an_object + object.title),
    of_the_author: %q(Written.short(object.author&.name)),
    own_helper: %q(helped(object.title)),
    path: %q(ModuleCallsTest::Written.short(object.title)),
    functions: %q(CGI.escape(object.title) + Base64.strict_encode64(object.body) + CGI.escapeHTML("<\#{object.title}>")),
    functions_of_numbers: %q(Math.sqrt(object.likes.to_i).round(3).to_s),
    environment: %q(ENV.fetch("PIPELOADER_NOWHERE", "none") + object.title + ENV["PATH"] + ENV["PIPELOADER_NOWHERE"].inspect + ENV.key?("PATH").to_s),
    environment_passed_on: %q(Written.short(ENV["PATH"])),
    a_number: %q(Integer(object.likes.to_i) + Float(2)),
    texts: %q(Array(object.title).first + String(object.likes)),
    for_each: %q(object.comments.map { |comment| Written.short(comment.body) }.join)
  }.freeze

  OPAQUE = {
    changing: %q(Written.changing(object.title.dup)),
    endless: %q(object.title.nil? ? Written.endless(object.title) : object.title),
    default_values: %q(Written.given(object.title)),
    reads: %q(Written.looking(object.title)),
    a_record_of_a_list: %q(object.comments.map { |comment| Written.short(comment) }.size),
    the_record: %q(Written.short(object)),
    the_context: %q(Written.short(context)),
    hidden: %q(Dashes.hidden(object.title)),
    kept_objects: %q(FullName.kept(object.title, 1)),
    the_object_itself: %q(FullName.new(object.title, 1).last.then { |it| it }),
    an_object_given_on: %q(Written.short(FullName.new(object.title, 1))),
    an_object_asked_twice: %q(name = FullName.new(object.title, 1); name.to_s + name.shown),
    memo_with_itself: %q(FullName.new(object.title, 1).times(2)),
    asks_for_itself: %q(FullName.new(object.title, 1).upper),
    an_heir: %q(Heir.new(object.title).to_s),
    made_otherwise: %q(Counted.new(object.title, 1).to_s),
    a_block: %q(Written.short(object.title) { 1 }),
    a_splat: %q(Written.of_two(*[object.title, object.body])),
    a_name_of_a_module: %q(Written.tenant(object.title)),
    a_function_that_has_state: %q(SecureRandom.hex(0) + object.title),
    environment_by_name: %q(ENV.fetch(object.title, "none")),
    environment_with_a_block: %q(ENV.fetch("PIPELOADER_NOWHERE") { "none" } + object.title),
    environment_changed: %q(ENV.store("PIPELOADER_CHANGED", "a") + object.title),
    environment_missing: %q(ENV.fetch("PIPELOADER_NOWHERE") + object.title),
    rubys: %q(File.basename(object.title))
  }.freeze

  # As a class's in this one's body.
  #
  # @param body [String] of its resolver method
  def self.schemas_of(body)
    it = type("It") { field :it, String }
    const_set(:"It#{constants.size}", it)
    it.class_eval("def it = (#{body}); def helped(text) = Written.short(text)", __FILE__, __LINE__)
    schemas({ posts: [[it], -> { Post.order(:id) }] })
  end

  def schemas_of(body) = self.class.schemas_of(body)

  PLAIN.each { |name, body| define_method(:"test_plain_#{name}") { assert_plan("{ posts { it } }", schemas_of(body), errors: :any) } }
  OPAQUE.each { |name, body| define_method(:"test_opaque_#{name}") { assert_aside("{ posts { it } }", schemas_of(body), errors: :any) } }

  def test_opaque_variables_of_a_module
    assert_includes instantiated { schemas_of("Written.counting(object.title)").last.execute("{ posts { it } }") }, "Post"
  end

  # A sibling that isn't compiled changes it between one object and the next.
  def test_environment_that_a_sibling_changes
    it = type("Changing") do
      field :change, String
      field :it, String
      def change = (ENV["PIPELOADER_CHANGED"] = object.title)
      def it = "#{object.id} #{ENV.fetch("PIPELOADER_CHANGED", "none")}"
    end
    schemas = schemas({ posts: [[it], -> { Post.order(:id) }] })
    ["{ posts { it change } }", "{ posts { change it } }", "{ posts { it change again: it } }"].each do |query|
      3.times do
        assert_equal(*schemas.map do |schema|
          ENV.delete("PIPELOADER_CHANGED")
          text_of(schema.execute(query).to_h)
        end)
      end
    end
  ensure
    ENV.delete("PIPELOADER_CHANGED")
  end

  # What was proved of a method ends with it.
  {
    a_module: ["Written", :module_function, "def self.short(text) = text.to_s.downcase", "def self.short(text) = %(\#{Post.count} \#{text})"],
    what_it_calls: ["Dashes", :of_others, "def self.dash = '+'", "def self.dash = Post.count.to_s"],
    an_object: ["FullName", :an_object, "def to_s = @first + '!'", "def to_s = %(\#{@first} \#{Post.count})"],
    how_it_is_made: ["FullName", :an_object, "def initialize(one, other) = (@first, @last = other, one)", "def self.new(one, other) = super(other, Post.count)"],
    a_reader: ["FullName", :an_object, "def last = 7", "def last = Post.count"]
  }.each do |name, (host, body, *anew)|
    define_method(:"test_defined_anew_#{name}") do
      assert_in_a_process("test/proof/module_calls_test.rb", <<~RUBY)
        schemas = ModuleCallsTest.schemas_of(ModuleCallsTest::PLAIN.fetch(:#{body}))
        assert_plan("{ posts { it } }", schemas)
        answers = #{anew.inspect}.map do |code|
          silence_warnings { ModuleCallsTest::#{host}.class_eval(code) }
          assert_same_twice("{ posts { it } }", schemas)
          text_of(schemas.last.execute("{ posts { it } }").to_h)
        end
        assert_equal 2, answers.uniq.size
      RUBY
    end
  end

  # A constant that stands for another by now.
  def test_another_module_of_that_name
    assert_in_a_process("test/proof/module_calls_test.rb", <<~RUBY)
      schemas = ModuleCallsTest.schemas_of(ModuleCallsTest::PLAIN[:module_function])
      assert_plan("{ posts { it } }", schemas)
      other = Module.new { def self.short(text) = "other \#{text} \#{Post.count}" }
      silence_warnings { ModuleCallsTest.const_set(:Written, other) }
      assert_same_twice("{ posts { it } }", schemas)
      assert_includes text_of(schemas.last.execute("{ posts { it } }").to_h), "other "
    RUBY
  end

  # Where several constants have the name, each may be meant.
  def test_a_name_that_is_in_doubt
    assert_in_a_process("test/proof/module_calls_test.rb", <<~RUBY)
      ModuleCallsTest.const_set(:Other, Module.new { const_set(:Written, Module.new { def self.short(text) = "other" }) })
      assert_aside("{ posts { it } }", ModuleCallsTest.schemas_of(ModuleCallsTest::PLAIN[:module_function]))
    RUBY
  end

  # `explain` names the method that does more.
  def test_explained
    text = Pipeloader.explain(schemas_of(OPAQUE[:changing]).last, "{ posts { it } }").to_s
    assert_match(/changing/, text)
  end
end
