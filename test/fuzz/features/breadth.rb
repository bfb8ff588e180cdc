# frozen_string_literal: true

module Fuzz
  # Forms of relations, arguments and types, each a little unlike the ones that are most common.

  feature "root relation with modifiers", 0.7 do
    root do |query|
      m = pick(models)
      one = pick(m.associations.select { |it| it.target && it.key })
      some = pick(m.associations.select(&:target))
      ways = ["where(#{condition(m)}).or(::#{m.name}.where(#{condition(m)}))", "merge(::#{m.name}.where(#{condition(m)}))", "distinct", "readonly", "annotate(\"why\")", "none",
              "where(#{m.key.last}: ::#{m.name}.where(#{condition(m)}).select(:#{m.key.last}))", "from(\"#{m.table}\")", "limit(3).offset(1)", "load", "strict_loading(false)", "load_async",
              "extending(Module.new { def size = super })", "rewhere(#{condition(m)})", "select(\"#{m.table}.*\")", "excluding(::#{m.name}.order(#{m.order}).first)"]
      ways += ["joins(:#{one.name})", "left_joins(:#{one.name})", "where.associated(:#{one.name})", "where.missing(:#{one.name})", "eager_load(:#{one.name})"] if one
      ways += ["preload(:#{some.name})", "includes(:#{some.name})"] if some
      chosen = sample(ways, int(1..2))
      order = m.key.map { |key| "\"#{m.table}.#{key}\"" }.join(", ")
      query.field("shaped_#{m.table}", "[#{m.type.ruby}]", body: "::#{m.name}.order(#{order}).#{chosen.sort_by { |it| it.start_with?("load") ? 1 : 0 }.join(".")}", target: m.type, list: true)
    end
  end

  feature "calculations", 3 do
    field do |t, m|
      relation(m) do |text, target|
        column = plain_column(target)
        way = pick(["ids.inspect", "pick(:#{column}).to_s", "exists?(#{condition(target)}).to_s", "count(:#{column}).to_s", "distinct.unscope(:order).count(:#{column}).to_s", "last(2).map(&:#{leaf(target)}).inspect",
                    "first(2).map(&:#{leaf(target)}).inspect", "second&.#{leaf(target)}.to_s", "where(#{condition(target)}).any?.to_s", "many?.to_s", "one?.to_s", "to_a.size.to_s",
                    "include?(#{target.name}.order(#{target.order}).first).to_s", "load.size.to_s", "limit(2).count.to_s", "limit(2).pluck(:#{column}).inspect", "offset(1).limit(2).sum(:#{target.key.last}).to_s",
                    "or(#{target.name}.none).count.to_s", "find_by(#{condition(target)})&.#{leaf(target)}.to_s", "unscope(:order).average(:#{target.key.last}).to_s", "minimum(:#{column}).to_s", "index_by(&:#{target.key.last}).keys.inspect"])
        next if way.start_with?("or(") # an association's scope makes these incompatible

        t.field("worked_#{int(1..9999)}", "String", body: "#{text}.#{way}")
      end
    end
  end

  feature "association that is loaded, then counted", 1 do
    field do |t, m|
      found = pick(m.associations.select { |it| it.many && it.target }) or next
      t.field("counted_#{int(1..999)}", "String", body: ["first = object.#{found.name}.#{pick(%w[size to_a.size count length load.size])}", "second = object.#{found.name}.#{pick(%w[size to_a.size count length empty? any?])}", "\"\#{first} \#{second}\""])
    end
  end

  feature "non-null association", 1.2, only: :interpreter do
    field do |t, m|
      found = pick(m.associations.select(&:target)) or next
      type = found.target.type.ruby
      next t.field("must_#{found.name}", "[#{type}]", options: ", null: false, method: :#{found.name}", target: found.target.type, list: true) if found.many

      t.field("must_#{found.name}", type, options: ", null: false, method: :#{found.name}", target: found.target.type, fragile: true)
    end
  end

  feature "list with null items", 0.6 do
    field do |t, m|
      many(m) { |text, target| t.field("holes_#{int(1..99)}", "[#{target.type.ruby}, { null: true }]", body: "#{text}.map { |it| it if #{boolean(target, "it", 0)} }", target: target.type, list: true) }
    end
  end

  feature "argument with a default", 1 do
    field do |t, m|
      given = [Argument.new(name: "length", type: "Integer", samples: [1, 3], required: false)]
      name = "defaulted_#{int(1..999)}"
      next if t.field?(name)

      way = pick([", default_value: 2", ", default_value: 2, replace_null_with_default: true", ", prepare: ->(value, _) { value && value + 1 }", ", validates: { numericality: { less_than: 3 } }", ", as: :long"])
      t.line("field :#{name}, String do\n  argument :length, Integer, required: false#{way}\nend\ndef #{name}(#{way.include?("as:") ? "long" : "length"}: 4) = #{string(m)}.to_s[0, #{way.include?("as:") ? "long" : "length"} || 5]")
      t.fields << Type::Field.new(name: name, arguments: given, feature: Fuzz.feature_now, fragile: true)
    end
  end

  feature "input object", 0.7 do
    field do |t, m|
      relation(m) do |text, target|
        name = "#{m.name}Filter#{int(1..999)}"
        column = pick(target.of(:integer)&.map(&:name) || []) || target.key.last
        world.sections[:declared] << "class Types::#{name} < GraphQL::Schema::InputObject\n  argument :least, Integer, required: false\n  argument :most, Integer, required: false, default_value: 9\nend"
        given = [Argument.new(name: "filter", type: "Types::#{name}", samples: [{ least: 1 }, { most: 3 }, { least: 2, most: 5 }], required: true)]
        t.field("filtered_#{int(1..999)}", "[#{target.type.ruby}]", body: "#{text}.where(#{column}: (filter[:least] || 0)..filter[:most])", target: target.type, list: true, arguments: given)
      end
    end
  end

  feature "list of ids as argument", 0.7 do
    field do |t, m|
      relation(m) do |text, target|
        next if target.composite?

        given = [Argument.new(name: "ids", type: "[ID]", samples: [%w[1 2], [], %w[3], %w[1 2 3 4]], required: true)]
        t.field("among_#{int(1..999)}", "[#{target.type.ruby}]", body: "#{text}.where(id: ids)", target: target.type, list: true, arguments: given)
      end
    end
  end

  feature "Current assigned by a field", 0.4, known: "docs/internals.md: assignments that come too late" do
    field { |t, _| world.options[:current] && !world.next? && !world.options[:dataloader] && t.field("switched_#{int(1..99)}", "Integer", body: "Current.viewer = #{int(1..3)}") }
  end

  feature "mutation that assigns Current", 0.4 do
    mutation do |t|
      next unless world.options[:current]

      m = pick(models)
      given = [Argument.new(name: "tenant", type: "Integer", samples: [1, 2], required: true)]
      t.field("enter_tenant", "[#{m.type.ruby}]", body: ["Current.tenant = tenant", ("I18n.locale = :de" unless world.options[:dataloader]), "::#{m.name}.order(#{m.order})"].compact, target: m.type, list: true, arguments: given)
    end
  end

  feature "mutation that writes associations", 0.5 do
    mutation do |t|
      m = pick(models.reject(&:composite?)) or next
      found = pick(m.associations.select { |it| it.key && it.target && !it.target.composite? && it.key != "subject_id" && it.key != "entryable_id" }) or next
      given = [Argument.new(name: "id", type: "Integer", samples: [1, 2, 99], required: true), Argument.new(name: "other", type: "Integer", samples: [1, 2, 3], required: true)]
      way = pick(["record&.update!(#{found.key}: other)", "record&.update!(#{found.name}: ::#{found.target.name}.find_by(id: other))", "record&.#{found.name}\nrecord&.update_columns(#{found.key}: other)"])
      t.field("move_#{m.name.underscore}", m.type.ruby, body: ["record = ::#{m.name}.order(:id).find_by(id: id)", *way.lines(chomp: true), "record"], target: m.type, arguments: given)
    end
  end

  feature "bulk write", 0.3 do
    mutation do |t|
      m = pick(writable) or next
      column = m.of(:string).find { |it| it.samples.nil? }.name
      t.field("bulk_#{m.table}", "[#{m.type.ruby}]", body: ["::#{m.name}.order(:id).limit(2).each { |it| it.update!(#{column}: \"bulk \#{it.id}\") }", "::#{m.name}.where(#{condition(m)}).update_all(#{column}: \"all\")", "::#{m.name}.order(:id)"], target: m.type, list: true)
    end
  end

  feature "connection at the root with a custom size", 0.4 do
    root do |query|
      m = pick(models)
      query.field("sized_#{m.table}", "#{m.type.ruby}.connection_type", options: pick([", max_page_size: 2", ", default_page_size: 1", ", max_page_size: nil", ", connection: true, scope: false"]), body: "::#{m.name}.order(#{m.order})#{pick(["", ".limit(3)", ".to_a", ".includes(#{(one = pick(m.associations.select(&:target))) ? ":#{one.name}" : ""})", ".offset(1)"])}", target: m.type, connection: true)
    end
  end

  feature "scoped context", 0.5, only: :interpreter do
    field do |t, m|
      one, = single(m)
      t.field("noted_#{int(1..99)}", one.last.type.ruby, body: ["context.scoped_set!(:viewer, #{int(4..9)})", one.first], target: one.last.type) if one
    end
  end

  feature "instance variable of the type", 0.5 do
    field do |t, m|
      name = "held_#{int(1..99)}"
      next if t.field?(name) || t.field?("#{name}_again")

      t.line("def #{name}_value = @#{name} ||= #{string(m)}")
      t.field(name, "String", body: "#{name}_value")
      t.field("#{name}_again", "String", body: "\"\#{#{name}_value} again\"")
    end
  end

  feature "changes its record", 0.3 do
    field do |t, m|
      columns = m.of(:string).select { |it| it.samples.nil? }
      t.field("touched_#{int(1..99)}", "String", body: ["copy = object.dup", "copy.#{pick(columns).name} = \"changed\"", "copy.changed.sort.inspect"]) if columns.any?
    end
  end

  feature "attributes of the record", 1 do
    field do |t, m|
      t.field("known_#{int(1..99)}", "String", body: pick(["object.attributes.except(\"id\").values.map(&:to_s).join(\",\")", "object.attribute_names.sort.join(\",\")", "object.as_json.to_s", "object.changed?.to_s", "object[:#{m.key.first}].to_s",
                                                           "object.read_attribute(:#{m.key.first}).to_s", "object.has_attribute?(:#{leaf(m)}).to_s", "object.persisted?.to_s", "object.readonly?.to_s", "object.inspect.size.to_s", "object.cache_key", "object.slice(:#{leaf(m)}).to_s", "object.to_param.to_s", "(object == #{m.name}.order(#{m.order}).first).to_s", "object.#{pick(m.of(:string, :integer)).name}_before_type_cast.to_s"]))
    end
  end
end
