# frozen_string_literal: true

module Fuzz
  # Root fields that write. (Query fields that write may see each other's writes in another order: docs/internals.md.)

  found = ->(m) { "record = ::#{m.name}.order(:id).find_by(id: id)" }
  id = -> { [Argument.new(name: "id", type: "Integer", samples: [1, 2, 3, 99], required: true)] }

  feature "update", 0.6 do
    mutation do |t|
      m = pick(writable) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      given = id.call << Argument.new(name: "text", type: "String", samples: ["new", "Ünï", ""], required: true)
      way = pick(["record&.update!(#{column}: text)", "record&.update_columns(#{column}: text)", "::#{m.name}.where(id: id).update_all(#{column}: text)\nrecord&.reload", "record&.with_lock { record.update!(#{column}: text) }"])
      t.field("update_#{m.name.underscore}", m.type.ruby, body: [instance_exec(m, &found), *way.lines(chomp: true), "record"], target: m.type, arguments: given)
    end
  end

  feature "create", 0.6 do
    mutation do |t|
      m = pick(writable.reject { |it| it.column?(:rank) }) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      given = [Argument.new(name: "text", type: "String", samples: ["new", "b", ""], required: true)]
      foreign = m.associations.select { |it| it.key && it.target && !it.target.composite? }.map { |it| ", #{it.key}: #{int(1..3)}" }.first
      t.field("create_#{m.name.underscore}", m.type.ruby, body: "::#{m.name}.#{pick(%w[create! find_or_create_by!])}(#{column}: text#{foreign})", target: m.type, arguments: given)
    end
  end

  feature "destroy", 0.4 do
    mutation do |t|
      m = pick(models.reject(&:composite?)) or next
      t.field("destroy_#{m.name.underscore}", m.type.ruby, body: [instance_exec(m, &found), "record&.#{pick(%w[destroy! delete])}", "record"], target: m.type, arguments: id.call)
    end
  end

  feature "reads before and after a write", 0.5 do
    mutation do |t|
      m = pick(writable) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      body = [instance_exec(m, &found), "return \"none\" unless record", "before = #{integer(m, "record")}", "record.update!(#{column}: \"changed\")",
              "after = #{string(m, "record")}", "\"\#{before} \#{after} \#{::#{m.name}.where(#{column}: \"changed\").count}\""]
      t.field("change_#{m.name.underscore}", "String", body: body, arguments: id.call)
    end
  end

  feature "transaction that is rolled back", 0.3 do
    mutation do |t|
      m = pick(writable) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      body = ["seen = nil", "::#{m.name}.transaction do", "::#{m.name}.where(id: id).update_all(#{column}: \"gone\")", "seen = ::#{m.name}.where(#{column}: \"gone\").count",
              "raise ActiveRecord::Rollback", "end", "\"\#{seen} \#{::#{m.name}.where(#{column}: \"gone\").count}\""]
      t.field("undo_#{m.name.underscore}", "String", body: [body.join("\n")], arguments: id.call)
    end
  end

  feature "mutation that fails", 0.3 do
    mutation do |t|
      m = pick(writable) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      body = ["::#{m.name}.transaction do\n  record = ::#{m.name}.find(id)\n  record.update!(#{column}: \"lost\")\n  raise GraphQL::ExecutionError, \"failed \#{record.#{column}}\" if #{boolean(m, "record", 1)}\n  record\nend\nrescue ActiveRecord::RecordNotFound\nnil"]
      t.field("fail_#{m.name.underscore}", m.type.ruby, body: body, target: m.type, arguments: id.call, fragile: true)
    end
  end

  feature "mutation class", 0.4, only: :interpreter do
    mutation do |t|
      m = pick(writable) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      name = "Touch#{m.name}"
      world.sections[:declared] << "class Types::#{name} < GraphQL::Schema::Mutation\n  argument :id, Integer\n  field :record, #{m.type.ruby}\n  field :count, Integer\n  def resolve(id:)\n    record = ::#{m.name}.find_by(id: id)\n    record&.update!(#{column}: \"touched\")\n    { record: record, count: ::#{m.name}.where(#{column}: \"touched\").count }\n  end\nend"
      t.line("field :touch_#{m.name.underscore}, mutation: Types::#{name}")
      payload = Type.new("#{name}Payload", Node.new(nil))
      payload.fields << Type::Field.new(name: "record", target: m.type, arguments: [], feature: "mutation class") << Type::Field.new(name: "count", arguments: [], feature: "mutation class")
      t.fields << Type::Field.new(name: "touch_#{m.name.underscore}", target: payload, arguments: id.call, feature: "mutation class")
    end
  end

  feature "changed in memory", 0.3 do
    mutation do |t|
      m = pick(writable) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      t.field("pretend_#{m.name.underscore}", m.type.ruby, body: [instance_exec(m, &found), "record.#{column} = \"pretended\" if record", "record"], target: m.type, arguments: id.call)
    end
  end
end
