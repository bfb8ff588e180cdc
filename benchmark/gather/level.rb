# frozen_string_literal: true

module Gather
  # What a person does by hand with load_async. One level of a tree: the reads of all its associations are begun, to go on beside
  # each other, and only then each is waited for and put where naive code looks for it.
  module Level
    # @param wanted [Array<Array>] records, and the names of their associations
    def self.load(*wanted)
      wanted.flat_map { |owners, *names| names.map { |name| [owners, name, read(owners, name).load_async] } }
            .each { |owners, name, found| assign(owners, name, found) }
    end

    def self.read(owners, name)
      association = owners.first.class.reflect_on_association(name)
      key = association.foreign_key
      return association.klass.where(id: owners.filter_map { |owner| owner[key] }.uniq) if association.belongs_to?
      association.klass.where(key => owners.map(&:id)).order(:id)
    end

    def self.assign(owners, name, found)
      association = owners.first.class.reflect_on_association(name)
      key = association.foreign_key
      belongs = association.belongs_to?
      there = belongs ? found.index_by(&:id) : found.group_by { |record| record[key] }
      owners.each { |owner| owner.association(name).target = belongs ? there[owner[key]] : there.fetch(owner.id, []) }
    end

    private_class_method :read, :assign
  end
end
