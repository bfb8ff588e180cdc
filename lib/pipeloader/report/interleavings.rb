# frozen_string_literal: true

require "set"

module Pipeloader
  # Finds objects of the application's that fields share, and that one field has changed and not yet made whole when another one
  # comes to them: it has to wait for what it reads in between.
  #
  #     def restricted?(id)
  #       load(id) if @loaded.add?(id)  # a field that comes while #load reads takes it for loaded
  #       @restricted.include?(id)
  #     end
  #
  # A method of which an instance variable was changed since it was called, by itself or by what it has called, is left in the
  # middle where its fiber parks. If a method is called on the same object then that uses the variable, that is one.
  #
  # Limits: instance variables, and how many things there are in one; on the thread of the block; no methods of gems.
  class Interleavings
    # Where a method was called, and is still running.
    Frame = Struct.new(:object, :name, :owner, :place, :field, :before, :changed)

    # left: the method that a field was in, entered: the one that another field has called, each as "Loader#load
    # (app/loaders/loader.rb:12)". variables: ["@loaded"]. fields: ["Client.name", "Client.ssn"], of the first and of the other
    Interleaving = Struct.new(:left, :entered, :variables, :fields) do
      def to_s
        "#{left}, for #{fields.first}, has changed #{variables.join(", ")} and waits for what it reads; #{entered} uses that " \
          "meanwhile, for #{fields.last}. Change it behind the read, or put both into Pipeloader.without_parking { }"
      end
    end

    # Where the code is that isn't looked at.
    LIBRARIES = [*Gem.path, RbConfig::CONFIG["rubylibprefix"], File.expand_path("..", __dir__)].freeze
    IVARS = %i[getinstancevariable setinstancevariable].freeze
    SIZED = [Array, Hash, Set, String].freeze
    NONE = [].freeze
    # A BasicObject has none of these, and a proxy asks another object.
    VALUE = Kernel.instance_method(:instance_variable_get)
    KIND = Kernel.instance_method(:class)
    NAME = Module.instance_method(:name)
    private_constant :Frame, :LIBRARIES, :IVARS, :SIZED, :NONE, :VALUE, :KIND, :NAME

    def initialize
      @stacks = Hash.new { |stacks, fiber| stacks[fiber] = [] }.compare_by_identity # {Fiber => [Frame]}
      @inside = {}.compare_by_identity # {object => [Frame]} of all fibers
      @own = {} # {path => whether it is the application's}
      @variables = {} # {method => [:@loaded]}
      @found = {} # {[methods, variables] => Interleaving}
    end

    alias inspect to_s

    # Yields, and responses that are built there are executed as if for the first time, see Measured.
    #
    # @return [Array<Interleaving>]
    def during(&block)
      trace = TracePoint.new(:call, :return) { |point| note(point) if own?(point.path) }
      Measured.by(self) { trace.enable(target_thread: Thread.current, &block) }
      @found.values
    end

    # See Measured.
    def begun(_queries) = nil

    private

    def own?(path) = @own.fetch(path) { @own[path] = LIBRARIES.none? { |it| path.start_with?(it) } && File.file?(path) }

    def note(point)
      stack = @stacks[fiber = Fiber.current]
      turn_to(fiber, stack) unless fiber.equal?(@last)
      point.event == :call ? enter(point, stack) : take(point, stack)
    end

    # Another fiber goes on. One that has been given up never does.
    def turn_to(fiber, stack)
      leave(@stacks[@last]) if @last
      @stacks.each { |other, frames| forget(frames) unless other.alive? }.keep_if { |other, _| other.alive? }
      stack.each { |frame| frame.before = look(frame.object, frame.before.keys) }
      @last = fiber
    end

    def leave(stack)
      stack.each do |frame|
        now = look(frame.object, frame.before.keys)
        frame.changed |= frame.before.filter_map { |name, was| name unless was == now[name] }
      end
    end

    def enter(point, stack)
      names = variables(point)
      place = "#{point.path}:#{point.lineno}"
      frame = Frame.new(point.self, point.method_id, point.defined_class, place, field, look(point.self, names), NONE)
      inside = @inside[point.self] ||= []
      inside.each { |other| compare(other, frame) unless stack.any? { |it| it.equal?(other) } }
      inside << frame
      stack << frame
    end

    # By an exception, too. What was entered before the block is left in it, maybe.
    def take(point, stack)
      index = stack.rindex { |frame| frame.name == point.method_id && frame.object.equal?(point.self) } or return
      forget(stack.slice!(index..))
    end

    def forget(frames)
      frames.each do |frame|
        inside = @inside.fetch(frame.object, NONE)
        inside.delete_if { |it| it.equal?(frame) } unless inside.empty?
        @inside.delete(frame.object) if inside.empty?
      end
    end

    def compare(left, entered)
      shared = left.changed & entered.before.keys
      return if shared.empty?

      methods = [left, entered].map { |frame| told(frame) }
      @found[[methods, shared]] ||= Interleaving.new(*methods, shared.map(&:to_s), [left.field, entered.field])
    end

    def told(frame)
      owner = frame.owner
      name = owner.singleton_class? && Module === frame.object ? "#{NAME.bind_call(frame.object)}." : "#{owner}#"
      "#{name}#{frame.name} (#{frame.place.delete_prefix("#{Dir.pwd}/")})"
    end

    # @return [String] that is being resolved
    def field = Asker.current_field&.path || "no field"

    # @return [Hash{Symbol => Object}] what tells whether they have changed
    def look(object, names)
      names.to_h do |name|
        value = VALUE.bind_call(object, name)
        [name, SIZED.include?(KIND.bind_call(value)) ? [value.__id__, value.size] : value.__id__]
      end
    end

    # @return [Array<Symbol>] of its object, which a method uses, in its blocks, too, and by `attr_reader`
    def variables(point)
      owner, name = point.defined_class, point.method_id
      @variables[[owner, name, point.path, point.lineno]] ||= begin
        method = owner.instance_method(name) if method?(owner, name)
        sequence = RubyVM::InstructionSequence.of(method) if method&.source_location == [point.path, point.lineno]
        sequence ? found_in(sequence.to_a, owner).uniq : NONE
      end
    end

    # False for one that has been removed, and still runs under another name.
    def method?(owner, name) = owner.method_defined?(name) || owner.private_method_defined?(name)

    def found_in(part, owner)
      case part
      when Array
        return [part[1]] if IVARS.include?(part.first)

        part.flat_map { |it| found_in(it, owner) }
      when Hash then part[:mid] ? read_by(part[:mid], owner) : NONE
      else NONE
      end
    end

    # Of an `attr_reader`, which Ruby compiles to nothing.
    def read_by(name, owner)
      return NONE unless method?(owner, name)

      method = owner.instance_method(name)
      method.arity.zero? && method.source_location && RubyVM::InstructionSequence.of(method).nil? ? [:"@#{name}"] : NONE
    end
  end
end
