# frozen_string_literal: true

module Pipeloader
  # What a constant may stand for in the code of a singleton method.
  module ConstantNames
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

      # As #of, where it's the same in whichever module of its file the code may stand: in a block it sees the constants around.
      #
      # @return [Object, nil]
      def everywhere(path, method)
        found = homes(method).filter_map { |home| under(home, path) }.uniq(&:__id__)
        found.first if found.one?
      rescue StandardError, ScriptError # where one is loaded
        nil
      end

      private

      OPENED = /\b(?:class|module)\s+(?:::)?([A-Z][\w:]*)/
      NAME = Module.instance_method(:name)
      private_constant :OPENED, :NAME

      # @return [Array<Module>]
      def homes(method)
        opened = File.read(method.source_location.first).scan(OPENED).flat_map { |(path)| path.split("::").last }.to_set
        named = ObjectSpace.each_object(Module).select { |it| opened.include?(NAME.bind_call(it).to_s[/\w+\z/]) }
        [*named, *method.owner.ancestors, *scopes(method), Object]
      end

      def under(home, path)
        home = Object if path.first == :""
        first, *others = path.without(:"")
        others.inject(home.const_get(first)) { |host, name| host.const_get(name, false) } if home.const_defined?(first)
      rescue NameError # the code would raise it, too
        nil
      end

      # @return [Array<Module>] those in whose bodies the method stands, from the inside, as far as their names tell
      def scopes(method)
        host = method.owner
        host = method.receiver.ancestors.find { |it| it.singleton_class.equal?(host) } || method.receiver if host.singleton_class?
        names = host.name.to_s.split("::")
        [host, *(1...names.size).map { |size| Object.const_get(names.take(size).join("::")) }.reverse]
      end
    end
  end
end
