# frozen_string_literal: true

module Pipeloader
  # Proves that graphql-ruby resolves a field by calling one method of the record, without arguments, and does nothing else with
  # the record.
  class PlainField
    HOST = GraphQL::Schema::Field
    SAMPLE = HOST.new(name: "sample", type: String, null: true, owner: nil)
    PAGES = %w[after before first last].freeze
    # How Execution::Next resolves a field by one method.
    MODES = %i[direct_send resolve_legacy_instance_method].freeze
    # In place of what nobody has asked for yet.
    LATER = Object.new.freeze
    # For how many models it knows what its method asks of associations.
    MODELS = 16
    private_constant :HOST, :SAMPLE, :PAGES, :MODES, :LATER, :MODELS

    # Kept with the type, so that reloaded code has its own: what a method has been compiled to is looked at once. The singleton
    # class keeps it, as graphql-ruby reads a type's variables from caches by object shape.
    #
    # @param type [Module, nil] object type; nil where it doesn't matter whose field it is
    # @param field [GraphQL::Schema::Field]
    def self.of(type, field)
      return new(type, field) if type.nil? || type.frozen?

      home = type.singleton_class
      known = home.instance_variable_get(:@pipeloader_fields) ||
              home.instance_variable_set(:@pipeloader_fields, {}.compare_by_identity)
      plain = known[field]
      plain&.current? ? plain : known[field] = new(type, field)
    end

    attr_reader :field

    # @return [Permit, nil] whether it is resolved at all, where code of the application's says so
    attr_reader :permit

    # @return [Captured, nil] on which its resolver method depends
    attr_reader :captured

    def initialize(type, field, permit = nil)
      @type = type
      @field = field
      @permit = permit
      @method = resolver_method
      @captured = Captured.of(@method) if @method
      @worked_out = @scope = LATER
      @of_associations = Bounded.new(MODELS).compare_by_identity # {model => Formula; nil where it is none}
      @helped = []
    end

    # The same for who asks the Permit first.
    #
    # @return [PlainField] itself where there is none
    def permitted
      return self if @permit || (own_check.nil? && foreign.empty?)

      @permitted = nil unless @permitted&.current?
      @permitted ||= (permit = Permit.of(@field, foreign)) ? PlainField.new(@type, @field, permit) : self
    end

    # True if its type has the same method for it, or none, and all others that are known are the same.
    def current? = @method == resolver_method && [*@permit, *@helped, *@captured].none?(&:over?)

    # @param host [Module, nil] whose resolver method of it is known
    # @return [String, nil] what stands in the way; nil if it is plain
    def objection(host = nil)
      own_code || shadowed(host) || configured(host) || ("it takes arguments" unless arguments.empty?)
    end

    # The method called on the record, where nothing stands in the way.
    #
    # @param host [Module, nil] as for #objection
    #: (?Module?) -> Symbol
    def reader(host = nil)
      return @field.resolver_method if hosts?(host)

      asked && !asked.queried ? asked.reader : @field.method_sym
    end

    # The chain that its resolver method, and then `scope_items`, calls on what a reader returns, where that is all that stands in
    # the way.
    #
    # @return [Chain, nil]
    def chain
      return if own_code || configured || scope.nil?

      chain = (paged? || !unscoped?) && shadowed.nil? && arguments.empty? ? Chain.of(reader) : asked
      chain = chain&.followed_by(scope.chain)
      chain if chain && (chain.calls.size > 1 || paged?) && chain.calls.first.alone? && takes_arguments?(chain)
    end

    # Who asks for what it gives.
    #
    # @param many [Boolean] whether that is a relation, which graphql-ruby reads when the resolver method has returned it
    # @return [Asker]
    def asker(many) = asked&.owner_first? && !many ? Asker.new(@field, @type, @method) : Asker.new(@field)

    # The formula by which its resolver method, or the record's method, computes from columns, where nothing else is in the way.
    #
    # @return [Formula, nil]
    def formula(model)
      worked_out = of_associations(model) || self.worked_out
      return worked_out if worked_out && alone?(worked_out)

      PlainModel.of(model).formula(reader) unless objection
    end

    # As #formula, where the object is no record.
    #
    # @return [Formula, nil]
    def formula_alone = (worked_out if worked_out && alone?(worked_out) && arguments.empty?)

    # @return [GlobalId, nil] what it is, if it's the `id` of graphql-ruby's Node
    def global_id(model, schema)
      GlobalId.of(@type, model, schema) if GlobalId.field?(@type, @field) && !own_code && !special && arguments.empty?
    end

    # True if Execution::Next calls something else: unless it's told to, it doesn't look for resolver methods, and it may be told
    # of another.
    def other_on_next? = !same_on_next?

    # True if what is returned becomes a Relay connection.
    def paged? = @field.extensions.any?(HOST::ConnectionExtension)

    # @return [UnboundMethod, nil] that graphql-ruby calls, of the type or of a record of the +model+; nil for none
    def method_of(model)
      resolver_method || (model.instance_method(@field.method_sym) if model.public_method_defined?(@field.method_sym))
    end

    # True if that method itself says that it takes a record by its place.
    def picks?(model)
      method = method_of(model) or return false
      known = @picking
      return known.last if known&.first == method

      (@picking = [method, Bytecode.mentions?(method, Chain::PICKING + Chain::PLACES)].freeze).last
    end

    # True if one method without arguments is all that the Interpreter calls.
    def calls_alone?(model)
      return false unless bare?
      return @type.instance_method(@field.resolver_method).parameters.empty? if of_type?

      name = @field.method_sym
      !(model <= Hash) && model.public_method_defined?(name) && model.instance_method(name).parameters.empty?
    end

    # True if a value of a Hash is all that the Interpreter looks for, and nil where there is none.
    def reads_entry? = bare? && !of_type? && fallback(@field).equal?(fallback(SAMPLE))

    # Under which names it looks into a Hash, where that is all: by `hash_key:`, or a method that says `object["theme"]`.
    #
    # @return [Array<String, Symbol>, nil] the second one where there is no first
    def entry_names
      return if own_code || uncommon || arguments.any? || paged? || !unscoped? || !fallback(@field).equal?(fallback(SAMPLE))
      return unless mode == :hash_key || MODES.include?(mode)
      return [@field.hash_key, @field.hash_key.to_s].uniq if keyed?

      name = Delegation.entry(@type, @field.resolver_method)
      [name] if name
    end

    # True if its resolver method is the object type's.
    def of_type? = @type.public_method_defined?(@field.resolver_method)

    # What becomes of the value before graphql-ruby goes on with it.
    #
    # @return [ItemScope, nil] nil where that isn't known
    def scope
      return @scope unless @scope.equal?(LATER)

      @scope = ItemScope.of(@field)
      @helped.push(*@scope)
      @scope
    end

    # True if no `scope_items` sees the value, or if it is what that returns.
    def unscoped? = scope ? scope.chain.calls.empty? : false

    private

    def fallback(field) = field.instance_variable_get(:@fallback_value)

    def resolver_method = (@type.instance_method(@field.resolver_method) if @type&.method_defined?(@field.resolver_method))

    # True if a +formula+ is all that graphql-ruby calls.
    def alone?(formula)
      !own_code && !special && MODES.include?(mode) && takes_arguments?(formula) && takes_values?
    end

    def bare? = MODES.include?(mode) && !(own_code || special || arguments.any? || paged?) && unscoped?

    def own_code
      return "it has a resolver, #{@field.resolver}" if @field.resolver

      %i[resolve with_extensions].each { |name| return "`#{name}` of its field class is its own" unless hosts_own?(name) }
      return "it has validators" if @field.validators.any?
      return "`scope_items` of #{@field.type.unwrap.graphql_name}" if @field.type.unwrap.kind.leaf? && !unscoped?

      own_check || foreign.map { |extension| "extension #{extension.class}" }.first unless @permit
    end

    def hosts_own?(name) = Provenance.of_host?(@field.method(name), HOST)
    def own_check = ("`authorized?` of its field class is its own" unless hosts_own?(:authorized?))
    def foreign = @field.extensions.reject { |extension| known?(extension) }

    def known?(extension)
      [HOST::ScopeExtension, HOST::ConnectionExtension].include?(extension.class) &&
        %i[resolve after_resolve].all? { |name| Provenance.graphql_alone?(extension.method(name)) }
    end

    # Anything that graphql-ruby does otherwise, or besides.
    def special = uncommon || ("it reads a key of a Hash" if keyed?)

    def keyed? = !@field.hash_key.equal?(SAMPLE.hash_key)

    def uncommon
      return "`trace: true`" if @field.trace && @field.type.unwrap.kind.leaf?
      return "it is introspection" if @field.introspection? || @field.dynamic_introspection
      return "it digs in a Hash" if @field.dig_keys

      "extras #{extras.join(", ")}" if extras.any?
    end

    def configured(host = nil)
      return special if special
      return if mode == :direct_send || (MODES.include?(mode) && (asked || hosts?(host) || worked_out))

      "execution mode #{mode}"
    end

    # Except those that an extension asks for itself.
    def extras = @field.extras - @field.extensions.flat_map { |extension| extension.added_extras.to_a }

    # A connection's arguments belong to its extension.
    def arguments
      @field.all_argument_definitions.reject { |argument| @field.connection? && PAGES.include?(argument.graphql_name) }
    end

    # How Execution::Next resolves it.
    def mode = @field.respond_to?(:execution_mode) ? @field.execution_mode : :direct_send

    # A method of the type's comes first.
    def shadowed(host = nil)
      method = @field.resolver_method
      return if asked&.reader_alone? || !@type.method_defined?(method) || hosts?(host)

      "resolver method `#{method}` on #{@type.instance_method(method).owner}"
    end

    # True if its resolver method is that module's.
    def hosts?(host) = host && Provenance.hosted?(@type, @field.resolver_method, host)

    def same_on_next?
      return @field.execution_mode_key == @field.resolver_method if mode == :resolve_legacy_instance_method

      !of_type? || (asked&.reader_alone? && reader == @field.method_sym)
    end

    # True if its resolver method has an argument for each of its own.
    #
    # @param method [Chain, Formula] what it does
    def takes_arguments?(method)
      FieldArguments.plain?(@field) && arguments.all? { |argument| method.parameters.key?(argument.keyword) }
    end

    # True if they are Strings and numbers.
    def takes_values? = arguments.all? { |argument| Coercion.built_in?(argument.type.unwrap) }

    # The chain that its resolver method calls, if that is known.
    def asked
      return @asked if defined?(@asked)

      @asked = Delegation.chain(@type, @field.resolver_method, @captured)
    end

    # The formula of its resolver method, if it does nothing else.
    def worked_out
      return @worked_out unless @worked_out.equal?(LATER)

      @worked_out = asked&.reader_alone? ? nil : formula_of_type
    end

    # Those that call other methods hold as long as these are the same.
    def formula_of_type(&association)
      formula = Formula.of_type(@type, @field.resolver_method, &association)
      @helped << formula if formula&.helped?
      formula
    end

    # The same, where it asks associations of the +model+'s, too.
    def of_associations(model)
      leads = PlainModel.of(model).method(:leads)
      return if asked&.reader_alone? || (worked_out && worked_out.readers.none?(&leads) && parted?(worked_out, leads))

      known = @of_associations.fetch(model, LATER)
      known.nil? || (Formula === known && parted?(known, leads)) ? known : @of_associations[model] = formula_of_type(&leads)
    end

    # True if it is associations that lead to several records, and only these, that a +formula+ asks by Chains.
    def parted?(formula, leads)
      formula.asked.all? { |name| formula.chains.key?(name) == (leads.call(name) == :several) }
    end
  end
end
