# frozen_string_literal: true

require_relative "../support/noted_early"

class InterleavingsTest < PlanTest
  # Takes note behind the read.
  class Late < NotedEarly
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

  # As NotedEarly, of which next to nothing can be asked, and whose method has another name by now.
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

  ALL = "{ a: hidden(id: 1) fine b: hidden(id: 1) c: hidden(id: 2) }"

  def found(loader, query = ALL)
    schema = make(query: NotedEarly::Query).last
    Pipeloader.interleavings { 2.times { schema.execute(query, context: { loader: loader }) } }
  end

  def test_what_takes_note_before_it_reads
    found = found(NotedEarly.new)
    told = found.map(&:to_s)
    assert_equal [["NotedEarly#hidden?"] * 2], (found.map { |it| [it.left, it.entered].map { |method| method[/[^ ]+/] } })
    assert_equal [%w[@loaded]], found.map(&:variables)
    assert_match(%r{\(test/support/noted_early\.rb:\d+\), for Query\.hidden, has changed @loaded and waits .*without_parking}, told.first)
  end

  def test_a_class_that_has_a_variable
    assert_equal ["InterleavingsTest::Shared.hidden?"], (found(Shared).map { |it| it.left[/[^ ]+/] })
  end

  def test_what_can_hardly_be_asked
    assert_empty found(Bare.new)
  end

  def test_what_is_fine
    [NotedEarly::Unparked.new, Late.new, Memo.new(0)].each { |loader| assert_empty found(loader), loader.class }
    assert_empty found(NotedEarly.new, "{ a: hidden(id: 1) fine }")
  end

  def test_what_fails
    error = Class.new(NotedEarly) { def load(_id) = raise(GraphQL::ExecutionError, "no") }
    assert_empty found(error.new)
    assert_raises(RuntimeError) { Pipeloader.interleavings { raise "no" } }
  end
end
