# frozen_string_literal: true

module Pipeloader
  # A model's `after_find` and `after_initialize`: whether they do anything to a record that comes from the database, and on what
  # conditions of its columns.
  #
  #     after_initialize :set_token, if: :new_record?            # nothing
  #     after_initialize { self.status ||= "draft" }             # nothing where the row has a status
  #     include AASM                                             # nothing where the row has a state
  #
  # Limits: those of SymbolicExecution; methods with arguments but for STATES and READERS; `super`; objects with a method of the
  # callback's name.
  class Callbacks
    KINDS = %i[find initialize].freeze
    # What ActiveRecord itself adds to the conditions of each.
    VALUE = ActiveSupport::Callbacks::Conditionals::Value
    # What ActiveRecord answers of a record from the database.
    STATES = { new_record?: false, persisted?: true }.freeze
    # By which a column is asked for by its name. The first calls the second.
    READERS = %i[[] read_attribute].freeze
    Literal = SymbolicExecution::Literal
    private_constant :KINDS, :VALUE, :STATES, :READERS, :Literal

    # A row, of which a Cast::Reading is asked.
    Told = Struct.new(:row, :places)

    # @param plain_model [PlainModel]
    # @param members [Array<Class>] the classes of its records
    def initialize(plain_model, members)
      members.each(&:define_attribute_methods)
      @plain_model = plain_model
      @chains = members.map { |model| [model, *model.__callbacks.values_at(*KINDS)] }
      @methods = {} # {[model, name] => the method}
      @machines = {} # {model => its columns that have states}
      @columns = {} # {[model, kind] => those that are asked for}
      @executions = members.product(KINDS).to_h { |model, kind| [[model, kind], execution(model, kind)] }
    end

    # True if the models have the same, and the methods that these call. Asked of each record's model; `all?` of a Hash that is
    # empty allocates.
    def current?
      @chains.all? { |model, found, made| (all = model.__callbacks)[:find].equal?(found) && all[:initialize].equal?(made) } &&
        (@methods.empty? || @methods.all? { |(model, name), method| method_of(model, name) == method }) &&
        (@machines.empty? || @machines.all? { |model, columns| StateMachines.columns(model) == columns })
    end

    # @return [String, nil] why a record may be another than its row says, or tell which columns were read; nil if it isn't
    def objection
      objection_if { |callbacks, execution| execution.decision != SymbolicExecution::DONE || @columns.key?(callbacks) }
    end

    # @return [String, nil] why all records may be others than their rows say; nil if some aren't
    def objection_to_rows = objection_if { |_, execution| !execution.done? }

    # @return [Array<String>] columns that are asked for
    def columns = @all_columns ||= @columns.values.flatten.uniq.freeze

    # @param rows [Array<Array>]
    # @param names [Array<String>] of their columns
    # @raise [DoesNotFit] where anything would be done to one of their records
    def verify(rows, names)
      return if decisions.empty?

      told = Told.new(nil, columns.to_h { |column| [column, names.index(column) || raise(DoesNotFit)] })
      rows.uniq { |row| row.values_at(*told.places.values) }.each do |row|
        told.row = row
        raise DoesNotFit unless idle?(told)
      end
    end

    private

    def objection_if(&why)
      (model, kind), = @executions.find(&why)
      "#{model.name} has after_#{kind}" if model
    end

    # @return [Array<SymbolicExecution::Branch>] those that a row decides; what they have in common makes them dear to compare
    def decisions = @decisions ||= @executions.each_value.map(&:decision).grep(SymbolicExecution::Branch)

    def idle?(told)
      decisions.all? { |it| it.come_to(told) == SymbolicExecution::DONE }
    rescue StandardError => e
      raise DoesNotFit.verdict(e) { decisions.each { |it| it.come_to(told) } }
    end

    def execution(model, kind)
      all = model.public_send(:"_#{kind}_callbacks").to_a
      steps = all.each_with_index.flat_map { |callback, index| steps(callback, :"behind_#{index}") }
      SymbolicExecution.new(SymbolicExecution::Code.new([*steps, [:putnil], [:leave]])) do |name, arguments, private|
        reading = asked(model, name, arguments, private)
        ask(model, kind, reading.column) if Cast::Reading === reading
        name == :has_attribute? && reading ? Literal.new(true) : reading
      end
    end

    def ask(*callbacks, column) = @columns[callbacks] = @columns.fetch(callbacks, []) | [column]

    # Of one callback; at its end is the label +behind+.
    def steps(callback, behind)
      conditions = { if: :branchunless, unless: :branchif }.flat_map do |kind, branch|
        callback.instance_variable_get(:"@#{kind}").grep_v(VALUE).flat_map { |it| [step(it), [branch, behind]] }
      end
      [*conditions, callback.kind == :after ? step(callback.filter) : [:unknown], [:pop], behind]
    end

    # @param given [Symbol, Proc, Object] what a model says to be called
    def step(given)
      case given
      when Symbol then [:ask, given]
      when Proc then [:run, (SymbolicExecution::Code.of(given) if given.arity == given.parameters.size && given.arity < 2)]
      else [:unknown]
      end
    end

    def code_of_method(model, name, private)
      method = known_method(model, name) if private || model.public_method_defined?(name)
      return unless method&.parameters&.empty?

      name == StateMachines::CALLBACK ? code_of_machines(model, method) : SymbolicExecution::Code.of(method)
    end

    def code_of_machines(model, method)
      called = StateMachines::CALLED.filter_map { |name| known_method(model, name) }
      columns = StateMachines.known_columns(model, [method, *called]) or return
      SymbolicExecution::Code.new(StateMachines.steps(@machines[model] = columns))
    end

    # What a +model+'s record answers.
    #
    # @return [#of, SymbolicExecution::Code, nil]
    def asked(model, name, arguments, private)
      case [name, arguments]
      in [:new_record? | :persisted?, []] then Literal.new(STATES.fetch(name)) if active_records?(model, name)
      in [:has_attribute?, [Literal[String | Symbol => column]]] then column(model, [name], column)
      in [:[] | :read_attribute, [Literal[String | Symbol => column]]] then column(model, READERS, column)
      in [_, []] then reading(model, name) || code_of_method(model, name, private)
      else nil
      end
    end

    # What is asked for by its name. That is none that a predicate has, or an alias.
    #
    # @param methods [Array<Symbol>] by which
    def column(model, methods, name)
      reading = reading(model, name.to_sym) if methods.all? { |it| active_records?(model, it) }
      reading if reading&.column == name.to_s
    end

    def reading(model, name) = (@plain_model.reading(name) if known_method(model, name))

    def active_records?(model, name) = known_method(model, name)&.then { |method| Provenance.active_record?(method) }

    # One that #current? looks at.
    def known_method(model, name) = @methods[[model, name]] ||= method_of(model, name)

    def method_of(model, name)
      model.instance_method(name) if model.method_defined?(name) || model.private_method_defined?(name)
    end
  end
end
