# frozen_string_literal: true

module Pipeloader
  # An association that many objects are asked for, of whose records something is opaque: they are read for all owners at once,
  # and made and gone on with as ever.
  class Preload
    # A record that would read the association itself, and what is read for it; by which Ahead, if that is for later.
    Reader = Struct.new(:record, :name, :job, :key, :records, :ahead) { include Flight::Planned }
    NONE = [].freeze
    private_constant :Reader, :NONE

    attr_reader :key, :lookup, :model

    alias inspect to_s

    # @param key [String, nil] in the response
    # @param plain [PlainField, nil] as +key+: nil where graphql-ruby itself comes to the field
    def initialize(key, reflection, plain = nil)
      @key = key
      @reflection = reflection
      @model = reflection.klass
      @types = @model.attribute_types
      @owners_name = Family.owners_name(reflection)
      @lookup = RecordLookup.of(reflection)
      @asker = plain&.asker(many?)
    end

    def name = @reflection.name
    def many? = @lookup.many?
    def current? = @model.attribute_types.equal?(@types)
    def leads_back? = false
    def databases = [@model]
    def formulas = NONE

    # True if whole rows are what is read for +record+.
    def for?(record) = record.instance_variable_get(:@pipeloader_demand)&.child(record.class, name)&.projection(@model).nil?

    # True if ActiveRecord is to find an owner's records itself: somebody else has asked for them since graphql-ruby came to the
    # field (and not: given it others), or those without an owner are meant.
    def leaves?(owner)
      return !@lookup.needs_key? if owner.key.nil?

      owner.record.association_cached?(name) && @lookup.owners_key.of(owner.record) == owner.key
    end

    # Loads it for those of +records+ that would each read it. A few records' reads are pipelined as they are.
    #
    # @param records [Array<ActiveRecord::Base>]
    def load(fiber, records, asker)
      ahead = fiber.response.read_ahead
      owners = readers(records, fiber.job).reject { |owner| ahead&.holds?(owner.record, @reflection) }
      return if owners.size < Coalesced::WORTH

      announced(owners, fiber.loader.pipeloader_run) { call(fiber, owners, asker) }
      dynamic = nil # the same for all of them, as no code of the application's runs between
      owners.each do |owner|
        next unless unread?(owner.record) && (association = asked(owner))

        dynamic = association.pipeloader_dynamic? if dynamic.nil?
        association.pipeloader_load(owner.records, dynamic)
      end
    end

    # Reads for all of +owners+.
    #
    # @param owners [Array<AssociationRequest>]
    def call(fiber, owners, asker = @asker) = fill(owners, fiber.look_up([wanted(owners, asker)]).first.value)

    # @return [Array<Reader>] those of +records+ that would each read it, with the keys as they are now
    def readers(records, job)
      records.uniq(&:__id__).filter_map do |record|
        Reader.new(record, name, job, @lookup.owners_key.of(record)) if unread?(record)
      end
    end

    # @return [Array(Lookup, Array, Asker)] with the keys of +owners+
    def wanted(owners, asker) = [@lookup, owners.filter_map(&:key).uniq, asker]

    # Makes the records of all of +owners+.
    #
    # @param found [Hash{Object => RecordLookup::Found}]
    def fill(owners, found)
      rows = owners.map { |owner| found[owner.key]&.take || NONE }
      result = found.first&.last&.template&.of_rows(rows.flatten(1)) || ActiveRecord::Result.empty
      records = @model._load_from_sql(result)
      owners.zip(rows) { |owner, its| owner.records = records.shift(its.size) }
    end

    private

    # True if it reads when it is asked for, and by what we know of it.
    def unread?(record)
      key = @lookup.owners_key
      ReturnedValue.just?(record, record.class) && record.persisted? && !record.strict_loading? &&
        key.columns.all? { |column| record.has_attribute?(column) } &&
        record.class._reflect_on_association(name).equal?(@reflection) && # a subclass may have another
        Family.named?(record.class, @owners_name) &&
        (@lookup.needs_key? || !key.of(record).nil?) && for?(record) &&
        (!record.association_cached?(name) || untouched?(record.association(name)))
    end

    def untouched?(association)
      @reflection.collection? ? ReturnedValue.readable_association?(association) : !association.loaded? && association.target.nil?
    end

    def announced(owners, run)
      owners.each { |owner| owner.announce(run) }
      yield
    ensure
      owners.each(&:withdraw)
    end

    # @return [ActiveRecord::Associations::Association, nil] nil where somebody has changed its key
    def asked(owner)
      record = owner.record
      record.association(name) if @lookup.owners_key.of(record) == owner.key
    end
  end
end
