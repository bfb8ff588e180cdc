# frozen_string_literal: true

module Pipeloader
  # Every type of a schema with fields or members, and which object types an interface or a union may stand for, whether or not
  # anyone sees them. Where a schema has visibility profiles, graphql-ruby's `types` and `possible_types` leave out what nobody in
  # particular sees, or raise.
  class AllTypes
    include Enumerable

    # @param schema [Class] whose types are visited once
    def initialize(schema)
      @schema = schema
      @profiles = schema.use_visibility_profile?
      @types = @profiles ? visited : reached
      @members = {}.compare_by_identity
    end

    def each(&) = @types.each(&)

    # @param type [Class, Module] an interface or a union
    # @return [Array<Class>] object types
    def members(type) = @members[type] ||= (@profiles ? members_of(type) : @schema.possible_types(type))

    private

    # As graphql-ruby visits them for its profiles: names in place of types are resolved.
    def visited
      found = []
      GraphQL::Schema::Visibility::Visit.new(@schema) do |member|
        found << member if type?(member) && member.kind.composite? && !member.introspection?
        true # so that what is below is visited, too
      end.visit_each
      found
    end

    # An application's fields may have a `kind`, too.
    def type?(member) = member.is_a?(Module) && member.respond_to?(:kind)

    def reached
      found = {}.compare_by_identity
      ahead = [@schema.query, @schema.mutation, @schema.subscription, *@schema.orphan_types].compact
      while (type = ahead.pop)
        next if found[type] || !type.kind.composite?

        found[type] = true
        ahead.concat(@schema.possible_types(type)) if type.kind.abstract?
        ahead.concat(type.all_field_definitions.map { |field| field.type.unwrap }) if type.kind.fields?
      end
      found.keys
    end

    def members_of(type) = type.kind.union? ? type.all_possible_types.uniq : implementing(type)

    def implementing(interface)
      objects = @types.select { |type| type.kind.object? }
      objects.select { |type| type.interface_type_memberships.any? { |it| of?(it, interface) } }
    end

    # A superclass that has named its interface by a String keeps the String.
    def of?(membership, interface) = membership.respond_to?(:abstract_type) && membership.abstract_type.equal?(interface)
  end
end
