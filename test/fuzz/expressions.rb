# frozen_string_literal: true

module Fuzz
  # A grammar of ordinary Ruby: expressions over a record of a model, as text.
  module Expressions
    WORDS = ["a", "b", "alpha", "beta", "Ünïcode ✓", "", " x ", "it's \"q\"", "100%_", "b\\n"].freeze

    # Text that is a String, whatever is nil.
    def string(m, on = "object", depth = 2)
      columns = m.of(:string, :text)
      own = columns.any? ? "#{on}.#{pick(columns).name}" : "#{on}.#{m.key.first}.to_s"
      return own + pick(["", ".to_s"]) if depth.zero?

      one, = single(m, on)
      case int(0..17)
      when 0, 1 then own
      when 2 then "\"\#{#{own}} (\#{#{integer(m, on, depth - 1)}})\""
      when 3 then "#{own}.to_s.#{pick(%w[upcase strip reverse downcase capitalize swapcase])}"
      when 4 then "#{boolean(m, on, depth - 1)} ? #{string(m, on, depth - 1)} : #{literal_string}"
      when 5 then "[#{own}, #{string(m, on, depth - 1)}].compact.join(#{pick([" ", "-"]).inspect})"
      when 6, 7, 8 then one ? "#{one.first}&.then { |it| #{string(one.last, "it", 0)} }" : own
      when 9 then one ? "#{one.first}&.#{leaf(one.last)}.to_s" : own
      when 10 then either(m, on) || own
      when 11 then "(#{own} || #{literal_string})"
      when 12 then "\"\#{#{on == "object" && chance(0.4) ? pick(["context.fetch(:viewer)", "context.fetch(:nobody, 7)", "context.key?(:viewer)"]) : "context[:viewer]"}}:\#{#{own}}\""
      when 13 then many(m, on) { |text, target| "#{text}.map(&:#{leaf(target)}).join(\",\")" } || own
      when 14 then many(m, on) { |text, target| "#{text}#{pick([".to_a", ""])}.first(#{int(1..3)}).map(&:#{leaf(target)}).join(\",\")" } || own
      when 15 then many(m, on) { |text, target| "#{text}.map { |it| #{string(target, "it", depth - 1)} }.join(\"|\")" } || own
      when 16 then relation(m, on) { |text, target| "#{text}.pluck(:#{plain_column(target)}).join(\",\")" } || own
      else "#{own}.to_s[0, #{int(1..5)}]"
      end
    end

    def integer(m, on = "object", depth = 2)
      columns = m.of(:integer)
      own = columns.any? ? "#{on}.#{pick(columns).name}.to_i" : "#{on}.#{m.key.first}.to_s.size"
      return own if depth.zero?

      case int(0..11)
      when 0 then own
      when 1 then "#{own} #{pick(%w[+ - *])} #{integer(m, on, depth - 1)}"
      when 2 then "#{string(m, on, depth - 1)}.to_s.size"
      when 3, 4, 5, 6 then relation(m, on) { |text, target| "#{text}.#{calculation(target)}" } || own
      when 7 then many(m, on) { |text, target| "#{text}.sum { |it| #{integer(target, "it", 0)} }" } || own
      when 8 then many(m, on) { |text, _| "#{text}.#{pick(%w[size length to_a.size])}" } || own
      when 9 then "[#{own}, #{integer(m, on, depth - 1)}].#{pick(%w[max min sum])}"
      when 10
        target = pick(models)
        "#{target.name}.where(#{condition(target)}).count"
      else "(#{own} || 0).#{pick(%w[abs succ pred])}"
      end
    end

    def boolean(m, on = "object", depth = 2)
      columns = m.of(:boolean)
      own = columns.any? ? "#{on}.#{pick(columns).name}#{pick(["", "?"])}" : "#{on}.#{m.key.first}.to_s.size.even?"
      return own if depth.zero?

      case int(0..9)
      when 0, 1 then own
      when 2 then "!#{boolean(m, on, depth - 1)}"
      when 3 then "#{integer(m, on, depth - 1)} #{pick(%w[> < >= ==])} #{int(0..5)}"
      when 4, 5 then relation(m, on) { |text, _| "#{text}.#{pick(%w[exists? any? empty? none?])}" } || own
      when 6 then pick(["context[:viewer] == #{integer(m, on, 0)}", "context[:viewer] && #{own}", "!context[:nobody]&.zero? && #{own}"])
      when 7 then "(#{boolean(m, on, depth - 1)} #{pick(%w[&& ||])} #{boolean(m, on, depth - 1)})"
      when 8
        one, = single(m, on)
        one ? "#{one.first}.#{pick(%w[present? nil? blank?])}" : own
      else many(m, on) { |text, _| "#{text}.#{pick(%w[any? empty? none? many? present? blank?])}" } || own
      end
    end

    # @return [String, nil] what one of two records says, whichever is there
    def either(m, on)
      first, second = m.associations.reject { |it| it.many || it.target.nil? }.then { |all| sample(all, 2) }
      first && "(#{on}.#{first.name} || #{on}.#{(second || first).name})#{pick(%w[. &.])}#{leaf(first.target)}.to_s"
    end

    # @return [Array(Array(String, Model))] text for a record or nil; empty where there is none
    def single(m, on = "object")
      options = m.associations.reject { |it| it.many || it.target.nil? }.map { |it| ["#{on}.#{it.name}", it.target] }
      options += m.associations.select { |it| it.many && it.chains && it.target }.map do |it|
        ["#{on}.#{it.name}#{narrowing(it.target)}.#{pick(["first", "last", "find_by(#{condition(it.target)})"])}", it.target]
      end
      target = pick(models)
      options << ["#{target.name}.order(#{target.order}).find_by(#{condition(target)})", target] if chance(0.15)
      options.empty? ? [] : [pick(options)]
    end

    # Yields text for a list, loaded or not, and its model.
    def many(m, on = "object")
      lists = m.associations.select { |it| it.many && it.target }
      return if lists.empty?

      list = pick(lists)
      yield "#{on}.#{list.name}#{narrowing(list.target) if list.chains && chance(0.4)}", list.target
    end

    # { comments: { commenter: :profile } }, so many levels deep at most
    def nested_associations(m, depth)
      association = pick(m.associations.select { |it| it.target && !it.through }) or return
      below = nested_associations(association.target, depth - 1) if depth.positive?
      below ? "{ #{association.name}: #{below} }" : ":#{association.name}"
    end

    # Yields text for a relation that is in order, and its model.
    def relation(m, on = "object")
      lists = m.associations.select { |it| it.many && it.chains && it.target }
      return if lists.empty?

      list = pick(lists)
      yield "#{on}.#{list.name}#{narrowing(list.target)}", list.target
    end

    # What may follow a relation.
    def narrowing(target)
      case int(0..9)
      when 0, 1 then ""
      when 2 then ".where(#{plain_number(target)}: context[:viewer]#{pick(["", "", "&.succ"])})"
      when 3, 4, 5 then ".where(#{condition(target)})"
      when 6 then ".where.not(#{condition(target)})"
      when 7 then target.scopes.empty? ? "" : ".#{pick(target.scopes)}"
      when 8 then ".where(#{condition(target)}).where(#{condition(target)})"
      else target.composite? ? "" : ".reorder(#{target.order_by(plain_column(target), pick(%i[asc desc]))})"
      end
    end

    # What `where` takes.
    def condition(target)
      column = target.columns.reject { |it| %i[jsonb json uuid].include?(it.kind) || it.name == "secret" }.then { |all| pick(all) if all.any? }
      return "#{target.key.last}: #{int(1..5)}" unless column
      return "#{column.name}: nil" if chance(0.1)

      case column.kind
      when :integer, :bigint, :belongs_to then chance(0.3) ? "#{column.name}: [#{int(1..3)}, #{int(2..5)}]" : "#{column.name}: #{pick([int(0..4).to_s, "#{int(1..4)}.."])}"
      when :boolean then "#{column.name}: #{chance(0.5)}"
      when :datetime then chance(0.5) ? "#{column.name}: nil" : "#{column.name}: ..Time.utc(2024, 6, 1)"
      when :date then "#{column.name}: Date.new(2024, 1, #{int(1..5)})"
      when :decimal, :float then chance(0.5) ? "#{column.name}: 1.." : "\"#{column.name} > ?\", #{int(0..3)}"
      else chance(0.25) ? "\"#{column.name} LIKE ?\", \"%a%\"" : "#{column.name}: #{pick(column.samples || WORDS).inspect}"
      end
    end

    def calculation(target)
      numbers = target.of(:integer)
      return "count" if numbers.empty? || chance(0.6)

      column = pick(numbers).name
      pick(["sum(:#{column}).to_i", "sum(\"#{target.table}.#{column}\").to_i", "maximum(:#{column}).to_i", "minimum(:#{column}).to_i", "size", "where.not(#{column}: nil).count", "pluck(:#{column}).compact.sum"])
    end

    # A method of a record that needs nothing.
    def leaf(target) = pick([*target.of(:string, :text, :integer, :boolean).map(&:name), target.key.first])

    # A column that one can order by and pluck.
    def plain_column(target)
      names = target.of(:string, :integer).reject { |it| %w[secret].include?(it.name) }.map(&:name)
      pick([*names, target.key.last])
    end

    def plain_number(target) = pick([*target.of(:integer, :bigint, :belongs_to).map(&:name), target.key.last])

    def literal_string = pick(["none", "–", "it's", "ключ"]).inspect

    # Statements of a resolver method that in the end returns a value.
    def statements(m, kind)
      value = public_send(kind, m)
      default = { string: literal_string, integer: int(0..9).to_s, boolean: chance(0.5).to_s }.fetch(kind)
      case int(0..12)
      when 0, 1, 2, 3 then [value]
      when 4 then ["return #{default} if #{boolean(m)}", value]
      when 5 then ["found = #{value}", "found.nil? ? #{default} : found"]
      when 6 then ["@memo_#{kind}_#{int(1..999)} ||= #{value}"]
      when 7 then ["if #{boolean(m)}", "  #{value}", "else", "  #{public_send(kind, m, "object", 1)}", "end"].then { |all| [all.join("\n")] }
      when 8 then ["record = object", public_send(kind, m, "record")]
      when 9, 10 then kept_record(m, kind, default) || [value]
      when 11 then kept_list(m, kind) || [value]
      else ["first = #{public_send(kind, m, "object", 1)}", "second = #{value}", "#{boolean(m, "object", 1)} ? first : second"]
      end
    end

    def kept_record(m, kind, default)
      one, target = single(m).first
      return unless one

      said = public_send(kind, target, "kept", 1)
      pick([["kept = #{one}", "kept ? #{said} : #{default}"],
            ["kept = #{one}", "return #{default} if kept.nil?", said],
            ["(kept = #{one}.presence) ? #{said} : #{default}"],
            ["kept = #{one}.presence", "#{boolean(m, "object", 1)} && kept ? #{said} : #{default}"]])
    end

    def kept_list(m, kind)
      relation(m) do |text, target|
        said = leaf(target)
        asked = { string: ["kept.map(&:#{said}).inspect", "kept.first&.#{said}.to_s", "kept.last&.#{said}.to_s", "kept.size.to_s"],
                  integer: %w[kept.count kept.size kept.to_a.size], boolean: %w[kept.any? kept.exists? kept.empty?] }.fetch(kind)
        joining = { string: " + ", integer: " + ", boolean: " && " }.fetch(kind)
        ["kept = #{text}", Array.new(int(1..3)) { pick(asked) }.join(joining)]
      end
    end
  end
end
