# frozen_string_literal: true

module Fuzz
  # Resolver methods of object types.

  GRAPHQL_OF = { string: "String", integer: "Integer", boolean: "Boolean" }.freeze

  feature "expression", 8 do
    field do |t, m|
      kind = pick(%i[string string integer boolean])
      t.field("said_#{int(1..9999)}", GRAPHQL_OF[kind], body: public_send(kind, m))
    end
  end

  feature "statements", 5 do
    field do |t, m|
      kind = pick(%i[string integer boolean])
      t.field("told_#{int(1..9999)}", GRAPHQL_OF[kind], body: statements(m, kind))
    end
  end

  feature "delegation to another name", 1 do
    field { |t, m| t.field("renamed", "String", body: "object.#{pick(m.of(:string)).name}") if m.of(:string).any? }
  end

  feature "method: option", 1 do
    field { |t, m| t.field("other", "String", options: ", method: :#{pick(m.of(:string)).name}") if m.of(:string).any? }
  end

  feature "resolver_method: option", 1 do
    field { |t, m| t.field("away", "String", options: ", resolver_method: :far_away", body: string(m), method: "far_away") }
  end

  feature "arguments", 3 do
    field do |t, m|
      given = [Argument.new(name: "length", type: "Integer", samples: [0, 2, 5])]
      t.field("cut_#{int(1..99)}", "String", body: "#{string(m, "object", 1)}.to_s[0, length || 3]", arguments: given)
    end
  end

  feature "chain with an argument", 3 do
    field do |t, m|
      relation(m) do |text, target|
        given = [Argument.new(name: "at_least", type: "Integer", samples: [1, 2, 3], required: pick([true, false, nil]))]
        t.field("ranked_#{int(1..99)}", "Integer", body: "#{text}.where(#{target.key.last}: at_least..).count", arguments: given)
      end
    end
  end

  feature "list by a chain", 4 do
    field do |t, m|
      relation(m) do |text, target|
        limit = ".limit(#{int(1..3)})" if chance(0.4)
        t.field("some_#{target.table}_#{int(1..99)}", "[#{target.type.ruby}]", body: "#{text}#{limit}#{pick(["", "", ".to_a", ".includes(#{pick(target.associations.select(&:target))&.name&.to_sym.inspect})"].reject { |it| it.include?("nil") })}", target: target.type, list: true)
      end
    end
  end

  # What belongs to the record, asked of its model.
  feature "model asked by the record", 5 do
    field do |t, m|
      mine = models.flat_map { |it| it.associations.select { |one| one.key && one.target.equal?(m) }.map { |one| [it, one] } } unless m.composite?
      next if mine.blank?

      target, association = pick(mine)
      by = pick(["#{association.key}: object.id", "#{association.key}: object.id", "#{association.name}: object"])
      text = "::#{target.name}#{pick(["", "", ".joins(:#{association.name})"])}.where(#{by})#{narrowing(target)}"
      text = text.sub("where(#{by})", "where(#{m.table}: { id: object.id })") if text.include?(".joins") && chance(0.5)
      number = pick(target.of(:integer).map(&:name) + target.key)
      case int(0..6)
      when 0, 1 then t.field("numbered_#{int(1..999)}", "Integer", body: "#{text}.count#{pick(["", "", ".clamp(0, 2)"])}")
      when 2 then t.field("there_#{int(1..999)}", "GraphQL::Types::Boolean", body: "#{pick(["", "!"])}#{text}.#{pick(%w[exists? any? none?])}")
      when 3 then t.field("mean_#{int(1..999)}", "Float", body: "#{text}.#{pick(%w[average sum maximum])}(:#{number})#{pick(["", "&.round(1)", ".to_f"])}")
      when 4 then t.field("one_#{int(1..999)}", target.type.ruby, body: "#{text}.order(#{target.order}).#{pick(%w[first last])}", target: target.type)
      else t.field("those_#{int(1..999)}", "[#{target.type.ruby}]", body: "#{text}.order(#{target.order})#{pick(["", ".limit(2)"])}", target: target.type, list: true)
      end
    end
  end

  feature "model found by the record", 4 do
    field do |t, m|
      one = pick(m.associations.select { |it| it.key && it.target && !it.target.composite? && !it.many })
      next unless one

      found = "::#{one.target.name}.#{pick(["find_by(id: object.#{one.key})", "find(object.#{one.key})", "where(id: object.#{one.key}).first"])}"
      names = one.target.of(:string).map(&:name)
      next t.field("named_#{int(1..999)}", "String", body: "#{found}&.#{pick(names)}") if chance(0.4) && names.any?

      t.field("found_#{int(1..999)}", one.target.type.ruby, body: found, target: one.target.type)
    end
  end

  feature "list with a limit as argument", 2 do
    field do |t, m|
      relation(m) do |text, target|
        given = [Argument.new(name: "limit", type: "Integer", samples: [0, 1, 2], required: pick([true, false, nil]))]
        t.field("few_#{target.table}_#{int(1..99)}", "[#{target.type.ruby}]", body: "#{text}.limit(limit)", arguments: given, target: target.type, list: true)
      end
    end
  end

  feature "list by Ruby", 2 do
    field do |t, m|
      many(m) do |text, target|
        t.field("picked_#{target.table}_#{int(1..99)}", "[#{target.type.ruby}]",
                body: "#{text}.#{pick(["select { |it| #{boolean(target, "it", 0)} }", "sort_by { |it| -it.#{target.key.last} }", "reject { |it| #{boolean(target, "it", 1)} }", "first(2)", "to_a.reverse", "reverse"])}", target: target.type, list: true)
      end
    end
  end

  feature "one record", 4 do
    field do |t, m|
      one, = single(m)
      t.field("one_#{int(1..999)}", one.last.type.ruby, body: chance(0.3) ? ["found = #{one.first}", "found if #{boolean(m)}"] : one.first, target: one.last.type) if one
    end
  end

  feature "record of a record", 2 do
    field do |t, m|
      first, = single(m)
      second, = single(first.last, "it") if first
      t.field("next_#{int(1..999)}", second.last.type.ruby, body: "#{first.first}&.then { |it| #{second.first} }", target: second.last.type) if second
    end
  end

  feature "record through a record", 3 do
    field do |t, m|
      first, target = single(m)&.first
      next unless first && !first.match?(/\A[A-Z]/)

      second, found = single(target, "it")&.first
      list = false
      relation(target, "it") { |text, of| second, found, list = text, of, true } if second.nil? || chance(0.3)
      next unless second&.start_with?("it.")

      text = "#{first}#{pick(["&.", "&.", "."])}#{second.delete_prefix("it.")}"
      next t.field("counted_#{int(1..999)}", "Integer", body: "#{text}#{"&" if chance(0.5)}.count") if list && chance(0.3)

      t.field("through_#{int(1..999)}", list ? "[#{found.type.ruby}]" : found.type.ruby, body: text, target: found.type)
    end
  end

  feature "test of an associated record", 2 do
    field do |t, m|
      one, = single(m)&.first
      next unless one

      t.field("tested_#{int(1..999)}", "String", body: pick([
        "#{one} ? #{string(m)} : nil", "#{one}.present? ? \"there\" : #{string(m)}", "#{one}.nil?.to_s", "return \"none\" unless #{one}\n#{string(m)}"
      ]).split("\n"))
    end
  end

  feature "record through Hashes", 0.7 do
    field do |t, m|
      one, = single(m)
      t.field("kept_#{int(1..999)}", one.last.type.ruby, body: ["by_id = #{one.last.name}.order(#{one.last.order}).index_by(&:#{one.last.key.last})", "by_id[#{one.first}&.#{one.last.key.last}]"], target: one.last.type) if one
    end
  end

  feature "helper method of the type", 2 do
    field do |t, m|
      name = "helper_#{int(1..999)}"
      next if t.field?("helped_#{name}")

      t.line("def #{name} = #{string(m)}")
      t.field("helped_#{name}", "String", body: pick(["#{name}.to_s.upcase", name, "\"\#{#{name}} \#{#{integer(m, "object", 1)}}\""]))
    end
  end

  feature "helper method with arguments", 2 do
    field do |t, m|
      name = "shown_#{int(1..999)}"
      next if t.field?("given_to_#{name}")

      t.line("def #{name}(text, times) = #{pick(["text.to_s * times", "times > 1 ? \"<\#{text}>\" : \"\#{text} \#{object.#{m.key.last}}\"", "\"\#{text}\#{times}\".strip"])}")
      t.field("given_to_#{name}", "String", body: "#{name}(#{string(m, "object", 1)}, #{integer(m, "object", 1)}.to_i.abs % 3)")
    end
  end

  feature "module, or an object made for a call", 3 do
    field do |t, m|
      name = "Shown#{int(1..9999)}"
      next if t.field?("shown_by_#{name.downcase}")

      own = pick(["text.to_s * times", "[text, times].compact.join(\"-\")", "times > 1 ? \"<\#{text}>\" : marked(text, times)", "text.to_s.dup << times.to_s", "\"\#{text} \#{@times = times}\""])
      t.line("module #{name}\n  def self.of(text, times) = #{own}\n  def self.marked(text, mark) = \"\#{mark}\#{text}\"\nend")
      t.line("class #{name}Object\n  attr_reader :text\n  def self.to_s(text, times) = new(text, times).to_s\n  def initialize(text, times) = (@text, @times = text, times)\n  " \
             "def to_s = #{pick(["\"\#{text}\#{@times}\"", "[text, @times].inspect", "#{name}.of(@text, @times)", "@kept ||= text.to_s.upcase", "text.to_s << @times.to_s"])}\nend")
      given = "#{string(m, "object", 1)}, #{integer(m, "object", 1)}.to_i.abs % 3"
      t.field("shown_by_#{name.downcase}", "String", body: pick(["#{name}.of(#{given})", "#{name}Object.new(#{given}).to_s", "#{name}Object.to_s(#{given})", "#{name}.of(#{name}.of(#{given}), 1) + #{name}.marked(#{string(m, "object", 0)}, 2)",
                                                                 "ENV.fetch(\"PIPELOADER_NOWHERE\", \"none\") + CGI.escape(#{string(m, "object", 1)}.to_s)"]))
    end
  end

  feature "numbers of associations", 4 do
    field do |t, m|
      relation(m) do |first, target|
        second = relation(m) { |text, _| text } || first
        key = target.key.last
        t.field("sum_#{int(1..9999)}", "Integer", body: pick([
          "#{first}.count + #{second}.size", "#{first}.exists? ? #{second}.count : 0", "#{first}.none? && #{second}.none? ? 0 : 1", "#{integer(m, "object", 1)}.to_i - #{first}.count",
          "#{first}.map(&:#{key}).sum", "#{first}.map(&:#{leaf(target)}).compact.size + #{second}.count", "#{first}.sum(:#{key}) - (#{second}.maximum(:id) || 0)", "#{first}.ids.size",
          "#{first}.sum(&:#{key})", "#{first}.count(&:#{leaf(target)})", "#{first}.any?(&:#{leaf(target)}) ? #{second}.count : 0", "#{first}.filter_map(&:#{leaf(target)}).size",
          "#{first}.select { |it| #{boolean(target, "it", 0)} }.size + #{second}.count", "#{first}.find { |it| #{boolean(target, "it", 0)} }&.#{key}.to_s.size",
          "#{first}.sort_by { |it| [#{string(target, "it", 0)}.to_s, it.#{target.key.first}] }.first(2).sum { |it| #{integer(target, "it", 0)} }",
          "#{first}.max_by { |it| [#{integer(target, "it", 0)}, it.#{target.key.first}] }&.#{leaf(target)}.to_s.size", "#{first}.merge(#{target.name}.where(#{condition(target)})).count"
        ].reject { |it| it.include?(":id)") && second != first }))
      end
    end
  end

  feature "constant that is a literal", 1 do
    field do |t, m|
      name = "LABELS_#{int(1..9999)}"
      t.line("#{name} = #{pick(["{ 1 => \"one\", 2 => \"two\" }.freeze", "%w[a b c].freeze", "[1, [2]]", "{ 1 => Object.new }.freeze"])}")
      t.field("labeled_#{name.downcase}", "String", body: "#{name}[#{integer(m, "object", 0)}.to_i.abs % 3].to_s.sub(/0x\\h+/, \"\")")
    end
  end

  feature "service object", 2 do
    field do |t, m|
      name = "#{m.name}Service#{int(1..999)}"
      world.sections[:models] << "class #{name}\n  def initialize(object, context)\n    @object, @context = object, context\n  end\n  attr_reader :object, :context\n  def call\n    first = #{string(m, "object", 1)}\n    second = #{integer(m, "object")}\n    \"\#{first} \#{second}\"\n  end\nend"
      t.field("served_#{int(1..999)}", "String", body: "#{name}.new(object, context).call")
    end
  end

  feature "GraphQL::ExecutionError", 1.5 do
    field do |t, m|
      way = pick(["raise GraphQL::ExecutionError, \"no \#{object.#{leaf(m)}}\" if", "return GraphQL::ExecutionError.new(\"not \#{object.#{leaf(m)}}\") if"])
      t.field("failing_#{int(1..999)}", "String", body: ["#{way} #{boolean(m)}", string(m)], fragile: true)
    end
  end

  feature "rescue", 1 do
    field do |t, m|
      target = pick(models)
      key = target.composite? ? "[#{int(1..3)}, #{int(1..2)}]" : integer(m, "object", 1)
      t.field("saved_#{int(1..999)}", "String", body: ["found = #{target.name}.find(#{key})", "\"\#{found.#{leaf(target)}}\"", "rescue ActiveRecord::RecordNotFound => e", "\"missing \#{e.class}\""])
    end
  end

  feature "non-null that gets null", 1, only: :interpreter do
    field { |t, m| t.field("strict_#{int(1..999)}", "String", options: ", null: false", body: ["return nil if #{boolean(m)}", "#{string(m)}.to_s"], fragile: true) }
  end

  feature "number out of range", 0.4 do
    field { |t, m| t.field("huge_#{int(1..999)}", "Integer", body: "#{integer(m)} * 3_000", fragile: true) }
  end

  feature "context of the viewer", 2 do
    field { |t, m| t.field("seen_by_viewer_#{int(1..99)}", "String", body: "context[:viewer] == object.#{m.key.first} ? #{string(m)} : #{literal_string}") }
  end

  feature "Current read", 1.5 do
    field { |t, m| t.field("for_viewer_#{int(1..99)}", "String", body: "\"\#{Current.viewer} \#{#{string(m)}}\"") if world.options[:current] }
  end

  feature "Current set for a block", 1 do
    field do |t, m|
      next unless world.options[:current]

      t.field("as_other_#{int(1..99)}", "String", body: "Current.set(viewer: 9, tenant: #{int(1..2)}) { \"\#{Current.viewer} \#{#{string(m)}} \#{#{integer(m)}}\" }")
    end
  end

  feature "I18n and Time.zone for a block", 0.7 do
    field { |t, m| t.field("abroad_#{int(1..99)}", "String", body: "I18n.with_locale(:de) { Time.use_zone(\"Tokyo\") { \"\#{I18n.locale} \#{Time.zone.name} \#{#{string(m)}}\" } }") }
  end

  feature "scoping", 0.7 do
    field do |t, m|
      target = pick(models)
      t.field("scoped_#{int(1..99)}", "String", body: "#{target.name}.where(#{condition(target)}).scoping { \"\#{#{string(m)}} \#{#{target.name}.count}\" }")
    end
  end

  feature "unscoped", 0.5 do
    field { |t, m| t.field("all_#{int(1..99)}", "Integer", body: "#{pick(models).name}.unscoped { #{integer(m)} }") }
  end

  feature "raw SQL", 0.7 do
    field do |t, _|
      target = pick(models)
      t.field("raw_#{int(1..99)}", "String", body: pick(["ActiveRecord::Base.connection.select_value(\"SELECT count(*) FROM #{target.table}\").to_s", "#{target.name}.find_by_sql(\"SELECT * FROM #{target.table} ORDER BY 1, 2 LIMIT 1\").first&.#{leaf(target)}.to_s", "#{target.name}.connection.select_rows(\"SELECT 1, 'a'\").inspect"]))
    end
  end

  feature "group and aggregate", 0.8 do
    field do |t, m|
      relation(m) do |text, target|
        column = plain_column(target)
        t.field("grouped_#{int(1..99)}", "String", body: "#{text}.unscope(:order).group(:#{column}).count.sort_by(&:to_s).inspect")
      end
    end
  end

  feature "batches", 0.4 do
    field do |t, m|
      relation(m) { |text, target| t.field("each_#{int(1..99)}", "Integer", body: "#{text}.reorder(nil).find_each(batch_size: 2).sum { |it| it.#{target.key.last} }") unless target.composite? }
    end
  end

  feature "in a transaction", 0.6 do
    field { |t, m| t.field("safe_#{int(1..99)}", "String", body: "ActiveRecord::Base.transaction { \"\#{#{string(m)}} \#{#{integer(m)}}\" }") }
  end

  feature "reload and reset", 0.6 do
    field do |t, m|
      association = pick(m.associations.select(&:target)) or next
      t.field("again_#{int(1..99)}", "String", body: association.many ? ["object.#{association.name}.reset", "object.#{association.name}.map(&:#{leaf(association.target)}).join(\",\")"] : ["object.association(:#{association.name}).reset", "object.#{association.name}&.#{leaf(association.target)}.to_s"])
    end
  end

  feature "preloader", 0.5 do
    field do |t, m|
      association = pick(m.associations.select { |it| it.many && it.chains && it.target }) or next
      t.field("loaded_#{int(1..99)}", "Integer", body: ["ActiveRecord::Associations::Preloader.new(records: [object], associations: :#{association.name}).call", "object.#{association.name}.size"])
    end
  end

  # { comments: { commenter: :profile } } of a list's records
  feature "preloads of several levels", 0.5 do
    field do |t, m|
      association = pick(m.associations.select { |it| it.many && it.chains && it.target }) or next
      target = association.target
      names = nested_associations(target, int(1..2)) or next
      t.field("deep_#{association.name}_#{int(1..99)}", "[#{target.type.ruby}]", body: "object.#{association.name}.#{pick(%w[preload includes])}(#{names}).order(#{target.order})", target: target.type, list: true)
    end
  end

  feature "loaded?", 0.0 do
    field { |t, m| (found = m.associations.find(&:many)) && t.field("is_loaded_#{found.name}", "Boolean", body: "object.association(:#{found.name}).loaded?") }
  end

  feature "dataload_association", 1.5 do
    field do |t, m|
      association = pick(m.associations.select(&:target)) or next
      next unless world.options[:dataloader]

      t.field("loads_#{association.name}", association.many ? "[#{association.target.type.ruby}]" : association.target.type.ruby, body: "dataload_association(:#{association.name})", target: association.target.type, list: association.many)
    end
  end

  # Of an association that nothing else loads: graphql-ruby alone forgets the scope where a sibling has loaded it before.
  feature "dataload_association with a scope", 1.5, only: :interpreter do
    field do |t, m|
      association = pick(m.associations.select { |it| it.target && it.chains && it.many }) or next
      next unless world.options[:dataloader]

      name = "asked_#{association.name}_#{int(1..9999)}"
      reflection = "reflect_on_association(:#{association.name})"
      m.line("has_many :#{name}, #{reflection}.scope, class_name: #{association.target.name.inspect}, " \
             "**#{reflection}.options.except(:class_name, :inverse_of)")
      t.field("scoped_#{name}", "[#{association.target.type.ruby}]", body: "dataload_association(:#{name}, scope: #{association.target.name}.where(#{condition(association.target)}))", target: association.target.type, list: true)
    end
  end

  feature "dataload_record", 0.8 do
    field do |t, m|
      found = pick(m.associations.select { |it| it.key && it.target && it.key != "subject_id" && it.key != "entryable_id" }) or next
      next unless world.options[:dataloader]

      t.field("record_of_#{found.name}", found.target.type.ruby, body: "object.#{found.key} && dataload_record(::#{found.target.name}, object.#{found.key})", target: found.target.type)
    end
  end

  feature "custom source", 0.8 do
    field do |t, m|
      next unless world.options[:dataloader]

      target = pick(models.reject(&:composite?))
      name = "#{target.name}Source#{int(1..999)}"
      world.sections[:models] << "class #{name} < GraphQL::Dataloader::Source\n  def fetch(ids)\n    found = #{target.name}.where(id: ids).index_by(&:id)\n    ids.map { |id| found[id]#{pick(["", "&.tap { |it| it.#{leaf(target)} }"])} }\n  end\nend"
      t.field("sourced_#{int(1..99)}", target.type.ruby, body: "dataloader.with(#{name}).load(#{integer(m, "object", 1)})", target: target.type)
    end
  end

  feature "GraphQL::Batch", 0.2 do
    world do
      world.options[:batch] = !world.next?
    end
    field do |t, m|
      next unless world.options[:batch]

      target = pick(models.reject(&:composite?))
      name = "#{target.name}Loader#{int(1..999)}"
      world.sections[:models] << "class #{name} < GraphQL::Batch::Loader\n  def perform(ids)\n    found = #{target.name}.where(id: ids).index_by(&:id)\n    ids.each { |id| fulfill(id, found[id]) }\n  end\nend"
      t.field("batched_#{int(1..99)}", target.type.ruby, body: "#{name}.load(#{integer(m, "object", 1)})#{pick(["", ".then { |it| it&.tap { |found| found.#{leaf(target)} } }"])}", target: target.type)
    end
    schema { world.options[:batch] && world.options[:schema] << "use GraphQL::Batch" }
  end

  feature "lazy", 0.3 do
    world do
      world.options[:lazy] = true
      world.sections[:head] << "class Later\n  def initialize(&block) = @block = block\n  def value = @block.call\nend"
    end
    field do |t, m|
      next unless world.options[:lazy]

      one, = single(m)
      if one && chance(0.4) then t.field("later_#{int(1..99)}", one.last.type.ruby, body: "Later.new { #{one.first} }", target: one.last.type)
      else t.field("later_#{int(1..99)}", "String", body: pick(["Later.new { #{string(m)} }", "(early = #{string(m, "object", 1)}; Later.new { \"\#{early} \#{#{string(m)}}\" })"]))
      end
    end
    schema { world.options[:lazy] && world.options[:schema] << "lazy_resolve(Later, :value)" }
  end

  feature "enum type", 0.8 do
    field do |t, m|
      next unless m.column?(:kind) || m.of(:string).any?

      name = "#{m.name}Enum"
      world.sections[:declared] << "class Types::#{name} < GraphQL::Schema::Enum\n  value \"LOW\", value: \"low\"\n  value \"HIGH\", value: \"high\"\nend" unless t.field?("level_of")
      t.field("level_of", "Types::#{name}", body: pick(["#{boolean(m)} ? \"low\" : \"high\"", "object.#{m.column?(:kind) ? "kind" : m.of(:string).first.name}"]), fragile: true)
    end
  end

  feature "list of leaves", 1.5 do
    field { |t, m| many(m) { |text, target| t.field("names_#{int(1..99)}", "[String]", body: "#{text}.map { |it| #{string(target, "it", 1)} }") } }
  end

  feature "Hash of things", 1, only: :interpreter do
    field do |t, m|
      name = "#{m.name}Summary"
      unless t.field?("summary")
        world.sections[:declared] << "class Types::#{name} < Types::BaseObject\n  field :label, String\n  field :number, Integer\n  def number = object[:number].to_i + 1\nend"
      end
      summary = Type.new(name, Node.new(nil))
      summary.fields << Type::Field.new(name: "label", arguments: [], feature: "Hash of things") << Type::Field.new(name: "number", arguments: [], feature: "Hash of things")
      t.field("summary", "Types::#{name}", body: "{ label: #{string(m)}, number: #{integer(m)} }", target: summary)
    end
  end

  feature "Hash that a method makes", 1.5 do
    field do |t, m|
      next if t.field?("made")

      name = "#{m.name}Made"
      known = [%w[label String], %w[number Integer], %w[list [String]], %w[other String]]
      world.sections[:declared] << "class Types::#{name} < Types::BaseObject\n#{known.map { |it, type| "  field :#{it}, #{type}, hash_key: #{it.inspect}#{", null: false" if chance(0.05)}\n" }.join}end"
      made = Type.new(name, Node.new(nil))
      known.each { |it, _| made.fields << Type::Field.new(name: it, arguments: [], feature: "Hash that a method makes") }
      hash = "{ \"label\" => #{string(m)}, \"number\" => #{integer(m)}#{", \"list\" => [#{string(m)}]" if chance(0.4)} }"
      many = chance(0.3)
      t.field("made", many ? "[Types::#{name}]" : "Types::#{name}", body: many ? "[#{hash}, #{pick(["{ \"label\" => \"x\" }", hash])}]" : hash, target: made)
    end
  end

  feature "Hash without code", 1, only: :interpreter do
    field do |t, m|
      next if t.field?("facts") || t.field?("document")

      name = "#{m.name}Facts"
      known = [["color", "String"], ["size", "Integer"], ["list", "[Integer]"], ["label", "String"]]
      world.sections[:declared] << "class Types::#{name} < Types::BaseObject\n#{known.map { |it, type| "  field :#{it}, #{type}#{", null: false" if chance(0.05)}\n" }.join}end"
      facts = Type.new(name, Node.new(nil))
      known.each { |it, _| facts.fields << Type::Field.new(name: it, arguments: [], feature: "Hash without code") }
      t.field("facts", "Types::#{name}", body: "{ label: #{string(m)}, size: #{integer(m)}, #{pick(["color: nil", "\"color\" => \"x\"", "list: [1]"])} }", target: facts)
      t.field("document", "Types::#{name}", options: ", method: :settings", target: facts) if m.columns.any? { |it| it.name.to_s == "settings" }
    end
  end

  feature "list of Structs", 1 do
    field do |t, m|
      next if t.field?("structs")

      many(m) do |text, target|
        name = "#{m.name}Thing"
        world.sections[:models] << "#{name} = Struct.new(:label, :record)"
        world.sections[:declared] << "class Types::#{name} < Types::BaseObject\n  field :label, String\n  field :record, #{target.type.ruby}\nend"
        thing = Type.new(name, Node.new(nil))
        thing.fields << Type::Field.new(name: "label", arguments: [], feature: "list of Structs") << Type::Field.new(name: "record", target: target.type, arguments: [], feature: "list of Structs")
        t.field("structs", "[Types::#{name}]", body: "#{text}.map { |it| ::#{name}.new(#{string(target, "it", 1)}, it) }", target: thing, list: true)
      end
    end
  end
end
