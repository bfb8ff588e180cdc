# frozen_string_literal: true

module Fuzz
  # Models that resolver methods and models' methods ask themselves.

  # What a query ends with: [type, text]. @given has the arguments that the query has so far.
  ended = lambda do |m, text, target, on = "object"|
    column = pick([*target.columns.map(&:name), *target.key])
    said = pick(["&.", "&.", "."]) + leaf(target)
    order = ".order(#{target.key.map { |it| "\"#{target.table}.#{it}\"" }.join(", ")})"
    found = asked_hash(m, target, nil, on)
    behind = pick(["", "", "", "&.round(1)", ".to_f", " > 2", "&.to_s", ".to_i + 1", " || 0", ".nil?", ".zero?", ".clamp(0, 2)", "&.fdiv(3)", ".to_s.size"])
    case int(0..13)
    when 0, 1 then [pick(%w[Integer Integer String Float]), "#{text}.#{pick(["count", "size", "count(:#{column})", "length"])}#{behind}"]
    when 2, 3 then [pick(%w[Integer Float Float String GraphQL::Types::BigInt]), "#{text}.#{pick(%w[sum average maximum minimum])}(:#{column})#{behind}"]
    when 4, 5 then ["GraphQL::Types::Boolean", "#{pick(["", "", "!"])}#{text}.#{pick(["exists?", "any?", "none?", "empty?", "exists?(#{found})", "exists?(#{found})", "exists?(#{asked_value(m, on)})"])}"]
    when 6, 7 then ["String", "#{text}#{order}.#{pick(["find_by(#{found})", "find_by(#{found})", "find_by!(#{found})", "find(#{asked_value(m, on)})", "find_by(#{target.key.last}: #{asked_value(m, on)})"])}#{said}"]
    when 8 then ["String", "#{text}#{order}.#{pick(%w[first last take first! sole])}#{said}"]
    when 9, 10 then [:one, "#{text}#{order}.#{pick(["first", "last", "take", "find_by(#{found})", "find_by(#{found})", "find(#{asked_value(m, on)})", "find_by!(#{found})"])}"]
    when 11 then ["String", "#{text}#{order}.#{pick(["pluck(:#{column})", "ids", "map(&:#{leaf(target)})", "pick(:#{column})", "first(2).map(&:#{leaf(target)})"])}.inspect"]
    else [:list, "#{text}#{order}#{pick(["", "", ".limit(2)", ".limit(1).offset(1)", ".to_a", ".first(2)", ".reverse_order"])}"]
    end
  end

  shown = lambda do |t, name, type, body, target, given|
    case type
    when :one then t.field(name, target.type.ruby, body: body, target: target.type, arguments: given, fragile: true)
    when :list then t.field(name, "[#{target.type.ruby}]", body: body, target: target.type, list: true, arguments: given, fragile: true)
    else t.field(name, type, body: body, arguments: given, fragile: true)
    end
  end

  feature "model asked by anything", 6 do
    field do |t, m|
      text, target, given = query_of(m)
      @given = given
      type, body = instance_exec(m, text, target, &ended)
      @given = nil
      shown.(t, "queried_#{int(1..9999)}", type, body, target, given)
    end
  end

  # The plainest forms, which are compiled most often, by any column of the two sides.
  feature "model found by one column", 4 do
    field do |t, m|
      target = pick(models)
      column, of = pick([*target.columns.map(&:name), *target.key, *target.key]), pick([*m.columns.map(&:name), *m.key, *m.key])
      order = ".order(#{target.order})"
      number = pick([*target.of(:integer, :decimal, :float, :bigint).map(&:name), *target.key])
      case int(0..6)
      when 0 then t.field("known_#{int(1..999)}", "String", body: "::#{target.name}#{order}.find_by(#{column}: object.#{of})#{pick(%w[&. .])}#{pick([leaf(target), *target.extra_readers.map(&:first)])}", fragile: true)
      when 1 then t.field("met_#{int(1..999)}", target.type.ruby, body: "::#{target.name}.#{pick(["find_by(#{target.key.last}: object.#{of})", "find(object.#{of})"])}", target: target.type, fragile: true)
      when 2 then t.field("amount_#{int(1..999)}", pick(%w[Integer Float String]), body: "::#{target.name}.where(#{column}: object.#{of})#{narrowing(target)}.#{pick(%w[sum average minimum maximum])}(:#{number})", fragile: true)
      when 3 then t.field("had_#{int(1..999)}", "Boolean", body: "::#{target.name}.exists?(#{column}: object.#{of}#{", #{condition(target)}".then { |it| it.match?(/, (#{column}:|")/) ? "" : it } if chance(0.5)})", fragile: true)
      when 4 then t.field("listed_#{int(1..999)}", "[#{target.type.ruby}]", body: "::#{target.name}.where(#{column}: object.#{of})#{narrowing(target)}#{order}", target: target.type, list: true, fragile: true)
      when 5 then t.field("last_#{int(1..999)}", target.type.ruby, body: "::#{target.name}.where(#{column}: object.#{of})#{order}.#{pick(%w[first last])}", target: target.type, fragile: true)
      else t.field("counted_of_#{int(1..999)}", "Integer", body: "::#{target.name}.where(#{column}: object.#{of})#{narrowing(target)}.count", fragile: true)
      end
    end
  end

  feature "method of the model that asks a model", 0.3 do
    model do |m|
      text, target, = query_of(m, "self", arguments: false)
      type, body = instance_exec(m, text, target, "self", &ended)
      next if type.is_a?(Symbol)

      name = "asking_#{int(1..999)}"
      m.line("def #{name} = #{chance(0.5) ? body.gsub("self.", "") : body}")
      m.reader(name, type)
    end
  end

  feature "errors that the schema rescues", 0.4 do
    schema { world.options[:schema] << "rescue_from(StandardError) { |error| GraphQL::ExecutionError.new(\"\#{error.class}: \#{error.message.lines.first}\".gsub(/0x\\h+/, \"0x\")) }" }
  end
end
