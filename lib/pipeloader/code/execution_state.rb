# frozen_string_literal: true

module Pipeloader
  # What an application asks of the state of its execution, in place of a context: an attribute of ActiveSupport's, or the locale.
  #
  #     object.author_id == Current.user&.id
  #     object.names[I18n.locale.to_s]
  class ExecutionState
    # An instance is made by these where it's first asked for.
    MAKING = %i[initialize attributes].freeze
    # Of I18n's configuration: the second is asked where none is set.
    LOCALES = %i[locale default_locale].freeze
    private_constant :MAKING, :LOCALES

    class << self
      # @param path [Array<Symbol>] as of Bytecode.constants
      # @param name [Symbol] of the method that is called of it
      # @return [ExecutionState, nil] nil where that may be anything else
      def of(path, name)
        hosts = [*(I18n if name == :locale), *ActiveSupport::CurrentAttributes.descendants.select { |it| it.defaults.key?(name) }]
        return if hosts.none? { |it| it.name.to_s.end_with?(path.last.to_s) } # to find all such constants takes longer

        host = ConstantNames.only(path) { |it| answers?(it, name) }
        new(host, name) if hosts.any? { |it| it.equal?(host) }
      end

      private

      # Of these, ActiveSupport's `method_missing` asks the instance.
      def answers?(found, name)
        return true unless Module === found
        return found.method_defined?(name) || found.singleton_methods.include?(name) if found <= ActiveSupport::CurrentAttributes

        found.singleton_methods.include?(name) || !Provenance.ruby?(found.method(:method_missing))
      end
    end

    def initialize(host, name)
      @host = host
      @name = name
    end

    # "Current.user"
    def to_s = "#{@host}.#{@name}"
    alias inspect to_s

    # @return [Object] what it is now
    # @raise [DoesNotFit] where code of the application's would run
    def read
      raise DoesNotFit unless I18n.equal?(@host) ? locale? : attribute?

      @host.public_send(@name)
    end

    private

    def locale?
      methods = [I18n.method(:locale), *LOCALES.map { |name| I18n.config.method(name) }]
      methods.all? { |it| Provenance.i18n_alone?(it) }
    end

    def attribute?
      methods = [@host.method(@name), @host.method(:instance), *[@name, *MAKING].map { |name| @host.instance_method(name) }]
      methods.all? { |it| Provenance.active_support_alone?(it) } && @host.defaults.each_value.none?(Proc)
    end
  end
end
