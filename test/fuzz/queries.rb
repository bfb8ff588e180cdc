# frozen_string_literal: true

module Fuzz
  # A grammar of queries that begin with a model, by what a record says, by arguments, by the context and by constants.
  module Queries
    LITERALS = ["nil", "0", "1", "2", "-4", "2**70", "2**31", "\"2\"", "\"2x\"", "\"\"", "1.5", "2.0", "true", "false", ":low", "\"low\"", "[]", "[1, 2]", "[nil, 1]", "[[1], 2]", "1..3", "1..", "..2", "1...1",
                "Date.new(2024, 1, 2)", "Time.utc(2024, 6, 1)", "\"2024-01-02\"", "{}", "\"00000000-0000-4000-8000-000000000001\""].freeze
    GIVEN = { "Integer" => [0, 1, 2, 2_000_000_000], "String" => ["1", "a", "", "low", "2x"], "Boolean" => [true, false], "ID" => %w[1 2 x], "[Integer]" => [[], [1], [1, 2]] }.freeze
    private_constant :LITERALS, :GIVEN

    # @return [Array(String, Model, Array<Argument>)] a query that more may follow, its model, and arguments that it has
    def query_of(m, on = "object", arguments: true)
      @given = arguments ? [] : nil
      target = chance(0.7) ? pick(models.select { |it| it.associations.any? { |one| one.key && one.target.equal?(m) } } + [m]) : pick(models)
      text = "#{"::" if chance(0.7)}#{target.name}#{pick(["", "", "", "", ".all", ".unscoped", *target.scopes.first(1).map { |it| ".#{it}" }])}"
      joined = pick(target.associations.select { |it| it.target && !it.through }) if chance(0.25)
      text += joins(joined) if joined
      pick([0, 1, 1, 1, 1, 2, 2, 3]).times { text += ".#{step(m, target, joined, on)}" }
      [text, target, @given]
    ensure
      @given = nil
    end

    private

    def joins(association)
      further = pick(association.target.associations.select { |it| it.target && !it.through }) if chance(0.3)
      ".#{pick(%w[joins joins joins left_joins])}(#{further ? "#{association.name}: :#{further.name}" : ":#{association.name}"})"
    end

    def step(m, target, joined, on)
      case int(0..19)
      when 0..10 then "where(#{asked_hash(m, target, joined, on)})"
      when 11 then "where.not(#{asked_hash(m, target, joined, on)})"
      when 12 then "rewhere(#{asked_hash(m, target, joined, on)})"
      when 13 then "where(#{condition(target)})"
      when 14 then "distinct"
      when 15 then "unscope(#{pick([":order", "where: :#{target.key.last}", ":where"])})"
      when 16 then "where(\"#{target.table}.#{target.key.last} >= ?\", #{asked_value(m, on).then { |it| it.include?("..") ? 1 : it }})"
      when 17 then "merge(::#{target.name}.where(#{asked_hash(m, target, nil, on)}))"
      when 18 then target.scopes.include?("at_least") ? "at_least(#{asked_value(m, on)})" : "limit(3)"
      else pick(["readonly", "offset(1)", "limit(2)", "limit(0)", "includes(:#{target.associations.first&.name || "none"})", "group(:#{target.key.last})", "where({})", "strict_loading", "none", "limit(nil)"])
      end
    end

    # What `where`, `find_by` and `exists?` take.
    def asked_hash(m, target, joined, on)
      pairs = Array.new(pick([1, 1, 1, 2])) { pair(m, target, joined, on) }
      pairs.sort_by { |it| it.include?("=>") ? 0 : 1 }.uniq { |it| it[/\A[^ ]+/] }.join(", ")
    end

    def pair(m, target, joined, on)
      mine = target.associations.find { |it| it.key && it.target.equal?(m) }
      return pick(["#{mine.key}: #{on}.#{m.key.last}", "#{mine.key}: #{on}.#{m.key.last}", "#{mine.name}: #{on}", "#{target.table}: { #{mine.key}: #{on}.#{m.key.last} }", "\"#{mine.key}\" => #{on}.#{m.key.last}", "\"#{target.table}.#{mine.key}\" => #{on}.#{m.key.last}"]) if mine && chance(0.5)
      return joined_pair(m, joined, on) if joined && chance(0.6)

      name = pick([*target.columns.map(&:name), *target.key, *target.key, *target.associations.filter_map { |it| it.name if it.key }])
      "#{name}: #{asked_value(m, on)}"
    end

    def joined_pair(m, joined, on)
      name = pick([*joined.target.columns.map(&:name), *joined.target.key, *joined.target.key])
      "#{pick([joined.name, joined.target.table, joined.target.table])}: { #{name}: #{asked_value(m, on)} }"
    end

    def asked_value(m, on)
      case int(0..19)
      when 0..8 then "#{on}.#{pick([*m.columns.map(&:name), *m.key, *m.key])}"
      when 9 then on
      when 10 then one_of(m, on)
      when 11, 12 then argument
      when 13 then on == "object" ? pick(["context[:viewer]", "context[:viewer]", "context[:nobody]", "context.fetch(:viewer)", "context.fetch(:nobody, 2)", "context[:words]"]) : "1"
      when 14 then "#{on}.#{pick([*m.extra_readers.map(&:first), m.key.last])}"
      when 15 then pick(["[#{on}.#{m.key.last}]", "[#{on}.#{m.key.last}, 2]", "#{on}.#{m.key.last}.to_s", "#{on}.#{m.key.last}..", "#{on}.#{m.columns.first.name}.presence", "#{pick(models).name}.new"])
      when 16 then world.options[:current] ? pick(%w[Current.viewer Current.tenant]) : "I18n.locale"
      else pick(LITERALS)
      end
    end

    def one_of(m, on)
      one = pick(m.associations.select { |it| it.target && !it.many })
      one ? "#{on}.#{one.name}#{pick(["", "&.#{one.target.key.last}", "&.#{leaf(one.target)}", ".#{one.target.key.last}"])}" : on
    end

    def argument
      return "3" if @given.nil? || @given.any?

      type, samples = pick(GIVEN.to_a)
      @given << Argument.new(name: "asked", type: type, samples: samples, required: pick([true, false, nil]))
      "asked"
    end
  end
end
