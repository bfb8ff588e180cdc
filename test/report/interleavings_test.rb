# frozen_string_literal: true

require_relative "../support/plans"

class InterleavingsTest < PlanTest
  # Takes note before it reads.
  class Early
    attr_reader :hidden

    def initialize = (@loaded, @hidden = Set.new, Set.new)

    def hidden?(id)
      load(id) if @loaded.add?(id)
      hidden.include?(id)
    end

    def load(id) = @hidden.merge(Post.where(id: id).pluck(:id))
  end

  # As Early, and none comes in between.
  class Unparked < Early
    def load(id) = Pipeloader.without_parking { super }
  end

  # Takes note behind the read.
  class Late < Early
    def hidden?(id)
      load(id) unless @loaded.include?(id)
      @loaded.add(id)
      hidden.include?(id)
    end
  end

  # Reads once for all, or twice.
  class Memo
    def initialize(by) = @by = by
    def hidden?(id) = ids.include?(id + @by)
    def ids = @ids ||= Post.pluck(:id)
  end

  # As Early, of which next to nothing can be asked, and whose method has another name by now.
  class Bare < BasicObject
    def initialize = @loaded = {}

    def first(id)
      @loaded[id] || ((@loaded[id] = true) && ::Post.where(id: id).exists?)
    end
    alias hidden? first
    remove_method :first
  end

  # By a class's own variable.
  class Shared
    class << self
      def hidden?(id)
        @size = id
        Post.where(id: @size).exists?
      end
    end
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :hidden, GraphQL::Types::Boolean do
      argument :id, Integer
    end
    field :fine, Integer
    def hidden(id:) = context[:loader].hidden?(id)
    def fine = Post.count
  end

  ALL = "{ a: hidden(id: 1) fine b: hidden(id: 1) c: hidden(id: 2) }"

  def found(loader, query = ALL)
    schema = make(query: Query).last
    Pipeloader.interleavings { 2.times { schema.execute(query, context: { loader: loader }) } }
  end

  def test_what_takes_note_before_it_reads
    found = found(Early.new)
    told = found.map(&:to_s)
    assert_equal [["InterleavingsTest::Early#hidden?"] * 2], (found.map { |it| [it.left, it.entered].map { |method| method[/[^ ]+/] } })
    assert_equal [%w[@loaded]], found.map(&:variables)
    assert_match(%r{\(test/report/interleavings_test\.rb:\d+\), for Query\.hidden, has changed @loaded and waits .*without_parking}, told.first)
  end

  def test_a_class_that_has_a_variable
    assert_equal ["InterleavingsTest::Shared.hidden?"], (found(Shared).map { |it| it.left[/[^ ]+/] })
  end

  def test_what_can_hardly_be_asked
    assert_empty found(Bare.new)
  end

  def test_what_is_fine
    [Unparked.new, Late.new, Memo.new(0)].each { |loader| assert_empty found(loader), loader.class }
    assert_empty found(Early.new, "{ a: hidden(id: 1) fine }")
  end

  def test_what_fails
    error = Class.new(Early) { def load(_id) = raise(GraphQL::ExecutionError, "no") }
    assert_empty found(error.new)
    assert_raises(RuntimeError) { Pipeloader.interleavings { raise "no" } }
  end
end
