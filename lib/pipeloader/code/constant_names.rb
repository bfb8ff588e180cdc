# frozen_string_literal: true

module Pipeloader
  # What a constant may stand for in the code of a method.
  module ConstantNames
    # Called past the module's own: a proxy of ActiveSupport's for a deprecated constant warns when it is asked.
    DEFINED = Module.instance_method(:const_defined?)
    GET = Module.instance_method(:const_get)
    AUTOLOADS = Module.instance_method(:autoload?)
    NAME = Module.instance_method(:name)
    # Of which what can't change is as good as a literal.
    LITERALS = [NilClass, TrueClass, FalseClass, Integer, Float, Rational, String, Symbol, Regexp, Range].freeze
    # Seconds for which it is known whose constants there are.
    LASTING = 5
    private_constant :DEFINED, :GET, :AUTOLOADS, :NAME, :LITERALS, :LASTING

    class << self
      # In the body of `class A::B` the constants of A aren't found, and a method doesn't tell how that began: so each that there
      # may be.
      #
      # @param path [Array<Symbol>] as of Bytecode.constants
      # @param method [Method]
      # @return [Array]
      def of((first, *others), method)
        scopes = first == :"" ? [Object] : [*scopes(method), Object].uniq
        first, *others = others if first == :""
        scopes.select { |it| it.const_defined?(first) }.filter_map do |scope|
          others.inject(scope.const_get(first)) { |found, name| found.const_get(name) }
        rescue NameError
          nil
        end
      end

      # What it is wherever the code may stand: in a block a method sees the constants around that, and doesn't tell.
      #
      # @return [Object, nil] nil where modules of this process have several of the first name
      def everywhere(path)
        homes = path.first == :"" ? [Object] : homes(path.first)
        path = path.without(:"")
        path.drop(1).inject(GET.bind_call(homes.first, path.first, false)) { |host, name| inside(host, name) } if homes.one?
      rescue StandardError, ScriptError # where it is loaded
        nil
      end

      # @param path [Array<Symbol>] of code that is run, and so finds the constant for itself
      # @yield [Object] what it may be there
      # @yieldreturn [Boolean] whether it does what the code asks of it, and doesn't raise
      # @return [Object, nil] the only one that does, wherever the code may stand that isn't in a module of the frameworks'
      def only(path, &does)
        return everywhere(path) if path.first == :""

        first, *others = path
        begun = homes(first).reject { |it| Provenance.frameworks?(it, first) }.map { |it| GET.bind_call(it, first, false) }
        found = begun.map { |it| others.inject(it) { |host, name| inside(host, name) if Module === host } }
        doing = found.compact.uniq(&:__id__).select(&does)
        doing.first if doing.one?
      rescue StandardError, ScriptError # where one is loaded
        nil
      end

      # True if a +type+ is what its name stands for, as it was when it was named. Nothing is loaded for it.
      #
      #: (Module) -> bool
      def still?(type)
        names = NAME.bind_call(type)&.split("::") or return true
        found = names.inject(Object) do |home, name|
          return false if AUTOLOADS.bind_call(home, name, false) || !DEFINED.bind_call(home, name, false)

          GET.bind_call(home, name, false)
        end
        found.equal?(type)
      rescue NameError # no name of a constant
        true
      end

      # @param steps [Array<Array, Symbol>] as Bytecode#steps, of code that is run, and so finds the constant for itself
      # @param method [UnboundMethod] that has them
      # @return [Array<Array, Symbol>] the same, with a literal in place of a constant that is one, frozen with all that is in it
      def fold(steps, method)
        steps.map do |step|
          path, = Bytecode.constants([step])
          value = path && literal(path, method)
          value.nil? ? step : [:putobject, value]
        end
      end

      # @param steps [Array<Array, Symbol>] as for #fold, of code that isn't run
      # @return [Array<Array, Symbol>] the same, with [:model, Class] in place of a model's constant, where one is merged, or
      #   asked by what the record says
      def models(steps)
        called = steps.flat_map { |step| Array(step).grep(Hash) }.map { |call| call[:mid] }
        return steps if !called.include?(:merge) && steps.none? { |name, _| name == :of_owner }

        asked = called - Class.instance_methods
        steps.map do |step|
          path, = Bytecode.constants([step])
          value = path && only(path) { |it| !(Module === it) || asked.any? { |name| it.respond_to?(name) } }
          Class === value && value < ActiveRecord::Base ? [:model, value] : step
        end
      end

      # @return [Array<Array, Symbol>] the same, with a literal in place of `Arel.sql("SUM(score) DESC")`
      def sql(steps)
        Bytecode.fold(steps) do |from|
          case from
          in [[:opt_getconstant_path, [:Arel] | [:"", :Arel] => path], [:putobject | :putstring, String => text],
              [:opt_send_without_block, { mid: :sql, orig_argc: 1 } => call], *behind] if Bytecode.on_object?(call)
            [[:putobject, Arel.sql(text).freeze], behind] if arels?(path)
          else nil
          end
        end
      end

      private

      def arels?(path) = Arel.equal?(everywhere(path)) && Provenance.gem_alone?(:Arel, Arel.method(:sql))

      # That it is a literal where the method seems to stand is looked at first: for the other question the whole heap is walked.
      def literal(path, method)
        return unless path.one? && scopes(method).any? { |it| there?(it, path.first) }

        value = everywhere(path)
        value if !value.nil? && Ractor.shareable?(value) && literal?(value)
      end

      # True if it is loaded.
      def there?(scope, name) = DEFINED.bind_call(scope, name) && AUTOLOADS.bind_call(scope, name).nil?

      # Many fields are looked at in the first moments of a process.
      #
      # @return [Array<Module>] all that have a constant of that +name+
      def homes(name)
        now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        since, known = @homes
        @homes = [now, known = {}].freeze unless since && now - since < LASTING
        known[name] ||= ObjectSpace.each_object(Module).select { |it| DEFINED.bind_call(it, name, false) }
      end

      def literal?(value)
        case value
        when Array then value.instance_of?(Array) && value.all? { |it| literal?(it) }
        when Hash then plain?(value) && value.all? { |pair| literal?(pair) }
        when Range then value.instance_of?(Range) && [value.begin, value.end].all? { |it| literal?(it) }
        else LITERALS.include?(value.class)
        end
      end

      def plain?(hash) = hash.instance_of?(Hash) && hash.default.nil? && !hash.compare_by_identity?

      # As `Host::NAME` is looked for: not at top level.
      def inside(host, name)
        home = (host.ancestors - Object.ancestors).find { |it| DEFINED.bind_call(it, name, false) }
        GET.bind_call(home, name, false) if home
      end

      # @param method [Method, UnboundMethod]
      # @return [Array<Module>] those in whose bodies the method stands, from the inside, as far as their names tell
      def scopes(method)
        host = method.owner
        host = method.receiver.ancestors.find { |it| it.singleton_class.equal?(host) } || method.receiver if host.singleton_class?
        names = host.name.to_s.split("::")
        [host, *(1...names.size).filter_map { |size| named(names.take(size).join("::")) }.reverse]
      end

      # @return [Module, nil] nil where that is no name of a constant: a module without one, or with a `name` of its own
      def named(name)
        found = Object.const_get(name)
        found if Module === found
      rescue NameError
        nil
      end
    end
  end
end
