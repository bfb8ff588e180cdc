# frozen_string_literal: true

module Fuzz
  # Every means by which a model says something else than its row.

  own = ->(m) { m.of(:string).reject { |it| it.samples || it.name == "secret" }.first&.name }

  feature "reader by def", 0.15 do
    model { |m| (name = instance_exec(m, &own)) && m.line("def #{name} = #{pick(["\"\#{super}!\"", "super&.upcase", "self[:#{name}]&.reverse", "read_attribute(:#{name}).to_s + score.to_s"].reject { |it| it.include?("score") && !m.column?(:score) })}") }
  end

  feature "reader by define_method", 0.08 do
    model { |m| (name = instance_exec(m, &own)) && m.line("define_method(:#{name}) { super()&.reverse }") }
  end

  feature "reader by prepend", 0.08 do
    model { |m| (name = instance_exec(m, &own)) && m.line("prepend(Module.new { def #{name} = \"p\#{super}\" })") }
  end

  feature "reader by an included module", 0.08 do
    model { |m| (name = instance_exec(m, &own)) && m.line("include(Module.new { def #{name} = \"i\#{super}\" })") }
  end

  feature "reader of a singleton", 0.06 do
    model { |m| (name = instance_exec(m, &own)) && m.line("after_initialize { define_singleton_method(:#{name}) { \"s\#{super()}\" } if #{boolean(m, "self", 0)} }") }
  end

  feature "reader by method_missing", 0.08 do
    model do |m|
      name = instance_exec(m, &own) or next
      m.line("def method_missing(name, *rest) = name == :shouted ? \"\#{#{name}}!\" : super\ndef respond_to_missing?(name, all = false) = name == :shouted || super")
      m.reader("shouted", "String")
    end
  end

  # ActiveRecord's alias reads the column.
  feature "reader that only computes, beside an alias of its column", 0.15 do
    model do |m|
      name = instance_exec(m, &own) or next
      m.line("alias_attribute :raw_#{name}, :#{name}")
      m.line("def #{name} = #{pick(["raw_#{name}&.strip", "\"\#{raw_#{name}}!\"", "\"\#{id}\"", "raw_#{name}.presence || \"none\""])}")
      m.line("def whole_#{name} = \"\#{#{name}} (\#{raw_#{name}})\"")
      ["raw_#{name}", "whole_#{name}"].each { |reader| m.reader(reader, "String") }
    end
  end

  feature "column by the name of another one's method", 0.08 do
    model do |m|
      name = instance_exec(m, &own) or next
      reader = "#{name}#{pick(%w[_was _in_database _before_type_cast _change])}"
      m.column(reader, :string) && m.reader(reader, "String")
    end
  end

  feature "method that leads to itself", 0.05 do
    model do |m|
      found = m.associations.find { |it| !it.many && it.target == m } or next
      m.line("def topmost = #{found.name}&.topmost")
      m.reader("topmost", "String")
    end
  end

  feature "alias_attribute", 0.12 do
    model { |m| (name = instance_exec(m, &own)) && m.line("alias_attribute :heading, :#{name}") && m.reader("heading", "String") }
  end

  feature "alias of a method", 0.1 do
    model do |m|
      m.line("def worked_out = #{string(m, "self", 1).gsub(/context\[:viewer\]/, "1")}")
      m.line("alias_method :also_worked_out, :worked_out")
      m.reader("worked_out", "String")
      m.reader("also_worked_out", "String")
    end
  end

  feature "method of the model", 0.5 do
    model do |m|
      int(1..3).times do |number|
        kind = pick(%i[string integer boolean])
        m.line("def own_#{kind}_#{number} = #{public_send(kind, m, "self").gsub(/context\[:viewer\]/, "1")}")
        m.reader("own_#{kind}_#{number}", { string: "String", integer: "Integer", boolean: "Boolean" }.fetch(kind))
      end
      true
    end
  end

  feature "method that asks an association", 0.4 do
    model do |m|
      found = pick(m.associations.select { |it| it.many && it.target }) or next
      key = found.target.key.last
      m.line("def asked_number = #{pick(["#{found.name}.count", "#{found.name}.where(#{key}: 1..).count + 1", "#{found.name}.any? ? #{found.name}.size : 0", "#{found.name}.map(&:#{key}).size"])}")
      m.reader("asked_number", "Integer")
    end
  end

  feature "delegate", 0.2 do
    model do |m|
      found = pick(m.associations.reject { |it| it.many || it.target.nil? }) or next
      name = leaf(found.target)
      next unless found.target.of(:string).any? { |it| it.name == name }

      m.line("delegate :#{name}, to: :#{found.name}, prefix: :their, allow_nil: true")
      m.reader("their_#{name}", "String")
    end
  end

  feature "custom type", 0.15 do
    model do |m|
      name = instance_exec(m, &own) or next
      unless world.options[:shouting]
        world.options[:shouting] = true
        world.sections[:head] << "class Shouting < ActiveRecord::Type::String\n  def deserialize(value) = super&.upcase\n  def serialize(value) = super&.downcase\nend"
      end
      m.line(pick(["attribute :#{name}, Shouting.new", "decorate_attributes([:#{name}]) { |_, _| Shouting.new }"]))
    end
  end

  feature "attribute default and virtual attribute", 0.12 do
    model { |m| m.line("attribute :virtual, :integer, default: -> { 7 }") && m.reader("virtual", "Integer") }
  end

  feature "normalizes", 0.1 do
    model { |m| (name = instance_exec(m, &own)) && m.line("normalizes :#{name}, with: ->(value) { value.strip }") }
  end

  feature "enum", 0.25 do
    model do |m|
      next if m.base

      if chance(0.5)
        m.column(:kind, :string, samples: %w[low high]) && m.line("enum :kind, { low: \"low\", high: \"high\" }") && m.reader("low?", "Boolean, method: :low?".then { |it| it })
      else
        m.column(:state, :integer, samples: [0, 1, 2]) && m.line("enum :state, { open: 0, closed: 1, lost: 2 }, prefix: true")
      end
      m.extra_readers.reject! { |name, _| name.end_with?("?") }
      true
    end
  end

  feature "store_accessor", 0.2 do
    model do |m|
      settings = m.columns.find { |it| it.name == "settings" } or next
      settings.null = false
      m.line("store_accessor :settings, :color, :size")
      m.reader("color", "String")
    end
  end

  # Its reader turns the record's null into an empty Hash.
  feature "store_accessor of a null", 0.1, known: "docs/internals.md: a field that changes its record in memory" do
    model do |m|
      m.column(:options, :jsonb, samples: [nil]) && m.line("store_accessor :options, :tint") && m.reader("tint", "String")
    end
  end

  feature "serialize", 0.12 do
    model { |m| !m.base && m.column(:packed, :text, samples: ["[1,2]", "{\"a\":1}", nil]) && m.line("serialize :packed, coder: JSON") && m.columns.last.kind = :jsonb }
  end

  feature "encrypts", 0.12 do
    model do |m|
      next if m.base || !m.column(:secret, :string, samples: [-> { "enc(\"hidden\")" }, -> { "enc(\"Ünï\")" }, -> { "\"plain\"" }])

      m.line("encrypts :secret")
    end
  end

  feature "array column", 0.1 do
    model { |m| !m.base && m.column(:words, :string, options: ", array: true", samples: [-> { "\"{a,b}\"" }, -> { "\"{}\"" }]) && (m.columns.last.kind = :jsonb) }
  end

  feature "after_initialize", 0.25 do
    model do |m|
      name = instance_exec(m, &own) or next
      m.line(pick(["after_initialize { self.#{name} ||= \"unset\" if has_attribute?(:#{name}) }", "after_find { @found = true }", "after_find { self.#{name} = \"found\" if #{name}.nil? }",
                   "after_initialize { self.#{name} ||= \"unset\" }", "after_initialize { |it| it.#{name} = \"new\" if it.new_record? }", "after_initialize { #{name}.strip }",
                   "after_initialize :begin_it, unless: :#{name}\ndef begin_it = self.#{name} = \"begun\"", "after_find :find_it\ndef find_it\nreturn if new_record? || #{boolean(m, "self", 0)}\nself.#{name} = \"found\"\nend",
                   "after_initialize(if: -> { #{boolean(m, "self", 0)} && #{name}.blank? }) { self.#{name} = \"blank\" }", "after_initialize { self.#{name} = \"long\" if #{name}.to_s.size > #{int(0..40)} }"]))
    end
  end

  feature "model asks Current", 0.3 do
    model { |m| world.options[:current] && m.line("def for_now = \"\#{Current.viewer} \#{I18n.locale} \#{#{string(m, "self", 0)}}\"") && m.reader("for_now", "String") }
  end

  feature "ignored column", 0.08 do
    model { |m| m.table_node && m.table_node << "t.string :ignored" and m.line("self.ignored_columns += %w[ignored]") }
  end

  feature "memo in the model", 0.15 do
    model { |m| m.line("def remembered = @remembered ||= #{integer(m, "self", 1).gsub(/context\[:viewer\]/, "1")}") && m.reader("remembered", "Integer") }
  end
end
