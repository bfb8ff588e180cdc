# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: what a Formula asks of a record, and of those that its associations lead to.
  module ReachProofs
    NOTHING = {}.freeze
    ATTACHED = { Attachment::ASKED => NOTHING }.freeze
    THERE = { Formula::TESTED => NOTHING }.freeze
    private_constant :NOTHING, :ATTACHED, :THERE

    # @param formula [Formula] of a method that is asked of records of the +model+, or of their objects
    # @return [Array(String, Class), nil] what it asks that isn't known, as "comments.reload.count", and of which model; nil if
    #   all is
    def unreadable(formula, model)
      chain = formula.chains.values.flatten.find { |it| questions([it], model, nil).nil? }
      return unread(formula.readers, formula.further, model) unless chain

      unread_of_each(chain, model) || [chain.calls.map(&:name).join("."), model]
    end

    private

    # What a list's records are asked.
    def unread_of_each(chain, model)
      reflection = PlainModel.of(model).reflection(PlainModel.of(model).expanded(chain).reader) if chain.paths
      unread(*AskedOfRecord.split(chain.paths), reflection.klass) if reflection
    end

    def unread(names, further, model)
      name = names.find { |it| reading(it, model).nil? }
      return [name.to_s, model] if name

      name, asked = further.find { |it, below| reach(it, below, model, nil).nil? }
      (unread_behind(name, asked, model) || [name.to_s, model]) if name
    end

    def unread_behind(name, asked, model)
      asked = asked.except(Formula::TESTED)
      further = asked.reject { |_, below| below.empty? }
      reflection = reached(name, model)
      unread(asked.keys - further.keys, further, reflection.klass) if reflection
    end

    # @return [Selection::Guarded, nil] nil where graphql-ruby has to ask who may see an object
    def guarded(type, model)
      known = once(:guarded, type) { {}.compare_by_identity }
      known.fetch(model) { known[model] = prove_guarded(type, model) }
    end

    def prove_guarded(type, model)
      return unless model < ActiveRecord::Base && PlainType.guarded?(type) && !@operation.refusals(type).worthless?

      formula = Formula.of_guard(type, model)
      columns, readings = readings_of(formula, model) if formula
      return unless readings

      Selection::Guarded.new(columns, ->(all) { Admission.new(type, formula, readings.call(all), @operation.refusals(type)) })
    end

    # As #readings: all that a +formula+ asks.
    def readings_of(formula, model, plain = nil) = readings(formula.readers, formula.further, model, plain, formula.chains)

    # @param names [Array<Symbol, String>] of readers of columns, and of methods that only compute from such; columns
    # @param further [Hash] as Formula's: what is called of associated records
    # @param plain [PlainField, nil] for whom that is
    # @param chains [Hash] as Formula's: what is asked of associations
    # @return [Array(Array<String>, Proc), nil] the columns of a record's row, and what makes Reach::Readings of their places
    def readings(names, further, model, plain, chains = NOTHING)
      shown = names.grep_v(/\?\z/).filter_map { |name| PlainModel.of(model).reading(name)&.column }
      return if shown.uniq! # two readers of a column give one object, two predicates don't

      answers = names.map { |name| reading(name, model) }
      reaches = further.map { |name, asked| reach(name, asked, model, plain) }
      questions = chains.each_value.map { |asked| questions(asked, model, plain) }
      return if [*answers, *reaches, *questions].include?(nil)

      made = lambda do |columns|
        Reach::Readings.new(*[answers, reaches, questions].map { |some| some.map { |_, each| each.call(columns) } })
      end
      [[*answers, *reaches, *questions].flat_map(&:first).uniq, made]
    end

    # @return [Array(Array<String>, Proc), nil] what a reader reads, or a method that only computes, and what makes a Reach::Column
    #   or a Reach::Method of a row's columns
    def reading(name, model) = reading_of_column(name, model) || reading_of_method(name, model)

    def reading_of_column(name, model)
      read = PlainModel.of(model).reading(name) or return
      [[read.column], ->(columns) { Reach::Column.new(columns.index(read.column), read.cast) }]
    end

    def reading_of_method(name, model)
      formula = PlainModel.of(model).formula(name) unless name.is_a?(String)
      return unless formula&.alone? && !formula.readers.include?(name)

      columns, made = readings_of(formula, model)
      [columns, ->(all) { Reach::Method.new(formula, made.call(all)) }] if columns
    end

    # @return [Array(Array<String>, Proc), nil] the owner's key, and what makes a Reach or a Reach::Attached of its columns
    def reach(name, asked, model, plain)
      attachment = Attachment.of(model, name) if asked == ATTACHED
      attachment ? attached(attachment, model, plain) : reach_record(name, asked, model, plain)
    end

    def attached(attachment, model, plain)
      return unless PlainModel.of(model).reader(attachment.association).association?

      columns, made = if attachment.many? then questions([attachment.chain], model, plain)
                      else reach_record(attachment.association, THERE, model, plain)
                      end
      [columns, ->(all) { Reach::Attached.new(attachment, answer(made.call(all))) }] if columns
    end

    def answer(told) = told.is_a?(Reach::Asked) ? told.questions.first : Reach::There.new(told)

    def reach_record(name, asked, model, plain)
      reflection = reached(name, model) or return
      return if asked.key?(Formula::TESTED) && !testable?(reflection.klass)

      asked = asked.except(Formula::TESTED)
      target, further = reflection.klass, asked.reject { |_, below| below.empty? }
      names = asked.keys - further.keys
      columns, made = readings(names, further, target, plain)
      return unless made

      projection = projection(target, columns)
      lookup = Lookup.of(reflection, projection)
      return unless narrows?(lookup) && reaching(projection, made) { |tried, _| objection_to_inverse(reflection, tried).nil? }

      [lookup.owners_key.columns, lambda do |owners|
        reaching(projection, made) do |plan, read|
          Reach.new(plain, reflection, lookup, lookup.owners_key.index(owners), plan, names + further.keys, read)
        end
      end]
    end

    # True if its records are there for whoever asks whether they are.
    def testable?(model)
      members = PlainModel.of(model).family.members
      Provenance.active_record_alone_in?(members, %i[present? blank?]) &&
        members.product(%i[! nil? presence]).all? { |member, name| Provenance.core_alone?(member.instance_method(name)) }
    end

    # @return [ActiveRecord::Reflection::AbstractReflection, nil] of an association that leads to one record, of a plain model
    def reached(name, model)
      reader = PlainModel.of(model).reader(name)
      reflection = PlainModel.of(model).reflection(reader.association) if reader.association?
      return if reflection.nil? || reflection.collection? || Lookup.objection(reflection)

      reflection if postgresql?(model) && objection(reflection.klass).nil?
    end
  end
end
