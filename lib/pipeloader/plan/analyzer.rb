# frozen_string_literal: true

module Pipeloader
  # Analyzes a document, from one of its places down: which fields of each selection are plain, and why the others aren't.
  #
  # Each step returns what it has proved, or a String: the reason why graphql-ruby has to do the field.
  class Analyzer
    include Proofs, FieldProofs, LinkProofs, PassageProofs, ThingProofs, FamilyProofs, ReachProofs, QuestionProofs, QueriedProofs

    # Levels of fields that a plan may have: each takes a dozen frames of a fiber's stack, which ends at some 1,500.
    DEEP = 40
    COUNTED = "its counter cache says how many there are until it is loaded"
    PICKED = "the same selection takes the first or last record of an association, and reads all of it: order it by its key"
    private_constant :DEEP, :COUNTED, :PICKED

    # A Selection, and where it is: +selections+ of +type+ below the field +node+.
    Found = Struct.new(:type, :selections, :node, :selection)

    # @return [Array<Found>] all Selections below those that were asked for
    attr_reader :found

    # @param known [Hash] what has been proved so far
    #: (Operation, ?Hash[untyped, Hash[untyped, untyped]], ?Array[Found]) -> void
    def initialize(operation, known = {}.compare_by_identity, found = [])
      @operation = operation
      @known = known
      @found = found
    end

    # @param model [Class] of records, or of other things
    # @return [Selection]
    #: (Class, Array[GraphQL::Language::Nodes::AbstractNode], Class) -> Selection
    def selection(type, selections, model)
      return of_family(type, selections, model) if type.kind.abstract?
      return opaque(model, "#{type.to_type_signature} is no object type") unless type.kind.object?
      return of_things(type, selections, model) unless model < ActiveRecord::Base

      unreadable = Readable.objection_to_table(model)
      raise DoesNotFit, unreadable if unreadable # that may pass

      renew(model)
      ConnectionSelection.connection?(type) ? of_connection(type, selections, model) : of_records(type, selections, model)
    end

    # @param key [String, nil] as Preload's, and so +plain+
    # @return [Preload, nil] nil where ActiveRecord has to find each owner's records itself
    def preload(reflection, key = nil, plain = nil)
      return if Lookup.objection(reflection) || !postgresql?(reflection.active_record)
      return if objection(reflection.klass) || PlainModel.counted?(reflection)
      return if PlainModel.of(reflection.klass).objection # a callback could tell when a record is made

      preload = Preload.new(key, reflection, plain)
      # Records that are made here don't get what their scope preloads, and code may ask for that.
      preload if narrows?(preload.lookup) && preload.lookup.preloads&.none?
    end

    # @return [ActiveRecord::Reflection::AbstractReflection, nil] of the association that a field gives as it is, on both engines
    def association(type, field, model)
      plain = PlainField.of(type, field)
      reader = PlainModel.of(model).reader(plain.reader) unless plain.objection || objection_on_next(plain)
      reflection = PlainModel.of(model).reflection(reader.association) if reader&.association?
      reflection if reflection && plain.unscoped? && objection_to_association(field, reflection).nil?
    end

    private

    # Forgets what was proved if any model has changed since.
    def renew(model)
      PlainModel.of(model)
      return if @known[:stamp].equal?(Redefined.stamp)

      @known.clear
      @known[:stamp] = Redefined.stamp
    end

    # @return [Selection] of which nothing is done
    def opaque(model, reason) = Selection.new(@operation, model, {}, reason)

    def of_records(type, selections, model)
      selected = selected(type, selections)
      hidden = PlainType.objection_to_instances(type) || PlainModel.of(model).objection_to_readers
      return Selection.new(@operation, model, selected.transform_values { Selection::Opaque.new(hidden) }, hidden) if hidden

      fields = selected.to_h { |key, nodes| [key, field_of_records(key, type, nodes, model)] }
      fields.update(picked(fields))
      reason = fields.each_value.lazy.map(&:reason).find(&:itself)
      fields.update(counted(type, selected, fields, model)) if reason
      selection_of(type, selections, model, fields, once(:model, model) { objection(model) }, reason)
    end

    # The things themselves are the rows.
    def of_things(type, selections, model)
      fields = selected(type, selections).to_h { |key, nodes| [key, field_of_things(key, type, nodes, model)] }
      selection_of(type, selections, model, fields, nil, fields.each_value.lazy.map(&:reason).find(&:itself))
    end

    def of_connection(...) = ConnectionAnalyzer.new(@operation, @known, @found).analyze(...)

    # @param objection [String, nil] to records of the +model+
    # @param reason [String, nil] why a field isn't plain
    def selection_of(type, selections, model, fields, objection, reason)
      seen = once(:type, type) { PlainType.objection(type) }
      guarded = guarded(type, model) if seen
      reason = too_deep(selections) || (seen unless guarded) || objection || reason
      Selection.new(@operation, model, fields, reason, wraps: seen.nil?, guarded: guarded)
    end

    # The Selection below a field that brings records of +model+.
    #
    # @return [Plan, String] the reason, if there can be none
    def plan_below(type, nodes, model)
      known = once(:below, model) { {}.compare_by_identity }[type] ||= {}
      ids = nodes.map(&:__id__)
      plan = known[ids]
      return plan if plan.is_a?(String) || plan&.current?

      known[ids] = analyze_below(type, nodes, model)
    end

    def analyze_below(type, nodes, model)
      selections = below(nodes)
      deep = too_deep(selections)
      return deep if deep

      selection = selection(type, selections, model)
      @found << Found.new(type, selections, nodes.first, selection)
      selection.plan || selection.reason
    end

    # Fields nearer to the leaves have their own plan.
    def too_deep(selections)
      "it is more than #{DEEP} levels deep" if @operation.depth(selections) > DEEP
    end

    def objection(model)
      objection = PlainModel.of(model).objection_to_rows
      return objection if objection
      return "#{model.name} isn't in PostgreSQL" unless postgresql?(model)
      return "#{model.name} is strict-loading" if PlainModel.of(model).family.members.any?(&:strict_loading_by_default)

      PlainModel.of(model).family.objection
    end

    def postgresql?(model) = PlainModel.of(model).postgresql?

    # {key in the response => its nodes}
    def selected(type, selections)
      found = {}
      @operation.each_selected(type, selections) { |node| (found[-(node.alias || node.name)] ||= []) << node }
      found
    end

    # A node's own Array is known by its place.
    def below(nodes) = nodes.one? ? nodes.first.selections : nodes.flat_map(&:selections)

    # @return [Part, Opaque]
    def field_of_records(key, type, nodes, model)
      part = part(type, nodes, model)
      return part unless part.is_a?(String)

      field = definition_of(type, nodes)
      (field && read_ahead(type, field, model, part)) || opaque_field(part, key, type, field, model)
    end

    # @return [Part, Opaque]
    def field_of_things(key, type, nodes, model)
      field = typename?(nodes) ? typename(type) : field_of(type, nodes)
      return Selection::Opaque.new(field) if field.is_a?(String)
      return field if typename?(nodes)

      attribute(type, field, nodes, model) ||
        opaque_field(of_field(type, field, "it isn't an attribute of a #{model.name}"), key, type, field, model)
    end

    # @return [Part, nil] nil where there is code, or more to be done
    def attribute(type, field, nodes, model)
      plain = PlainField.of(type, field)
      return if objection_on_next(plain) || (next? && model <= Hash && !named?(type, field, nodes))

      known = once_of_field(:attribute, type, model, field) { Attribute.of(field.graphql_name, plain, model) } or return
      return Selection::Part.new([], ->(key, _) { known.under(key) }) if leaf?(field)

      things = ->(key, _) { Attribute::Things.new(key, known, field, nodes, @operation) }
      Selection::Part.new([], things, nil, true) if TypeWrappers.item(field.type).kind.object?
    end

    def opaque_field(reason, key, type, field, model)
      call = call(key, type, field, model) if field
      Selection::Opaque.new(reason, call, !field.nil? && picks?(type, field, model))
    end

    # @return [ResolverCall, nil]
    def call(key, type, field, model)
      once_of_field(:call, type, model, field) { ResolverCall.of(key, PlainField.of(type, field), model) }&.under(key)
    end

    # True if its values are scalars or enums, as graphql-ruby writes them.
    def leaf?(field) = once(:leaf, field) { Coercion.objection(field.type).nil? }

    # @return [Part, nil] nil where graphql-ruby has to ask for each object's records
    def read_ahead(type, field, model, reason)
      ahead = once_of_field(:ahead, type, model, field) do
        reflection = association(type, field, model)
        lookup = preload(reflection)&.lookup if reflection
        plain = PlainField.of(type, field)
        part = Selection::Part.new(lookup.owners_key.columns, ->(key, _) { Preload.new(key, reflection, plain) }) if lookup
        part&.following([lookup])
      end
      Selection::Part.new(ahead.columns, ahead.entry, reason).following(ahead.lookups) if ahead
    end

    # {key in the response => Opaque}: associations of which a resolver beside them can tell whether they are loaded.
    def counted(type, selected, fields, model)
      plain = selected.select { |key, _| fields[key].reason.nil? }
      counted = plain.select { |_, nodes| counted?(type, definition_of(type, nodes), model) }
      counted.transform_values { Selection::Opaque.new(COUNTED) }
    end

    # {key in the response => Opaque}: what takes the first or last record of an association whose order doesn't tell which that
    # is, and what leaves all of it in memory. There that's another record than the one that ActiveRecord would ask for.
    def picked(fields)
      opaque, parts = fields.partition { |_, field| field.is_a?(Selection::Opaque) }.map(&:to_h)
      lookups = parts.each_value.flat_map { |part| part.lookups || [] }
      picking = lookups.select(&:picks?)
      unknown = opaque.each_value.any?(&:picks)
      return {} unless unknown || picking.any?

      lists = lookups.select { |it| it.whole? && !it.picks_alike? }.map(&:name)
      names = unknown ? lists : lists & picking.map(&:name)
      parts.select { |_, part| part.lookups&.any? { |it| names.include?(it.name) && (it.whole? || it.picks?) } }
           .transform_values { Selection::Opaque.new(PICKED) }
    end

    def picks?(type, field, model) = once_of_field(:picks, type, model, field) { PlainField.of(type, field).picks?(model) }

    # @param field [GraphQL::Schema::Field, nil]
    def counted?(type, field, model)
      reflection = once_of_field(:counted, type, model, field) { association(type, field, model) } if field
      !reflection.nil? && PlainModel.counted?(reflection)
    end

    # True if the schema's queries may be Execution::Next's.
    def next? = @operation.schema.respond_to?(:execute_next)

    def objection_on_next(plain)
      return unless next?
      return "extensions of Execution::Next are given all objects" if plain.permit&.other_on_next?

      "Execution::Next calls another method than `#{plain.reader}`" if plain.other_on_next?
    end

    def typename?(nodes) = nodes.first.name == "__typename"

    # @return [Part, String]
    def typename(type)
      once(:typename, type) do
        @operation.objection_to_typename || Selection::Part.new([], ->(key, _) { Plan::Constant.new(key, type.graphql_name) })
      end
    end

    # @return [GraphQL::Schema::Field, nil] nil where it isn't known
    def definition_of(type, nodes)
      found = field_of(type, nodes) unless typename?(nodes)
      found unless found.is_a?(String)
    end

    # @return [GraphQL::Schema::Field, String]
    def field_of(type, nodes)
      found = nodes.map { |node| definition(type, node) }
      reason = found.find { |it| it.is_a?(String) }
      reason ? "#{type.graphql_name}.#{nodes.first.name}: #{reason}" : found.first
    end

    def definition(type, node)
      return @operation.definition(type, node) if node.directives.any?

      once(:fields, type) { {} }[node.name] ||= @operation.definition(type, node)
    end

    # @return [String] the reason, for users who ask which field it is about
    def of_field(type, field, reason) = "#{type.graphql_name}.#{field.graphql_name}: #{reason}"
  end
end
