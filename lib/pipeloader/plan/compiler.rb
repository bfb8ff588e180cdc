# frozen_string_literal: true

module Pipeloader
  # A Plan as Ruby code: one method that builds Hashes from its rows, and all that is below them, without a call for each value.
  # Where a value isn't what a column's values are nearly always, the Plan's own entry is asked.
  #
  #     { title author { name } }
  #     ->(rows, frame, context) { b0 = frame.below(v3); h0 = b0.by_key
  #       rows.map { |r0| { v0 => …r0[1]…, v2 => (r1 = h0[r0[2]]&.first) ? { v4 => …r1[1]… } : v3.nothing } } }
  #
  # Names of the response, which a document chooses, are only values in it: the text is made of places and numbers.
  class Compiler
    # How many values a plan may have: what is kept of each is to stay small.
    MOST = 500

    # Of a value x, by what its column's are (a thing's attribute may be of any class) and what the field's are: whether it's the
    # answer, and as what.
    SOURCES = {
      [String, :string] => ["String === x && x.instance_of?(String) && x.encoding == UTF_8", "x"],
      [Integer, :id] => ["Integer === x", "x.to_s"],
      [String, :id] => ["String === x && x.instance_of?(String)", "x"],
      [Integer, :int] => ["Integer === x && x <= #{GraphQL::Types::Int::MAX} && x >= #{GraphQL::Types::Int::MIN}", "x"],
      [TrueClass, :boolean] => ["true == x || false == x", "x"], [Float, :float] => ["Float === x && x.finite?", "x"]
    }.freeze
    UTF_8 = Encoding::UTF_8
    private_constant :SOURCES, :UTF_8

    # @return [Compiler, nil] nil where that would be too much code
    def self.of(plan) = (new(plan) if plan.size <= MOST)

    # No variables: what is made keeps those that it's made among.
    def self.nothing = binding

    def initialize(plan)
      @values = []
      @below = []
      hash = hash(plan, "r", "frame")
      @list, @one = compile("rows.map { |r| #{hash} }", hash)
    ensure
      @values = @below = nil
    end

    # @return [Array<Hash>] as Plan's
    def list(rows, frame, context) = @list.call(rows, frame, context)

    # @return [Hash] as Plan's
    def build(row, frame, context) = @one.call(row, frame, context)

    private

    def compile(list, one)
      names = Array.new(@values.size) { |index| "v#{index}, " }.join
      below = @below.join("\n")
      code = <<~RUBY
        lambda do |values|
          #{"#{names}= values" unless names.empty?}
          [->(rows, frame, context) { #{below}\n#{list} }, ->(r, frame, context) { #{below}\n#{one} }]
        end
      RUBY
      # On a fiber of its own, as handlers of TracePoints see it, a debugger's: they may read, and nothing is to park there.
      Fiber.new(blocking: true) { eval(code, Compiler.nothing, "(pipeloader: a plan)", 1) }.resume.call(@values) # rubocop:disable Security/Eval
    end

    # @param row [String] the variable that is to have the row, as the others
    def hash(plan, row, frame)
      hash = "{ #{plan.entries.map { |entry| "#{value(entry.key)} => #{code(entry, row, frame)}" }.join(", ")} }"
      plan.admission ? "(#{value(plan.admission)}.admit(#{row}, #{frame}, context); #{hash})" : hash
    end

    def code(entry, row, frame)
      case entry
      when Plan::Constant then value(entry.value)
      when Plan::Leaf then leaf(entry, "#{row}[#{entry.index}]", entry.coercion.kinds, row, frame)
      when Attribute then leaf(entry, entry.code(row), SOURCES.keys.select { |_, kind| kind == entry.kind }, row, frame)
      else entry.instance_of?(Link) && entry.plan.instance_of?(Plan) ? link(entry, row, frame) : as_ever(entry, row, frame)
      end
    end

    def as_ever(entry, row, frame)
      entry.plan.compile if [Link, PageLink].include?(entry.class)
      "#{value(entry)}.build(#{row}, #{frame}, context)"
    end

    # @param value [String] the code that has it
    # @param kinds [Array] as Coercion#kinds: what it may be
    def leaf(entry, value, kinds, row, frame)
      cases = SOURCES.values_at(*kinds).compact
      ever = as_ever(entry, row, frame)
      return ever if cases.empty?

      "(x = #{value}; #{cases.map { |condition, result| "(#{condition}) ? #{result} : " }.join}#{ever})"
    end

    def link(entry, row, frame)
      number = @below.size
      link = value(entry)
      @below << "b#{number} = #{frame}.below(#{link}); h#{number} = b#{number}.by_key"
      found = "h#{number}[#{entry.index.code(row)}]"
      its = hash(entry.plan, inner = "r#{number}", "b#{number}")
      return "(#{found} || []).map { |#{inner}| #{its} }" if entry.many?

      "((#{inner} = #{found}&.first) ? #{its} : #{link}.nothing)"
    end

    # @return [String] a variable that has it
    def value(object)
      @values << object
      "v#{@values.size - 1}"
    end
  end
end
