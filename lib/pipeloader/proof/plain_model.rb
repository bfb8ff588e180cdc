# frozen_string_literal: true

module Pipeloader
  # Proves what a model's readers read, and that its records are made without any code of the application's: from the
  # owners of the methods, for the model and for the sub-classes that are loaded (single-table inheritance).
  class PlainModel
    CLASS_METHODS = %i[instantiate instantiate_instance_of discriminate_class_for_record _load_from_sql _query_by_sql
                       find_by_sql scope_for_association default_scoped relation].freeze
    INSTANCE_METHODS = %i[init_with_attributes _read_attribute association respond_to? public_send].freeze
    private_constant :CLASS_METHODS, :INSTANCE_METHODS

    class << self
      # Kept by the model itself, so that reloaded code has its own, as long as its columns are the same.
      def of(model)
        known = model.instance_variable_get(:@pipeloader_plain)
        known&.current? ? known : Redefined.renew(model) { new(model) }
      end

      # Columns that ActiveRecord reads to find an association's records, and to tell them whose they are. Where both are of
      # one table, it looks into both for the foreign key.
      #
      # @param model [Class] of the record, where an abstract class has declared the association
      # @return [Array<String>] columns of the record's own table
      def keys(reflection, model = reflection.active_record)
        keys = Array(reflection.chain.last.join_foreign_key)
        keys += [reflection.foreign_type] if reflection.polymorphic?
        keys += Array(reflection.foreign_key).map(&:to_s) & model.column_names unless reflection.through_reflection?
        keys.map(&:to_s)
      end

      # True if an association's records depend on nothing of its owner but the keys.
      def independent?(reflection)
        reflection.chain.all? { |link| link.scopes.all? { |scope| scope.arity.zero? } } && !reflection.options[:disable_joins]
      end

      # True if a counter cache says how many records there are until they are loaded. If the counter is wrong, or the association
      # has a scope, a resolver that asks for its size can tell.
      def counted?(reflection) = reflection.collection? && reflection.has_cached_counter?

      # The association by which ActiveRecord lets the records that another one brings know their owner: it is the owner itself.
      #
      # @return [ActiveRecord::Reflection::AbstractReflection, nil]
      def inverse(reflection)
        return if reflection.polymorphic? || (reflection.through_reflection? && reflection.collection?)

        inverse = reflection.inverse_of
        inverse if inverse && (!reflection.belongs_to? || inverse.has_one? || inverse.klass.has_many_inversing)
      end
    end

    # @return [Family] the classes of its records
    attr_reader :family

    def initialize(model)
      @model = model
      @types = model.attribute_types
      @family = Family.new(model)
      @readers = {} # {name => [method, Footprint]}
      @formulas = {} # {name => [method, Formula or nil]}
    end

    # True if its reads are pipelined.
    def postgresql? = PostgreSQL.adapter?(@model.connection_db_config.adapter_class)

    # Makes it not #current? if the +changed+ model is its own, an ancestor, or an heir that it knows.
    def outdate(changed) = @outdated ||= @model <= changed || @family.members.include?(changed)

    # True if the model is as it was, and so are its heirs. After `reset_column_information` it isn't.
    def current?
      !@outdated && @model.attribute_types.equal?(@types) && @family.current? && (@callbacks.nil? || @callbacks.current?)
    end

    # @return [Callbacks] of its records
    def callbacks = @callbacks ||= Callbacks.new(self, @family.members)

    # @return [String, nil] why its records can't be narrowed at all, or read earlier or later; nil if they can
    def objection = odd_table || callbacks.objection || own_code

    # @return [String, nil] why its rows don't tell what its records do; nil if they do, or its #callbacks know which don't
    def objection_to_rows = odd_table || callbacks.objection_to_rows || own_code

    # @return [String, nil] why its attributes aren't what graphql-ruby is told; nil if they are
    def objection_to_readers = foreign_of(%i[_read_attribute respond_to? public_send].map { |name| @model.instance_method(name) })

    # Columns that every row must have: the primary key, the column that tells the class, and those that callbacks ask.
    #
    # @return [Array<String>]
    def keys
      @keys ||= [*@model.primary_key, *@family.column, *callbacks.columns].map(&:to_s).uniq.freeze
    end

    # Columns that every record must have besides: by the version that it was read in, ActiveRecord sees that somebody else has
    # written the row since.
    #
    # @return [Array<String>]
    def record_keys = @record_keys ||= [*keys, *(@model.locking_column if @model.locking_enabled?)].freeze

    # @param name [Symbol, String] of a method of its records; a String is the column itself, whatever methods say of it
    # @return [Footprint]
    def reader(name)
      return Footprint.columns([name]) if name.is_a?(String)

      @model.define_attribute_methods
      known(@readers, name) do
        readers = @family.members.map { |model| reader_of(model, name) }
        readers.find(&:reason) || readers.drop(1).inject(readers.first) { |all, one| all.with(one.columns) }
      end
    end

    # @param name [Symbol]
    # @return [ActiveRecord::Reflection::AbstractReflection, nil] of an association, for a has_and_belongs_to_many the one by
    #   which it is read; nil where an heir has another by that name, or finds other records by it
    def reflection(name)
      reflection = @model._reflect_on_association(name)
      reflection if @family.members.all? { |it| reflection.equal?(it._reflect_on_association(name)) && alike?(reflection, it) }
    end

    # @param name [Symbol] of a method of its records
    # @return [Boolean] whether it is an association that leads to several
    def collection?(name) = reader(name).association? && reflection(name)&.collection? || false

    # @param chain [Chain] what is asked of its records
    # @return [Chain] the same, with what a method of the model says in place of its name: `def open = plans.where(open: true)`
    def expanded(chain, behind = [])
      return chain if chain.queried

      reader = reader(chain.reader)
      return chain if behind.include?(chain.reader) || reader.association? || reader.columns?

      begun = Delegation.of_model(@model, chain.reader)&.then { |own| chain.begun_by(own) }
      begun ? expanded(begun, [*behind, chain.reader]) : chain
    end

    # @param name [Symbol] of a method of its records
    # @return [Symbol, nil] :several if several records come of it, as of an association that it names or asks, :one if that is an
    #   association that leads to one
    def leads(name)
      return if reader(name).columns?

      chain = expanded(Chain.of(name))
      return if chain.queried
      return :several if collection?(chain.reader)

      :one if reader(name).association? && reflection(name)
    end

    # @param name [Symbol, String] of a method of its records; a String is the column itself
    # @return [String, nil] the column of a reader, or of a predicate: a boolean's, or an enum's
    def column_of(name)
      enum = EnumPredicate.of(@model, name)
      return enum.column if enum
      return reader(name).column unless name.end_with?("?")

      column = queried(name)
      column if @model.attribute_types[column].instance_of?(ActiveModel::Type::Boolean)
    end

    # @param name [Symbol, String] as for #reader
    # @return [Cast::Reading, nil] nil where a reader may do more than to read a column of a type that is known
    def reading(name)
      column = column_of(name)
      return unless column && !stores?(column) && Cast.known?(attribute = Cast.type_of(@model, column))

      (@readings ||= {})[[name, column]] ||= Cast::Reading.new(column, cast(name, attribute))
    end

    # What a method of its records reads, where it does no more than to make something of columns of known types.
    #
    # @param name [Symbol]
    # @return [Array<String>, nil] nil where it may do more
    def columns_of(name)
      return if objection_to_readers || !@model.method_defined?(name)

      read = asked_alone(name) || (formula = formula(name))&.readers&.flat_map { |it| asked_alone(it) || [nil] }
      return unless formula.nil? || (formula.alone? && formula.contexts.empty?)

      read if read&.all? { |column| column && !stores?(column) && Cast.known?(Cast.type_of(@model, column)) }
    end

    # True if a column has store accessors: to read one of these turns a null of the record's into an empty Hash.
    #
    # @param column [String, nil]
    def stores?(column) = @family.stores?(column)

    # @param name [Symbol] of a method of its records
    # @return [Formula, nil] what it works out, if that is all that it does, and it takes no arguments
    def formula(name)
      known(@formulas, name) do
        formula = Formula.of_model(@model, name, method(:leads)) { |reader| column_of(reader) }
        formula ||= Delegate.of_model(@model, name) || predicate(name) || composite_id(name)
        formula if formula&.parameters&.empty?
      end
    end

    private

    def cast(name, attribute)
      return Cast.new(attribute) unless name.end_with?("?")

      enum = EnumPredicate.of(@model, name)
      enum ? Cast::Label.new(attribute, enum) : Cast::Truth.new(attribute)
    end

    # The `id` of records whose primary key is several columns: an Array.
    def composite_id(name)
      return unless name == :id && @model.composite_primary_key? && reader(name).columns?

      Formula::OfKey.new(@model, @model.instance_method(name), @model.primary_key.map { |it| [it] }, {}, [])
    end

    def predicate(name)
      asked = name.end_with?("?") && @model.public_method_defined?(name) && column_of(name)
      Formula::OfReader.new(@model, @model.instance_method(name), [[name]], {}, []) if asked
    end

    # True if a +model+ is found by its key, and called, as that which has declared an association.
    def alike?(reflection, model)
      declarer, keys = reflection.active_record, Array(reflection.chain.last.join_foreign_key).map(&:to_s)
      name, types, declared = Family.owners_name(reflection), model.attribute_types, declarer.attribute_types
      Family.named?(model, name) && keys.all? { |key| types[key] == declared[key] }
    end

    # Kept as long as that is the method. Not where heirs have a say: they would never be given up. Nor why something can't be
    # told: that may pass.
    def known(proofs, name)
      return yield if @family.members.many? || !@model.method_defined?(name)

      method = @model.instance_method(name)
      known, proof = proofs[name]
      return proof if known == method && !(Formula === proof && proof.over?)

      proof = yield
      proofs[name] = [method, proof].freeze unless proof.is_a?(Footprint) && proof.reason
      proof
    end

    # @return [Array<String>, nil] the columns of a reader, or of `admin?`
    def asked_alone(name)
      reader = reader(name)
      return reader.columns if reader.columns?

      column = queried(name) if name.end_with?("?")
      [column] if column
    end

    QUERYING = %i[attribute? query_attribute query_cast_attribute _query_attribute].freeze
    private_constant :QUERYING

    # @return [String, nil] the column that `admin?` asks, by its reader
    def queried(name)
      asked = name.to_s.delete_suffix("?")
      column = reader(@model.attribute_aliases.fetch(asked, asked).to_sym).column # defines the methods of attributes, too
      column if column && @family.members.all? { |it| Provenance.attributes?(it, name) && queries?(it) }
    end

    def queries?(model)
      known = QUERYING.select { |name| model.method_defined?(name) || model.private_method_defined?(name) }
      known.all? { |name| Provenance.active_record?(model.instance_method(name)) }
    end

    # ActiveRecord reads the column or the one behind the alias, depending on who asks.
    def odd_table
      return "#{@model.name} has no primary key" if @model.primary_key.nil?

      name, = @model.attribute_aliases.find { |it, column| it != column && @model.columns_hash.key?(it) }
      "`#{name}` of #{@model.name} is a column, and an alias of another" if name
    end

    def own_code
      foreign_of(@family.members.lazy.flat_map do |model|
        CLASS_METHODS.map { |name| model.method(name) } + INSTANCE_METHODS.map { |name| model.instance_method(name) } +
          Provenance.relation_types(model).product(AssociationQuery::RELATION).map { |type, name| type.instance_method(name) }
      end)
    end

    def foreign_of(methods)
      foreign = methods.find { |method| !Provenance.active_record_alone?(method) }
      "`#{foreign.name}` on #{foreign.owner.inspect}" if foreign
    end

    def reader_of(model, name)
      return Footprint.missing("#{model.name} has no method `#{name}`") unless model.public_method_defined?(name)

      return attribute(model, name.to_s) if Provenance.attributes?(model, name)

      owner = model.instance_method(name).owner
      return Footprint.columns(Array(model.primary_key)) if name == :id && id?(model, owner)

      association(model, name) || Footprint.opaque("`#{name}` is defined by #{owner}")
    end

    # True if the +owner+'s `id` is the value of the +model+'s key, or the values.
    def id?(model, owner)
      return owner.equal?(ActiveRecord::AttributeMethods::PrimaryKey) unless model.composite_primary_key?

      owner.equal?(ActiveRecord::AttributeMethods::CompositePrimaryKey) && model.primary_key.many?
    end

    # `title?`, `title_was` and the like are generated, too.
    def attribute(model, name)
      return Footprint.opaque("`#{name}` asks another attribute") if Provenance.of_another_attribute?(model, name)

      name = model.attribute_aliases[name] || name
      return Footprint.columns([name]) if model.columns_hash.key?(name)
      return Footprint.nothing if model.attribute_types.key?(name)

      Footprint.opaque("`#{name}` is no column of #{model.table_name}")
    end

    def association(model, name)
      reflection = model.reflect_on_association(name) or return
      return unless generated?(model, model.instance_method(name).owner)

      found = model.instance_method(:association)
      return Footprint.opaque("`association` on #{found.owner.inspect}") unless Provenance.active_record?(found)

      objection = Readable.objection(reflection)
      return Footprint.opaque(objection) if objection
      return Footprint.opaque("the scope of `#{name}` asks its record") unless PlainModel.independent?(reflection)

      Footprint.association(name, PlainModel.keys(reflection))
    end

    def generated?(model, owner)
      model.ancestors.grep(Class).any? do |ancestor|
        ancestor <= ActiveRecord::Base && ancestor.generated_association_methods.equal?(owner)
      end
    end
  end
end
