# frozen_string_literal: true

require_relative "../support/unit_helper"

# What a resolver method does, as far as its instructions tell it: which calls it asks of its record, or which readers it works
# something out from.
class MethodsTest < UnitTest
  Base = Class.new(GraphQL::Schema::Object)

  # {resolver method => what it calls}
  CHAINS = {
    "def it = object.title" => "title",
    "def it = object.author.name" => "author.name",
    "def it = object.comments.where(hidden: false)" => "comments.where(hidden: false)",
    "def it = object.comments.where(score: 3..5, hidden: nil).order(:id).first(2)" => "comments.where(score: 3..5, hidden: nil).order(:id).first(2)",
    "def it = object.comments.where('score > ?', 3)" => 'comments.where("score > ?", 3)',
    "def it = object.comments.where({ score: [1, 2] })" => "comments.where({:score=>[1, 2]})",
    "def it(limit: 3) = object.comments.limit(limit)" => "comments.limit(<limit>) limit=3",
    "def it(limit:, from: nil) = object.comments.where(score: from).limit(limit)" => "comments.where(score: <from>).limit(<limit>) limit=required from=nil",
    "def it(a: 1) = object.comments.where(score: [a, 2])" => "comments.where(score: [<a>, 2]) a=1",
    "def it = object.comments.size" => "comments.size",
    "def it = object.comments.empty?" => "comments.empty?",
    "def it = object.comments.limit(0).offset(1)" => "comments.limit(0).offset(1)",
    "def it(limit: 3) = object.comments.first" => "comments.first limit=3",
    # Whatever else there is.
    "def it = object" => nil, "def it = 3" => nil, "def it = title" => nil, "def it = object.title + object.body" => nil, "def it = context[:it]" => nil,
    "def it = object.comments.map { |it| it.id }" => nil, "def it = object.comments.map(&:id)" => nil, "def it = object&.title" => nil,
    "def it(limit) = object.comments.limit(limit)" => nil, "def it(**all) = object.comments.where(**all)" => nil, "def it = object.comments.where(*[1])" => nil,
    "def it(limit: Thread.list.size) = object.comments.limit(limit)" => nil,
    "def it = object.comments.limit(context[:limit])" => "comments.limit(<context[:limit]>) context[:limit]=required",
    "def it = object.comments.where(by: context[:viewer]&.id).count" => "comments.where(by: <context[:viewer]&.id>).count context[:viewer]&.id=required",
    "def it = object.comments.limit(context[:current_path])" => nil, "def it = object.comments.limit(context.fetch(:limit))" => "comments.limit(<context.fetch(:limit)>) context.fetch(:limit)=required",
    "def it = object.comments.limit(context.fetch(:limit, 3))" => "comments.limit(<context.fetch(:limit, 3)>) context.fetch(:limit, 3)=required",
    "def it = object.comments.limit(context.fetch(:limit) { 3 })" => nil, "def it = object.comments.limit(context.fetch(:limit, object.id))" => nil,
    "def it = object.comments.limit(context[:limit].to_i)" => "comments.limit(<context[:limit].to_i>) context[:limit].to_i=required",
    "def it = object.comments.limit(object.size)" => nil, "def it = object.comments.limit(3.size)" => nil, "def it = object.comments.where(score: 1 + 2)" => nil, "def it = (@it = object.title)" => nil,
    "def it(limit: 3) = (limit = 4; object.comments.limit(limit))" => nil, "def it = object.comments[0]" => nil, "def it = [object.title]" => nil,
    "def it = object.title || 'none'" => nil, "def it = (object.title; object.body)" => nil, "def it = (object.title rescue nil)" => nil,
    "def it = object.comments.where(at: Time.now)" => nil, 'def it = object.comments.where("#{object.id}")' => nil, # rubocop:disable Lint/InterpolationCheck
    "private def it = object.title" => nil
  }.freeze

  # {resolver method => readers}
  FORMULAS = {
    'def it = "#{object.first} #{object.last}"' => %i[first last], # rubocop:disable Lint/InterpolationCheck
    "def it = object.title.strip.upcase" => %i[title],
    "def it = object.title&.upcase || object.body" => %i[title body],
    "def it = object.year > 3 ? object.title : nil" => %i[year title],
    "def it(to: 3) = object.title.to_s[0, to]" => %i[title],
    "def it = object.title.to_s.split.map(&:strip)" => %i[title],
    "def it = [object.year, 12].max" => %i[year],
    "def it = (a = object.title; a.to_s + a.to_s)" => %i[title],
    "def it = case object.year when 1..3 then object.title else 'none' end" => %i[year title],
    "def it = object.title + object.title" => %i[title],
    "def it = 3" => [], "def it = object" => nil, "def it = object.title.dup" => nil, "def it = object.title.freeze" => nil, "def it = context[:x] + object.title" => %i[title], "def it = context[:x]" => [],
    "def it = object.title + context[:x]&.name.to_s" => %i[title], "def it = (who = context[:x]; who && who.name + object.title)" => %i[title], "def it = (who = context[:x]; who && who.name(1) + object.title)" => nil, "def it = context[:x].name(1) + object.title" => nil,
    "def it = context.fetch(:x) + object.title" => %i[title], "def it = context.fetch(:x) { 1 } + object.title" => nil, "def it = context[object.title] + object.title" => nil, "def it = context['x'] + object.title" => nil, "def it = context[:current_path] + object.title" => nil,
    "def it = object.title + @more" => nil, "def it = object.title.map { |it| it }" => %i[title], "def it = object.title.send(:upcase)" => nil, "def it = object.title << 'x'" => nil,
    "def it = helper(object.title)" => nil, "def it = object.title.to_s + VERSION" => nil, "def it = object.title + $stdin" => nil, "def it = (object.title.strip rescue 'none')" => nil,
    "def it(more = 1) = object.title * more" => nil, "def it = object.title(1).strip" => nil, "def it = object.title?.to_s" => %i[title?], "def it = object.blank?" => nil, "def it = object.title.rand" => nil,
    "def it = (object.title while object.year; nil)" => nil, "def it = object.title.map(&:send)" => nil, "def it = object.title.each_with_index(&:strip)" => nil, "def it = object.title.each_char.map(&:strip)" => nil,
    "def it = (yield object.title)" => nil, "private def it = object.title.strip" => nil
  }.freeze

  def type(method) = Class.new(Base) { class_eval(method, __FILE__, __LINE__) }

  # As it is written, with what is given in angle brackets.
  def text_of(chain)
    parameters = chain.parameters.map { |name, default| "#{name}=#{default.equal?(Pipeloader::Bytecode::REQUIRED) ? "required" : default.inspect}" }
    [chain.calls.map { |call| call_text(call) }.join("."), *parameters].join(" ")
  end

  def call_text(call)
    given = call.arguments.map { |it| value_text(it) } + call.keywords.map { |name, it| "#{name}: #{value_text(it)}" }
    "#{call.name}#{"(#{given.join(", ")})" if given.any?}"
  end

  def value_text(value)
    case value
    when Pipeloader::Chain::Parameter then "<#{value.name}>"
    when Array then "[#{value.map { |it| value_text(it) }.join(", ")}]"
    when Hash then "{#{value.map { |name, it| "#{name.inspect}=>#{value_text(it)}" }.join(", ")}}"
    else value.inspect
    end
  end

  CHAINS.each do |method, expected|
    define_method(:"test_chain: #{method}") do
      said = Pipeloader::Delegation.chain(type(method), :it)&.then { |chain| text_of(chain) }
      expected ? assert_equal(expected, said) : assert_nil(said)
    end
  end

  FORMULAS.each do |method, expected|
    define_method(:"test_formula: #{method}") do
      formula = Pipeloader::Formula.of_type(type(method), :it)
      formula = nil if formula&.further&.any? # a String's own are asked of no associated record
      expected ? assert_equal(expected, formula.readers) : assert_nil(formula)
    end
  end

  # A scope may write to what it is given: where the method runs, its literals are each object's own.
  def test_arguments_of_a_chain
    chain = Pipeloader::Delegation.chain(type("def it(to:) = object.comments.where(body: ['x', to])"), :it)
    given = chain.with({ to: +"y" }).calls.last.keywords
    assert_equal({ body: %w[x y] }, given)
    assert_equal [true, true, true, false], [given.frozen?, given[:body].frozen?, *given[:body].map(&:frozen?)]
    assert_raises(Pipeloader::DoesNotFit) { chain.with({}) }
  end

  class Own < GraphQL::Schema::Object
    def self.authorized?(*) = super
  end

  # {what => [method, whether it is graphql-ruby's, ActiveRecord's, and each of them with nobody's code in between]}
  HOSTS = {
    theirs: [GraphQL::Schema::Object.method(:authorized?), [true, false, true, false]],
    own: [Own.method(:authorized?), [false, false, false, false]],
    inherited: [Class.new(GraphQL::Schema::Object).method(:authorized?), [true, false, true, false]],
    active_records: [ActiveRecord::Base.method(:find), [false, true, false, true]],
    active_models: [ActiveModel::Type::Value.instance_method(:cast), [false, true, false, true]]
  }.freeze

  each_case(HOSTS, "host") do |method, expected|
    host = Pipeloader::Provenance
    assert_equal expected, [host.graphql?(method), host.active_record?(method), host.graphql_alone?(method), host.active_record_alone?(method)]
  end

  # What graphql-ruby's method calls by `super`, counts as well.
  def test_methods_behind
    own = Class.new { def it = 1 }
    theirs = Class.new(own) { class_eval("def it = super", GraphQL::Schema.method(:execute).source_location.first, 1) }.instance_method(:it)
    assert_equal [true, false], [Pipeloader::Provenance.graphql?(theirs), Pipeloader::Provenance.graphql_alone?(theirs)]
  end

  def test_methods_of_ruby
    squeeze = String.instance_method(:squeeze)
    assert_equal [true, true], [squeeze, String.instance_method(:truncate)].map { |method| Pipeloader::Provenance.core_alone?(method) }
    refute Pipeloader::Provenance.core_alone?(Class.new(String) { def squeeze(*) = super }.instance_method(:squeeze))
  end

  # An application's own constant isn't Ruby's, whatever its name is.
  def test_rubys_constants
    assert_nil Pipeloader::Provenance.rubys(:MethodsTest)
    assert_nil Pipeloader::Provenance.rubys(:NoSuchThing)
    assert_same Comparable, Pipeloader::Provenance.rubys(:Comparable)
  end
end
