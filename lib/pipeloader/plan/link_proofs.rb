# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: how a plan follows an association, or why it can't.
  module LinkProofs
    private

    # @param chain [Chain, nil] what is called of the association
    # @return [#call, String]
    def link(type, field, reflection, chain = nil)
      many = chain ? !chain.single? : reflection.collection?
      reason = objection_to_link(field, reflection, many)
      return of_field(type, field, reason) if reason

      item, model = field.type.unwrap, reflection.klass
      lookups = {}.compare_by_identity
      lambda do |nodes|
        plan = plan_below(item, nodes, model)
        next plan if plan.is_a?(String)

        given = given(field, nodes, chain) if chain
        lookup = (lookups[plan.projection] unless given)
        lookup ||= chain ? ChainLookup.new(reflection, plan.projection, chain, given) : Lookup.of(reflection, plan.projection)
        lookups[plan.projection] = lookup
        linked(type, field, reflection, lookup, plan)
      end
    end

    # @yieldreturn [Link] of a key, its owners' columns, and the place of their key among these
    def linked(type, field, reflection, lookup, plan, &made)
      reason = objection_to_inverse(reflection, plan)
      reason ||= "the scope of `#{reflection.name}` leaves no columns out" unless narrows?(lookup)
      reason ||= objection_to_preloads(reflection, lookup, plan)
      return of_field(type, field, reason) if reason

      plain = PlainField.of(type, field)
      nullable = !field.type.non_null? && !lookup.finds?
      made ||= ->(key, _, index) { Link.new(key, plain, reflection, lookup, index, plan, nullable: nullable) }
      entry = ->(key, columns) { made.call(key, columns, lookup.owners_key.index(columns)) }
      lookups = [lookup, *Link.of_owners(reflection, plan.links).grep(Link).map(&:lookup)]
      Selection::Part.new(lookup.owners_key.columns, entry, nil, plan.asks?).asking(lookup.contexts).following(lookups)
    end

    def objection_to_link(field, reflection, many)
      item = TypeWrappers.item(field.type)
      return "#{item.to_type_signature} is a leaf" unless item.kind.composite?

      objection_to_association(field, reflection, many)
    end

    # Why it isn't the association's records that a field gives.
    def objection_to_association(field, reflection, many = reflection.collection?)
      objection_to_record(field, reflection, many) || Lookup.objection(reflection)
    end

    def objection_to_record(field, reflection, many)
      returned = TypeWrappers.nullable(field.type)
      item = TypeWrappers.item(field.type)
      return "it is a connection" if field.connection?
      return "#{item.to_type_signature} is a leaf" unless item.kind.composite?
      return "`#{reflection.name}` isn't what #{returned.to_type_signature} says" unless many == returned.list?

      "#{reflection.active_record.name} isn't in PostgreSQL" unless postgresql?(reflection.active_record)
    end

    # Why its resolver method, or an association, doesn't say all about what a field gives.
    def objection_to_scope(plain) = ("`scope_items` of #{plain.field.type.unwrap.graphql_name}" unless plain.unscoped?)

    # What is in memory then is something else.
    def objection_to_preloads(reflection, lookup, plan)
      return unless Link.scope_preloads_otherwise?(lookup, plan)

      "what the scope of `#{reflection.name}` preloads is asked for its first or last, or goes by way of another association"
    end

    def narrows?(lookup)
      lookup.narrows?
    rescue StandardError => e # its scope's
      raise unless DoesNotFit.verdict(e) { lookup.narrows? }.is_a?(DoesNotFit)
    end

    # An owner that is known is read again by what tells it, and has to be the same row then.
    def objection_to_inverse(reflection, plan)
      return if Link.back(reflection, plan.links).none?

      inverse, owner = PlainModel.inverse(reflection), reflection.active_record
      same = inverse.belongs_to? && !inverse.polymorphic? && !inverse.has_scope? && inverse.klass.equal?(owner) &&
             inverse.foreign_key == reflection.foreign_key && inverse.join_primary_key == reflection.join_foreign_key &&
             owner.default_scopes.empty? && !owner.respond_to?(:default_scope) &&
             (Array(owner.primary_key) - Array(reflection.join_foreign_key)).empty?
      "`#{inverse.name}` may be another #{owner.name} than `#{reflection.name}` came from" unless same
    end
  end
end
