# frozen_string_literal: true

module Pipeloader
  # What in the application's code of a field keeps it from being compiled, and in which line:
  #
  #     `full_name` keeps @full_name: without a memo it may be compiled, app/graphql/types/user.rb:12
  #
  # The code is gone through once more, as Formula and Delegation do: the first step that they don't know is the obstacle. Where
  # they know all, it is one of the readers and associations that are asked.
  class Obstacle
    PARAMETERS = %i[req opt rest key keyreq keyrest block].freeze
    MEMO = "without a memo it may be compiled"
    BLOCK = "one that only computes may be compiled, where `map`, `sum`, `select { … }.size` and the like make a value of it"
    CONSTANT = "a literal that is frozen, with all in it, would be compiled"
    OBJECT = "only what is asked of `object` by its methods may be compiled"
    SUPER = "without `super` it may be compiled"
    AROUND = "a variable from around the method's block, which may be compiled where it is a literal, and no block asks for it"
    private_constant :PARAMETERS, :MEMO, :BLOCK, :CONSTANT, :OBJECT, :SUPER, :AROUND

    class << self
      # @param type [Class] object type
      # @param field [GraphQL::Schema::Field]
      # @param model [Class, nil] of the records that the type's objects stand for
      # @param analyzer [Analyzer]
      # @return [Obstacle, nil] nil where none is known
      def of(type, field, model, analyzer)
        return unless model && model < ActiveRecord::Base

        plain = PlainField.of(type, field)
        return of_model(plain.reader, model, analyzer, []) unless plain.of_type?

        method = type.instance_method(field.resolver_method)
        return if Provenance.graphql?(method)

        chained = field.type.unwrap.kind.composite? && of_chain(method, type)
        chained || of_type(method, type, model, analyzer)
      end

      private

      def of_type(method, type, model, analyzer)
        leads = PlainModel.of(model).method(:leads)
        of_code(method, type, leads) || of_formula(Formula.of_type(type, method.name, &leads), method, model, analyzer, [])
      end

      # @param seen [Array<UnboundMethod>] that have led here: one may lead to itself, as in a tree
      def of_model(name, model, analyzer, seen)
        method = model.instance_method(name) if model.method_defined?(name)
        return if method.nil? || seen.include?(method) || Provenance.active_record?(method)

        leads = PlainModel.of(model).method(:leads)
        formula = Formula.of_model(model, name, leads, &:itself)
        of_code(method, model, leads) || of_formula(formula, method, model, analyzer, [*seen, method])
      end

      def of_code(method, host, leads)
        calls = OwnCalls.new(host)
        found = calls.of(method) or return new(*calls.obstacle)
        asked = AskedOfRecord.new(context: !(host < ActiveRecord::Base), association: leads)
        its, = { **found, **calls.bodies }.find { |_, steps| !asked.take(steps) }
        new(its, *words(asked.left)) if its
      end

      # @param formula [Formula, nil] of the +method+
      # @return [Obstacle, nil] what it asks
      def of_formula(formula, method, model, analyzer, seen)
        name, owner = analyzer.unreadable(formula, model) if formula
        (of_model(name.to_sym, owner, analyzer, seen) || new(method, "asks `#{name}` of #{owner.name}")) if name
      end

      # Where records are to come, a chain is what is compiled.
      def of_chain(method, type)
        code = Bytecode.of(method) or return
        case ContextValue.fold(LocalVariables.written_out(code), type)
        in [[:putself], [_, { mid: :object, orig_argc: 0 }], *steps, [:leave]]
          left = Delegation.left(steps, [], code)
          new(method, *words(left)) if left.any?
        else nil
        end
      end

      # @param steps [Array<Array, Symbol>] from one that isn't known
      # @return [Array(String, Array)] what it does, and which one that is
      def words(steps)
        case steps
        in [[:putself], [_, { mid: :object }], [_, { mid:, shared: true }] => step, *] then [of_variable(mid), step]
        in [[:putself], [_, { mid:, shared: true }] => step, *] then [of_variable(mid), step]
        in [[:putself], [_, { mid: :object }], [_, { mid:, orig_argc: 0 }], [_, { mid: asked }, *] => step, *]
          ["asks `#{mid}` for `#{asked}`", step]
        in [[:putself], [_, { mid: :object }], [_, { mid:, orig_argc: 0 }] => step, *] then [of_reader(mid), step]
        in [[:putself], [_, { mid: :object }] => step, *] then ["uses `object` itself: #{OBJECT}", step]
        in [[:putself], [_, { mid: :context }] => step, *] then ["asks `context` for more than a value by key", step]
        in [[:putself], [_, { mid: }, *] => step, *] then [of_reader(mid), step]
        in [[:getinstancevariable | :setinstancevariable, name, *] => step, *] then ["keeps #{name}: #{MEMO}", step]
        in [[:invokesuper, *] => step, *] then ["calls `super`: #{SUPER}", step]
        in [[:putobject, Symbol], [_, { mid: }, nil] => step, *] then ["calls `#{mid}`", step]
        in [[:block | :given, _, { mid: }] => step, *] then [of_block(mid), step]
        in [[_, { mid: }, Array] => step, *] then [of_block(mid), step]
        in [[:opt_getconstant_path, path] => step, *]
          [of_constant(path.join("::").delete_prefix("::")), step]
        in [[:getlocal_WC_1 | :getlocal | :unknown, *] => step, *] then ["reads #{AROUND}", step]
        in [[*] => step, *] then [of_step(step), step]
        in [Symbol, *behind] then words(behind)
        in [] then ["does something that isn't known"]
        end
      end

      def of_block(name) = "gives `#{name}` a block: #{BLOCK}"

      # By its name, as the code isn't run: Comment is a class, LIMIT a value.
      def of_constant(name)
        name.rpartition("::").last.match?(/[[:lower:]]/) ? of_reader(name) : "asks the constant `#{name}`: #{CONSTANT}"
      end

      def of_variable(name) = "asks `#{name}`, which it keeps in a variable, more than once"
      def of_reader(name) = "asks `#{name}` for something that isn't known"

      def of_step(step)
        call = step.grep(Hash).find { |it| it[:mid] }
        call ? "calls `#{call[:mid]}`" : "does what isn't known (#{step.first})"
      end
    end

    # @param method [UnboundMethod]
    # @param does [String]
    # @param step [Array, nil] where it does so
    def initialize(method, does, step = nil)
      @method = method
      @does = does
      @step = step
    end

    # "`full_name` keeps @full_name: without a memo it may be compiled"
    def to_s = "`#{@method.name}` #{@does}"

    # @return [Array(String, Integer), nil] file, and line
    def source_location
      file, line = @method.source_location
      [file, (Bytecode.of(@method, PARAMETERS)&.line(@step) if @step) || line] if file
    end
  end
end
