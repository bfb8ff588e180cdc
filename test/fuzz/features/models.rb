# frozen_string_literal: true

module Fuzz
  # Scopes, inheritance, keys and associations.

  feature "Current", 0.45 do
    world do
      world.sections[:head] << "class Current < ActiveSupport::CurrentAttributes\n  attribute :viewer, :tenant\nend"
      world.options[:current] = -> { { viewer: int(1..3), tenant: int(1..2) } }
    end
  end

  feature "default scope on Current", 0.3 do
    model do |m|
      next unless world.options[:current] && !m.base

      m.column(:tenant, :integer, samples: [1, 1, 1, 2])
      m.line("default_scope { where(tenant: Current.tenant) }")
    end
  end

  feature "soft deletion", 0.3 do
    model do |m|
      next if m.base || !m.column(:deleted_at, :datetime, samples: [nil, nil, nil, "2024-01-01 00:00:00"])

      m.line("default_scope { where(deleted_at: nil) }")
      m.line("scope :deleted, -> { unscope(where: :deleted_at).where.not(deleted_at: nil) }") && m.scopes << "deleted" if chance(0.5)
      true
    end
  end

  feature "default scope with order", 0.1 do
    model { |m| m.line("default_scope { order(#{m.order_by(plain_column(m), :desc)}) }") unless m.base }
  end

  feature "scopes", 0.6 do
    model do |m|
      m.line("scope :chosen, -> { where(#{condition(m)}) }")
      m.line("scope :at_least, ->(number = 1) { where(#{m.key.last}: number..) }")
      m.line("def self.by_class_method = where(#{condition(m)})")
      m.scopes.push("chosen", "at_least(#{int(1..4)})", "at_least", "by_class_method")
    end
  end

  feature "single-table inheritance", 0.25 do
    relate do
      base = pick(models.reject(&:base))
      heirs = ["Special#{base.name}", "Plain#{base.name}"]
      base.column(:type, :string, samples: [*heirs, *heirs, nil])
      heirs.each do |name|
        heir = Node.new("class #{name} < #{base.name}", "end")
        heir << "def #{base.of(:string).first.name} = \"#{name[0]}\#{super}\"" if chance(0.4) && base.of(:string).any?
        heir << "default_scope { where(#{condition(base)}) }" if chance(0.2)
        world.sections[:models] << heir
      end
    end
  end

  feature "polymorphic association", 0.4 do
    relate do
      m = pick(models.reject(&:base))
      targets = sample(models.reject { |it| it.composite? || it.column?(:type) }, 3)
      next if targets.empty?

      m.column(:subject_type, :string, samples: [*targets.map(&:name), nil])
      m.column(:subject_id, :bigint, samples: [1, 2, 3, 4, nil])
      m.line("belongs_to :subject, polymorphic: true, optional: true")
      m.associations << Association.new(name: "subject", target: nil, many: false, chains: false, key: "subject_id")
      (world.options[:polymorphic] ||= []) << [m, targets]
      targets.each do |target|
        name = "#{m.table}_about"
        target.associate(name, m, "has_many :#{name}, -> { order(:id) }, as: :subject, class_name: #{m.name.inspect}", many: true) if chance(0.6)
      end
    end
  end

  feature "delegated type", 0.15 do
    relate do
      m = pick(models.reject(&:base))
      targets = sample(models.reject { |it| it.composite? || it.column?(:type) || it == m }, 2)
      next if targets.size < 2 || m.column?(:entryable_id)

      m.column(:entryable_type, :string, samples: targets.map(&:name))
      m.column(:entryable_id, :bigint, samples: [1, 2, 3])
      m.line("delegated_type :entryable, types: #{targets.map(&:name).inspect}, optional: true")
      m.associations << Association.new(name: "entryable", target: nil, many: false, chains: false, key: "entryable_id")
      targets.each { |it| m.associations << Association.new(name: it.name.underscore, target: it, many: false, chains: false) unless m.column?("#{it.name.underscore}_id") || m.associations.any? { |known| known.name == it.name.underscore } }
      (world.options[:polymorphic] ||= []) << [m, targets, "entryable"]
    end
  end

  feature "has_and_belongs_to_many", 0.35 do
    relate do
      one, other = sample(models.reject { |it| it.composite? || it.base }, 2)
      next unless other

      table = [one.table, other.table].sort.join("_with_")
      keys = [one, other].map { |it| "#{it.name.underscore}_id" }
      (world.options[:join_tables] ||= []) << "create_table(:#{table}, id: false, force: true) { |t| #{keys.map { |it| "t.bigint :#{it}" }.join("; ")} }"
      one.associate("linked_#{other.table}", other, "has_and_belongs_to_many :linked_#{other.table}, -> { order(:id) }, class_name: #{other.name.inspect}, join_table: :#{table}, foreign_key: :#{keys[0]}, association_foreign_key: :#{keys[1]}", many: true)
      other.associate("linked_#{one.table}", one, "has_and_belongs_to_many :linked_#{one.table}, -> { order(:id) }, class_name: #{one.name.inspect}, join_table: :#{table}, foreign_key: :#{keys[1]}, association_foreign_key: :#{keys[0]}", many: true) if chance(0.5)
      rows = Array.new(int(0..8)) { "row :#{table}, #{keys[0]}: #{int(1..4)}, #{keys[1]}: #{int(1..4)}" }
      world.options[:join_rows] = world.options[:join_rows].to_a + rows.uniq
    end
  end

  feature "through", 0.5 do
    relate do
      int(1..3).times do
        m = pick(models)
        way = pick(m.associations.select { |it| it.target && it.name !~ /\A(subject|entryable)/ })
        further = way && pick(way.target.associations.select { |it| it.target && !it.key.to_s.start_with?("entryable") })
        next if further.nil?

        name = "#{further.name}_by_#{way.name}"
        order = "order(#{further.target.order})"
        if way.many || further.many
          m.associate(name, further.target, "has_many :#{name}, -> { distinct.#{order} }, through: :#{way.name}, source: :#{further.name}", many: true, through: true) if chance(0.4) && !further.through && !way.through
          m.associate(name, further.target, "has_many :#{name}, -> { #{order} }, through: :#{way.name}, source: :#{further.name}", many: true, through: true)
        else
          m.associate(name, further.target, "has_one :#{name}, through: :#{way.name}, source: :#{further.name}", through: true)
        end
      end
      true
    end
  end

  feature "composite key", 0.2 do
    relate do
      shelf = Model.new(world, "Shelf", "shelves", dice)
      shelf.instance_variable_set(:@table_node, Node.new("create_table(:shelves, primary_key: %i[hall number], force: true) do |t|", "end"))
      shelf.key = %w[hall number]
      shelf.column(:hall, :integer, null: false)
      shelf.column(:number, :integer, null: false)
      shelf.column(:label, :string)
      shelf.line("self.primary_key = %i[hall number]")
      owner = pick(models)
      owner.column(:shelf_hall, :integer, samples: [1, 2, 3])
      owner.column(:shelf_number, :integer, samples: [1, 2])
      owner.associate("shelf", shelf, "belongs_to :shelf, foreign_key: %i[shelf_hall shelf_number], optional: true")
      shelf.associate(owner.table, owner, "has_many :#{owner.table}, -> { order(:id) }, foreign_key: %i[shelf_hall shelf_number]", many: true)
      models << shelf
      world.sections[:models] << shelf.node
    end
  end

  feature "scope that takes its owner", 0.15 do
    model do |m|
      found = m.associations.find { |it| it.many && it.chains && it.key.nil? && it.name == it.target&.table && it.target.column?("#{m.name.underscore}_id") }
      next unless found

      m.associate("own_#{found.name}", found.target, "has_many :own_#{found.name}, ->(owner) { where(#{found.target.key.last}: owner.id..).order(:id) }, class_name: #{found.target.name.inspect}, foreign_key: :#{m.name.underscore}_id", many: true)
    end
  end

  feature "second association of one key", 0.3 do
    model do |m|
      found = m.associations.find { |it| it.many && it.target&.column?("#{m.name.underscore}_id") && !it.target.composite? }
      next unless found

      target = found.target
      name = pick(%w[best last_ones limited extended]) + "_#{target.table}"
      scope = { "best" => "-> { where(#{condition(target)}).order(:id) }", "last" => "-> { order(id: :desc) }", "limited" => "-> { order(:id).limit(2) }", "extended" => "-> { order(:id) }" }.fetch(name[/\A[a-z]+/])
      extension = " do\n  def at_hand = where(#{condition(target)}).to_a\nend" if name.start_with?("extended")
      m.associate(name, target, "has_many :#{name}, #{scope}, class_name: #{target.name.inspect}, foreign_key: :#{m.name.underscore}_id#{extension}", many: true)
    end
  end

  # A preload's limit is one for all owners.
  feature "default scope that preloads a limited association", 0.08 do
    model do |m|
      found = m.associations.find { |it| it.many && it.target&.column?("#{m.name.underscore}_id") && !it.target.composite? } or next
      m.associate("few", found.target, "has_many :few, -> { order(id: :desc).limit(2) }, class_name: #{found.target.name.inspect}, foreign_key: :#{m.name.underscore}_id", many: true)
      m.line("default_scope { #{pick(%w[includes preload])}(:few) }")
    end
  end

  counter = lambda do |m, samples|
    found = m.associations.find { |it| it.many && it.name == it.target&.table && it.target.column?("#{m.name.underscore}_id") }
    next if found.nil? || m.base || !m.column("#{found.name}_count", :integer, null: false, options: ", default: 0", samples: samples)

    found.target.node.children.find { |it| it.head.to_s.start_with?("belongs_to :#{m.name.underscore},") }&.head&.<< ", counter_cache: :#{found.name}_count"
  end

  feature "counter cache", 0.15 do
    model { |m| counter.call(m, [1, 2]) }
  end

  # ActiveRecord takes it for an empty association, and says so in memory.
  feature "counter cache of 0 that is wrong", 0.1, known: "docs/internals.md: a field that changes its record in memory" do
    model { |m| counter.call(m, [0]) }
  end

  feature "association reader overridden", 0.15 do
    model do |m|
      found = pick(m.associations.select(&:target)) or next
      if found.many
        m.line("def #{found.name} = super.where(#{condition(found.target)})") if found.chains
      else
        m.line(pick(["def #{found.name} = super&.then { |it| #{boolean(found.target, "it", 0)} ? it : nil }", "def #{found.name} = super || #{found.target.name}.order(#{found.target.order}).first"]))
      end
    end
  end

  feature "strict loading", 0.03 do
    model { |m| m.line("self.strict_loading_by_default = true") unless m.base }
  end

  feature "inverse_of", 0.2 do
    model do |m|
      found = m.associations.find { |it| it.many && it.name == it.target&.table && it.target.column?("#{m.name.underscore}_id") } or next
      target = found.target
      m.associate("inverse_#{target.table}", target, "has_many :inverse_#{target.table}, -> { order(:id) }, class_name: #{target.name.inspect}, foreign_key: :#{m.name.underscore}_id, inverse_of: :#{m.name.underscore}", many: true)
    end
  end
end
