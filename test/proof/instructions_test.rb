# frozen_string_literal: true

require_relative "../support/unit_helper"
require "global_id"

# Each Ruby compiles some forms of code to instructions of its own: they are judged alike by all, with string literals that are
# frozen and without. bin/wasm runs this on Rubies on which the suite can't run.
class InstructionsTest < UnitTest
  Base = Class.new(GraphQL::Schema::Object)
  INSTRUCTION_STATES = %w[open shut].freeze
  INSTRUCTION_LIMITS = [1, 2].freeze
  MAGIC = ["", "# frozen_string_literal: true\n"].freeze

  Car = Class.new
  Bike = Class.new
  CAR, BIKE = %w[Car Bike].map { |name| Class.new(Base) { graphql_name name } }

  # {resolver method => readers; nil where it may do anything else}
  FORMULAS = {
    "def it = 'none'" => [],
    'def it = "#{object.name}: #{object.year}"' => %i[name year], # rubocop:disable Lint/InterpolationCheck
    "def it = object.name || 'none'" => %i[name],
    "def it = object.name&.strip" => %i[name],
    "def it = object.name&.strip&.upcase || object.mail" => %i[name mail],
    "def it = object.name ? 'a' : \"b\"" => %i[name],
    "def it = 'x'.freeze + object.name" => %i[name],
    "def it = -'x' + object.name" => %i[name],
    "def it = 'x' == object.name" => %i[name],
    "def it = object.name.strip.presence || 'none'" => %i[name],
    "def it = '%s!' % object.name" => %i[name],
    "def it = object.name.to_s.split(', ').join('-')" => %i[name],
    "def it = object.name.gsub(/x/, 'y')" => %i[name],
    "def it = :\"x\#{object.name}\"" => %i[name],
    # Arrays that are asked where they are written.
    "def it = [1, 2].include?(object.year)" => %i[year],
    "def it = %w[a b].include?(object.name)" => %i[name],
    "def it = %i[a b].include?(object.name)" => %i[name],
    "def it = [object.year, 3].include?(object.id)" => %i[year id],
    "def it = [1, 2].include?(object.name&.size)" => %i[name],
    "def it = !%w[a b].include?(object.name) && object.year" => %i[name year],
    "def it = [1, 2].include?(object.year) ? 'a' : %w[x y].include?(object.name)" => %i[year name],
    "def it = [1, [2, 'x']].include?(object.year)" => %i[year],
    "def it = [[1, 2].include?(object.year), object.name].include?(object.mail)" => %i[year name mail],
    "def it = object.name.in?(%w[a b])" => %i[name],
    "def it = [object.year, 12].max" => %i[year],
    "def it = [object.year, 12].min + 1" => %i[year],
    "def it = [object.year, 12].compact.max" => %i[year],
    "def it = [object.year, 12].max.to_s + [3, object.id].min.to_s" => %i[year id],
    "def it = [object.year, object.id].sum" => %i[year id],
    "def it = [object.year, 12].hash" => nil,
    "def it = [object.year].pack('C')" => nil,
    "def it = [1, 2].include?(Time.now)" => nil,
    "def it = [1, 2i].include?(object.year)" => nil,
    "def it = [1, 2].include?(self)" => nil,
    "def it = [1, 2].include?(helper)" => nil,
    "def it = [1, helper].include?(object.year)" => nil,
    "def it = [1, 2].include?(object.year) { 1 }" => nil,
    "def it = [object.year, *object.tags].max" => nil,
    "def it = [1, 2].member?(object.year)" => nil,
    "def it = [].freeze + [object.year]" => nil,
    "def it = [1].freeze.include?(object.year)" => nil,
    "def it = {}.freeze.key?(object.name)" => nil,
    # Constants.
    "def it = INSTRUCTION_STATES.include?(object.name)" => %i[name],
    "def it = INSTRUCTION_STATES.include?(object.name) && INSTRUCTION_LIMITS.max > object.year" => %i[name year],
    "def it = ::INSTRUCTION_STATES.include?(object.name)" => nil,
    "def it = NONE.include?(object.name)" => nil,
    "def it = Comparable.name + object.name" => nil,
    # Hashes, ranges and keys.
    "def it = { 'a' => 'b', 'c' => object.name }['a']" => %i[name],
    "def it = { 'a' => 'b' }[object.name]" => %i[name],
    "def it = { a: 1 }.fetch(:a, object.year)" => %i[year],
    "def it = { a: 1, b: object.name }[:a]" => %i[name],
    "def it = { a: 1, b: { c: [2], d: object.year }, e: 3, 'f' => object.id }.to_a" => %i[year id],
    "def it = { a: 2i, b: object.name }[:a]" => nil,
    "def it = { a: 1, b: helper, c: object.name }" => nil,
    "def it = { a: 1, b: { c: 1, **object.data }, d: 2 }" => nil,
    "def it = { a: 1, **object.data }" => nil,
    "def it = object.data['a']['b']" => %i[data],
    "def it = object.data['a'][:b] || object.data[0]" => %i[data],
    "def it = (object.data['a'] = 1)" => nil,
    "def it = (1..object.year).to_a" => %i[year],
    "def it = (1..3).include?(object.year)" => %i[year],
    "def it = [*object.tags, 1]" => nil,
    "def it = { **object.data, a: 1 }" => nil,
    # Branches and variables.
    "def it = case object.name when 'a', 'b' then 1 when nil then 2 else object.year end" => %i[name year],
    "def it = case object.year when 1 then 'x' when 2..3 then 'y' when :z then 'z' end" => %i[year],
    "def it = (case object.year; in Integer then 1; else 2; end)" => nil,
    "def it = (case object.data; in { a: } then a; else nil; end)" => nil,
    "def it = (a, b = object.name, object.year; [b, a].compact)" => Set[:name, :year],
    "def it = (a, b = object.name, nil; [b, a])" => %i[name],
    "def it = (a = object.name; a ||= object.mail; a.strip)" => %i[name mail],
    "def it = (return object.name if object.year > 3; 'none')" => %i[year name],
    "def it = object.name =~ /x/" => %i[name],
    "def it = (object.name != 'x' and not object.year.nil?)" => %i[name year],
    "def it = (return object.name.strip)" => %i[name],
    "def it = (return object.name ? object.mail : object.year)" => %i[name mail year],
    "def it = (object.name while object.year)" => nil,
    "def it = (object.name rescue 'x')" => nil,
    "def it = @it ||= object.name" => nil,
    # Blocks, and methods of others.
    "def it = object.tags.to_a.map(&:strip)" => %i[tags],
    **(RUBY_VERSION.start_with?("3.3") ? {} : { "def it = object.tags.to_a.map { it }" => (RUBY_VERSION > "3.4" ? %i[tags] : nil) }), # 3.3 warns of it
    "def it = object.tags.to_a.map { _1 }" => %i[tags],
    "def it = object.tags.to_a.map { _1 + _2 }" => nil,
    "def it = object.tags.to_a.map { |tag| tag.strip }" => %i[tags],
    "def it = object.tags.to_a.map do |tag|\n  text = tag.strip\n  next 'none' if text.empty?\n\n  text + object.name\nend" => %i[tags name],
    "def it = (all = object.tags.to_a; all.sum { |tag| all.count { |other| other == tag } })" => %i[tags],
    "def it = object.tags.to_a.flat_map { |tag| tag.chars.map { |it| object.year.to_s + it + tag } }" => %i[tags year],
    "def it = (a = object.name; b = 0; object.tags.to_a.map { |tag; a| a = tag; b = b + 1; tag + (a || '') } + [a, b])" => %i[tags name],
    "def it(by: 2) = object.tags.to_a.select { |tag| tag.size > by && tag.in?(%w[a b]) }.size" => %i[tags],
    "def it = object.tags.to_a.map { |tag| tag ? (tag.strip if tag.size > 2) : [{ a: tag }] }" => %i[tags],
    "def it = object.tags.to_a.count { |tag| INSTRUCTION_STATES.include?(tag) }" => %i[tags],
    "def it = object.tags.to_a.count { |tag| context[:limit] == tag.size }" => %i[tags],
    "def it = object.tags&.to_a&.map { |tag| tag&.strip }" => %i[tags],
    "def it = object.tags.to_a.map { 1 }" => nil,
    "def it = object.tags.to_a.map { |tag,| tag }" => nil,
    "def it = object.tags.to_a.map { |tag, other| tag }" => nil,
    "def it = object.tags.to_a.map { |(tag, other)| tag }" => %i[tags],
    "def it = object.tags.to_a.map { |tag = 1| tag }" => nil,
    "def it = object.tags.to_a.map { |*tag| tag }" => nil,
    "def it = object.tags.to_a.map { |tag, to: 1| tag }" => nil,
    "def it = object.tags.to_a.map { |tag, &block| tag }" => nil,
    "def it = object.tags.to_a.map(&->(tag) { tag })" => nil,
    "def it = object.tags.to_a.map { |tag| tag = tag.strip; tag }" => nil,
    "def it = object.tags.to_a.map { |tag| break tag }" => nil,
    "def it = object.tags.to_a.map { |tag| return tag }" => nil,
    "def it = object.tags.to_a.map { |tag| redo if tag.nil? }" => nil,
    "def it = object.tags.to_a.map { |tag| tag.strip while tag.size > 3 }" => nil,
    "def it = object.tags.to_a.map { |tag| tag.strip rescue 'x' }" => nil,
    "def it = object.tags.to_a.map { |tag| binding }" => nil,
    "def it = object.tags.to_a.map { |tag| yield tag }" => nil,
    "def it = object.tags.to_a.map { |tag| super() }" => nil,
    "def it = object.tags.to_a.map { |tag| self }" => nil,
    "def it = object.tags.to_a.map { |tag| @tag = tag }" => nil,
    "def it = object.tags.to_a.map { |tag| tag.foreign }" => nil,
    "def it = object.tags.to_a.map { |tag| tag << 'x' }" => nil,
    "def it = object.tags.to_a.map { |tag| 1 if (tag == 'a')..(tag == 'b') }" => nil,
    "def it = object.tags.to_a.map { |tag| -> { tag } }" => nil,
    "def it = object.tags.to_a.map { |tag| tag =~ /(.)/ && $1 }" => nil,
    "def it = object.tags.to_a.sum(1) { |tag| tag.size }" => nil,
    "def it = object.tags.to_a.each { |tag| tag.size }" => nil,
    "def it = object.tags.to_a.then { |tag| tag.size }" => nil,
    "def it = object.tags.to_a.each_with_object([]) { |tag| tag.size }" => nil,
    "def it = object.tags.to_a.inject { |sum, tag| sum + tag }" => nil,
    "def it = loop { |tag| object.name }" => nil,
    "def it = object.then { |it| it.name }" => nil,
    "def it = [object].map { |it| it.name }" => nil,
    "def it = Object.new.to_s + object.name" => nil,
    "def it = String.new('x') + object.name" => nil,
    "def it = Array.new(2).include?(object.name)" => nil,
    "def it = new(object.name)" => nil,
    "def it = self.class.new(object, nil)" => nil,
    "def it = super" => nil,
    "def it = yield(object.name)" => nil,
    "def it = block_given? ? object.name : object.year" => nil,
    "def it = object.name << 'x'" => nil,
    "def it = +'x' << object.name" => nil,
    "def it = +'x' + object.name" => %i[name],
    "def it(to: 3) = object.name.to_s[0, to]" => %i[name],
    "def it(to: nil, from: 1) = [to, from].include?(object.year)" => %i[year],
    "def it(to: 'x', from: \"y\") = object.name.tr(to, from)" => %i[name],
    "def it(to: [].size) = object.name.to_s[0, to]" => nil,
    "def it(to: %w[x]) = object.name.in?(to)" => nil,
    "def it(to: object.mail) = object.name == to" => nil,
    "def it(to: (from = 'x')) = object.name == to" => nil,
    "def it(*) = object.name.strip" => nil,
    "def it(...) = object.name.strip(...)" => nil,
    "def it(&) = object.tags.map(&)" => nil,
    "def it = object.year == context[:viewer]&.id" => %i[year],
    "def it = [1, 2].include?(context[:viewer]&.id) || object.name" => %i[name],
    "def it = [context[:limit], object.year].min" => %i[year],
    "def it = context['x'] || object.name" => nil
  }.freeze

  # {resolver method => what it calls of associations, and with what}
  CHAINS = {
    "def it = object.author&.boss" => [[:author, [], {}], [:boss, [], {}, true]],
    "def it = object.author&.boss.staff" => nil, # of nil, too
    "def it = object.author&.boss&.staff&.limit(2)" => [[:author, [], {}], [:boss, [], {}, true], [:staff, [], {}, true], [:limit, [2], {}, true]],
    "def it = (return object.author&.boss)" => [[:author, [], {}], [:boss, [], {}, true]],
    "def it = (object.author&.boss).staff" => nil,
    "def it = object.author&.boss || object" => nil,
    "def it = object.comments.where('score > ?', 7)" => [[:comments, [], {}], [:where, ["score > ?", 7], {}]],
    'def it = object.comments.where("score > ?", 7).count' => [[:comments, [], {}], [:where, ["score > ?", 7], {}], [:count, [], {}]],
    "def it = object.comments.where(kind: 'x', to: ['y', :z])" => [[:comments, [], {}], [:where, [], { kind: "x", to: ["y", :z] }]],
    "def it = object.comments.where({ 'kind' => 'x' })" => [[:comments, [], {}], [:where, [{ "kind" => "x" }], {}]],
    "def it = object.comments.where(kind: %w[x y]).order('id')" => [[:comments, [], {}], [:where, [], { kind: %w[x y] }], [:order, ["id"], {}]],
    "def it = object.comments.where(score: 3.., kind: nil).first(2)" => [[:comments, [], {}], [:where, [], { score: 3.., kind: nil }], [:first, [2], {}]],
    "def it(to:) = object.comments.where({ hot: true, to: to, kind: { a: [1], b: 'c' } })" => [[:comments, [], {}], [:where, [{ hot: true, to: Pipeloader::Chain::Parameter.new(:to), kind: { a: [1], b: "c" } }], {}]],
    "def it(to:) = object.comments.where({ hot: true, to: }, 1)" => [[:comments, [], {}], [:where, [{ hot: true, to: Pipeloader::Chain::Parameter.new(:to) }, 1], {}]],
    "def it(to:) = object.comments.where({ hot: true, **to })" => nil,
    "def it = (return object.comments.where(score: 1))" => [[:comments, [], {}], [:where, [], { score: 1 }]],
    "def it = object.comments.where('id' => 3)" => nil,
    "def it = object.comments.where(score: [1, 2].max)" => nil,
    "def it = object.comments.where(hot: [1, 2].include?(3))" => nil,
    "def it = object.comments.where([1, 2].include?(3))" => nil,
    "def it = [1, 2].include?(object.year)" => nil,
    "def it = [object.year].include?(3)" => nil,
    "def it = [1, 2].include?(object.comments.count)" => nil,
    "def it = object.comments.where('x = \#{object.year}')" => [[:comments, [], {}], [:where, ['x = #{object.year}'], {}]], # rubocop:disable Lint/InterpolationCheck
    'def it = object.comments.where("x = #{object.year}")' => nil, # rubocop:disable Lint/InterpolationCheck
    "def it = object.comments.where(*['x'])" => nil,
    "def it = object.comments.where(**{ kind: 'x' })" => nil,
    "def it = object.comments.where(at: Time.new(2024))" => nil,
    "def it = object.comments.new(kind: 'x')" => [[:comments, [], {}], [:new, [], { kind: "x" }]],
    "def it = object.comments.where(id: 1).new" => [[:comments, [], {}], [:where, [], { id: 1 }], [:new, [], {}]],
    "def it = object.comments.where(at: Struct.new(:x).new(1))" => nil,
    "def it = object.comments.include?(3)" => [[:comments, [], {}], [:include?, [3], {}]]
  }.freeze

  # {parameters => their defaults}
  KEYWORDS = {
    "kind: 'x'" => { kind: "x" }, "kind: nil, to: 'x', from: 3, by:" => { by: Pipeloader::Bytecode::REQUIRED, kind: nil, to: "x", from: 3 },
    "to: 'x', from: \"y\", by: :z" => { to: "x", from: "y", by: :z }, "kind: %w[x]" => nil, "kind: Time.now, to: 'x'" => nil, "kind: \"\#{self}\"" => nil
  }.freeze

  # {resolver method => the key of a Hash that it returns}
  ENTRIES = {
    "def it = object['theme']" => "theme", 'def it = object["theme"]' => "theme", "def it = object[:theme]" => :theme,
    "def it = object['theme'.to_s]" => nil, "def it = object['theme']['x']" => nil, "def it = object.fetch('theme')" => nil
  }.freeze

  class PostPolicy
    attr_reader :viewer, :post

    def initialize(viewer, post)
      @viewer = viewer
      @post = post
    end

    def show? = post.author_id == viewer&.id || open?
    def open? = ["open", "both"].include?(post.state)
    def counted? = (@post = nil)
  end

  class Loud < PostPolicy
    def self.new(*) = super
  end

  class Rewritten
    def initialize(post) = @post = post.name
    def show? = @post == "x"
  end

  # {what `authorized?` says => readers; nil where it may do anything else}
  GUARDS = {
    "object.author_id == context[:viewer]&.id" => %i[author_id],
    "super && (object.author_id == context[:viewer]&.id || object.state == 'x')" => %i[author_id state],
    "super(object, context) && object.state == 'x'" => %i[state],
    "[1, 2].include?(object.author_id) && %w[a b].include?(object.state)" => %i[author_id state],
    "[object.author_id, 1].max == 3" => %i[author_id],
    "context[:viewer].new(object)" => nil,
    "PostPolicy.new(context[:viewer], object).show?" => %i[state author_id],
    "super && PostPolicy.new(context[:viewer], object).open?" => %i[state],
    "!PostPolicy.new(context[:viewer], object).show?" => %i[state author_id],
    "PostPolicy.new(context[:viewer], object).show? || PostPolicy.new(context[:other], object).open?" => %i[state author_id],
    "PostPolicy.new(context, object).open?" => %i[state],
    "PostPolicy.new(nil, object).open?" => nil,
    "PostPolicy.new(*[context[:viewer], object]).show?" => nil,
    "PostPolicy.new(context[:viewer], object) { 1 }.show?" => nil,
    "PostPolicy.new(context[:viewer], object, &:it).show?" => nil,
    "PostPolicy.new(context[:viewer], post: object).show?" => nil,
    "PostPolicy.new(context[:viewer], PostPolicy.new(context[:viewer], object)).show?" => nil,
    "PostPolicy.new(context[:viewer], object).counted?" => nil,
    "PostPolicy.new(context[:viewer], object).freeze.show?" => nil,
    "PostPolicy.new(context[:viewer], (_a, _b = object, nil)).show?" => nil,
    "(_a, _b = object, nil; PostPolicy.new(context[:viewer], object).show?)" => nil,
    "PostPolicy.allocate.show?" => nil,
    "Loud.new(context[:viewer], object).show?" => nil,
    "Rewritten.new(object).show?" => nil
  }.freeze

  # {`resolve_type` => whether it looks at nothing but the record's class}
  RESOLVED = {
    "object.is_a?(Car) ? CAR : BIKE" => true,
    "case object when Car then CAR else BIKE end" => true,
    "object.class.name == 'Car' ? CAR : BIKE" => true,
    "[Car, Bike].include?(object.class) ? CAR : nil" => true,
    "%w[Car Bike].include?(object.class.name) ? CAR : nil" => true,
    '"InstructionsTest::#{object.class.name.upcase}".constantize' => true, # rubocop:disable Lint/InterpolationCheck
    "context['type'] || CAR" => false,
    "[context].include?(object) ? CAR : nil" => false,
    "Car.new.is_a?(Object) ? CAR : nil" => false,
    "[object].map { |it| it.class }" => false
  }.freeze

  # {a model's method => what it asks, be it columns or not}
  MODELS = {
    "def it = name.strip.presence || 'none'" => %i[name],
    "def it = %w[a b].include?(name) && [1, 2].include?(year)" => %i[name year],
    "def it = [year, 3].max" => %i[year],
    'def it = "#{name} (#{self.year})"' => %i[name year], # rubocop:disable Lint/InterpolationCheck
    "def it = shown(name)\ndef shown(text) = text.to_s + '!'" => %i[name],
    "def it = self['name'].to_s" => %i[name],
    "def it = self[:year] + read_attribute(:year)" => %i[year],
    "def it = self[:nothing]" => nil,
    "def it = self[year]" => nil,
    "def it = self[:name] = 'x'" => nil,
    "def it = super" => nil,
    "def it = self.class.new.name" => %i[class]
  }.freeze

  # {what a model delegates => what it asks}
  DELEGATES = {
    "delegate :title, to: :author" => [{ author: { title: {} } }, false],
    "delegate :title, to: :author, prefix: true" => [{ author: { title: {} } }, false],
    "delegate :title, to: :author, allow_nil: true" => [{ author: { title: {} } }, true],
    "def title(...) = author.title(...)" => nil,
    "def title = author.title" => nil
  }.freeze

  # Each entry of a table twice.
  def self.each_form(table, prefix, &block)
    MAGIC.each do |magic|
      table.each do |text, expected|
        define_method(:"test_#{prefix}#{" (frozen)" unless magic.empty?}: #{text}") { instance_exec(text, expected, magic, &block) }
      end
    end
  end

  # Code finds the constants of this class by the name of the class that has it.
  def named(type) = self.class.const_set(:"Type#{self.class.constants(false).size}", type)

  def type(text) = named(Class.new(Base)).tap { |type| type.class_eval(text, __FILE__, 1) }

  def model(text)
    Class.new(ActiveRecord::Base) do
      self.abstract_class = true
      def self.columns_hash = { "name" => nil, "year" => nil }
      class_eval(text, __FILE__, 1)
    end
  end

  each_form(FORMULAS, "formula") do |text, expected, magic|
    formula = Pipeloader::Formula.of_type(type(magic + text), :it)
    # Rubies assign `a, b = x, y` in orders of their own.
    assert_equal [expected], [expected.is_a?(Set) ? formula&.asked&.to_set : formula&.asked]
  end

  each_form(CHAINS, "chain") do |text, expected, magic|
    assert_equal [expected], [Pipeloader::Delegation.chain(type(magic + text), :it)&.calls&.map { |call| call.to_a.compact }]
  end

  each_form(KEYWORDS, "keywords") do |parameters, expected, magic|
    chain = Pipeloader::Delegation.chain(type("#{magic}def it(#{parameters}) = object.comments.where(kind: 1)"), :it)
    assert_equal [expected], [chain&.parameters]
  end

  each_form(ENTRIES, "entry") do |text, expected, magic|
    assert_equal [expected], [Pipeloader::Delegation.entry(type(magic + text), :it)]
  end

  each_form(GUARDS, "guard") do |text, expected, magic|
    guarded = type("#{magic}def self.authorized?(object, context) = (#{text})")
    assert_equal [expected], [Pipeloader::Formula.of_guard(guarded)&.readers]
  end

  # {method of a field class, or of an extension => keys of the context that it asks; nil where it may do anything else}
  FIELD_GUARDS = {
    "def authorized?(object, arguments, context) = super && (@admins ? context[:viewer]&.size : true)" => %i[viewer],
    "def authorized?(object, arguments, context) = super(object, arguments, context) && context[:viewer]" => %i[viewer],
    "def authorized?(object, arguments, context) = super(arguments, object, context)" => nil,
    "def authorized?(object, arguments, context) = [*@roles].all? { |it| context.dig(:roles, it) }" => nil,
    "def authorized?(object, arguments, context) = @roles.blank? || @roles.all? { |it| context.dig(:roles, it) }" => %i[roles],
    "def authorized?(object, arguments, context) = (raise ::GraphQL::ExecutionError, 'no' unless context[:viewer]; super)" => %i[viewer],
    "def authorized?(object, arguments, context) = super && object" => nil,
    "def resolve(object:, arguments:, context:) = (super if context[:viewer])" => %i[viewer],
    "def resolve(object:, arguments:, context:) = (super(object: object, arguments: arguments, context: context) if context[:viewer])" => %i[viewer],
    "def resolve(object:, arguments:, context:, **rest) = (super if context[:viewer])" => %i[viewer],
    "def resolve(object: nil, objects: nil, arguments:, context:) = (super if context[:viewer])" => %i[viewer],
    "def resolve(context:, **rest) = (super if context[:viewer])" => %i[viewer],
    "def resolve(object:, arguments:, context:, **_) = options.empty? ? yield(object, arguments) : nil" => [],
    "def resolve(object:, arguments:, context:) = yield(arguments, object)" => nil,
    "def resolve(object:, arguments:, context:) = super || 1" => nil,
    "def resolve(object:, arguments:, context:) = (super if object)" => nil
  }.freeze

  each_form(FIELD_GUARDS, "field's guard") do |text, expected, magic|
    kind, extension = GraphQL::Schema::Field, GraphQL::Schema::FieldExtension
    text.include?("def resolve") ? extension = Class.new(extension) : kind = Class.new(kind)
    (kind.name ? extension : kind).class_eval(magic + text, __FILE__, 1)
    field = kind.new(name: "it", type: String, null: true, owner: nil, extensions: extension.name ? [] : [extension])
    bodies = Pipeloader::FieldGuard.new(field).bodies(field.extensions)
    assert_equal [expected], [bodies && Pipeloader::Formula.contexts_of(bodies)&.map(&:source)]
  end

  each_form(RESOLVED, "resolve_type") do |text, expected, magic|
    union = named(Class.new(GraphQL::Schema::Union) { possible_types CAR, BIKE })
    union.class_eval("#{magic}def self.resolve_type(object, context) = (#{text})", __FILE__, 1)
    schema = Class.new(GraphQL::Schema) { orphan_types CAR, BIKE }
    assert_equal expected, Pipeloader::ResolvedType.new(schema, union).objection.nil?
  end

  each_form(MODELS, "model") do |text, expected, magic|
    formula = Pipeloader::Formula.of_model(model(magic + text), :it, nil) { |name| name.to_s if %w[name year].include?(name.to_s) }
    assert_equal [expected], [formula&.asked&.map(&:to_sym)]
  end

  each_form(DELEGATES, "delegate") do |text, expected, magic|
    delegate = Pipeloader::Delegate.of_model(model(magic + text), text.include?("prefix") ? :author_title : :title)
    assert_equal [expected], [delegate && [delegate.further, delegate.instance_variable_get(:@nilable)]]
  end
end
